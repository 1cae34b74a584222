/**
 * Simulates an exchange account beside an LP. It trades the part of the LP's position that exceeds a band,
 * back to the band's edge: with proportional costs it never pays to trade further (Davis and Norman 1990).
 */

import { divUp } from '../domain/amount.ts';

export interface HedgeSetup {
  /** Position that is left open, USD at mid, either side of the start. */
  bandUsd: number;
  /** Distance of the exchange's best prices from its mid. */
  halfSpreadBps: number;
  /** The exchange's fee, basis points of the traded value. */
  feeBps: number;
  /** The time from the decision to the trade, which then happens at that time's price. */
  delaySeconds: number;
}

export interface HedgeTally {
  orders: number;
  volumeUsd: number;
  /** Costs; both are part of the profit. */
  halfSpreadUsd: number;
  feeUsd: number;
}

export interface Hedger {
  /** Trades orders that are due, then orders what `change` exceeds the band by. `change` is in 1e-18. */
  step(second: number, change: bigint, mid: number): void;
  /** Returns the position, 1e-18 of a base token: negative is sold. */
  readonly position: bigint;
  /** Values the account, costs paid; USD. For reports only. */
  pnlUsd(mid: number): number;
  tally(): HedgeTally;
}

/** 1e-18 of a whole token or dollar, as the ledger's exposure. */
const ATTO = 10n ** 18n;
const NANO = 1_000_000_000;

export function createHedger({ bandUsd, halfSpreadBps, feeBps, delaySeconds }: HedgeSetup): Hedger {
  const waiting: { atSecond: number; size: bigint }[] = [];
  let [position, cash, ordered] = [0n, 0n, 0n];
  const total = { orders: 0, volume: 0n, halfSpread: 0n, fee: 0n };

  /** Values `size` at `price`, rounded against the LP: what it pays up, what it gets down. */
  function valueOf(size: bigint, price: number): bigint {
    const nano = BigInt(Math.round(price * NANO));
    return size > 0n ? divUp(size * nano, BigInt(NANO)) : -((-size * nano) / BigInt(NANO));
  }

  function trade(size: bigint, mid: number): void {
    const side = size > 0n ? 1 : -1;
    const cost = valueOf(size, mid * (1 + (side * halfSpreadBps) / 1e4));
    const value = cost < 0n ? -cost : cost;
    const fee = divUp(value * BigInt(Math.round(feeBps * NANO)), 10_000n * BigInt(NANO));
    position += size;
    cash -= cost + fee;
    total.orders += 1;
    total.volume += value;
    total.halfSpread += cost - valueOf(size, mid);
    total.fee += fee;
  }

  return {
    step(second, change, mid) {
      const due = () => (waiting[0]?.atSecond ?? Number.POSITIVE_INFINITY) <= second;
      while (due()) trade((waiting.shift() as { size: bigint }).size, mid);
      const band = BigInt(Math.round((bandUsd / mid) * NANO)) * (ATTO / BigInt(NANO));
      const open = change + ordered;
      const size = open > band ? band - open : open < -band ? -band - open : 0n;
      if (size === 0n) return;
      ordered += size;
      waiting.push({ atSecond: second + delaySeconds, size });
      while (due()) trade((waiting.shift() as { size: bigint }).size, mid);
    },
    get position() {
      return position;
    },
    pnlUsd: (mid) => whole(position) * mid + whole(cash),
    tally: () => ({
      orders: total.orders,
      volumeUsd: whole(total.volume),
      halfSpreadUsd: whole(total.halfSpread),
      feeUsd: whole(total.fee),
    }),
  };
}

const whole = (atto: bigint): number => Number(atto / 1_000_000n) / 1e12;
