/**
 * Stores what route venues have promised to pay out of floats of their own. All processes of one venue share
 * it, so that two replicas do not promise the same money.
 */

import type { Address, Bytes32 } from '../../domain/hex.ts';
import type { MandateOutput } from '../../domain/order.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { StoredTransfer } from './transfers.ts';

/** A token that a route venue holds on one chain. */
export interface FloatPlace {
  venueId: string;
  /** The account in whose ledger the token is. It belongs to this venue alone. */
  account: Address;
  chainId: number;
  token: Address;
}

/** An output of an accepted order. */
export interface OwedOutput {
  orderId: Bytes32;
  index: number;
  output: MandateOutput;
}

/** A block of the place's chain at which its balance was read: that balance has paid these and no others. */
export interface FloatBlock {
  number: bigint;
  /** Base units that are requested for withdrawal in the block, and not in the balance that was read. */
  requested: bigint;
  paid: readonly Pick<OwedOutput, 'orderId' | 'index'>[];
}

export interface FloatPromise extends FloatPlace {
  /** Base units that leave the float when the order is filled. */
  amount: bigint;
  /**
   * The order's chain, taker and nonce. At most one order of a nonce is accepted, so promises under one nonce
   * count as their largest.
   */
  originChainId: number;
  taker: Address;
  nonce: bigint;
  /** Chain time of the origin after which no order is accepted under this promise. */
  until: UnixSeconds;
  /** All that may be promised of the place, what is promised already included. */
  most: bigint;
  /** The base units that the place holds. Quotes, orders and transfers together may not exceed them. */
  held: bigint;
  /** The block at which `most` and `held` were read. */
  asOf: FloatBlock;
}

/** A transfer from this place to another place of the same float. */
export interface FloatTransfer extends FloatPlace {
  transfer: StoredTransfer;
  /** The base units that the place holds, as in a promise. */
  held: bigint;
  asOf: FloatBlock;
  /** Base units that must be left to be promised. */
  low: bigint;
  /** Limits what all transfers since `sinceMs` may have carried between these places, this one included. */
  day: {
    sinceMs: number;
    /** The limit, in 1e-18 of a whole token. */
    most: bigint;
    places: readonly { chainId: number; token: Address; decimals: number }[];
  };
}

/** `one_is_open`: to the same place, from the same place, or the other way. `over_day`: above `day.most`. */
export type FloatTransferAnswer = 'added' | 'one_is_open' | 'not_free' | 'over_day';

/** Base units. */
export interface FloatUse {
  /** The promises of quotes that can still be submitted. */
  promised: bigint;
  /** The outputs of accepted orders that the place has not paid in the block asked for. */
  open: bigint;
  /** The transfers to other chains that the block asked for does not show as requested yet. */
  moving: bigint;
}

/** The chain time of each origin; promises of others do not expire. */
export type OriginTimes = ReadonlyMap<number, UnixSeconds>;

/** All calls throw `UpstreamError` when the database does not answer. */
export interface FloatStore {
  /**
   * Adds the promise, unless more than `most` were promised or open with it, or more than `held` with what is
   * moving. Atomic over all processes.
   */
  promise(promise: FloatPromise, now: OriginTimes): Promise<boolean>;
  /** Adds the transfer, if nothing speaks against it. Atomic over all processes, with promises too. */
  transfer(transfer: FloatTransfer, now: OriginTimes): Promise<FloatTransferAnswer>;
  /**
   * Outputs of open orders that the place owes, paid or not. Look them up on the chain at a block that was
   * seen before this call: no order accepted later is paid there.
   */
  owed(place: FloatPlace): Promise<OwedOutput[]>;
  use(place: FloatPlace, asOf: FloatBlock, now: OriginTimes): Promise<FloatUse>;
}
