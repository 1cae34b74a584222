/**
 * What the books are worth: spread at the mids of acceptance, and positions at average cost per asset over
 * all chains.
 *
 * A trade exchanges two assets at mid and earns what lies between; from then on what was bought is worth what
 * the market says. Realised is what assets that left brought over their average cost, unrealised what is
 * still here is worth over its cost. What the owner pays in or takes out does so at the mid of that moment
 * and is no profit. So, in millionths of USD, exactly: spread + realised + unrealised - lost = value now -
 * what the owner put in.
 */

import type { PositionRow, TradeRecord } from '../../ports/stores/accounting-store.ts';
import { type Rational, ten } from '../../pricing/rational.ts';

/** Base units at a price in USD for one whole token, in millionths of USD, rounded down. */
export function microsOf(amount: bigint, decimals: number, { num, den }: Rational): bigint {
  return (amount * num * 1_000_000n) / (den * ten(decimals));
}

/** Of a quantity in 1e-18 of a whole token. */
export const valueOf = (quantity: bigint, price: Rational): bigint => microsOf(quantity, 18, price);

/** 1e-18 of a whole token, whatever the token's decimals. */
export const attoOf = (amount: bigint, decimals: number): bigint =>
  decimals <= 18 ? amount * ten(18 - decimals) : amount / ten(decimals - 18);

export const emptyPosition = (asset: string): PositionRow => ({
  asset,
  quantity: 0n,
  costMicros: 0n,
  realisedMicros: 0n,
  ownerMicros: 0n,
  unpriced: 0n,
});

/**
 * A quantity (positive in, negative out) changes hands for `micros` (never negative). What leaves takes its
 * share of the cost with it, and what it brought beyond that is realised; below zero the position is short
 * and the same holds mirrored.
 */
export function moved(position: PositionRow, quantity: bigint, micros: bigint): PositionRow {
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
 * The owner's own money: at its value of the moment it is neither gain nor loss. Without a price it waits for
 * one.
 */
export function owned(position: PositionRow, quantity: bigint, price: Rational | undefined): PositionRow {
  if (price === undefined)
    return { ...position, quantity: position.quantity + quantity, unpriced: position.unpriced + quantity };
  const micros = valueOf(quantity < 0n ? -quantity : quantity, price);
  return {
    ...moved(position, quantity, micros),
    ownerMicros: position.ownerMicros + (quantity < 0n ? -micros : micros),
  };
}

/** Gives what came without a price the first one there is. */
export function priced(position: PositionRow, price: Rational | undefined): PositionRow {
  if (position.unpriced === 0n || price === undefined) return position;
  const rest = { ...position, quantity: position.quantity - position.unpriced, unpriced: 0n };
  return owned(rest, position.unpriced, price);
}

export const spreadOf = ({
  earnedMicros,
  paidMicros,
}: Pick<TradeRecord, 'earnedMicros' | 'paidMicros'>): bigint => earnedMicros - paidMicros;

/** One asset as it stands, at a price. */
export interface PositionView {
  asset: string;
  quantity: bigint;
  /** USD for one whole token; null: nobody says. */
  price: number | null;
  valueMicros: bigint | null;
  costMicros: bigint;
  realisedMicros: bigint;
  unrealisedMicros: bigint | null;
  ownerMicros: bigint;
}

export function viewOf(row: PositionRow, price: Rational | undefined): PositionView {
  const position = priced(row, price);
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
