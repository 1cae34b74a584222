/** Statistics of one LP in a run, the same for simulation and replay. */

import { type Decline, isDecline } from '../domain/decline.ts';
import { edgeUsd, type Maker, type MakerQuote, type SimRoute, toWholeTokens } from './maker.ts';

export interface SimTally {
  name: string;
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
  qRms: number;
  qEnd: number;
  worstDrawdownUsd: number;
  mostHeldUsd: number;
  declines: Record<string, number>;
}

export interface Sample {
  pnlUsd: number;
  q: number;
  heldUsd: number;
  /** Since the last sample; null: no quote. */
  spreadBps: number | null;
}

export type EventCounter = ReturnType<typeof createCounter>;

export function createCounter(maker: Maker) {
  const declines = new Map<string, number>();
  const total = { requests: 0, quoted: 0, fills: 0, exercised: 0, volumeUsd: 0, spreadUsd: 0, pickOffUsd: 0 };
  const spread = { sum: 0, skew: 0, n: 0, since: 0, sinceN: 0 };
  const seen = { squares: 0, n: 0, best: 0, drawdown: 0, held: 0 };

  const pnl = (mid: number): number => {
    const { base, quote } = maker.change();
    return base * mid + quote - maker.gasPaid;
  };

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
    taken(offer: MakerQuote, mid: number, exercised: boolean): void {
      const worth = edgeUsd(offer, mid) - (offer.request.route.sameChain ? 0 : maker.setup.gasUsd);
      total.fills += 1;
      total.volumeUsd += Number(offer.priced.notional) / 1e6;
      if (exercised) {
        total.exercised += 1;
        total.pickOffUsd += worth;
      } else {
        total.spreadUsd += worth;
      }
    },
    sample(mid: number): Sample {
      const [now, q, heldUsd] = [pnl(mid), maker.q(), maker.heldUsd(mid)];
      seen.squares += q * q;
      seen.n += 1;
      seen.best = Math.max(seen.best, now);
      seen.drawdown = Math.max(seen.drawdown, seen.best - now);
      seen.held = Math.max(seen.held, heldUsd);
      const spreadBps = spread.sinceN === 0 ? null : spread.since / spread.sinceN;
      [spread.since, spread.sinceN] = [0, 0];
      return { pnlUsd: now, q, heldUsd, spreadBps };
    },
    tally: (mid: number): SimTally => ({
      name: maker.setup.name,
      ...total,
      pnlUsd: pnl(mid),
      meanSpreadBps: spread.sum / Math.max(spread.n, 1),
      meanSkewBps: spread.skew / Math.max(spread.n, 1),
      qRms: seen.n === 0 ? 0 : Math.sqrt(seen.squares / seen.n),
      qEnd: maker.q(),
      worstDrawdownUsd: seen.drawdown,
      mostHeldUsd: seen.held,
      declines: Object.fromEntries([...declines].sort(([a], [b]) => (a < b ? -1 : 1))),
    }),
  };
}

/** Bps: positive is what the taker pays. */
export const awayBps = ({ request: { route }, priced: { input, output } }: MakerQuote, mid: number): number =>
  away(route, input, output, mid);

export function away(route: SimRoute, input: bigint, output: bigint, mid: number): number {
  const [paid, got] = [toWholeTokens(input, route.input), toWholeTokens(output, route.output)];
  return route.lp === 'buy' ? (1 - got / (paid * mid)) * 1e4 : (1 - (got * mid) / paid) * 1e4;
}
