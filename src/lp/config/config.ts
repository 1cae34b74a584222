/**
 * The configuration of an LP; this schema is also its type. Secrets, databases, RPC endpoints and listening
 * addresses belong to the app.
 */

import * as z from 'zod';
import { CHECKSUM_ADVICE, isMistyped } from '../../domain/address.ts';
import type { Address } from '../../domain/hex.ts';
import { zCorridorParams, zPricingParams } from './params.ts';
import { zLpRisk } from './risk-config.ts';

const zName = z.string().min(1).max(64);
export const zUnits = z
  .string()
  .regex(
    /^(?:0|[1-9][0-9]{0,29})(?:\.[0-9]{1,30})?$/,
    'must be whole tokens as decimal text, such as "12.5"',
  );
const zAccount = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address: 0x and 40 hex digits')
  .refine((text) => !isMistyped(text), `must have a right EIP-55 checksum. ${CHECKSUM_ADVICE}`)
  .transform((text) => text.toLowerCase() as Address);

/** A chain that the LP trades on. Its escrow, tokens and block time come from the network configuration. */
export const zLpChain = z.strictObject({
  chainId: z.int().min(1),
  account: zAccount,
  /** Whole tokens that are never quoted, by symbol. */
  buffers: z.record(zName, zUnits).default({}),
  /**
   * The LP stands by when the operator's native balance is below this, on chains where it sends transactions
   * (whole units). null: the cost of five trades at the present gas price.
   */
  minGas: zUnits.nullable().default(null),
  /** Price symbol for the cost of our gas on cross-chain trades. null: the symbol of the native currency. */
  gasPrice: zName.nullable().default(null),
  maxHeadAgeMs: z.int().min(500).nullable().default(null),
  /**
   * A hold expires this long after its deadline, for clock skew, two blocks and submit latency. null: 15, or
   * 36 where blocks take 12 seconds.
   */
  graceSeconds: z.int().min(1).nullable().default(null),
});

const zSymbolOf = { feed: zName, symbol: zName };
const zWeight = z.int().min(1).max(100).default(1);

/** A price symbol such as "ETH", and the sources of its USD price. */
const zLpPrice = z.union([
  z.strictObject({
    fixed: zUnits,
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
    /** Applies to guards without a `maxAgeMs` of their own. */
    guardMaxAgeMs: z.int().min(100).default(60_000),
    depegBps: z.number().positive().default(30),
    /** null: two, or one where there is one guard. */
    depegSources: z.int().min(1).nullable().default(null),
  }),
  z.strictObject({
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
    maxAgeMs: z.int().min(100).default(2_000),
    maxDeviationBps: z.number().positive().default(50),
    /** null: two where there are at least three sources, else one. */
    minSources: z.int().min(1).nullable().default(null),
    /** Minimum annualised volatility (0.5 is 50 %). */
    sigmaFloor: z.number().min(0).default(0.4),
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
    guardBps: z.number().positive().default(100),
  }),
]);

/** The share of an asset that belongs on one chain. */
const zLpPlace = z.strictObject({
  share: z.number().positive().default(1),
  softShare: z.number().positive().default(1),
  hardShare: z.number().positive().nullable().default(null),
  /** Cost of moving the asset to this chain; null: as for the asset. */
  transportBps: z.number().min(0).nullable().default(null),
});

/** An asset is a token symbol on every chain that has it. */
export const zLpAsset = z.strictObject({
  price: zName,
  target: zUnits.nullable().default(null),
  softBand: zUnits.nullable().default(null),
  hardBand: zUnits.nullable().default(null),
  transportBps: z.number().min(0).default(0),
  chains: z.record(zName, zLpPlace).default({}),
});

export const zLpPair = z.strictObject({
  base: zName,
  quote: zName,
  /** `<source>-<dest>` slugs; null: every combination of our chains. */
  corridors: z.array(z.string().min(3).max(80)).nullable().default(null),
  params: zPricingParams.default({}),
  /** Overrides of `params`, by corridor slug. */
  corridorParams: z.record(z.string().min(3).max(80), zCorridorParams).default({}),
});

export const zLpQuoting = z.strictObject({
  /** The tenor of a quote when the taker does not demand more. */
  validitySeconds: z.int().min(1).max(600).default(10),
  /** Further tenors, quoted under the same nonce. Shorter ones have a better price. */
  pointsSeconds: z.array(z.int().min(1).max(600)).max(4).default([5]),
  maxValiditySeconds: z.int().min(1).max(840).default(60),
  /** The longest landing margin accepted from a venue: a quote binds us until validUntil plus this. */
  maxLandingMarginSeconds: z.int().min(1).default(420),
  /** The price adds this to the firm time, for clocks that differ. */
  clockSkewSeconds: z.number().min(0).default(1),
  /** Expected seconds from submission to delivery, shown to takers. */
  etaSeconds: z
    .strictObject({ sameChain: z.int().min(0).default(4), crossChain: z.int().min(0).default(30) })
    .prefault({}),
  /**
   * Cross-chain: a fill is sent only with this much time left to prove and claim before `expires`, and to
   * land before `fillDeadline`.
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
   * Unsigned bytes of the same transactions, for what a rollup charges for them. A proof grows with its
   * number of signatures.
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
 * Limits on live quotes. Absent means no limit, except for `perTakerPair`, where `{}` means none. A request
 * counts once, however many tenors it was quoted.
 */
export const zLpLimits = z.strictObject({
  perTaker: zCap.optional(),
  perTakerPair: zCap.default({ count: 3 }),
  perPair: zCap.optional(),
  perPairSide: zCap.optional(),
  total: zCap.optional(),
});

export const zLpPricing = z.strictObject({
  module: z.string().min(1).nullable().default(null),
  /**
   * Learns the win-rate curve from accepted and expired quotes. `learn` only shows it, `use` prices with it
   * after enough outcomes, `off` does neither and adds no noise.
   */
  calibration: z
    .strictObject({
      mode: z.enum(['off', 'learn', 'use']).default('use'),
      /** Outcomes before the curve of a pair, corridor and size is used; at least 5 % wins and 5 % losses. */
      minOutcomes: z.int().min(20).default(1_000),
      /** A learned curve may move the spread at which half of the takers accept by at most this much. */
      maxShiftBps: z.number().min(0).max(100).default(4),
      /** An outcome that is this many outcomes old counts half. */
      halfLifeOutcomes: z.int().min(100).default(5_000),
      /**
       * Share of requests whose price moves up or down by `exploreBps`, drawn from `seed` and the request id.
       */
      exploreShare: z.number().min(0).max(1).default(0.05),
      exploreBps: z.number().min(0).max(10).default(1),
      seed: z.string().max(64).default('firmquote'),
    })
    .prefault({}),
});

/** Bounds of the operator's own signals (POST /signals). A maxActive of 0 takes none. */
const zLpSignals = z.strictObject({
  maxSkewBps: z.number().min(0).max(500).default(5),
  maxFairValueShiftBps: z.number().min(0).max(500).default(5),
  maxWidthBps: z.number().min(0).max(2_000).default(50),
  /** The longest life of a signal. */
  maxSeconds: z.int().min(1).max(604_800).default(3_600),
  /** The most signals in force at the same time, over all pairs. */
  maxActive: z.int().min(0).max(1_000).default(16),
});

export const zLpConfig = z.strictObject({
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
  signals: zLpSignals.prefault({}),
  /**
   * Mark-outs per taker, charged in the next prices: takers kept, the prior in bps with its weight in trades,
   * the cap, and how many trades a mean covers.
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
  levels: z
    .strictObject({ publish: z.boolean().default(true), everyMs: z.int().min(250).max(5_000).default(1_000) })
    .prefault({}),
  explain: z.strictObject({ keep: z.int().min(1).max(1_000_000).default(20_000) }).prefault({}),
  journal: z.strictObject({ everyMs: z.int().min(100).default(1_000) }).prefault({}),
  /**
   * The signing lease is written this far ahead. After a crash the LP signs nothing until the last quote that
   * the lease allowed has expired.
   */
  lease: z.strictObject({ aheadSeconds: z.int().min(4).default(10) }).prefault({}),
  /** A receivable is overdue, and no longer counted, after this multiple of its corridor's median time. */
  receivables: z
    .strictObject({ overdueFactor: z.number().min(1).default(3), leastSeconds: z.int().min(1).default(60) })
    .prefault({}),
  /**
   * Rebalancing advice starts when a chain is `startQ` soft bands from its target, and ends below `stopQ`.
   */
  rebalancing: z
    .strictObject({
      startQ: z.number().positive().default(0.6),
      stopQ: z.number().positive().default(0.2),
      cooldownSeconds: z.int().min(0).default(3_600),
    })
    .prefault({}),
  reconcileSeconds: z.int().min(1).default(30),
  /** Configures a venue's sandbox; allowed only where every network is a test chain. */
  sandbox: z
    .strictObject({
      /** Quotes as usual and never fills across chains, so that takers can rehearse refunds and claims. */
      neverFills: z.boolean().default(false),
    })
    .prefault({}),
  /** Blocks per request for events. */
  maxBlocksPerScan: z.int().min(10).default(2_000),
});

export type LpConfig = z.infer<typeof zLpConfig>;
export type LpChainConfig = z.infer<typeof zLpChain>;
export type LpPriceConfig = z.infer<typeof zLpPrice>;
export type LpPairConfig = z.infer<typeof zLpPair>;
