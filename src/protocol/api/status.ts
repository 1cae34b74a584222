/** GET …/orders/{id}, and the `data` of every order event. */

import * as z from 'zod';
import type { FailureCode } from '../../domain/fact.ts';
import { explained, zExplained } from '../schema.ts';
import { FIELDS } from './candidate.ts';
import { STAGE_MEANINGS } from './stages.ts';
import { zOrderId, zOrderStatus } from './submit.ts';

export const zSettlementStatus = zExplained('The step that the order has reached.', STAGE_MEANINGS).meta({
  id: 'SettlementStatus',
});

export const FAILURES: Readonly<Record<FailureCode, string>> = {
  not_opened: 'the venue could not put the order on chain in time; nothing was taken',
  not_broadcast: "the taker's wallet did not broadcast the transaction in time; nothing was taken",
  expired_unfilled: 'the solver did not deliver in time; the input is refunded',
  solver_released: 'the solver gave the order up; the input is refunded',
  funding_failed: "the taker's input could not be pulled: balance, allowance or lock; nothing was taken",
  settlement_reverted: 'the chain refused the settlement until the fill deadline; nothing was taken',
};

const zSettledAmount = z
  .object({
    amount: z.string().describe('What was delivered, in base units.'),
    decimals: z.int().nullable().describe(`${FIELDS.decimals} null when the venue no longer lists it.`),
    symbol: z.string().nullable().describe(`${FIELDS.symbol} null when the venue no longer lists it.`),
    receiver: z.string().describe('Address that got it.'),
    txHash: z.string().describe('Transaction that delivered it; of a split, one of them.'),
  })
  .meta({ id: 'SettledAmount', description: 'A delivered amount.' });

const zFailure = z
  .object({
    code: zExplained('Why the order failed.', FAILURES).meta({ id: 'FailureCode' }),
    message: z
      .string()
      .describe('For people: what happened, where the input is, what to do next. It may change.'),
    refundTxHash: z.string().nullable().describe('Transaction of the refund. null while there is none.'),
    refundableFrom: z
      .int()
      .nullable()
      .describe(
        'Unix second from which anyone may refund. null when nothing was escrowed or the refund is done.',
      ),
  })
  .meta({ id: 'OrderFailure', description: 'Why an order failed, and where its input is.' });

export const zOrderStatusResponse = z
  .object({
    id: zOrderId,
    status: zOrderStatus,
    quoteId: z.string().describe(FIELDS.quoteId),
    createdAt: z.iso.datetime().describe('When the submission was accepted.'),
    updatedAt: z.iso.datetime().describe('When the venue last learned something about the order.'),
    stage: z.string().describe(explained('The step that the order has reached.', STAGE_MEANINGS)),
    referenceId: z.string().optional().describe("The quote request's own. Absent when it had none."),
    txHash: z.string().optional().describe('Settlement transaction. Absent until one has been broadcast.'),
    settledAmounts: z
      .record(z.string(), zSettledAmount)
      .optional()
      .describe('What was delivered, by CAIP-19 asset. Absent until the order settles.'),
    failure: zFailure.optional().describe('Absent unless the order failed.'),
  })
  .meta({ id: 'OrderStatusResponse', description: 'Where an order stands.' });
export type OrderStatusResponse = z.infer<typeof zOrderStatusResponse>;
