/**
 * Recent requests with outcomes, to replay on another configuration: `firmquote lp rfqs`, `firmquote sim
 * replay --rfqs`.
 */

import { corridorOf } from '../../domain/corridor.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { Clock } from '../../ports/clock.ts';
import type { QuoteEventListener } from './quote-events.ts';
import type { QuoteRoute } from '../routes/route.ts';

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

export interface RecordedPage {
  rfqs: RecordedRfq[];
  /** Pass it as `after`, or as `before` of the newest, to read on; null when there are no more. */
  next: number | null;
}

export interface RecordedRequests {
  listener: QuoteEventListener;
  /** Oldest first: at most `limit` requests with a number above `after`. */
  recorded(after?: number, limit?: number): RecordedPage;
  /** Newest first: at most `limit` requests with a number below `before`, or the newest of all. */
  newest(before?: number, limit?: number): RecordedPage;
}

interface RequestFacts {
  atMs: number;
  rfqId: string;
  taker: string;
  route: QuoteRoute;
  side: RecordedRfq['side'];
  amount: bigint | string;
  platformFeeBps: number;
  minValidSeconds: number;
}

interface RecordedRequest {
  readonly facts: RequestFacts;
  readonly quotes: { orderId: string; amount: bigint }[];
  /** Last second of any of its quotes; 0 when it was declined. */
  endsAt: UnixSeconds;
  /** The amount of the accepted quote, else of the first. */
  quotedAmount: bigint | undefined;
  acceptedAtMs: number | undefined;
}

const PAGE_SIZE = 200;

export function createRecordedRequests(
  { clock }: { clock: Pick<Clock, 'nowMs'> },
  { keep, shown = true }: { keep: number; shown?: boolean },
): RecordedRequests {
  /** A ring: request number n is at n % keep. */
  const requests: RecordedRequest[] = [];
  let count = 0;
  const byRfq = new Map<string, RecordedRequest>();
  const byOrder = new Map<string, RecordedRequest>();

  function add(facts: RequestFacts, quotes: RecordedRequest['quotes']): RecordedRequest {
    const replaced = requests[count % keep];
    if (replaced !== undefined) {
      byRfq.delete(replaced.facts.rfqId);
      for (const { orderId } of replaced.quotes) byOrder.delete(orderId);
    }
    const request: RecordedRequest = {
      facts,
      quotes,
      endsAt: 0,
      quotedAmount: undefined,
      acceptedAtMs: undefined,
    };
    requests[count % keep] = request;
    count += 1;
    byRfq.set(facts.rfqId, request);
    return request;
  }

  function viewOf(
    { facts, endsAt, quotedAmount, acceptedAtMs }: RecordedRequest,
    nowMs: number,
  ): RecordedRfq {
    const { route } = facts;
    // What a taker would have done with a quote that it never saw is not known.
    const expired = shown && endsAt * 1000 < nowMs ? 'expired' : null;
    return {
      atMs: facts.atMs,
      id: facts.rfqId,
      taker: facts.taker,
      corridor: corridorOf(route.origin, route.dest),
      input: route.inputToken.symbol,
      output: route.outputToken.symbol,
      side: facts.side,
      amount: facts.amount.toString(),
      platformFeeBps: facts.platformFeeBps,
      minValidSeconds: facts.minValidSeconds,
      outcome: acceptedAtMs !== undefined ? 'accepted' : endsAt === 0 ? 'declined' : expired,
      quoted: quotedAmount?.toString() ?? null,
      acceptedAtMs: acceptedAtMs ?? null,
      rival: null,
    };
  }

  return {
    listener: {
      quoted({ rfqId, orderId, atMs, taker, route, times, inputs, priced, slice }) {
        // A slice of a split does not answer the request that was made.
        if (slice) return;
        const { side, amount, platformFeeBps } = inputs;
        const quotedAmount = side === 'exactInput' ? priced.output : priced.input;
        const quote = { orderId, amount: quotedAmount };
        let request = byRfq.get(rfqId);
        if (request === undefined) {
          // The tenors of a quote already include what the taker demanded.
          const facts = { atMs, rfqId, taker, route, side, amount, platformFeeBps, minValidSeconds: 0 };
          request = add(facts, [quote]);
        } else request.quotes.push(quote);
        request.endsAt = Math.max(request.endsAt, times.fillDeadline);
        request.quotedAmount ??= quotedAmount;
        byOrder.set(orderId, request);
      },
      declined({ rfqId, taker, side, amount, platformFeeBps, minValidUntil }, route, _, atMs) {
        // Without a route there are no symbols to replay the request with.
        if (route === undefined || byRfq.has(rfqId)) return;
        const minValidSeconds =
          minValidUntil === null ? 0 : Math.max(0, Math.ceil(minValidUntil - atMs / 1000));
        add({ atMs, rfqId, taker, route, side, amount, platformFeeBps, minValidSeconds }, []);
      },
      accepted({ orderId }) {
        const request = byOrder.get(orderId);
        if (request === undefined || request.acceptedAtMs !== undefined) return;
        request.acceptedAtMs = clock.nowMs();
        request.quotedAmount = request.quotes.find((quote) => quote.orderId === orderId)?.amount;
      },
    },
    recorded(after = -1, limit = PAGE_SIZE) {
      const nowMs = clock.nowMs();
      const from = Math.max(after + 1, count - keep, 0);
      const end = Math.min(count, from + limit);
      const rfqs: RecordedRfq[] = [];
      for (let number = from; number < end; number += 1)
        rfqs.push(viewOf(requests[number % keep] as RecordedRequest, nowMs));
      return { rfqs, next: end < count ? end - 1 : null };
    },
    newest(before = count, limit = PAGE_SIZE) {
      const nowMs = clock.nowMs();
      const oldest = Math.max(count - keep, 0);
      const from = Math.min(before, count) - 1;
      const end = Math.max(oldest, from - limit + 1);
      const rfqs: RecordedRfq[] = [];
      for (let number = from; number >= end; number -= 1)
        rfqs.push(viewOf(requests[number % keep] as RecordedRequest, nowMs));
      return { rfqs, next: end > oldest && rfqs.length > 0 ? end : null };
    },
  };
}
