/** The data that pricing works on: what a price is computed from, the terms of its spread, and plug-ins. */

import type { HedgeLevel } from './hedge-book.ts';
import type { PricingParams } from './params.ts';
import type { Rational } from './rational.ts';

export interface PriceInputs {
  /** Which amount the taker fixed, and that amount in base units. On a split: this LP's slice. */
  side: 'exactInput' | 'exactOutput';
  amount: bigint;
  platformFeeBps: number;
  /**
   * Base units of the input token that the relayer is paid out of the input. Exact; 0n on walletBroadcast.
   */
  relayFee: bigint;

  /** What the LP does with the base asset: 'buy' takes base and pays quote. */
  lp: 'buy' | 'sell';
  baseDecimals: number;
  quoteDecimals: number;
  /** Whole quote tokens for one whole base token, exact. */
  mid: Rational;
  /** Reference currency (USD) for one whole quote token. Measured, never assumed to be 1. */
  quoteValue: number;
  /** sigma_P: how uncertain the mid is. */
  confidenceBps: number;
  /** Annualised, 0.9 is 90 %. */
  sigma: number;
  /** T: from the mid's timestamp to validUntil, plus clock skew. Not just the validity. */
  firmSeconds: number;
  /** (V - V*) / B of the base asset, over all chains, in transit and quoted. */
  q: number;
  /** Our own gas for this trade in base units of the output token, without buffer. */
  ownGas: bigint;
  /** From fill to claim finalised. */
  lockSeconds: number;

  /** What this taker's accepted quotes cost us after acceptance. Default 1.5. */
  adverseBps?: number;
  /** Moving inventory between chains: `rebalanceBps` of terms.ts. Default 0. */
  rebalanceBps?: number;
  /**
   * A peg is broken: no rebate for taking a position over, neither from skew nor from rebalancing. Default
   * false.
   */
  noRebates?: boolean;
  /**
   * Cost of hedging the position immediately: a number, or the book to walk when it is fresh.
   * The larger counts.
   */
  walkedImpactBps?: number;
  hedgeBook?: readonly HedgeLevel[];
  /**
   * A slice of a split: how long our output stays locked should another LP fail. Default 0: no other LP.
   */
  splitHoldSeconds?: number;
  /** Noise in bps, to learn what the market makes of a price; drawn by the caller. Default 0. */
  exploreBps?: number;
  /**
   * What the ledger could pay at most; declines `no_inventory` beyond. The hold decides, this only answers
   * sooner.
   */
  freeOutput?: bigint;
  /** What may still come in and go out before a hard band is left, base units; declines `limit` beyond. */
  room?: { readonly input?: bigint; readonly output?: bigint };

  params: PricingParams;

  /** What a plug-in may want to know of where it is. */
  market?: { readonly pair: string; readonly corridor: string };
  plugin?: PricingPlugin;
}

/** Why the price is what it is: bps of mid, positive is worse for the taker. */
export interface SpreadTerms {
  conf: number;
  adv: number;
  inv: number;
  impact: number;
  capital: number;
  rebal: number;
  gas: number;
  /**
   * Terms of a plug-in, or the parts of its pricer (then the seven above but gas are 0). Only where there is
   * a plug-in.
   */
  extra?: Readonly<Record<string, number>>;
  /** Sum of the seven above and the extra ones. */
  c0: number;
  fee: number;
  /** Firmness premium, and the option value it is a share of (with the jumps' part of that). */
  x: number;
  optionCost: number;
  jumpCost: number;
  /** One standard deviation of the mid over T. */
  deviation: number;
  /** Markup. */
  m: number;
  /** Noise for learning. Only where there was any. */
  explore?: number;
  /** All-in: c0 + fee + x + m + explore, after the guards. */
  D: number;
  /** f(D). */
  winProbability: number;
}

/** What a plug-in is shown of one request: plain numbers, frozen, made anew for every call. */
export interface PricingView {
  /**
   * Asset symbols such as "WETH-USDC", and `<source>-<dest>`; empty where a price is asked for outside a
   * market.
   */
  readonly pair: string;
  readonly corridor: string;
  readonly lp: 'buy' | 'sell';
  /** Value at mid in the reference currency (USD). */
  readonly size: number;
  /** Whole quote tokens for one whole base token, and the reference currency for one quote token. */
  readonly mid: number;
  readonly quoteValue: number;
  /** bps of mid. */
  readonly confidenceBps: number;
  /** Annualised: 0.9 is 90 %. */
  readonly sigma: number;
  /** Seconds that the quote can be exercised after the mid was seen. */
  readonly firmSeconds: number;
  /** Position of the base asset over the half-band. */
  readonly q: number;
  readonly lockSeconds: number;
  readonly adverseBps: number;
  readonly rebalanceBps: number;
  /** Own gas and relay fee, and the platform fee: bps of mid, charged whatever a plug-in answers. */
  readonly gas: number;
  readonly fee: number;
  readonly params: Readonly<PricingParams>;
}

/**
 * A plug-in is the default export of an ES module: a name, and either terms or a pricer. Functions have to be
 * pure and quick: no I/O, no clock, no dice, the same answer for the same view. One that throws, waits or
 * answers anything but finite numbers makes the LP decline; it never makes it sign.
 */
export interface PricingPlugin {
  readonly name: string;
  /**
   * bps of mid by name, positive is worse for the taker; each is summed into c0 and shown beside the model's
   * own terms.
   */
  readonly terms?: Readonly<Record<string, (view: PricingView) => number>>;
  /**
   * Parts of the spread in bps, by name: D is their sum with gas and fee, within the bounds of the
   * configuration.
   */
  readonly pricer?: (view: PricingView) => Readonly<Record<string, number>>;
}
