/** The requests of late with what became of them, so that another configuration can be tried on what was really asked: `firmquote lp rfqs`, then `firmquote sim replay --rfqs`. */

import { corridorOf } from '../domain/corridor.ts';
import type { Clock } from '../ports/clock.ts';
import type { DeclineRecord } from './explain.ts';
import type { MomentListener, QuoteRecord } from './moments.ts';

/** One request as the simulator reads it; docs/simulator.md says what each part means. */
export interface RecordedRfq {
  atMs: number;
  id: string;
  taker: string;
  corridor: string;
  input: string;
  output: string;
  side: 'exactInput' | 'exactOutput';
  amount: string;
  platformFeeBps: number;
  minValidSeconds: number;
  outcome: 'accepted' | 'expired' | 'declined' | null;
  quoted: string | null;
  acceptedAtMs: number | null;
  rival: null;
}

export interface Flow {
  readonly listener: MomentListener;
  /** Oldest first. */
  recorded(): RecordedRfq[];
}

/** By reference: keeping one costs an object and two entries of a map. */
interface Kept {
  quotes: QuoteRecord[];
  declined: DeclineRecord | undefined;
  accepted: { record: QuoteRecord; atMs: number } | undefined;
}

export function createFlow({ clock }: { clock: Pick<Clock, 'nowMs'> }, { keep }: { keep: number }): Flow {
  const byRfq = new Map<string, Kept>();
  const byOrder = new Map<string, { kept: Kept; record: QuoteRecord }>();

  function keptOf(rfqId: string): Kept {
    const known = byRfq.get(rfqId);
    if (known !== undefined) return known;
    const kept: Kept = { quotes: [], declined: undefined, accepted: undefined };
    byRfq.set(rfqId, kept);
    if (byRfq.size > keep) forgetFirst();
    return kept;
  }

  function forgetFirst(): void {
    for (const [rfqId, { quotes }] of byRfq) {
      byRfq.delete(rfqId);
      for (const { orderId } of quotes) byOrder.delete(orderId);
      return;
    }
  }

  return {
    listener: {
      quoted(record) {
        // A part of a split is no answer to what was asked.
        if (record.slice) return;
        const kept = keptOf(record.rfqId);
        kept.quotes.push(record);
        byOrder.set(record.orderId, { kept, record });
      },
      declined(rfq, route, decline, atMs) {
        keptOf(rfq.rfqId).declined ??= { rfq, route, decline, atMs };
      },
      accepted({ orderId }) {
        const found = byOrder.get(orderId);
        if (found !== undefined) found.kept.accepted ??= { record: found.record, atMs: clock.nowMs() };
      },
    },
    recorded() {
      const nowMs = clock.nowMs();
      return [...byRfq].flatMap(([id, kept]) => (kept.quotes.length > 0 ? [quotedOf(id, kept, nowMs)] : declinedOf(id, kept)));
    },
  };
}

function quotedOf(id: string, { quotes, accepted }: Kept, nowMs: number): RecordedRfq {
  const [first] = quotes as [QuoteRecord];
  const { route, inputs, priced } = accepted?.record ?? first;
  const over = quotes.every(({ times }) => times.fillDeadline * 1000 < nowMs);
  return {
    atMs: first.atMs, id, taker: first.taker, corridor: corridorOf(route.origin, route.dest), input: route.inputToken.symbol, output: route.outputToken.symbol,
    side: inputs.side, amount: inputs.amount.toString(), platformFeeBps: inputs.platformFeeBps,
    // What the taker demanded is in the firm times already; the shortest is the least that it may have asked for.
    minValidSeconds: 0,
    outcome: accepted !== undefined ? 'accepted' : over ? 'expired' : null,
    quoted: (inputs.side === 'exactInput' ? priced.output : priced.input).toString(),
    acceptedAtMs: accepted?.atMs ?? null,
    rival: null,
  };
}

/** What was asked on a way that we do not serve has no symbols to replay it by. */
function declinedOf(id: string, { declined }: Kept): RecordedRfq[] {
  if (declined?.route === undefined) return [];
  const { rfq, route, atMs } = declined;
  return [{
    atMs, id, taker: rfq.taker, corridor: corridorOf(route.origin, route.dest), input: route.inputToken.symbol, output: route.outputToken.symbol,
    side: rfq.side, amount: rfq.amount, platformFeeBps: rfq.platformFeeBps, minValidSeconds: rfq.minValidUntil === null ? 0 : Math.max(0, Math.ceil(rfq.minValidUntil - atMs / 1000)),
    outcome: 'declined', quoted: null, acceptedAtMs: null, rival: null,
  }];
}
