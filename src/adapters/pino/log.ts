/** The Log port on pino: one redacted JSON object per line. */

import { pino, type DestinationStream } from 'pino';
import type { Log } from '../../ports/log.ts';
import { createRedactor, type Redactor } from './redact.ts';
import { currentRequestIds } from './request-context.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

interface LogOptions {
  app: string;
  level?: LogLevel;
  redactor?: Redactor;
  destination?: DestinationStream;
}

export function createLog({
  app,
  level = 'info',
  redactor = createRedactor(),
  destination = standardOutput(),
}: LogOptions): Log {
  const root = pino(
    {
      level,
      base: { app, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      mixin: () => {
        const ids = currentRequestIds();
        return ids === undefined ? {} : { ...ids, requestId: redactor.text(ids.requestId) };
      },
    },
    destination,
  );
  return wrap(root, redactor);
}

/** A failing log must not stop the process: entries beyond a small buffer are dropped. */
function standardOutput(): DestinationStream {
  const output = pino.destination({ fd: 1, sync: true, maxLength: 1 << 20 });
  output.on('error', () => {});
  return output;
}

function wrap(logger: pino.Logger, redactor: Redactor): Log {
  const at = (level: 'debug' | 'info' | 'warn' | 'error' | 'fatal') => (facts: object, message: string) => {
    if (logger.isLevelEnabled(level)) logger[level](redactor.facts(facts), redactor.text(message));
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    fatal: at('fatal'),
    child: (facts) => wrap(logger.child(redactor.facts(facts)), redactor),
  };
}
