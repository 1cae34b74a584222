/**
 * Prices what a bridge venue pays out for what it is handed over. Pure. Costs round up, amounts that leave
 * the float round down, and the input of an exact output rounds up: no rounding pays the taker more than the
 * terms say.
 */

import { convertDown, convertUp, divUp, max, mulDivUp } from '../../../domain/amount.ts';

/** Parts per billion: one basis point is 100,000 of them. */
const PPB = 1_000_000_000n;
const PPB_PER_BPS = 100_000;
const DAY_SECONDS = 86_400;

/** The terms of one direction between two chains, fixed for one pair of pinned blocks. */
export interface TransferTerms {
  /** Base units of the input for each transfer, whatever its size: gas of the fill and share of the claim. */
  flat: bigint;
  /** Parts per billion of what is handed over: refill, capital and margin. */
  share: bigint;
  inputDecimals: number;
  outputDecimals: number;
}

/** Costs that grow with the amount. */
interface ShareCosts {
  /** Parts per billion that the bridge keeps of a refill. */
  refill: bigint;
  /** Basis points a day for money that is out. */
  capitalBpsPerDay: number;
  /** The time from the acceptance of an order until its input is back where the output was. */
  secondsOut: number;
  marginBps: number;
}

export const ppbOfBpsUp = (bps: number): bigint => BigInt(Math.ceil(bps * PPB_PER_BPS));

/** Parts per billion. */
export const shareUp = ({ refill, capitalBpsPerDay, secondsOut, marginBps }: ShareCosts): bigint =>
  refill +
  divUp(ppbOfBpsUp(capitalBpsPerDay) * BigInt(Math.ceil(secondsOut)), BigInt(DAY_SECONDS)) +
  ppbOfBpsUp(marginBps);

/**
 * Parts per billion that a refill of `lot` costs, when `received` of it arrive and sending costs `fee`, all
 * in base units of the token that is sent.
 */
export const refillShareUp = (lot: bigint, received: bigint, fee: bigint): bigint =>
  mulDivUp(max(lot - received, 0n) + fee, PPB, lot);

/**
 * Computes the payout, base units of the output; 0n when the costs take all of it. Never falls as `handed`
 * grows.
 */
export function payoutDown(handed: bigint, terms: TransferTerms): bigint {
  const left = handed - mulDivUp(handed, terms.share, PPB) - terms.flat;
  return left > 0n ? convertDown(left, terms.inputDecimals, terms.outputDecimals) : 0n;
}

/** The least that has to be handed over for at least `output`; undefined when no amount would do. */
export function handedForUp(output: bigint, terms: TransferTerms): bigint | undefined {
  if (terms.share >= PPB) return undefined;
  const net = convertUp(output, terms.outputDecimals, terms.inputDecimals) + terms.flat;
  return mulDivUp(net, PPB, PPB - terms.share);
}

/** Base units of the input that stay with the venue; for its books, so it rounds down. */
export const keptDown = (
  handed: bigint,
  paid: bigint,
  terms: Pick<TransferTerms, 'inputDecimals' | 'outputDecimals'>,
): bigint => handed - convertUp(paid, terms.outputDecimals, terms.inputDecimals);

/** Base units of the input that the taker pays for the transfer, with the rounding of what it gets. */
export const chargedUp = (
  handed: bigint,
  paid: bigint,
  terms: Pick<TransferTerms, 'inputDecimals' | 'outputDecimals'>,
): bigint => max(handed - convertDown(paid, terms.outputDecimals, terms.inputDecimals), 0n);
