/** GET /solvers/{id}/firmness: whether a solver keeps its promises, and what stands behind them. */

import * as z from 'zod';
import type { FADE_REASONS } from '../../domain/bond.ts';
import type { FailureCode } from '../../domain/fact.ts';
import { zExplained } from '../schema.ts';
import { zAmount } from '../wire.ts';
import { FIELDS } from './candidate.ts';
import { FAILURES } from './status.ts';
import { zOrderId } from './submit.ts';

export const zFirmnessParams = z.strictObject({
  id: z.string().max(200).describe('Roster id of the solver.'),
});

const zBond = z
  .object({
    asset: z.string().describe(FIELDS.asset),
    symbol: z.string().describe(FIELDS.symbol),
    chain: z.string().describe('Slug of the chain that the bond is on.'),
    amount: z.string().describe('All that pays claims, in base units.'),
    leaving: z.string().describe('What of it the solver has asked to take back, in base units.'),
    covers: z
      .string()
      .describe('The largest promise whose whole share the rest would pay, in base units, rounded down.'),
  })
  .meta({ id: 'Bond', description: 'What a solver answers with for its promises, in one token.' });

const zPaid = z
  .object({
    asset: z.string().describe(FIELDS.asset),
    amount: z.string().describe('What claims paid, in base units.'),
  })
  .meta({ id: 'PaidClaims', description: 'What claims paid in one token.' });
const zClaims = z
  .object({
    count: z.int().describe('How many claims were paid.'),
    paid: z.array(zPaid).describe('Their sums, one for each token.'),
  })
  .meta({ id: 'ClaimCount', description: 'Claims on the bonds.' });
const zAnswerMs = z
  .object({
    median: z
      .number()
      .nullable()
      .describe('Milliseconds within which half of its answers came. null: see above.'),
    p99: z
      .number()
      .nullable()
      .describe('Milliseconds within which 99 % of its answers came. null: see above.'),
  })
  .meta({
    id: 'AnswerTimes',
    description: 'How fast a solver answers. null: it has not answered, or took longer than 2 s.',
  });
const zWindow = z
  .object({
    awarded: z
      .int()
      .describe(
        'Orders that takers submitted with its quotes; a split counts for the LP of its largest part.',
      ),
    settled: z.int().describe('Those of them that settled.'),
    faded: z.int().describe('Those of them that failed by its fault.'),
    claims: zClaims,
    answerMs: zAnswerMs,
  })
  .meta({ id: 'FirmnessWindow', description: "What became of a solver's promises in a span of time." });

const zClaim = z
  .object({
    chain: z.string().describe('Slug of the chain of the claim.'),
    txHash: z.string().describe('Transaction of the claim.'),
    blockNumber: zAmount.describe('Its block.'),
    asset: z.string().describe(FIELDS.asset),
    promised: z.string().describe('What the order promised the taker, in base units.'),
    paid: z.string().describe('What the bond paid the taker, in base units.'),
    forfeited: z.string().describe('What the solver lost beside it, in base units.'),
  })
  .meta({ id: 'BondClaim', description: 'A payment out of a bond, which anyone can look up on the chain.' });

const zFade = z
  .object({
    orderId: zOrderId,
    quoteId: z.string().describe(FIELDS.quoteId),
    at: z.iso.datetime().describe('When the order was submitted, or its claim mined.'),
    reason: zExplained<FailureCode | (typeof FADE_REASONS)[number]>(
      'Why the order failed, or what the claim showed.',
      {
        ...FAILURES,
        balance: 'claim: the LP did not hold the output',
        limit: 'claim: the LP had limited what its operator may pay',
        revoked: "claim: the LP had revoked its operator's key",
        unfilled: 'claim: the LP did not deliver in time',
      },
    ),
    claim: zClaim.nullable().describe('The payment out of the bond. null: nobody has claimed.'),
  })
  .meta({ id: 'Fade', description: 'A promise that a solver did not keep.' });

export const zFirmness = z
  .object({
    id: z.string().describe('Roster id of the solver.'),
    asOf: z.iso.datetime().describe('When this was counted; at most 10 s ago.'),
    bonds: z.array(zBond).describe('Its bonds, one for each chain and token that has one.'),
    last24h: zWindow.describe('The last 24 hours.'),
    last30d: zWindow.describe('The last 30 days.'),
    fades: z.array(zFade).describe('Of the last 30 days, newest first, at most 100.'),
  })
  .meta({ id: 'Firmness', description: 'Whether a solver keeps its promises, and what stands behind them.' });
export type Firmness = z.infer<typeof zFirmness>;
