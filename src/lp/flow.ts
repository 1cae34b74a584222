/** The requests of late with what became of them, so that another configuration can be tried on what was really asked: `firmquote lp rfqs`, then `firmquote sim replay --rfqs`. */

import { corridorOf } from '../domain/corridor.ts';
import { createTextTable } from '../domain/text-table.ts';
import type { UnixSeconds } from '../domain/time.ts';
import type { Clock } from '../ports/clock.ts';
import type { MomentListener } from './moments.ts';
import type { Route } from './route.ts';
import { tagOf } from './tag.ts';

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
  /** Oldest first, those noted after number `after`, as many as `limit`; `next` asks for more, null: there are none. */
  recorded(after?: number, limit?: number): { rfqs: RecordedRfq[]; next: number | null };
}

interface Answer {
  orderId: string;
  quoted: bigint;
  endsAt: UnixSeconds;
}

/** What is kept of a request: nothing that a price was made of, for thousands of them stay. */
interface Kept {
  number: number;
  rfqId: string;
  atMs: number;
  taker: string;
  route: Route;
  side: 'exactInput' | 'exactOutput';
  amount: bigint | string;
  platformFeeBps: number;
  minValidSeconds: number;
  declined: boolean;
  /** The first answer; null: there was none. */
  answer: Answer | null;
  more: Answer[] | undefined;
  accepted: { quoted: bigint; atMs: number } | undefined;
}

const AT_ONCE = 1_000;
/** Firm times that one request is quoted at. */
const MOST_ANSWERS = 5;

export function createFlow({ clock }: { clock: Pick<Clock, 'nowMs'> }, { keep }: { keep: number }): Flow {
  const byRfq = createTextTable<string, Kept>();
  // Who is forgotten next, without searching: on the way of a quote everything takes the same time however much is kept.
  const ring: Kept[] = [];
  let noted = 0;
  /** Of each answer of late, a tag of its order id and the number of its request. */
  const tags = new Int32Array(keep * MOST_ANSWERS);
  const numbers = new Float64Array(keep * MOST_ANSWERS);
  let answered = 0;

  /** Takes up one that was made with `number: noted`. */
  function note(kept: Kept): void {
    const place = noted % keep;
    const old = ring[place];
    // Another with its id may have come since.
    if (old !== undefined && byRfq.get(old.rfqId) === old) byRfq.delete(old.rfqId);
    ring[place] = kept;
    noted += 1;
    byRfq.set(kept.rfqId, kept);
  }

  function tell({ number }: Kept, { orderId }: Answer): void {
    const place = answered % tags.length;
    tags[place] = tagOf(orderId);
    numbers[place] = number;
    answered += 1;
  }

  /** Most who take a quote take it soon: looked for from the newest back, and only when one is taken. */
  function takenBy(orderId: string): { kept: Kept; answer: Answer } | undefined {
    const tag = tagOf(orderId);
    for (let at = answered - 1, left = Math.min(answered, tags.length); left > 0; left -= 1, at -= 1) {
      const place = at % tags.length;
      if (tags[place] !== tag) continue;
      const kept = ring[(numbers[place] as number) % keep] as Kept;
      const answer = kept.number === numbers[place] ? answersOf(kept).find((each) => each.orderId === orderId) : undefined;
      if (answer !== undefined) return { kept, answer };
    }
    return undefined;
  }

  return {
    listener: {
      quoted({ rfqId, orderId, atMs, taker, route, times, inputs: { side, amount, platformFeeBps }, priced, slice }) {
        // A part of a split is no answer to what was asked.
        if (slice) return;
        // What the taker demanded is in the firm times already.
        const answer = { orderId, quoted: side === 'exactInput' ? priced.output : priced.input, endsAt: times.fillDeadline };
        const known = byRfq.get(rfqId);
        const kept = known ?? { number: noted, rfqId, atMs, taker, route, side, amount, platformFeeBps, minValidSeconds: 0, declined: false, answer, more: undefined, accepted: undefined };
        tell(kept, answer);
        if (known === undefined) note(kept);
        else (known.more ??= []).push(answer);
      },
      declined({ rfqId, taker, side, amount, platformFeeBps, minValidUntil }, route, _, atMs) {
        // What was asked on a way that we do not serve has no symbols to play it again by.
        if (route === undefined || byRfq.has(rfqId)) return;
        note({ number: noted, rfqId, atMs, taker, route, side, amount, platformFeeBps, minValidSeconds: minValidUntil === null ? 0 : Math.max(0, Math.ceil(minValidUntil - atMs / 1000)), declined: true, answer: null, more: undefined, accepted: undefined });
      },
      accepted({ orderId }) {
        const taken = takenBy(orderId);
        if (taken !== undefined) taken.kept.accepted ??= { quoted: taken.answer.quoted, atMs: clock.nowMs() };
      },
    },
    recorded(after = -1, limit = AT_ONCE) {
      const nowMs = clock.nowMs();
      const first = Math.max(after + 1, noted - ring.length);
      const end = Math.min(noted, first + limit);
      const rfqs: RecordedRfq[] = [];
      for (let number = first; number < end; number++) rfqs.push(lineOf(ring[number % keep] as Kept, nowMs));
      return { rfqs, next: end < noted ? end - 1 : null };
    },
  };
}

const answersOf = ({ answer, more = [] }: Pick<Kept, 'answer' | 'more'>): Answer[] => (answer === null ? more : [answer, ...more]);

function lineOf({ rfqId, atMs, taker, route, side, amount, platformFeeBps, minValidSeconds, declined, answer, more, accepted }: Kept, nowMs: number): RecordedRfq {
  const answers = answersOf({ answer, more });
  const over = answers.every(({ endsAt }) => endsAt * 1000 < nowMs);
  return {
    atMs, id: rfqId, taker, corridor: corridorOf(route.origin, route.dest), input: route.inputToken.symbol, output: route.outputToken.symbol,
    side, amount: amount.toString(), platformFeeBps, minValidSeconds,
    outcome: accepted !== undefined ? 'accepted' : answers.length === 0 && declined ? 'declined' : over ? 'expired' : null,
    quoted: (accepted?.quoted ?? answers[0]?.quoted)?.toString() ?? null,
    acceptedAtMs: accepted?.atMs ?? null,
    rival: null,
  };
}
