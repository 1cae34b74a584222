/** Dispatches events of our quotes to the parts that record them. */

import type { Decline } from '../../domain/decline.ts';
import type { Address, Bytes32, Hex } from '../../domain/hex.ts';
import type { OrderTimes } from '../../domain/time.ts';
import type { HoldRequest, Money } from '../../inventory/event.ts';
import type { FullestCap } from '../../inventory/limits.ts';
import type { Log } from '../../ports/log.ts';
import type { Priced } from '../../pricing/price.ts';
import type { PriceInputs } from '../../pricing/price-inputs.ts';
import type { Rfq } from '../../protocol/link/link.ts';
import type { OpenAward } from '../settlement/awards.ts';
import type { PricingEvidence } from './pricing-evidence.ts';
import type { QuoteRoute } from '../routes/route.ts';

/** A held quote with the inputs of its price. Shared by reference and immutable. */
export interface QuoteRecord {
  orderId: Bytes32;
  quoteId: Bytes32;
  rfqId: string;
  atMs: number;
  taker: Address;
  /** The taker's key in statistics. When the LP serves several venues, it contains the venue too. */
  takerKey?: string;
  route: QuoteRoute;
  times: OrderTimes;
  inputs: PriceInputs & { evidence?: PricingEvidence };
  priced: Priced;
  hold: Pick<HoldRequest, 'amount' | 'group' | 'lapsesAt'>;
  slice: boolean;
  fullestCap?: FullestCap | undefined;
  liveQuotes?: number | undefined;
}

export interface ChainSighting {
  chainId: number;
  blockNumber: bigint;
  blockHash: Hex;
  txHash: Hex;
}

/**
 * Called synchronously, `quoted` and `declined` on the quote path: record and return. After a restart chain
 * events may repeat or lack predecessors.
 */
export interface QuoteEventListener {
  quoted?(record: QuoteRecord): void;
  /** `inputs`: of the price. Absent unless the price, its check or the hold was the reason. */
  declined?(
    rfq: Rfq,
    route: QuoteRoute | undefined,
    decline: Decline,
    atMs: number,
    inputs?: PriceInputs | undefined,
  ): void;
  /** Awarded by a venue, or seen open on its origin. */
  accepted?(award: OpenAward): void;
  filled?(award: OpenAward, seen: ChainSighting): void;
  unfilled?(award: OpenAward, was: Pick<ChainSighting, 'blockHash' | 'txHash'>): void;
  /** The input is ours, at depth. */
  finalised?(award: OpenAward, seen: ChainSighting): void;
  failed?(award: OpenAward, why: string): void;
  /** Paid in (positive) or taken out (negative) at depth, by the owner or by a transfer between chains. */
  moved?(money: Money, id: string, transferId?: string): void;
}

export interface QuoteEvents extends Required<QuoteEventListener> {
  listen(listener: QuoteEventListener): void;
}

/** A listener that throws is logged; the other listeners and the quote go on. */
export function createQuoteEvents({ log }: { log: Log }): QuoteEvents {
  const listeners: QuoteEventListener[] = [];

  function dispatch<K extends keyof QuoteEventListener>(
    event: K,
    ...facts: Parameters<Required<QuoteEventListener>[K]>
  ): void {
    for (const listener of listeners) {
      try {
        (listener[event] as ((...args: typeof facts) => void) | undefined)?.(...facts);
      } catch (error) {
        log.error({ event, error }, 'a listener of quote events failed');
      }
    }
  }

  return {
    listen: (listener) => void listeners.push(listener),
    quoted: (record) => dispatch('quoted', record),
    declined: (...facts) => dispatch('declined', ...facts),
    accepted: (award) => dispatch('accepted', award),
    filled: (award, seen) => dispatch('filled', award, seen),
    unfilled: (award, was) => dispatch('unfilled', award, was),
    finalised: (award, seen) => dispatch('finalised', award, seen),
    failed: (award, why) => dispatch('failed', award, why),
    moved: (money, id, transferId) => dispatch('moved', money, id, transferId),
  };
}
