/** Configuration of the demo: chains, tokens, simulated exchanges, LPs, takers. */

import * as z from 'zod';
import { EXCHANGE_KINDS } from '../../adapters/feeds/formats.ts';
import { zLpLimits, zLpPair, zLpQuoting } from '../../lp/config/config.ts';
import { zLpRisk } from '../../lp/config/risk-config.ts';

const zUnits = z
  .string()
  .regex(
    /^(?:0|[1-9][0-9]{0,20})(?:\.[0-9]{1,18})?$/,
    'must be whole tokens as decimal text, such as "12.5"',
  );
const zHoldings = z.record(z.string(), zUnits);

const zDemoLp = z.strictObject({
  id: z.string(),
  name: z.string(),
  inventory: z.record(z.string(), zHoldings),
  pairs: z.array(zLpPair),
  quoting: zLpQuoting.prefault({}),
  limits: zLpLimits.prefault({}),
  risk: zLpRisk.prefault({}),
});

export const zDemoConfig = z.strictObject({
  app: z.literal('demo'),
  chains: z
    .array(
      z.strictObject({
        slug: z.string(),
        id: z.int().min(1),
        executionMode: z.enum(['apiSubmit', 'walletBroadcast']).default('apiSubmit'),
        blockSeconds: z.int().min(1).default(1),
        depth: z.int().min(1).default(2),
        landingMarginSeconds: z.int().min(1).default(8),
        proofWindowSeconds: z.int().min(1).default(24),
        /**
         * The withdrawal delay of the escrow: must exceed the lifetime of the LPs' quotes plus the landing
         * margin.
         */
        withdrawalDelaySeconds: z.int().min(1).default(900),
        sequencerFeed: z.boolean().default(false),
        /**
         * The DEX pools, by token symbol: v2 without a fee, v3 with one in millionths. The amounts set the
         * price.
         */
        pools: z
          .array(
            z.strictObject({
              tokens: z.tuple([z.string(), z.string()]),
              fee: z.literal([500, 3_000, 10_000]).nullable(),
              amounts: z.tuple([zUnits, zUnits]),
            }),
          )
          .default([]),
        /** A vault and a peg-stability module. */
        issuers: z
          .strictObject({
            vault: z.strictObject({
              asset: z.string(),
              symbol: z.string(),
              name: z.string(),
              deposited: zUnits,
              earned: zUnits,
              cap: zUnits,
            }),
            psm: z.strictObject({
              gem: z.string(),
              dai: z.string(),
              amounts: z.tuple([zUnits, zUnits]),
              feeBps: z.int().min(0).max(1_000),
            }),
          })
          .nullable()
          .default(null),
      }),
    )
    .length(2),
  listedChains: z.array(z.strictObject({ slug: z.string(), id: z.int(), sandbox: z.boolean() })),
  tokens: z
    .array(
      z.strictObject({
        symbol: z.string(),
        name: z.string(),
        decimals: z.int().min(0).max(36),
        eip3009: z.boolean().default(false),
        price: z.string(),
      }),
    )
    .min(2),
  exchange: z.strictObject({
    sources: z
      .array(
        z.strictObject({
          name: z.string().regex(/^[a-z0-9-]+$/, 'must be lower-case words joined by hyphens'),
          kind: z.enum(EXCHANGE_KINDS),
        }),
      )
      .min(1),
    symbols: z.array(
      z.strictObject({
        base: z.string(),
        quote: z.string(),
        price: z.string(),
        startMid: z.number().positive(),
        walkBps: z.number().min(0),
        spreadBps: z.number().positive(),
      }),
    ),
  }),
  lps: z.array(zDemoLp).min(1),
  /** Funded, but run by no process: `keys.solver` in demo.json is its key. */
  spareLp: z.strictObject({ id: z.string(), name: z.string(), inventory: z.record(z.string(), zHoldings) }),
  /** docs/examples/partner.mjs as a route partner. Pairs of a token on one chain and another on the other. */
  partner: z.strictObject({
    id: z.string(),
    name: z.string(),
    inventory: z.record(z.string(), zHoldings),
    tokens: z.tuple([z.string(), z.string()]),
    feeBps: z.int().min(0).max(1_000),
    maxAmountIn: zUnits,
  }),
  /** Carries USDC between the chains out of a float. */
  bridge: z.strictObject({ id: z.string(), name: z.string(), inventory: z.record(z.string(), zHoldings) }),
  attesters: z.strictObject({ count: z.int().min(1).max(9), quorum: z.int().min(1) }),
  takers: z.strictObject({ count: z.int().min(1).max(50), holdings: zHoldings, gas: zUnits }),
  venue: z.strictObject({
    platformFeeBps: z.int().min(0).max(100),
    quoteTimeoutMs: z.int().min(50),
    sliceTimeoutMs: z.int().min(50),
  }),
  poolKeeper: zHoldings.default({}),
  market: z.strictObject({
    everyMs: z.int().min(200),
    minUsd: z.number().positive(),
    maxUsd: z.number().positive(),
  }),
});

export type DemoConfig = z.infer<typeof zDemoConfig>;
