/** POST …/quotes: a request for quotes and the ranked answer. */

import { z } from 'zod';
import { SETTLEMENTS } from '../../domain/delivery.ts';
import { zQuoteCandidate } from './candidate.ts';
import { zAddress, zAmount, zAssetId, zSeconds } from '../wire.ts';

const zPositive = zAmount.refine((text) => text !== '0', 'must be more than zero, such as 1000000');
const zSolverIds = z.array(z.string().min(1).max(64)).max(100);

export const zQuoteRequest = z
  .strictObject({
    taker: zAddress,
    receiver: zAddress.optional(),
    input: z.strictObject({ asset: zAssetId, amount: zPositive.optional() }),
    output: z.strictObject({ asset: zAssetId, amount: zPositive.optional() }),
    minValidUntil: zSeconds.nullable().optional(),
    maxCandidates: z.int().min(1).max(20).default(5),
    splitFill: z.enum(['allow', 'never']).default('allow'),
    /** `ledger_auto_withdraw` pays out of the ledger after the withdrawal delay. */
    settlement: z.enum(SETTLEMENTS).default('wallet'),
    solvers: z.strictObject({ include: zSolverIds.optional(), exclude: zSolverIds.optional() }).optional(),
    referenceId: z.string().max(200).optional(),
  })
  .superRefine((request, context) => {
    const given = [request.input.amount, request.output.amount].filter(
      (amount) => amount !== undefined,
    ).length;
    if (given !== 1)
      context.addIssue({
        code: 'custom',
        path: [given === 0 ? 'input' : 'output', 'amount'],
        message: 'Give exactly one amount: input.amount for exact input, output.amount for exact output.',
      });
    if (request.input.asset === request.output.asset)
      context.addIssue({
        code: 'custom',
        path: ['output', 'asset'],
        message: 'Input and output are the same asset; there is nothing to trade.',
      });
  });
export type QuoteRequest = z.infer<typeof zQuoteRequest>;

export const UNAVAILABLE_CODES = [
  'pair_not_supported',
  'no_eligible_solver',
  'no_quotes',
  'amount_too_small',
  'amount_too_large',
  'validity_unavailable',
] as const;
export type UnavailableCode = (typeof UNAVAILABLE_CODES)[number];

export interface ProductUnavailable {
  code: UnavailableCode;
  message: string;
  corridor: string | null;
}

export const zUnavailable = z.object({
  code: z.enum(UNAVAILABLE_CODES),
  message: z.string(),
  corridor: z.string().nullable(),
});

export const zQuoteResponse = z.object({
  requestId: z.string(),
  createdAt: z.iso.datetime(),
  quotes: z
    .array(zQuoteCandidate)
    .describe(
      'Best first: most output less the gas that the taker pays, or least input plus that gas; then shorter ' +
        'eta, fill history, longer validity.',
    ),
  productUnavailable: zUnavailable.nullable(),
});
