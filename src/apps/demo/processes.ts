/** Starts the demo's processes, and decides when each is ready. */

import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { dirname, join } from 'node:path';
import { PACKAGE_FOLDER } from '../../adapters/system/version.ts';
import { UpstreamError } from '../../domain/errors.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../adapters/postgres/embedded/embedded.ts';
import { type WatchedChild, spawnWatched } from '../../adapters/process/parent-watchdog.ts';
import type { Log } from '../../ports/log.ts';
import { startAnvil } from './chains/anvil.ts';
import { attesterProcess, chainProcess, lpProcess, PARTNER } from './configs.ts';
import type { Layout } from './layout.ts';
import type { DemoState } from './state.ts';
import type { ChildSpec } from './supervisor.ts';

const READY_TIMEOUT_MS = 60_000;

export function postgresSpec(layout: Layout, log: Log) {
  let server: EmbeddedPostgres | undefined;
  const running = () => {
    if (!server) throw new UpstreamError('The database is not running.', { code: 'database_unavailable' });
    return server;
  };
  const base = () => running().url.slice(0, running().url.lastIndexOf('/'));
  return {
    clusterDir: () => server?.clusterDir,
    database: {
      base,
      url: (name: string) => `${base()}/${name}`,
      create: async (name: string) => void (await running().database(name)),
    },
    spec: {
      name: 'postgres',
      async start(): Promise<WatchedChild> {
        const started = await startEmbeddedPostgres({
          dataDir: layout.workDir('postgres'),
          port: layout.ports.postgres,
          log,
        });
        server = started;
        let gone = false;
        void started.exited.then(() => {
          gone = true;
        });
        return {
          pid: started.pid,
          exited: started.exited,
          hasExited: () => gone,
          stop: () => started.stop(),
          kill: () => started.kill(),
        };
      },
    },
  };
}

export function chainSpec(state: DemoState, layout: Layout, index: number): ChildSpec {
  const chain = state.config.chains[index];
  if (!chain) throw new Error(`The demo has no chain number ${index + 1}.`);
  const log = lineLog(layout.log(chainProcess(chain.slug)));
  return {
    name: chainProcess(chain.slug),
    start: () =>
      startAnvil({
        chainId: chain.id,
        port: layout.ports.chain(index),
        blockSeconds: chain.blockSeconds,
        dir: layout.chainDir(chain.slug),
        onLine: log,
      }),
  };
}

export const environmentOf = (databaseBase: string): Record<string, string> => ({
  FIRMQUOTE_DEMO_POSTGRES: databaseBase,
});

export function appSpecs(state: DemoState, layout: Layout, databaseBase: string): ChildSpec[] {
  const apps: [name: string, command: string, opsPort: number][] = [
    ...state.attesters.map((_, index): [string, string, number] => [
      attesterProcess(index),
      'attester',
      layout.ports.attesterOps(index),
    ]),
    ['venue', 'venue', layout.ports.venueOps],
    ...state.lps.map(({ id }, index): [string, string, number] => [
      lpProcess(id),
      'lp',
      layout.ports.lpOps(index),
    ]),
  ];
  return apps.map(([name, command, opsPort]) => {
    const log = lineLog(layout.log(name));
    return {
      name,
      async start() {
        const child = await spawnWatched(
          process.execPath,
          [...process.execArgv, ...commandLine(), command, '--config', layout.config(name)],
          {
            // Only what a program needs to run: our own options must not reach the children.
            env: {
              PATH: process.env['PATH'],
              HOME: process.env['HOME'],
              TMPDIR: process.env['TMPDIR'],
              NODE_ENV: process.env['NODE_ENV'],
              ...environmentOf(databaseBase),
            },
            graceMs: 10_000,
            onLine: log,
          },
        );
        await untilAlive(name, child, `http://127.0.0.1:${opsPort}/healthz`, layout.log(name));
        return child;
      },
    };
  });
}

/** A program that knows nothing of firmquote but the protocol page. */
export function partnerSpec(layout: Layout): ChildSpec {
  const log = lineLog(layout.log(PARTNER));
  return {
    name: PARTNER,
    async start() {
      const child = await spawnWatched(process.execPath, [PARTNER_PROGRAM, layout.config(PARTNER)], {
        env: { PATH: process.env['PATH'] },
        graceMs: 2_000,
        onLine: log,
      });
      await untilAlive(PARTNER, child, `http://127.0.0.1:${layout.ports.partner}/`, layout.log(PARTNER));
      return child;
    },
  };
}

/** The example imports viem. The built program has it inside, because the package does not install it. */
const PARTNER_PROGRAM = join(
  PACKAGE_FOLDER,
  import.meta.url.endsWith('.js') ? 'dist/apps/demo/partner.js' : 'docs/examples/partner.mjs',
);

function commandLine(): string[] {
  const script = process.argv[1];
  if (script === undefined) throw new Error('The script of this process is unknown.');
  return [script];
}

async function untilAlive(name: string, child: WatchedChild, url: string, logFile: string): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (!child.hasExited()) {
    const alive = await fetch(url, { signal: AbortSignal.timeout(1_000) }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (alive && !child.hasExited()) return;
    if (performance.now() > deadline) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const what = child.hasExited()
    ? `ended with status ${await child.exited} before it was healthy`
    : `was not healthy after ${READY_TIMEOUT_MS / 1_000} s`;
  await child.kill();
  throw new UpstreamError(`The process ${name} ${what}. See its log: ${logFile}`, { code: 'child_failed' });
}

export function lineLog(path: string): (line: string) => void {
  let stream: WriteStream | undefined;
  return (line) => {
    if (!stream) {
      mkdirSync(dirname(path), { recursive: true });
      stream = createWriteStream(path, { flags: 'a', mode: 0o600 });
      stream.on('error', () => {});
    }
    stream.write(`${line}\n`);
  };
}
