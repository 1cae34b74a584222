/**
 * The requests of late with what became of them, so that another configuration can be tried on what was
 * really asked: `firmquote lp rfqs`, then `firmquote sim replay --rfqs`.
 */

import { createBigintRows } from '../../domain/bigint-rows.ts';
import { createColumn } from '../../domain/column.ts';
import { corridorOf } from '../../domain/corridor.ts';
import { createIdRing } from '../../domain/id-ring.ts';
import { createTexts, LONGEST } from '../../domain/texts.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { Clock } from '../../ports/clock.ts';
import type { MomentListener } from './quote-events.ts';
import type { Route } from '../quoting/route.ts';

/** One request as the simulator reads it; docs/lp/replay.md says what each part means. */
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
  /**
   * Oldest first, those noted after number `after`, as many as `limit`; `next` asks for more, null: there are
   * none.
   */
  recorded(after?: number, limit?: number): { rfqs: RecordedRfq[]; next: number | null };
}

/** Told at once: a millisecond of work, and whoever wants more asks on. */
const AT_ONCE = 200;
/** Firm times that one request is quoted at. */
const MOST_ANSWERS = 5;

/** Nothing that a price was made of is kept, and no object for a request: thousands of them stay. */
export function createFlow({ clock }: { clock: Pick<Clock, 'nowMs'> }, { keep }: { keep: number }): Flow {
  const requests = createIdRing(keep);
  const rfqIds = createTexts<string>(LONGEST.rfqId);
  const takers = createTexts<string>(LONGEST.account);
  const routes = createColumn<Route>();
  const amounts = createColumn<bigint | string>();
  const atMs = new Float64Array(keep);
  const platformFeeBps = new Float64Array(keep);
  const minValidSeconds = new Float64Array(keep);
  const exactOutput = new Uint8Array(keep);
  /** Last second of any of its answers; 0: it was declined. */
  const endsAt = new Float64Array(keep);
  /** Of the answer that was taken, or the first; undefined: there was none. */
  const quotedAt = createBigintRows(keep);
  /** NaN: it was not. */
  const acceptedAtMs = new Float64Array(keep);

  /** Of each answer of late, its request and what it said. */
  const answers = createIdRing(keep * MOST_ANSWERS);
  const requestOf = new Float64Array(keep * MOST_ANSWERS);
  const saidOf = createBigintRows(keep * MOST_ANSWERS);

  function add(
    rfqId: string,
    asked: {
      atMs: number;
      taker: string;
      route: Route;
      side: RecordedRfq['side'];
      amount: bigint | string;
      platformFeeBps: number;
      minValidSeconds: number;
    },
  ): number {
    if (requests.next - requests.oldest === keep) requests.dropOldest();
    const number = requests.add(rfqId);
    const row = requests.rowOf(number);
    rfqIds.set(row, rfqId);
    takers.set(row, asked.taker);
    routes.set(row, asked.route);
    amounts.set(row, asked.amount);
    atMs[row] = asked.atMs;
    platformFeeBps[row] = asked.platformFeeBps;
    minValidSeconds[row] = asked.minValidSeconds;
    exactOutput[row] = asked.side === 'exactOutput' ? 1 : 0;
    endsAt[row] = 0;
    quotedAt.set(row, undefined);
    acceptedAtMs[row] = Number.NaN;
    return number;
  }

  function answer(number: number, orderId: string, said: bigint, ends: UnixSeconds): void {
    const row = requests.rowOf(number);
    endsAt[row] = Math.max(endsAt[row] as number, ends);
    if (quotedAt.get(row) === undefined) quotedAt.set(row, said);
    if (answers.next - answers.oldest === keep * MOST_ANSWERS) answers.dropOldest();
    const place = answers.rowOf(answers.add(orderId));
    requestOf[place] = number;
    saidOf.set(place, said);
  }

  function lineOf(row: number, nowMs: number): RecordedRfq {
    const route = routes.get(row) as Route;
    const [ends, acceptedMs] = [endsAt[row] as number, acceptedAtMs[row] as number];
    return {
      atMs: atMs[row] as number,
      id: rfqIds.get(row) as string,
      taker: takers.get(row) as string,
      corridor: corridorOf(route.origin, route.dest),
      input: route.inputToken.symbol,
      output: route.outputToken.symbol,
      side: exactOutput[row] === 1 ? 'exactOutput' : 'exactInput',
      amount: (amounts.get(row) as bigint | string).toString(),
      platformFeeBps: platformFeeBps[row] as number,
      minValidSeconds: minValidSeconds[row] as number,
      outcome: !Number.isNaN(acceptedMs)
        ? 'accepted'
        : ends === 0
          ? 'declined'
          : ends * 1000 < nowMs
            ? 'expired'
            : null,
      quoted: quotedAt.get(row)?.toString() ?? null,
      acceptedAtMs: Number.isNaN(acceptedMs) ? null : acceptedMs,
      rival: null,
    };
  }

  return {
    listener: {
      quoted({
        rfqId,
        orderId,
        atMs: askedMs,
        taker,
        route,
        times,
        inputs: { side, amount, platformFeeBps: fee },
        priced,
        slice,
      }) {
        // A part of a split is no answer to what was asked.
        if (slice) return;
        const known = requests.find(rfqId);
        // What the taker demanded is in the firm times already.
        const number =
          known === -1
            ? add(rfqId, {
                atMs: askedMs,
                taker,
                route,
                side,
                amount,
                platformFeeBps: fee,
                minValidSeconds: 0,
              })
            : known;
        answer(number, orderId, side === 'exactInput' ? priced.output : priced.input, times.fillDeadline);
      },
      declined({ rfqId, taker, side, amount, platformFeeBps: fee, minValidUntil }, route, _, askedMs) {
        // What was asked on a way that we do not serve has no symbols to play it again by.
        if (route === undefined || requests.find(rfqId) !== -1) return;
        add(rfqId, {
          atMs: askedMs,
          taker,
          route,
          side,
          amount,
          platformFeeBps: fee,
          minValidSeconds:
            minValidUntil === null ? 0 : Math.max(0, Math.ceil(minValidUntil - askedMs / 1000)),
        });
      },
      accepted({ orderId }) {
        const found = answers.find(orderId);
        if (found === -1) return;
        const place = answers.rowOf(found);
        const number = requestOf[place] as number;
        if (number < requests.oldest) return;
        const row = requests.rowOf(number);
        if (!Number.isNaN(acceptedAtMs[row])) return;
        acceptedAtMs[row] = clock.nowMs();
        quotedAt.set(row, saidOf.get(place));
      },
    },
    recorded(after = -1, limit = AT_ONCE) {
      const nowMs = clock.nowMs();
      const end = Math.min(requests.next, Math.max(after + 1, requests.oldest) + limit);
      const rfqs: RecordedRfq[] = [];
      for (let number = Math.max(after + 1, requests.oldest); number < end; number++)
        rfqs.push(lineOf(requests.rowOf(number), nowMs));
      return { rfqs, next: end < requests.next ? end - 1 : null };
    },
  };
}
