/** QuoteCandidate of the router namespace, with `composite` instead of `splitFill`. */

import { z } from 'zod';
import { SETTLEMENTS } from '../../domain/delivery.ts';
import type { OrderEnvelope } from '../../domain/order.ts';
import { EXECUTION_MODES, type ORDER_TYPE, zOrderPayload, zPreviewInput } from './candidate.ts';
import { FUNDING_LOCKS } from './preflight.ts';
import { zUnavailable } from './quote.ts';
import { zSubmission } from './submit.ts';
import { zAmount, zBytes32, zHex } from '../wire.ts';

const optional = <S extends z.ZodType>(schema: S) => schema.nullable().optional();

const zRouterOutput = z.strictObject({
  asset: z.string(),
  amount: z.string(),
  /** Enforced by the escrow; null while a later leg of a sequential route is not firm. */
  minimumAmount: optional(z.string()),
  decimals: optional(z.int()),
  symbol: optional(z.string()),
  priceUsd: optional(z.number()),
  receiver: optional(z.string()),
});

export const zLeg = z.strictObject({
  index: z.int(),
  kind: z.enum(['rfq', 'dex', 'bridge', 'issuer', 'fiat']),
  solverId: z.string(),
  venue: z.string(),
  chainId: z.int(),
  input: z.strictObject({ asset: z.string(), amount: z.string() }),
  output: z.strictObject({ asset: z.string(), amount: z.string(), minimumAmount: z.string().nullable() }),
  eta: z.int().nullable(),
  dependsOn: z.array(z.int()),
});
export type Leg = z.infer<typeof zLeg>;

const zComposite = z.strictObject({
  legs: z.array(zLeg).min(1).max(8),
  executionModel: z.enum(['atomic', 'sequential']),
});
export type Composite = z.infer<typeof zComposite>;

export const zRouterCandidate = z.strictObject({
  quoteId: z.string(),
  solverId: z.string(),
  executionMode: z.enum(EXECUTION_MODES),
  order: optional(zOrderPayload),
  validUntil: z.int(),
  eta: optional(z.int()),
  preview: z.strictObject({ inputs: z.array(zPreviewInput), outputs: z.array(zRouterOutput) }),
  integrityChecksum: z.string(),
  routingPath: z.string().optional(),
  platformFeeBps: optional(z.int()),
  lpSpreadBps: optional(z.int()),
  /** Always an object in answers: a direct fill has its one leg, a split one for each slice. */
  composite: optional(zComposite),
  gas: optional(z.strictObject({ native: z.string(), usd: optional(z.number()) })),
  warnings: z.array(z.strictObject({ code: z.int(), message: z.string() })).optional(),
});
export type RouterCandidate = z.infer<typeof zRouterCandidate>;

export interface RouterTerms {
  quoteId: string;
  solverId: string;
  executionMode: (typeof EXECUTION_MODES)[number];
  order: { type: typeof ORDER_TYPE; payload: OrderEnvelope };
  validUntil: number;
  eta: number | null;
  preview: {
    inputs: {
      asset: string;
      amount: string;
      decimals: number | null;
      symbol: string | null;
      priceUsd: number | null;
    }[];
    outputs: {
      asset: string;
      amount: string;
      minimumAmount: string | null;
      decimals: number | null;
      symbol: string | null;
      priceUsd: number | null;
      receiver: string;
    }[];
  };
  routingPath: 'direct' | 'composite';
  platformFeeBps: number;
  lpSpreadBps: number | null;
  composite: Composite;
  gas: { native: string; usd: number | null };
  warnings: { code: number; message: string }[];
}

/** What a candidate carries under its checksum beside its terms: settler, parent order, later legs. */
export const zSealedRoute = z.strictObject({
  venue: z.strictObject({ id: z.string(), kind: z.enum(['dex', 'bridge', 'issuer', 'fiat']) }).nullable(),
  /** `gas` limits the fill itself. */
  through: z.strictObject({ filler: zHex, data: zHex, gas: zAmount }).nullable(),
  parent: zBytes32.nullable(),
  next: z
    .strictObject({
      settlement: z.enum(SETTLEMENTS),
      include: z.array(z.string()).nullable(),
      exclude: z.array(z.string()),
    })
    .nullable(),
  /** The caller's own, from the quote request. */
  referenceId: z.string().max(200).optional(),
});
export type SealedRoute = z.infer<typeof zSealedRoute>;

export const zRouterQuoteResponse = z.object({
  requestId: z.string(),
  createdAt: z.iso.datetime(),
  quotes: z
    .array(zRouterCandidate)
    .describe(
      'Best first: most output less the gas that the taker pays in all legs, or least input plus that gas; ' +
        'then shorter eta, fill history, longer validity.',
    ),
  productUnavailable: zUnavailable.nullable(),
});
export const zRouterPreflightRequest = z.strictObject({
  quoteResponse: zRouterCandidate,
  fundingLock: z.enum(FUNDING_LOCKS).optional(),
});
export type RouterPreflightRequest = z.infer<typeof zRouterPreflightRequest>;
export const zRouterSubmitRequest = z.strictObject({ quoteResponse: zRouterCandidate, ...zSubmission });
export type RouterSubmitRequest = z.infer<typeof zRouterSubmitRequest>;
