/**
 * Values the books: spread at the mids of acceptance, positions at average cost per asset over all chains.
 *
 * A trade earns the difference of its legs at mid. Realised profit is sales above average cost; unrealised
 * profit is remaining value above cost. Deposits and withdrawals are at the current mid and are no profit.
 * Exactly, in millionths of USD: spread + realised + unrealised - lost = value now - deposits by the owner.
 */

import type { PositionRow } from '../../ports/stores/accounting-store.ts';
import type { Rational } from '../../pricing/rational.ts';
import { usdDown } from '../../pricing/usd.ts';

const MICROS = 1_000_000n;

/** Values base units in millionths of USD, rounded towards zero. */
export const usdMicrosOf = (amount: bigint, decimals: number, price: Rational): bigint =>
  usdDown(amount, { decimals, price }, MICROS);

export const valueOf = (quantity: bigint, price: Rational): bigint => usdMicrosOf(quantity, 18, price);

export const emptyPosition = (asset: string): PositionRow => ({
  asset,
  quantity: 0n,
  costMicros: 0n,
  realisedMicros: 0n,
  ownerMicros: 0n,
  unpriced: 0n,
  unrealisedMicros: 0n,
});

/**
 * Applies a quantity (positive in, negative out) traded for `micros` (never negative). Outflow takes its
 * share of the cost; the rest is realised. A short position mirrors this.
 */
export function applyTrade(position: PositionRow, quantity: bigint, micros: bigint): PositionRow {
  if (quantity === 0n) return position;
  const into = quantity > 0n;
  const size = into ? quantity : -quantity;
  const held = position.quantity < 0n ? -position.quantity : position.quantity;
  const closing =
    position.quantity === 0n || position.quantity > 0n === into ? 0n : size < held ? size : held;
  const closed = (micros * closing) / size;
  const share = held === 0n ? 0n : (position.costMicros * closing) / held;
  return {
    ...position,
    quantity: position.quantity + quantity,
    costMicros: position.costMicros - share + (into ? micros - closed : closed - micros),
    realisedMicros: position.realisedMicros + (closing === 0n ? 0n : (into ? -closed : closed) - share),
  };
}

/**
 * Applies a deposit or withdrawal at its current value, which is no profit. Without a price it stays
 * unpriced.
 */
export function applyOwnerMove(
  position: PositionRow,
  quantity: bigint,
  price: Rational | undefined,
): PositionRow {
  if (price === undefined)
    return { ...position, quantity: position.quantity + quantity, unpriced: position.unpriced + quantity };
  const micros = valueOf(quantity < 0n ? -quantity : quantity, price);
  return {
    ...applyTrade(position, quantity, micros),
    ownerMicros: position.ownerMicros + (quantity < 0n ? -micros : micros),
  };
}

export function valueUnpriced(position: PositionRow, price: Rational | undefined): PositionRow {
  if (position.unpriced === 0n || price === undefined) return position;
  const priced = { ...position, quantity: position.quantity - position.unpriced, unpriced: 0n };
  return applyOwnerMove(priced, position.unpriced, price);
}

export interface PositionView {
  asset: string;
  quantity: bigint;
  /** USD for one whole token; null when there is no price. */
  price: number | null;
  valueMicros: bigint | null;
  costMicros: bigint;
  realisedMicros: bigint;
  unrealisedMicros: bigint | null;
  ownerMicros: bigint;
}

export function positionViewOf(row: PositionRow, price: Rational | undefined): PositionView {
  const position = valueUnpriced(row, price);
  const valueMicros = price === undefined ? null : valueOf(position.quantity, price);
  return {
    asset: row.asset,
    quantity: position.quantity,
    price: price === undefined ? null : Number(price.num) / Number(price.den),
    valueMicros,
    costMicros: position.costMicros,
    realisedMicros: position.realisedMicros,
    unrealisedMicros: valueMicros === null ? null : valueMicros - position.costMicros,
    ownerMicros: position.ownerMicros,
  };
}
