/**
 * The bond that an LP answers with for its promises, as the contract `QuoteBond` counts it, and how long bond
 * and money are sure to stay. An LP that takes them away has to ask the contract and wait for a delay: a
 * promise that ends within the delay is backed to its end.
 */

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

/** The delays of one chain's contracts, in seconds. They never change. */
export interface BackingDelays {
  /** From the request until a balance leaves the escrow. */
  withdrawalSeconds: number;
  /** From the request until a bond leaves the bond contract; undefined where there is none. */
  takeBackSeconds: number | undefined;
}

/** One chain's delays, counted from its latest block: a request that nobody has seen is in a later one. */
export interface Backing {
  now: UnixSeconds;
  delays: BackingDelays;
}

/** Returns the latest fill deadline by which no balance leaves the paying escrow. */
export const latestPaid = ({ now, delays }: Backing): UnixSeconds => now + delays.withdrawalSeconds;

/**
 * Returns the latest fill deadline of an order across chains for which its origin's bond pays. The bond
 * contract takes the signature of a revoked operator only for deadlines within the escrow's delay. The claim
 * follows the refund, which is possible after `expires`: the bond may leave no earlier.
 */
export const latestBonded = (
  { now, delays: { withdrawalSeconds, takeBackSeconds = 0 } }: Backing,
  proofWindowSeconds: number,
): UnixSeconds => now + Math.min(withdrawalSeconds, takeBackSeconds - 1 - proofWindowSeconds);

/**
 * Returns the latest fill deadline of a quote. `bonding`: the origin of an order across chains whose bond has
 * to answer for it. On one chain a bond leaves later than a balance does, so `latestPaid` is enough.
 */
export const latestFillDeadline = (
  { paying, bonding }: { paying: Backing; bonding: Backing | undefined },
  proofWindowSeconds: number,
): UnixSeconds =>
  bonding === undefined
    ? latestPaid(paying)
    : Math.min(latestPaid(paying), latestBonded(bonding, proofWindowSeconds));
