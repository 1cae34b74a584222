/** POST …/orders/preflight: the steps left between a candidate and its submission. */

import { z } from 'zod';
import { zQuoteCandidate } from './candidate.ts';
import { zOrderStatusResponse } from './status.ts';

/** Without it preflight chooses. */
export const FUNDING_LOCKS = ['Permit2', 'EIP-3009', 'ResourceLock'] as const;
export type FundingLock = (typeof FUNDING_LOCKS)[number];

export const zPreflightRequest = z.strictObject({
  quoteResponse: zQuoteCandidate,
  fundingLock: z.enum(FUNDING_LOCKS).optional(),
});
export type PreflightRequest = z.infer<typeof zPreflightRequest>;

const zAction = z.object({
  /** `wait`: an earlier leg of a route is in progress, or a later one has no price. */
  type: z.enum(['evmTransaction', 'signature', 'wait']),
  purpose: z.enum([
    'tokenApproval',
    'permit2Grant',
    'resourceLockDeposit',
    'permit2Lock',
    'eip3009Authorization',
    'orderSignature',
    'settlementBroadcast',
    'legDelivery',
    'legQuote',
  ]),
  actor: z.enum(['userWallet', 'venue']),
  frequency: z.enum(['perTrade', 'reusableSetup']),
  chainId: z.int(),
  tx: z
    .object({
      to: z.string(),
      value: z.string(),
      data: z.string(),
      chainId: z.int(),
      from: z.string(),
      gas: z.int(),
      gasPrice: z.int(),
    })
    .optional(),
  typedData: z.object({ type: z.string(), payload: z.record(z.string(), z.unknown()) }).optional(),
  submitTo: z.string().optional(),
  after: z.array(z.enum(['rerunPreflight', 'submitOrder'])),
  details: z.record(z.string(), z.unknown()).optional(),
});
export type Action = z.infer<typeof zAction>;

const zLockDetails = z.union([
  /** `signature` is "0x": the plan asks for it, or a standing grant makes it unnecessary. */
  z.object({ signature: z.string(), deadline: z.int() }),
  z.object({ signature: z.string(), validAfter: z.int(), validBefore: z.int(), nonce: z.string() }),
  z.object({
    token: z.string(),
    account: z.string(),
    available: z.string(),
    withdrawableAt: z.int().nullable(),
  }),
]);

export const zPreflightResponse = z.object({
  quoteId: z.string(),
  ready: z.boolean(),
  nextActions: z.array(zAction),
  /** Absent without a lock: walletBroadcast by plain allowance, and while a route waits. */
  fundingLock: z.enum(FUNDING_LOCKS).optional(),
  lockDetails: zLockDetails.optional(),
  /** The last order of a route that has settled: nothing is left to do, so `nextActions` is empty. */
  order: z
    .object({
      orderId: z.string(),
      status: zOrderStatusResponse.shape.status,
      stage: zOrderStatusResponse.shape.stage,
    })
    .optional(),
});
export type PreflightResponse = z.infer<typeof zPreflightResponse>;
