/** QuoteCandidate of the RFQ namespace, which a taker passes back exactly as received. */

import { z } from 'zod';
import type { OrderEnvelope } from '../../domain/order.ts';

export const EXECUTION_MODES = ['apiSubmit', 'walletBroadcast'] as const;
export const ORDER_TYPE = 'escrow-v0';

/** The seal covers the candidate as received, so absent and null differ and schemas change nothing. */
const optional = <S extends z.ZodType>(schema: S) => schema.nullable().optional();

export const zPreviewInput = z.strictObject({
  asset: z.string(),
  amount: z.string(),
  decimals: optional(z.int()),
  symbol: optional(z.string()),
  priceUsd: optional(z.number()),
});

const zPreviewOutput = z.strictObject({
  asset: z.string(),
  amount: z.string(),
  minimumAmount: optional(z.string()),
  decimals: optional(z.int()),
  symbol: optional(z.string()),
  priceUsd: optional(z.number()),
  receiver: optional(z.string()),
  amountBeforeFees: optional(z.string()),
  deltaFromMid: optional(z.number()),
});

export const zOrderPayload = z.strictObject({ type: z.string(), payload: z.record(z.string(), z.unknown()) });

const zSplitFill = z.strictObject({
  fills: z.array(
    z.strictObject({ solverId: z.string(), portionBps: z.int(), outputAmount: z.string().optional() }),
  ),
  executionModel: z.string().optional(),
});

export const zQuoteCandidate = z.strictObject({
  quoteId: z.string(),
  solverId: z.string(),
  executionMode: z.enum(EXECUTION_MODES),
  order: optional(zOrderPayload),
  validUntil: z.int(),
  eta: optional(z.int()),
  validity: optional(z.strictObject({ validUntil: z.int(), minValidUntil: optional(z.int()) })),
  preview: z.strictObject({ inputs: z.array(zPreviewInput), outputs: z.array(zPreviewOutput) }),
  integrityChecksum: z.string(),
  routingPath: z.string().optional(),
  platformFeeBps: optional(z.int()),
  lpSpreadBps: optional(z.int()),
  splitFill: optional(zSplitFill),
  gas: optional(z.strictObject({ native: z.string(), usd: optional(z.number()) })),
  warnings: z.array(z.strictObject({ code: z.int(), message: z.string() })).optional(),
});

export type QuoteCandidate = z.infer<typeof zQuoteCandidate>;

/** Every field present, null where it does not apply; the seal adds the checksum. */
export interface CandidateTerms {
  quoteId: string;
  solverId: string;
  executionMode: (typeof EXECUTION_MODES)[number];
  order: { type: typeof ORDER_TYPE; payload: OrderEnvelope };
  validUntil: number;
  eta: number | null;
  validity: { validUntil: number; minValidUntil: number | null };
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
      minimumAmount: string;
      decimals: number | null;
      symbol: string | null;
      priceUsd: number | null;
      receiver: string;
      amountBeforeFees: string | null;
      deltaFromMid: number | null;
    }[];
  };
  routingPath: 'direct';
  platformFeeBps: number;
  lpSpreadBps: number | null;
  splitFill: {
    fills: { solverId: string; portionBps: number; outputAmount: string }[];
    executionModel: 'atomic';
  } | null;
  gas: { native: string; usd: number | null };
  warnings: { code: number; message: string }[];
}

export const WARNINGS = {
  priceFar: 1001,
  thinInventory: 1002,
  noReference: 1003,
  shortValidity: 1004,
  underWatch: 1005,
  tokenNotVerified: 1006,
  /** Router: a sequential route promises its first leg only. */
  laterLegNotFirm: 1007,
  /** Router: the taker's wallet also sends the second leg, and pays its gas. */
  laterLegGas: 1008,
} as const;
