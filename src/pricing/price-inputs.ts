/** Types of pricing: the inputs of a price, the terms of its spread, and plug-ins. */

import type { HedgeLevel } from './hedge-book.ts';
import type { PricingParams } from './params.ts';
import type { Rational } from './rational.ts';

/**
 * The operator's own view of a pair, in bps of mid. Positive skew and shift raise the price on both sides:
 * better for a taker who sells the base, worse for one who buys it.
 */
export interface PriceSignal {
  readonly id: string;
  /** Moves bid and ask relative to the fair value. */
  readonly skewBps: number;
  /** Moves the fair value relative to the mid. */
  readonly fairValueShiftBps: number;
  /** Extra half-spread; never negative. */
  readonly widthBps: number;
}

export interface PriceInputs {
  /** The fixed side and its amount in base units. On a split: the slice of this LP. */
  side: 'exactInput' | 'exactOutput';
  amount: bigint;
  platformFeeBps: number;
  /** Base units of the input token, paid to the relayer. Exact; 0n on walletBroadcast. */
  relayFee: bigint;

  /** 'buy': the LP takes base and pays quote. */
  lp: 'buy' | 'sell';
  baseDecimals: number;
  quoteDecimals: number;
  /** Quote tokens for one base token, exact. */
  mid: Rational;
  /** USD for one quote token. Measured, never assumed to be 1. */
  quoteValue: number;
  /** sigma_P: uncertainty of the mid. */
  confidenceBps: number;
  /** Annualised, 0.9 is 90 %. */
  sigma: number;
  /** T: from the time of the mid to validUntil, plus clock skew. */
  firmSeconds: number;
  /** (V - V*) / B of the base asset over all chains, including in-transit and quoted amounts. */
  q: number;
  /** Own gas in base units of the output token, without buffer. */
  ownGas: bigint;
  /** The time from the fill until the claim is finalised, in seconds. */
  lockSeconds: number;

  /** Adverse selection of this taker. Default 1.5. */
  adverseBps?: number;
  /** Rebalancing cost (`rebalanceTerm`). Default 0. */
  rebalanceBps?: number;
  /** Set when a peg is broken: no rebate from skew, rebalancing or a signal. Default false. */
  noRebates?: boolean;
  /** Cost of hedging immediately: a number, or the fresh book to walk. The larger counts. */
  walkedImpactBps?: number;
  hedgeBook?: readonly HedgeLevel[];
  /** The time for which our output stays locked if another LP of the split fails. Default 0: no split. */
  splitHoldSeconds?: number;
  /** Noise in bps for learning the win rate, drawn by the caller. Default 0. */
  exploreBps?: number;
  /** The operator's signal for this pair and side. Absent: none. */
  signal?: PriceSignal;
  /** Free inventory; declines `no_inventory` beyond. Advisory: the hold decides. */
  freeOutput?: bigint;
  /** Room in the hard bands, base units; declines `limit` beyond. */
  room?: { readonly input?: bigint; readonly output?: bigint };

  params: PricingParams;

  market?: { readonly pair: string; readonly corridor: string };
  plugin?: PricingPlugin;
}

/** Terms in bps of mid; positive is worse for the taker. */
export interface SpreadTerms {
  conf: number;
  adv: number;
  inv: number;
  impact: number;
  capital: number;
  rebal: number;
  gas: number;
  /** Terms of a plug-in, or the parts of its pricer (then all model terms but gas are 0). */
  extra?: Readonly<Record<string, number>>;
  /** Sum of the terms above, `extra` included. */
  c0: number;
  fee: number;
  /** Firmness premium: the share `omega` of `optionCost`, solved together with D. */
  x: number;
  /** Value of the option that a firm quote gives the taker, and the part of it that comes from jumps. */
  optionCost: number;
  jumpCost: number;
  /** One standard deviation of the mid over T, bps. */
  deviation: number;
  /** Markup beyond the costs, chosen on the win-rate curve; at least `minEdgeBps`. */
  m: number;
  /** Noise for learning; absent without it. */
  explore?: number;
  /** The operator's signal; absent without one. `x` is struck behind skew and width, but before the shift. */
  signalSkew?: number;
  signalWidth?: number;
  signalShift?: number;
  /** All-in: c0 + fee + x + m + explore and the signal, at least `minSpreadBps`. */
  D: number;
  winProbability: number;
}

/** Input of a plug-in: plain numbers, frozen, created for each call. */
export interface PricingView {
  /** Such as "WETH-USDC" and `<source>-<dest>`; empty outside a market. */
  readonly pair: string;
  readonly corridor: string;
  readonly lp: 'buy' | 'sell';
  /** USD at mid. */
  readonly size: number;
  /** Quote tokens for one base token, and USD for one quote token. */
  readonly mid: number;
  readonly quoteValue: number;
  readonly confidenceBps: number;
  /** Annualised: 0.9 is 90 %. */
  readonly sigma: number;
  /** Seconds from the time of the mid to validUntil. */
  readonly firmSeconds: number;
  readonly q: number;
  readonly lockSeconds: number;
  readonly adverseBps: number;
  readonly rebalanceBps: number;
  /** Own gas with relay fee, and platform fee: bps of mid, always charged. */
  readonly gas: number;
  readonly fee: number;
  readonly params: Readonly<PricingParams>;
}

/**
 * The default export of an ES module: a name, and either terms or a pricer. Functions must be pure and fast:
 * no I/O, clock or randomness. If one throws or returns anything but finite numbers, the LP declines.
 */
export interface PricingPlugin {
  readonly name: string;
  /** bps of mid by name, positive is worse for the taker; summed into c0. */
  readonly terms?: Readonly<Record<string, (view: PricingView) => number>>;
  /** Parts of the spread in bps by name. D is their sum with gas and fee, within the configured bounds. */
  readonly pricer?: (view: PricingView) => Readonly<Record<string, number>>;
}
