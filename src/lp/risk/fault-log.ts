/** Logs declines that are our own fault, such as a pricing plug-in that throws: each kind once a minute. */

import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { QuoteEventListener } from '../quote-log/quote-events.ts';

const LOG_INTERVAL_MS = 60_000;
/** Details contain numbers, so kinds beyond this are logged as one. */
const MAX_KINDS = 64;

export function createFaultLog({ clock, log }: { clock: Clock; log: Log }): QuoteEventListener {
  const logged = new Map<string, { atMs: number; omitted: number }>();
  return {
    declined(_, route, { declined, detail = 'no reason given' }) {
      if (declined !== 'internal') return;
      const nowMs = clock.monotonicMs();
      const kind = logged.has(detail) || logged.size < MAX_KINDS ? detail : 'others';
      const last = logged.get(kind);
      if (last !== undefined && nowMs - last.atMs < LOG_INTERVAL_MS) return void (last.omitted += 1);
      logged.set(kind, { atMs: nowMs, omitted: 0 });
      log.error(
        { pair: route?.pairName, detail, more: last?.omitted ?? 0 },
        'declined a request because of an internal fault',
      );
    },
  };
}
