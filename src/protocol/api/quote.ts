/** POST …/quotes: a request for quotes and the ranked answer. */

import * as z from 'zod';
import type { SETTLEMENTS } from '../../domain/delivery.ts';
import { zQuoteCandidate } from './candidate.ts';
import { zExplained } from '../schema.ts';
import { zAddress, zAmount, zAssetId, zSeconds } from '../wire.ts';

const zPositive = zAmount.refine((text) => text !== '0', 'must be more than zero, such as 1000000');
const zRequested = z
  .strictObject({
    asset: zAssetId.describe('CAIP-19: `eip155:<chainId>/erc20:<token address>`. The chain is part of it.'),
    amount: zPositive
      .optional()
      .describe('In base units, more than zero. Exactly one of input and output has it.'),
  })
  .meta({ id: 'RequestedAsset', description: 'One side of a trade as it is asked for.' });
const zSolverIds = z.array(z.string().min(1).max(64)).max(100);

export const zQuoteRequest = z
  .strictObject({
    taker: zAddress.describe('Address that gives the input and signs: an account or a contract wallet.'),
    receiver: zAddress.optional().describe('Address that the output is delivered to. Default: the taker.'),
    input: zRequested.describe('What the taker gives. With `amount`: exact input, and the most output wins.'),
    output: zRequested.describe(
      'What the taker wants. With `amount`: exact output, and the least input wins.',
    ),
    minValidUntil: zSeconds
      .nullable()
      .optional()
      .describe('Unix seconds: quotes that lapse sooner are left out. null or absent: no floor.'),
    maxCandidates: z.int().min(1).max(20).default(5).describe('Most quotes in the answer.'),
    splitFill: zExplained('Whether several LPs may fill the order together.', {
      allow: 'they may',
      never: 'each candidate has one LP',
    }).default('allow'),
    settlement: zExplained<(typeof SETTLEMENTS)[number]>('How the receiver gets the output.', {
      wallet: 'as tokens in its wallet',
      ledger: "as a balance in the escrow's ledger, to spend or withdraw there",
      ledger_auto_withdraw:
        'as a balance in the ledger, paid out to its wallet by itself after the withdrawal delay',
    }).default('wallet'),
    solvers: z
      .strictObject({
        include: zSolverIds
          .optional()
          .describe('Ask only these. Absent: all that the workspace may trade with.'),
        exclude: zSolverIds.optional().describe('Do not ask these.'),
      })
      .meta({ id: 'SolverChoice', description: 'Roster ids of the solvers to ask, or not to ask.' })
      .optional(),
    referenceId: z
      .string()
      .max(200)
      .optional()
      .describe("Your own reference. The order's status shows it again; the venue reads nothing into it."),
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
  })
  .meta({ id: 'QuoteRequest', description: 'A trade that firm quotes are asked for.' });
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

const zUnavailable = z
  .object({
    code: zExplained<UnavailableCode>('Why there is no quote.', {
      pair_not_supported: 'the venue does not trade this pair, or the chain has no escrow',
      no_eligible_solver: 'no solver that the workspace may trade with serves the pair now',
      no_quotes: 'solvers were asked and none of them quoted',
      amount_too_small: 'the message names the least amount that would pass',
      amount_too_large: 'the message names the largest amount that would pass',
      validity_unavailable: 'no quote lives as long as `minValidUntil` asks',
    }),
    message: z.string().describe('For people: what is missing and what to ask instead. It may change.'),
    corridor: z
      .string()
      .nullable()
      .describe('`<source>-<dest>` in chain slugs. null when a chain is unknown.'),
  })
  .meta({ id: 'ProductUnavailable', description: 'Why there are no quotes. It is an answer, not an error.' });

/** The fields of the answer in both namespaces. */
export const quoteResponseFields = {
  requestId: z.string().describe("Names this answer in the venue's log: 32 hex digits."),
  createdAt: z.iso.datetime().describe('When the answer was made.'),
  productUnavailable: zUnavailable.nullable().describe('Why `quotes` is empty. null when there are quotes.'),
};

export const zQuoteResponse = z
  .object({
    ...quoteResponseFields,
    quotes: z
      .array(zQuoteCandidate)
      .describe(
        'Best first: most output less the gas that the taker pays, or least input plus that gas; then shorter ' +
          'eta, fill history, longer validity.',
      ),
  })
  .meta({ id: 'QuoteResponse', description: 'The ranked answer to a quote request.' });
