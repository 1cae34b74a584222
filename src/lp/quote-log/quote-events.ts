/**
 * What happens to our promises, said once to everybody inside the LP who keeps count: explanations, profit,
 * takers, risk.
 */

import type { Decline } from '../../domain/decline.ts';
import type { Address, Bytes32, Hex } from '../../domain/hex.ts';
import type { OrderTimes } from '../../domain/time.ts';
import type { HoldRequest, Money } from '../../inventory/event.ts';
import type { Nearest } from '../../inventory/limits.ts';
import type { Log } from '../../ports/log.ts';
import type { Priced } from '../../pricing/price.ts';
import type { PriceInputs } from '../../pricing/price-inputs.ts';
import type { Rfq } from '../../protocol/link/link.ts';
import type { OpenAward } from '../settlement/awards.ts';
import type { Evidence } from '../quoting/pricing-context.ts';
import type { Route } from '../quoting/route.ts';

/**
 * A promise that is held and on its way out, with everything that made its price. Listeners that keep it for
 * long keep what they need of it.
 */
export interface QuoteRecord {
  orderId: Bytes32;
  /** The venue's name for it. */
  quoteId: Bytes32;
  rfqId: string;
  atMs: number;
  taker: Address;
  route: Route;
  times: OrderTimes;
  inputs: PriceInputs & { evidence?: Evidence };
  priced: Priced;
  hold: Pick<HoldRequest, 'amount' | 'group' | 'lapsesAt'>;
  /** A part of a split rather than a whole request. */
  slice: boolean;
  /** The cap it came nearest to, and how many quotes were live. */
  nearest?: Nearest | undefined;
  liveQuotes?: number | undefined;
}

/** Where on a chain something was seen. */
export interface Seen {
  chainId: number;
  blockNumber: bigint;
  blockHash: Hex;
  txHash: Hex;
}

/**
 * Called in the middle of other work, `quoted` and `declined` after every answer (`afterwards.ts`): a
 * listener notes and returns; what takes longer it does later. Chain moments may repeat after a restart and
 * may come without an earlier one.
 */
export interface MomentListener {
  quoted?(record: QuoteRecord): void;
  declined?(rfq: Rfq, route: Route | undefined, decline: Decline, atMs: number): void;
  /** Awarded by a venue, or seen open on its origin. */
  accepted?(award: OpenAward): void;
  /** Our output left, in a block that may still be reorganised. */
  filled?(award: OpenAward, seen: Seen): void;
  /** The fill that was seen in this block and transaction is not there any more. */
  unfilled?(award: OpenAward, was: Pick<Seen, 'blockHash' | 'txHash'>): void;
  /** The input is ours, at depth. */
  finalised?(award: OpenAward, seen: Seen): void;
  failed?(award: OpenAward, why: string): void;
  /** The owner paid in (positive) or took out (negative), at depth. */
  moved?(money: Money, id: string): void;
}

export interface Moments extends Required<MomentListener> {
  listen(listener: MomentListener): void;
}

/** A listener that throws is logged and does not keep the others, or a quote, from going on. */
export function createMoments({ log }: { log: Log }): Moments {
  const refreshing: (() => void)[] = [];
  const listeners: MomentListener[] = [];

  function each<K extends keyof MomentListener>(moment: K): Required<MomentListener>[K] {
    type Hear = (...given: Parameters<Required<MomentListener>[K]>) => void;
    let hearing: Hear[] = [];
    // Asked for once, when somebody begins to listen, and not for every quote.
    refreshing.push(
      () => (hearing = listeners.flatMap((listener) => (listener[moment] as Hear | undefined) ?? [])),
    );
    const say: Hear = (...given) => {
      for (const hear of hearing) {
        try {
          hear(...given);
        } catch (error) {
          log.error({ moment, error }, 'somebody who keeps count failed');
        }
      }
    };
    return say as Required<MomentListener>[K];
  }

  return {
    listen(listener) {
      listeners.push(listener);
      for (const refresh of refreshing) refresh();
    },
    quoted: each('quoted'),
    declined: each('declined'),
    accepted: each('accepted'),
    filled: each('filled'),
    unfilled: each('unfilled'),
    finalised: each('finalised'),
    failed: each('failed'),
    moved: each('moved'),
  };
}
