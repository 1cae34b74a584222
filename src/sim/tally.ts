/** Statistics of one LP in a run, in all and by pair, the same for simulation and replay. */

import { type Decline, isDecline } from '../domain/decline.ts';
import type { Maker } from './maker/maker.ts';
import {
  edgeUsd,
  type MakerPair,
  type MakerQuote,
  pairName,
  type SimRoute,
  toWholeTokens,
} from './maker/setup.ts';

interface Figures {
  requests: number;
  quoted: number;
  fills: number;
  exercised: number;
  volumeUsd: number;
  /** Value of fills at the mid when taken, less own gas. */
  spreadUsd: number;
  pickOffUsd: number;
  /** spreadUsd + pickOffUsd + change in value of the position. */
  pnlUsd: number;
  /** Mean all-in spread of the first quote, bps. */
  meanSpreadBps: number;
  /** Bps, absolute. */
  meanSkewBps: number;
  /** The LP's position; with several pairs that of the pair which is farthest from its target at the time. */
  qRms: number;
  qEnd: number;
  worstDrawdownUsd: number;
  declines: Record<string, number>;
}

export interface PairTally extends Figures {
  pair: string;
}

export interface SimTally extends Figures {
  name: string;
  mostHeldUsd: number;
  /** Tallies by pair; their profits sum to that of the LP. */
  pairs: PairTally[];
}

interface PairSample {
  pnlUsd: number;
  q: number;
  /** The spread since the last sample; null: no quote. */
  spreadBps: number | null;
}

export interface Sample extends PairSample {
  heldUsd: number;
  pairs: PairSample[];
}

/** Counts what a simulated LP answered and what takers took. */
export interface EventCounter {
  /** `pair` is undefined when the LP has no such pair. */
  answered(pair: number | undefined, answer: readonly MakerQuote[] | Decline): void;
  taken(offer: MakerQuote, mid: number, exercised: boolean): void;
  /** Samples the figures at one mid for each pair. */
  sample(mids: readonly number[]): Sample;
  tally(mids: readonly number[]): SimTally;
}

export function createCounter(maker: Maker): EventCounter {
  const all = createFigures();
  const pairs = maker.setup.pairs.map(createFigures);
  let mostHeldUsd = 0;

  const whole = (atto: bigint): number => Number(atto / 1_000_000n) / 1e12;
  function pnl(mids: readonly number[]): number {
    const { bases, quote, gasUsd } = maker.change();
    const position = bases.reduce((sum, base, at) => sum + whole(base) * (mids[at] as number), 0);
    return position + whole(quote) - gasUsd;
  }
  function pairPnl(pair: number, mid: number): number {
    const { base, quote, gasUsd } = maker.pairChange(pair);
    return whole(base) * mid + whole(quote) - gasUsd;
  }
  const farthest = (): number =>
    pairs.map((_, pair) => maker.q(pair)).reduce((most, q) => (Math.abs(q) > Math.abs(most) ? q : most));

  return {
    answered(pair, answer) {
      all.answered(answer);
      if (pair !== undefined) pairs[pair]?.answered(answer);
    },
    taken(offer, mid, exercised) {
      const { route } = offer.request;
      const worth = edgeUsd(offer, mid) - (route.sameChain ? 0 : maker.setup.gasUsd);
      for (const each of [all, pairs[route.pair]]) each?.taken(offer, worth, exercised);
    },
    sample(mids) {
      const heldUsd = maker.heldUsd(mids);
      mostHeldUsd = Math.max(mostHeldUsd, heldUsd);
      return {
        ...all.sample(pnl(mids), farthest()),
        heldUsd,
        pairs: pairs.map((each, pair) => each.sample(pairPnl(pair, mids[pair] as number), maker.q(pair))),
      };
    },
    tally: (mids) => ({
      name: maker.setup.name,
      ...all.figures(pnl(mids), farthest()),
      mostHeldUsd,
      pairs: pairs.map((each, at) => ({
        pair: pairName(maker.setup.pairs[at] as MakerPair),
        ...each.figures(pairPnl(at, mids[at] as number), maker.q(at)),
      })),
    }),
  };
}

function createFigures() {
  const declines = new Map<string, number>();
  const total = { requests: 0, quoted: 0, fills: 0, exercised: 0, volumeUsd: 0, spreadUsd: 0, pickOffUsd: 0 };
  const spread = { sum: 0, skew: 0, n: 0, since: 0, sinceN: 0 };
  const seen = { squares: 0, n: 0, best: 0, drawdown: 0 };

  return {
    answered(answer: readonly MakerQuote[] | Decline): void {
      total.requests += 1;
      if (isDecline(answer)) {
        const why = answer.control ?? answer.declined;
        declines.set(why, (declines.get(why) ?? 0) + 1);
        return;
      }
      total.quoted += 1;
      const { D, inv } = (answer[0] as MakerQuote).priced.terms;
      spread.sum += D;
      spread.skew += Math.abs(inv);
      spread.n += 1;
      spread.since += D;
      spread.sinceN += 1;
    },
    taken({ priced }: MakerQuote, worthUsd: number, exercised: boolean): void {
      total.fills += 1;
      total.volumeUsd += Number(priced.notional) / 1e6;
      if (exercised) {
        total.exercised += 1;
        total.pickOffUsd += worthUsd;
      } else {
        total.spreadUsd += worthUsd;
      }
    },
    sample(pnlUsd: number, q: number): PairSample {
      seen.squares += q * q;
      seen.n += 1;
      seen.best = Math.max(seen.best, pnlUsd);
      seen.drawdown = Math.max(seen.drawdown, seen.best - pnlUsd);
      const spreadBps = spread.sinceN === 0 ? null : spread.since / spread.sinceN;
      [spread.since, spread.sinceN] = [0, 0];
      return { pnlUsd, q, spreadBps };
    },
    figures: (pnlUsd: number, qEnd: number): Figures => ({
      ...total,
      pnlUsd,
      meanSpreadBps: spread.sum / Math.max(spread.n, 1),
      meanSkewBps: spread.skew / Math.max(spread.n, 1),
      qRms: seen.n === 0 ? 0 : Math.sqrt(seen.squares / seen.n),
      qEnd,
      worstDrawdownUsd: seen.drawdown,
      declines: Object.fromEntries([...declines].sort(([a], [b]) => (a < b ? -1 : 1))),
    }),
  };
}

/** Computes the distance from the mid, bps: positive is what the taker pays. */
export const awayBps = ({ request: { route }, priced: { input, output } }: MakerQuote, mid: number): number =>
  away(route, input, output, mid);

export function away(route: SimRoute, input: bigint, output: bigint, mid: number): number {
  const [paid, got] = [toWholeTokens(input, route.input), toWholeTokens(output, route.output)];
  return route.lp === 'buy' ? (1 - got / (paid * mid)) * 1e4 : (1 - (got * mid) / paid) * 1e4;
}
