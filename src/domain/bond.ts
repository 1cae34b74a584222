/** The bond that an LP answers with for its promises, as the contract `QuoteBond` counts it. */

import type { Chain } from './chain.ts';
import type { Address, Bytes32 } from './hex.ts';
import type { UnixSeconds } from './time.ts';

/** Of one LP and token, in base units. */
export interface Bond {
  /** All that pays claims. */
  amount: bigint;
  /** What of it the LP has asked to take back. Do not count on it. */
  leaving: bigint;
  /** Chain time from which that may leave; 0 when nothing was asked for. */
  availableAt: UnixSeconds;
}

/** What an LP answers for across chains. */
export interface BondTerms {
  /** Before its fill deadline an order must have been open for this long. 0: no such order is covered. */
  fillWindowSeconds: number;
  /** Whether deliveries to wallets are covered too, and not only those into the ledger. */
  wallets: boolean;
}

/** The least that a venue demands of an LP's bond in one token. */
export interface BondDemand {
  chainId: number;
  token: Address;
  /** Base units. */
  amount: bigint;
}

/** What a claim showed, in the order of the contract's `Fade`. */
export const FADE_REASONS = ['balance', 'limit', 'revoked', 'unfilled'] as const;

/** A promise of the account that failed, and what its bond paid. Amounts in base units. */
export interface BondClaim {
  user: Address;
  orderId: Bytes32;
  quoteId: Bytes32;
  reason: (typeof FADE_REASONS)[number];
  promised: bigint;
  /** To the user. */
  paid: bigint;
  /** As much again, less an odd unit: an LP that claims against itself loses it. */
  forfeited: bigint;
}

const BPS = 10_000n;

/**
 * What a bond must hold so that the taker of a failed promise gets its whole share: as much is forfeited as
 * is paid.
 */
export const bondNeededFor = (promised: bigint, shareBps: bigint): bigint =>
  2n * ((promised * shareBps) / BPS);

/** The largest promise whose whole share this bond would pay. */
export const coveredBy = (bond: Pick<Bond, 'amount' | 'leaving'>, shareBps: bigint): bigint =>
  (firmBond(bond) * BPS) / (2n * shareBps);

/** What may be counted on for longer than the bond takes to leave. */
export const firmBond = ({ amount, leaving }: Pick<Bond, 'amount' | 'leaving'>): bigint => amount - leaving;

/** Where a claim would be paid: on one chain in the output's token, across chains in the origin's input. */
export const claimedIn = ({
  origin,
  dest,
  inputToken,
  outputToken,
}: {
  origin: Pick<Chain, 'id'>;
  dest: Pick<Chain, 'id'>;
  inputToken: { address: Address };
  outputToken: { address: Address };
}): { chainId: number; token: Address } =>
  origin.id === dest.id
    ? { chainId: dest.id, token: outputToken.address }
    : { chainId: origin.id, token: inputToken.address };
