/**
 * What an LP is told: who it is, where its money lies, what it makes markets in, and when it must stop. The
 * schema is the type; secrets, databases, RPC endpoints and doors are the app's business and are not here.
 */

import { z } from 'zod';
import type { Address } from '../../domain/hex.ts';
import { zCorridorParams, zPricingParams } from './params.ts';
import { zLpRisk } from './risk-config.ts';

const zName = z.string().min(1).max(64);
const zUnits = z
  .string()
  .regex(
    /^(?:0|[1-9][0-9]{0,29})(?:\.[0-9]{1,30})?$/,
    'must be whole tokens as decimal text, such as "12.5"',
  );
const zAccount = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address: 0x and 40 hex digits')
  .transform((text) => text.toLowerCase() as Address);

/** One chain it trades on; escrow, tokens and clocks come from the chain's own description. */
export const zLpChain = z.strictObject({
  chainId: z.int().min(1),
  /** The ledger account whose balance pays. The operator's key signs for it. */
  account: zAccount,
  /** Whole tokens that are never quoted, by symbol. */
  buffers: z.record(zName, zUnits).default({}),
  /**
   * Standby below this much native currency on the operator, where the operator sends transactions (whole
   * units).
   */
  minGas: zUnits.default('0.02'),
  /** Price symbol of the native currency: prices our own gas on cross-chain trades. */
  gasPrice: zName.default('ETH'),
  /**
   * What a transaction costs beside its gas: on OP-stack chains a fee for publishing it, read from their
   * GasPriceOracle.
   */
  l1Fee: z.enum(['none', 'opStack']).default('none'),
  /**
   * Nothing on this chain is quoted when its newest block reached us longer ago than this, or its time is
   * further off from ours. null: three block times, five seconds at least.
   */
  maxHeadAgeMs: z.int().min(500).nullable().default(null),
  /**
   * After a promise's last second: clock skew, two blocks, submit latency. null: 15, and 36 where blocks take
   * 12 seconds.
   */
  graceSeconds: z.int().min(1).nullable().default(null),
});

const zSymbolOf = { feed: zName, symbol: zName };
const zWeight = z.int().min(1).max(100).default(1);

/** A price symbol such as "ETH": where its USD price comes from. */
export const zLpPrice = z.union([
  z.strictObject({
    fixed: zUnits,
    /** Who watches the peg; without any it is trusted. */
    guards: z
      .array(
        z.strictObject({
          ...zSymbolOf,
          weight: zWeight,
          maxAgeMs: z.int().min(100).nullable().default(null),
        }),
      )
      .max(16)
      .default([]),
    /** Of guards that name no age of their own. */
    guardMaxAgeMs: z.int().min(100).default(60_000),
    /** The peg is broken when so many guards are further off than this. */
    depegBps: z.number().positive().default(30),
    depegSources: z.int().min(1).default(2),
  }),
  z.strictObject({
    /** Weights are relative; a source that does not say when its price happened counts half. */
    sources: z
      .array(
        z.strictObject({
          ...zSymbolOf,
          weight: zWeight,
          maxAgeMs: z.int().min(100).nullable().default(null),
        }),
      )
      .min(1)
      .max(16),
    /** Of sources that name no age of their own; an on-chain oracle needs one, its heartbeat. */
    maxAgeMs: z.int().min(100).default(2_000),
    /** Sources further from the median than this are dropped. */
    maxDeviationBps: z.number().positive().default(50),
    /** null: two where there are at least three sources, else one. */
    minSources: z.int().min(1).nullable().default(null),
    /**
     * Annualised volatility that is never underestimated (0.5 is 50 %): half of the last 30 days' is a good
     * choice.
     */
    sigmaFloor: z.number().min(0).default(0.4),
    /**
     * Oracles and time-weighted averages that must agree with the mid; they never make it. `deviationBps` is
     * by how much one may lag before it updates.
     */
    references: z
      .array(
        z.strictObject({
          ...zSymbolOf,
          deviationBps: z.number().min(0).default(50),
          maxAgeMs: z.int().min(100).default(3_660_000),
        }),
      )
      .max(16)
      .default([]),
    /** No quotes beyond this distance from a fresh reference, nor without any; 25 suits a stablecoin. */
    guardBps: z.number().positive().default(100),
  }),
]);

/**
 * One chain's part of an asset. Its target moves with what we own: moving money between chains changes
 * places, not the sum.
 */
export const zLpPlace = z.strictObject({
  /** Its weight among the chains; all 1: equal parts. */
  share: z.number().positive().default(1),
  /**
   * Half-bands as parts of its target: rebalancing is charged in full at the edge of the soft one; null: no
   * hard one.
   */
  softShare: z.number().positive().default(1),
  hardShare: z.number().positive().nullable().default(null),
  /** What bringing some there costs us; null: the asset's. */
  transportBps: z.number().min(0).nullable().default(null),
});

/** An asset is a token symbol on every chain that has it. */
export const zLpAsset = z.strictObject({
  price: zName,
  /** Whole tokens we want to own over all chains; null: what we own when the process starts. */
  target: zUnits.nullable().default(null),
  /**
   * Whole tokens either side of the target: within, the price alone brings us back. null: the pair's
   * `halfBand`, in USD.
   */
  softBand: zUnits.nullable().default(null),
  /**
   * Beyond, only quotes that bring us back are given. null: twice the soft band for the base asset of a pair,
   * none for others.
   */
  hardBand: zUnits.nullable().default(null),
  /** What moving it between chains costs us. */
  transportBps: z.number().min(0).default(0),
  /** By chain slug; absent: an equal part. */
  chains: z.record(zName, zLpPlace).default({}),
});

export const zLpPair = z.strictObject({
  /** Asset symbols. Base equal to quote is the same asset on two chains. */
  base: zName,
  quote: zName,
  /** `<source>-<dest>` slugs; null: every pair of our chains. */
  corridors: z.array(z.string().min(3).max(80)).nullable().default(null),
  params: zPricingParams.default({}),
  /** By corridor slug, on top of `params`. */
  corridorParams: z.record(z.string().min(3).max(80), zCorridorParams).default({}),
});

export const zLpQuoting = z.strictObject({
  /** How long a quote is firm when the taker does not ask for more, and the longest that is given. */
  validitySeconds: z.int().min(1).max(600).default(10),
  /**
   * Further firm times, quoted beside that one under the same nonce, each at its own price: the shorter, the
   * better.
   */
  pointsSeconds: z.array(z.int().min(1).max(600)).max(4).default([5]),
  maxValiditySeconds: z.int().min(1).max(840).default(60),
  /** The longest landing margin accepted from a venue: a promise binds us until validUntil plus this. */
  maxLandingMarginSeconds: z.int().min(1).default(180),
  /** Added to the firm time in the price, for clocks that differ. */
  clockSkewSeconds: z.number().min(0).default(1),
  /** Seconds from submission to delivery that are shown. */
  etaSeconds: z
    .strictObject({ sameChain: z.int().min(0).default(4), crossChain: z.int().min(0).default(30) })
    .prefault({}),
  /**
   * Cross-chain: least time left to prove and claim before `expires` when filling, and to land the fill
   * before fillDeadline.
   */
  claimSeconds: z.int().min(1).default(60),
  fillMarginSeconds: z.int().min(0).default(4),
  /** Cross-chain: how long the input is locked until claimed, for the cost of capital. */
  lockSeconds: z.int().min(0).default(60),
  gasUnits: z
    .strictObject({
      fill: z.int().default(150_000),
      prove: z.int().default(150_000),
      claim: z.int().default(150_000),
    })
    .prefault({}),
  /**
   * Unsigned bytes of the same transactions, for chains that charge for publishing them. A proof grows with
   * its signatures.
   */
  txBytes: z
    .strictObject({
      fill: z.int().min(0).default(650),
      prove: z.int().min(0).default(900),
      claim: z.int().min(0).default(1_150),
    })
    .prefault({}),
  maxInFlight: z.int().min(1).max(100_000).default(256),
});

const zCap = z.strictObject({ count: z.int().min(1).optional(), notionalUsd: z.int().min(1).optional() });
/**
 * Caps on live quotes; absent: no cap, but for `perTakerPair`, where `{}` is none. A request counts once,
 * however many answers it got.
 */
export const zLpLimits = z.strictObject({
  perTaker: zCap.optional(),
  perTakerPair: zCap.default({ count: 3 }),
  perPair: zCap.optional(),
  perPairSide: zCap.optional(),
  total: zCap.optional(),
});

/** What is plugged into the pricing model, and what it learns. */
export const zLpPricing = z.strictObject({
  /**
   * ES module whose default export is a plug-in with terms or a pricer of yours; see docs/lp/pricing-plugins.md.
   * null: the model alone.
   */
  module: z.string().min(1).nullable().default(null),
  /**
   * Learning the win-rate curve from what is taken. `learn` only shows it, `use` prices with it once enough
   * is known, `off` does neither and adds no noise.
   */
  calibration: z
    .strictObject({
      mode: z.enum(['off', 'learn', 'use']).default('use'),
      /**
       * Outcomes of a pair, corridor and size before its curve is used, at least a twentieth of them wins and
       * losses each.
       */
      minOutcomes: z.int().min(20).default(1_000),
      /** A learned curve may move the spread that half of all takers take by this much at most. */
      maxShiftBps: z.number().min(0).max(100).default(4),
      /** What is this many outcomes old counts half. */
      halfLifeOutcomes: z.int().min(100).default(5_000),
      /**
       * Share of quotes that are moved up or down by `exploreBps`, drawn from `seed` and the request's id.
       */
      exploreShare: z.number().min(0).max(1).default(0.05),
      exploreBps: z.number().min(0).max(10).default(1),
      seed: z.string().max(64).default('firmquote'),
    })
    .prefault({}),
});

export const zLpConfig = z.strictObject({
  /** As the venue's roster knows it. */
  solver: z.strictObject({
    id: zName,
    name: z.string().min(1).max(80),
    kind: z.enum(['lp', 'solver']).default('lp'),
  }),
  chains: z.array(zLpChain).min(1),
  prices: z.record(zName, zLpPrice),
  assets: z.record(zName, zLpAsset),
  pairs: z.array(zLpPair).min(1),
  quoting: zLpQuoting.prefault({}),
  pricing: zLpPricing.prefault({}),
  limits: zLpLimits.prefault({}),
  risk: zLpRisk.prefault({}),
  /**
   * Mark-outs of each taker, which its next prices are charged with: takers remembered, the assumption, its
   * weight in trades, and the trades a mean reaches back.
   */
  takers: z
    .strictObject({
      keep: z.int().min(1).max(1_000_000).default(10_000),
      startBps: z.number().min(0).max(25).default(1.5),
      capBps: z.number().min(0).max(300).default(25),
      weight: z.number().positive().default(30),
      window: z.int().min(10).default(100),
    })
    .prefault({}),
  /**
   * Indicative ladders for venues that show prices: never firm, about this far apart, and only while we
   * quote.
   */
  levels: z
    .strictObject({ publish: z.boolean().default(true), everyMs: z.int().min(250).max(5_000).default(1_000) })
    .prefault({}),
  /**
   * Quotes, and as many declines, that can be explained from memory; those that were accepted are kept in the
   * database.
   */
  explain: z.strictObject({ keep: z.int().min(1).max(1_000_000).default(20_000) }).prefault({}),
  /** How often the books take in what the chains made final. */
  journal: z.strictObject({ everyMs: z.int().min(100).default(1_000) }).prefault({}),
  /**
   * After a crash nothing is signed until the last promise that could exist has lapsed; this is how far ahead
   * that time is kept.
   */
  lease: z.strictObject({ aheadSeconds: z.int().min(4).default(10) }).prefault({}),
  /**
   * Filled and not paid for: alarm, and the input counts for nothing, beyond this many times its corridor's
   * median time.
   */
  receivables: z
    .strictObject({ overdueFactor: z.number().min(1).default(3), leastSeconds: z.int().min(1).default(60) })
    .prefault({}),
  /**
   * Advice to move money between chains: starts where a chain is this far from its part, in soft bands, and
   * ends below `stopQ`.
   */
  rebalancing: z
    .strictObject({
      startQ: z.number().positive().default(0.6),
      stopQ: z.number().positive().default(0.2),
      cooldownSeconds: z.int().min(0).default(3_600),
    })
    .prefault({}),
  /** How often every balance is compared with the chain, beside whenever an event touched it. */
  reconcileSeconds: z.int().min(1).default(30),
  /** Blocks read with one request for events. */
  maxBlocksPerScan: z.int().min(10).default(2_000),
});

export type LpConfig = z.infer<typeof zLpConfig>;
export type LpChainConfig = z.infer<typeof zLpChain>;
export type LpPriceConfig = z.infer<typeof zLpPrice>;
export type LpPairConfig = z.infer<typeof zLpPair>;
