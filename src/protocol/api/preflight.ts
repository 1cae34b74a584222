/** POST …/orders/preflight: the steps left between a candidate and its submission. */

import * as z from 'zod';
import { zExplained } from '../schema.ts';
import { FIELDS, zQuoteCandidate } from './candidate.ts';
import { zOrderStatusResponse } from './status.ts';
import { zOrderId } from './submit.ts';

/** A request may name one of these locks; otherwise preflight chooses. */
const FUNDING_LOCKS = ['Permit2', 'EIP-3009', 'ResourceLock'] as const;
export type FundingLock = (typeof FUNDING_LOCKS)[number];

const zFundingLock = zExplained<FundingLock>('How the escrow gets the input.', {
  Permit2: 'by a Permit2 grant or a permit for this order',
  'EIP-3009': "by the token's own signed authorization; needs no approval",
  ResourceLock: "from the taker's balance in the escrow's ledger",
}).meta({ id: 'FundingLock' });
export const zChosenLock = zFundingLock
  .optional()
  .describe('The lock to plan for. Absent: preflight chooses.');

export const zPreflightRequest = z
  .strictObject({
    quoteResponse: zQuoteCandidate.describe('The candidate, exactly as received.'),
    fundingLock: zChosenLock,
  })
  .meta({ id: 'PreflightRequest', description: 'The candidate to plan for.' });
export type PreflightRequest = z.infer<typeof zPreflightRequest>;

const zTransaction = z
  .object({
    to: z.string().describe('Contract to call.'),
    value: z.string().describe('Native currency to send with it, in base units (wei).'),
    data: z.string().describe('Call data as hex.'),
    chainId: z.int().describe('Chain to send it on.'),
    from: z.string().describe('Address that has to send it: the taker.'),
    gas: z.int().describe('Gas limit in gas units, with a margin over the simulation.'),
    gasPrice: z.int().describe('Price of a gas unit in wei, as it is now. A wallet may choose another.'),
  })
  .meta({ id: 'TransactionToSend', description: 'A transaction, ready to be signed and sent.' });

const zAction = z
  .object({
    type: zExplained('What kind of step it is.', {
      evmTransaction: 'send `tx`',
      signature: 'sign `typedData`',
      wait: 'an earlier leg of a route is in progress, or a later one has no price: ask again later',
    }),
    purpose: zExplained('What the step is for.', {
      tokenApproval: 'approve Permit2 or the escrow for the input token',
      permit2Grant: 'a standing Permit2 grant, instead of a permit for each order',
      resourceLockDeposit: "deposit the input into the escrow's ledger",
      permit2Lock: 'a Permit2 permit for this order; the result goes into `permit2Lock`',
      eip3009Authorization: 'an EIP-3009 authorization; the result goes into `eip3009Authorization`',
      orderSignature: 'the order itself; the result is `signature` of the submission',
      settlementBroadcast: '`walletBroadcast`: send the settlement after the submission',
      legDelivery: 'the leg before this one is being delivered',
      legQuote: 'the next leg has no quote yet',
    }),
    actor: zExplained('Who takes the step.', {
      userWallet: "the taker's wallet",
      venue: 'the venue, by itself',
    }),
    frequency: zExplained('How often it is needed.', {
      perTrade: 'for each trade',
      reusableSetup: 'once; it lasts for later trades and is then left out',
    }),
    chainId: z.int().describe('Chain of the step.'),
    tx: zTransaction.optional().describe('What to send. Absent unless `type` is `evmTransaction`.'),
    typedData: z
      .object({
        type: z.string().describe('Kind of the payload: `escrow-v0` for the order, `eip712` for locks.'),
        payload: z.record(z.string(), z.unknown()).describe('EIP-712 typed data, to be signed as it is.'),
      })
      .meta({ id: 'TypedDataToSign', description: 'A payload to sign.' })
      .optional()
      .describe('What to sign. Absent unless `type` is `signature`.'),
    submitTo: z.string().optional().describe('Path that takes the result. Absent when nothing is submitted.'),
    after: z
      .array(
        zExplained('What follows this step.', {
          rerunPreflight: 'ask for preflight again, because the plan has changed',
          submitOrder: 'submit the order',
        }),
      )
      .describe('What to do once the step is done, in order. Empty: go on with the next action.'),
    details: z
      .record(z.string(), z.unknown())
      .optional()
      .describe(
        'More about the step, by purpose: the spender and token of an approval, the field that takes a ' +
          'signature (`resultIn`), times in Unix seconds, what the wallet lacks.',
      ),
  })
  .meta({ id: 'Action', description: 'One step of the plan.' });
export type Action = z.infer<typeof zAction>;

const UNSIGNED = 'Always `0x`: the plan asks for it, or a standing grant makes it unnecessary.';
const zLockDetails = z.union([
  z
    .object({
      signature: z.string().describe(UNSIGNED),
      deadline: z.int().describe('Unix second after which the permit or the grant is void.'),
    })
    .meta({ id: 'Permit2LockDetails', description: 'Of a Permit2 lock.' }),
  z
    .object({
      signature: z.string().describe(UNSIGNED),
      validAfter: z.int().describe('Unix second from which the authorization can be used.'),
      validBefore: z.int().describe('Unix second at which it expires.'),
      nonce: z.string().describe('Random 32 bytes as hex; they make the authorization usable once.'),
    })
    .meta({ id: 'Eip3009LockDetails', description: 'Of an EIP-3009 lock.' }),
  z
    .object({
      token: z.string().describe('Address of the input token.'),
      account: z.string().describe("Whose balance in the escrow's ledger it is: the taker's."),
      available: z.string().describe('Balance that the order can use, in base units.'),
      withdrawableAt: z
        .int()
        .nullable()
        .describe('Unix second from which a requested withdrawal can leave. null when none was requested.'),
    })
    .meta({ id: 'ResourceLockDetails', description: 'Of a resource lock.' }),
]);

const zRouteEnd = z
  .object({
    orderId: zOrderId,
    status: zOrderStatusResponse.shape.status,
    stage: zOrderStatusResponse.shape.stage,
  })
  .meta({ id: 'RouteEnd', description: 'The last order of a route.' });

export const zPreflightResponse = z
  .object({
    quoteId: z.string().describe(FIELDS.quoteId),
    ready: z.boolean().describe('Whether nothing but signatures and the submission remains.'),
    nextActions: z.array(zAction).describe('The steps that remain, in order.'),
    fundingLock: zFundingLock
      .optional()
      .describe('The lock of the plan. Absent on `walletBroadcast` by allowance, and while a route waits.'),
    lockDetails: zLockDetails.optional().describe('Of that lock. Absent when there is none.'),
    order: zRouteEnd
      .optional()
      .describe('The last order of a route that has settled: nothing is left to do. Absent otherwise.'),
  })
  .meta({ id: 'PreflightResponse', description: 'What stands between a candidate and its submission.' });
export type PreflightResponse = z.infer<typeof zPreflightResponse>;
