/** The life of a process: closes in reverse order on SIGTERM. */

import { healthRoutes, startOps } from '../../adapters/http/ops.ts';
import { createLog, type LogLevel } from '../../adapters/pino/log.ts';
import { createRedactor } from '../../adapters/pino/redact.ts';
import { createMetrics } from '../../adapters/prometheus/metrics.ts';
import type { Log } from '../../ports/log.ts';
import { mountedByEnv, type SecretContext } from './keys.ts';

/**
 * A process must exit within 10 s of the first signal; unfinished steps are planned again at the next start.
 */
const GRACE_MS = 9_000;
/** Signals closer together than this count as one. */
const ECHO_MS = 500;

export interface Life {
  /** Registers a step of the stop. Steps run in reverse order of registration, within the grace period. */
  onStop(name: string, close: () => unknown): void;
  stop(reason: string, exitCode?: number): void;
  readonly stopping: boolean;
  readonly stopped: Promise<void>;
}

/**
 * Runs `start` and waits for a signal. `start` registers each part as soon as it is open, so that a failed
 * start closes it too.
 */
export async function liveAs(name: string, log: Log, start: (life: Life) => Promise<void>): Promise<void> {
  process.title = `firmquote ${name}`;
  const closers: { name: string; close: () => unknown }[] = [];
  let announce = () => {};
  let exitCode = 0;
  let stopping = false;
  const stopped = new Promise<void>((resolve) => {
    announce = resolve;
  });
  const life: Life = {
    onStop: (closer, close) => void closers.push({ name: closer, close }),
    stop(reason, code = 0) {
      if (stopping) return;
      stopping = true;
      exitCode = code;
      log.info({ reason }, 'stopping');
      announce();
    },
    get stopping() {
      return stopping;
    },
    stopped,
  };

  let firstSignalAt = 0;
  const onSignal = (signal: NodeJS.Signals) => {
    // Ctrl-C arrives from the terminal and once more from npm.
    if (firstSignalAt > 0 && performance.now() - firstSignalAt < ECHO_MS) return;
    firstSignalAt ||= performance.now();
    if (stopping) {
      log.warn({ signal }, 'second signal: exiting immediately');
      process.exit(1);
    }
    life.stop(signal);
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  // After a bug memory cannot be trusted.
  const onBug = (err: unknown, kind: string) => {
    log.fatal(
      { err },
      `${kind}: exiting; the next start plans everything again from the database and the chain`,
    );
    process.exit(70);
  };
  process.on('uncaughtException', (err) => onBug(err, 'uncaught exception'));
  process.on('unhandledRejection', (err) => onBug(err, 'unhandled rejection'));

  try {
    const started = start(life);
    // A signal must not wait for a slow start.
    await Promise.race([started, stopped]);
    started.catch(() => {});
    await stopped;
  } catch (error) {
    log.fatal({ err: error }, 'could not start');
    exitCode = 1;
  }
  const giveUp = setTimeout(() => {
    log.error({ waitingFor: closers.at(-1)?.name ?? 'nothing' }, 'did not close in time: exiting');
    process.exit(exitCode || 1);
  }, GRACE_MS);
  for (let closer = closers.at(-1); closer; closers.pop(), closer = closers.at(-1)) {
    try {
      await closer.close();
    } catch (error) {
      log.error({ err: error, closing: closer.name }, 'could not close');
    }
  }
  clearTimeout(giveUp);
  log.info({}, 'stopped');
  process.exit(exitCode);
}

interface ProcessSections {
  log: { level: LogLevel };
  secrets: { mounted: boolean };
}

export function processContext(
  app: string,
  { log: { level }, secrets: { mounted } }: ProcessSections,
): { log: Log; secrets: SecretContext } {
  const redactor = createRedactor();
  return { log: createLog({ app, level, redactor }), secrets: { env: process.env, redactor, mounted } };
}

/**
 * Makes the context of a command that logs nothing. Without a configuration the environment alone is read.
 */
export const toolContext = (
  app: string,
  { secrets = { mounted: mountedByEnv(process.env) } }: Partial<ProcessSections> = {},
) => processContext(app, { log: { level: 'silent' }, secrets });

export async function openHealth(life: Life, log: Log, server: { host: string; port: number }) {
  const metrics = createMetrics();
  let ready = async (): Promise<readonly string[]> => ['starting'];
  const ops = await startOps({ ...server, log, routes: healthRoutes({ ready: () => ready(), metrics }) });
  life.onStop('health server', () => ops.close());
  return {
    metrics,
    metricsUrl: `${ops.url}/metrics`,
    readyWhen: (reasons: typeof ready) => void (ready = reasons),
  };
}
