/** QuoteCandidate of the RFQ namespace, which a taker passes back exactly as received. */

import * as z from 'zod';
import type { OrderEnvelope } from '../../domain/order.ts';
import { explained, zExplained } from '../schema.ts';

export const EXECUTION_MODES = ['apiSubmit', 'walletBroadcast'] as const;
export const ORDER_TYPE = 'escrow-v0';

/** The seal covers the candidate as received, so absent and null differ and schemas change nothing. */
const optional = <S extends z.ZodType>(schema: S) => schema.nullable().optional();

export const zExecutionMode = zExplained<(typeof EXECUTION_MODES)[number]>('Who puts settlement on chain.', {
  apiSubmit: 'The venue sends the settlement transaction and pays its gas, which the quoted price includes.',
  walletBroadcast: "The taker's wallet sends the prepared transaction of the preflight, and pays its gas.",
}).meta({ id: 'ExecutionMode' });

/** Fields that several objects have, each with one meaning. */
export const FIELDS = {
  asset: 'Asset as CAIP-19, in lower case: `eip155:<chainId>/erc20:<token address>`.',
  decimals: 'Decimal places of the token: an amount divided by 10^decimals is in whole tokens.',
  symbol: 'Ticker of the token, such as USDC.',
  priceUsd:
    'Reference price of one whole token in USD, rounded to 15 significant digits. null when the venue has ' +
    'no reference.',
  quoteId:
    'Names the quote in preflight, submission and tracking: 32 bytes as hex, the same value as in the ' +
    "LP's commitment.",
  warnings: 'What to look at before signing. None of them blocks the trade.',
  platformFeeBps:
    'Platform fee of the workspace, in basis points of the input. The quoted output is what remains after it.',
  lpSpreadBps: 'Spread that the LP earns, in basis points. null when it does not say.',
  integrityChecksum:
    'Ties the shown terms to the submitted ones: `v1.<key id>.<MAC>.<commitments>`. Pass it back unchanged; ' +
    'the commitments in it are the signatures of the LPs.',
  validUntil: 'Unix second from which the quote can no longer be executed. Sign and submit before it.',
  eta: 'Expected seconds from submission to settlement. null when unknown.',
} as const;

export const zPreviewInput = z
  .strictObject({
    asset: z.string().describe(FIELDS.asset),
    amount: z.string().describe('What the taker gives into escrow, in base units. Exact.'),
    decimals: optional(z.int()).describe(FIELDS.decimals),
    symbol: optional(z.string()).describe(FIELDS.symbol),
    priceUsd: optional(z.number()).describe(FIELDS.priceUsd),
  })
  .meta({ id: 'PreviewInput', description: 'What the taker gives.' });

const zPreviewOutput = z
  .strictObject({
    asset: z.string().describe(FIELDS.asset),
    amount: z.string().describe('What is delivered if the order settles as quoted, in base units.'),
    minimumAmount: optional(z.string()).describe(
      'Least delivery that the escrow accepts, in base units. Equal to `amount`, because the quote is firm.',
    ),
    decimals: optional(z.int()).describe(FIELDS.decimals),
    symbol: optional(z.string()).describe(FIELDS.symbol),
    priceUsd: optional(z.number()).describe(FIELDS.priceUsd),
    receiver: optional(z.string()).describe('Address that the output is delivered to.'),
    amountBeforeFees: optional(z.string()).describe(
      'Delivery before platform fee and LP spread, in base units. null when the LP does not say.',
    ),
    deltaFromMid: optional(z.number()).describe(
      "Distance of the quoted price from the venue's reference mid, as a fraction: -0.001 is 0.1 % worse " +
        'than mid for the taker. Eight decimals, cut. null without a reference.',
    ),
  })
  .meta({ id: 'PreviewOutput', description: 'What is delivered.' });

export const zOrderPayload = z
  .strictObject({
    type: z.string().describe('Type of the order: `escrow-v0`.'),
    payload: z
      .record(z.string(), z.unknown())
      .describe(
        'EIP-712 typed data with domain, types, primaryType and message; integers beyond 2^53 are decimal ' +
          'strings. Sign it exactly as received.',
      ),
  })
  .meta({ id: 'StandardOrder', description: 'What the taker signs.' });

const zSplitFill = z
  .strictObject({
    fills: z
      .array(
        z
          .strictObject({
            solverId: z.string().describe('Roster id of the LP of this slice.'),
            portionBps: z
              .int()
              .describe('Part of the input that this slice covers, in basis points; together 10000.'),
            outputAmount: z.string().optional().describe('What this slice delivers, in base units.'),
          })
          .meta({ id: 'SplitFillSlice', description: 'The part of one LP in an order.' }),
      )
      .describe('One slice for each LP, in the order of the outputs of the signed order.'),
    executionModel: z
      .string()
      .optional()
      .describe(
        '`atomic`: every slice is delivered in the same escrow order, or the order is refunded whole.',
      ),
  })
  .meta({ id: 'SplitFillDetail', description: 'How several LPs fill one order together.' });

export const zGas = z
  .strictObject({
    native: z
      .string()
      .describe(
        'Gas that the taker pays, in base units (wei) of the native currency of the chain of settlement, ' +
          'rounded up. "0" on `apiSubmit`.',
      ),
    usd: optional(z.number()).describe('The same in USD. null without a price.'),
  })
  .meta({ id: 'GasEstimate', description: 'What the taker pays for gas.' });

export const zWarning = z
  .strictObject({
    code: z
      .int()
      .describe(
        explained('Which warning it is.', {
          1001: "the price is far from the venue's reference",
          1002: 'the trade takes more than half of what the LP holds for it',
          1003: 'the venue has no reference price for the pair',
          1004: 'the quote lapses within seconds',
          1005: 'the solver has failed or answered wrongly recently',
          1006: 'a token of the trade is not verified',
          1007: 'router: later legs are estimates; the message names the leg that is firm',
          1008: "router: the taker's wallet also sends the second leg, and pays its gas",
          1009: "router: no LP's signature and balance stand behind a leg; the escrow delivers or refunds",
          1010: 'router: the amount of a leg is an estimate, with a minimum that the escrow enforces',
        }),
      ),
    message: z.string().describe('The same for people, with figures. It may change.'),
  })
  .meta({ id: 'PriceWarning', description: 'Something unusual about a quote.' });

export const zQuoteCandidate = z
  .strictObject({
    quoteId: z.string().describe(FIELDS.quoteId),
    solverId: z
      .string()
      .describe('Roster id of the LP or solver behind the quote; of a split, the one of the largest slice.'),
    executionMode: zExecutionMode,
    order: optional(zOrderPayload).describe('What the taker signs, exactly as received.'),
    validUntil: z.int().describe(FIELDS.validUntil),
    eta: optional(z.int()).describe(FIELDS.eta),
    validity: optional(
      z
        .strictObject({
          validUntil: z.int().describe(FIELDS.validUntil),
          minValidUntil: optional(z.int()).describe(
            'The floor that the request set, in Unix seconds. null when it set none.',
          ),
        })
        .meta({ id: 'ValidityWindow', description: 'How long a quote is firm.' }),
    ).describe('How long the quote is firm, beside what the request asked for.'),
    preview: z
      .strictObject({
        inputs: z.array(zPreviewInput).describe('What the taker gives: one input.'),
        outputs: z.array(zPreviewOutput).describe('What is delivered: one output, also of a split.'),
      })
      .meta({ id: 'Preview', description: 'The terms of the trade.' }),
    integrityChecksum: z.string().describe(FIELDS.integrityChecksum),
    routingPath: z
      .string()
      .optional()
      .describe('`direct`: one escrow order fills the trade, also a split one.'),
    platformFeeBps: optional(z.int()).describe(FIELDS.platformFeeBps),
    lpSpreadBps: optional(z.int()).describe(FIELDS.lpSpreadBps),
    splitFill: optional(zSplitFill).describe(
      'How several LPs share the order. null when one fills it alone.',
    ),
    gas: optional(zGas).describe('What the taker pays for gas.'),
    warnings: z.array(zWarning).optional().describe(FIELDS.warnings),
  })
  .meta({
    id: 'QuoteCandidate',
    description: 'A firm quote of the RFQ namespace. Pass it back exactly as received.',
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
  /** Router: no LP's signature and balance stand behind the leg; the escrow delivers or refunds. */
  legNotCommitted: 1009,
  /** Router: the leg's amount is an estimate, with a minimum that the escrow enforces. */
  legEstimated: 1010,
} as const;
