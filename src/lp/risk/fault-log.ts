/**
 * Requests that we declined through a fault of our own, such as a pricing plug-in that throws: said aloud,
 * and not a thousand times a second.
 */

import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { MomentListener } from '../quote-log/quote-events.ts';

const AGAIN_MS = 60_000;
/** Details carry numbers; more of them than this are not told apart. */
const MOST_KINDS = 64;

export function createFaultLog({ clock, log }: { clock: Clock; log: Log }): MomentListener {
  const said = new Map<string, { atMs: number; since: number }>();
  return {
    declined(_, route, { declined, detail = 'no reason given' }) {
      if (declined !== 'internal') return;
      const nowMs = clock.monotonicMs();
      const kind = said.has(detail) || said.size < MOST_KINDS ? detail : 'others';
      const last = said.get(kind);
      if (last !== undefined && nowMs - last.atMs < AGAIN_MS) return void (last.since += 1);
      said.set(kind, { atMs: nowMs, since: 0 });
      log.error(
        { pair: route?.pairName, detail, more: last?.since ?? 0 },
        'a request was declined through a fault of our own',
      );
    },
  };
}
