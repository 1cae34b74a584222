/** POST …/orders. */

import * as z from 'zod';
import { FIELDS, zQuoteCandidate } from './candidate.ts';
import { zExplained } from '../schema.ts';
import { zBytes32, zHex } from '../wire.ts';

const ORDER_STATUSES = ['pending', 'settled', 'failed'] as const;

/** A signature has at most 8 KB. */
const zSignature = zHex.refine((text) => text.length <= 2 + 2 * 8_192, 'must not exceed 8,192 bytes');
/** Unix seconds, although some wallets write a full uint256. */
const zWindow = z.int().min(0);

const zPermit2Lock = z
  .strictObject({
    signature: zSignature.describe('Signed Permit2 permit, which lets the escrow pull the input.'),
    deadline: zWindow.describe('Unix second after which the permit is void.'),
  })
  .meta({ id: 'Permit2Lock', description: 'A Permit2 permit for this order.' });
const zEip3009Authorization = z
  .strictObject({
    signature: zSignature.describe('Signed ReceiveWithAuthorization, which lets the escrow pull the input.'),
    validAfter: zWindow.describe('Unix second from which the authorization can be used.'),
    validBefore: zWindow.describe('Unix second at which it expires.'),
    nonce: zBytes32.describe('The random 32 bytes of the preflight; they make it usable once.'),
  })
  .meta({ id: 'Eip3009Authorization', description: 'An EIP-3009 authorization for this order.' });

export const zSignScheme = zExplained('How the signature is verified.', {
  EIP712: 'ECDSA recovery, for accounts with a private key',
  EIP1271: '`isValidSignature` on chain, for contract wallets',
}).meta({ id: 'SignScheme' });

export const zSubmission = {
  signature: zSignature.describe(
    "The taker's EIP-712 signature over `order.payload` of the candidate, as hex; at most 8,192 bytes.",
  ),
  signScheme: zSignScheme.default('EIP712'),
  permit2Lock: zPermit2Lock
    .nullable()
    .optional()
    .describe('Only when the preflight asked for it. A standing Permit2 grant makes it unnecessary.'),
  eip3009Authorization: zEip3009Authorization
    .nullable()
    .optional()
    .describe('Only when the preflight chose that lock.'),
};

export const zOrderSubmitRequest = z
  .strictObject({
    quoteResponse: zQuoteCandidate.describe('The chosen candidate, exactly as received.'),
    ...zSubmission,
  })
  .meta({ id: 'OrderSubmitRequest', description: "A candidate with the taker's signature." });
export type OrderSubmitRequest = z.infer<typeof zOrderSubmitRequest>;
export type Permit2Lock = z.infer<typeof zPermit2Lock>;
export type Eip3009Authorization = z.infer<typeof zEip3009Authorization>;

/** Printable ASCII survives headers, logs and indexes unchanged. */
export const zIdempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/, 'must be 1 to 255 printable ASCII characters');

export const zOrderId = z.string().describe('Id of the order: 32 bytes as hex, as the escrow computes it.');
export const zOrderStatus = zExplained<(typeof ORDER_STATUSES)[number]>('How the order stands.', {
  pending: 'accepted, and neither delivered nor failed yet',
  settled: 'delivered, proven and paid out; final',
  failed: 'it cannot settle; what was escrowed goes back to the taker; final',
}).meta({ id: 'OrderStatus' });

export const zOrder = z
  .object({
    id: zOrderId,
    status: zOrderStatus,
    quoteId: z.string().describe(FIELDS.quoteId),
    createdAt: z.iso.datetime().describe('When the submission was accepted.'),
  })
  .meta({ id: 'Order', description: 'An order as it was accepted.' });
