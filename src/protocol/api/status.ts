/** GET …/orders/{id}, and the `data` of every order event. */

import { z } from 'zod';
import { FAILURE_CODES } from '../../domain/fact.ts';
import { ORDER_STATUSES } from './submit.ts';

const zSettledAmount = z.object({
  amount: z.string(),
  decimals: z.int().nullable(),
  symbol: z.string().nullable(),
  receiver: z.string(),
  txHash: z.string(),
});

export const zOrderStatusResponse = z.object({
  id: z.string(),
  status: z.enum(ORDER_STATUSES),
  quoteId: z.string(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  stage: z.string(),
  /** The quote request's own; absent when it had none. */
  referenceId: z.string().optional(),
  /** Absent until a settlement transaction has been broadcast. */
  txHash: z.string().optional(),
  /** Keyed by CAIP-19 asset; absent until the order settles. */
  settledAmounts: z.record(z.string(), zSettledAmount).optional(),
  failure: z
    .object({
      code: z.enum(FAILURE_CODES),
      message: z.string(),
      refundTxHash: z.string().nullable(),
      /** Unix seconds, for anyone; null when nothing was escrowed or the refund is done. */
      refundableFrom: z.int().nullable(),
    })
    .optional(),
});
export type OrderStatusResponse = z.infer<typeof zOrderStatusResponse>;
