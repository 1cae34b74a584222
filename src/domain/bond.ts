/** The bond that an LP answers with for its promises, as the contract `QuoteBond` counts it. */

import type { Chain } from './chain.ts';
import type { Address, Bytes32 } from './hex.ts';
import type { UnixSeconds } from './time.ts';

/** The bond of one LP in one token, in base units. */
export interface Bond {
  /** All that pays claims. */
  amount: bigint;
  /** The part that the LP has asked to take back. Do not count on it. */
  leaving: bigint;
  /** Chain time from which that may leave; 0 when nothing was asked for. */
  availableAt: UnixSeconds;
}

/** The terms on which an LP's bond covers orders across chains. */
export interface BondTerms {
  /**
   * An order is covered when it has been open for this long before its fill deadline. 0: no such order is
   * covered.
   */
  fillWindowSeconds: number;
  /** true when deliveries to wallets are covered too, and not only those into the ledger. */
  wallets: boolean;
}

/** The least that a venue demands of an LP's bond in one token. */
export interface BondDemand {
  chainId: number;
  token: Address;
  /** Base units. */
  amount: bigint;
}

/** The faults that a claim can show, in the order of the contract's `Fade`. */
export const FADE_REASONS = ['balance', 'limit', 'revoked', 'unfilled'] as const;

/** A promise of the account that failed, and what its bond paid. Amounts in base units. */
export interface BondClaim {
  user: Address;
  orderId: Bytes32;
  quoteId: Bytes32;
  reason: (typeof FADE_REASONS)[number];
  promised: bigint;
  /** The amount paid to the user. */
  paid: bigint;
  /** The same amount again, less an odd unit, so that an LP that claims against itself loses it. */
  forfeited: bigint;
}

const BPS = 10_000n;

/**
 * Returns the bond that pays the taker of a failed promise its whole share. The bond must hold twice the
 * share, because as much is forfeited as is paid.
 */
export const bondNeededFor = (promised: bigint, shareBps: bigint): bigint =>
  2n * ((promised * shareBps) / BPS);

/** Returns the largest promise whose whole share this bond would pay. */
export const coveredBy = (bond: Pick<Bond, 'amount' | 'leaving'>, shareBps: bigint): bigint =>
  (firmBond(bond) * BPS) / (2n * shareBps);

/** Returns the part of the bond that stays for longer than a withdrawal takes. */
export const firmBond = ({ amount, leaving }: Pick<Bond, 'amount' | 'leaving'>): bigint => amount - leaving;

/**
 * Returns the chain and token in which a claim would be paid: on one chain the output's token, across chains
 * the origin's input.
 */
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
