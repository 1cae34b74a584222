/** POST …/orders. */

import { z } from 'zod';
import { zQuoteCandidate } from './candidate.ts';
import { zBytes32, zHex } from '../wire.ts';

export const ORDER_STATUSES = ['pending', 'settled', 'failed'] as const;

/** At most 8 KB. */
const zSignature = zHex.refine((text) => text.length <= 2 + 2 * 8_192, 'must not exceed 8,192 bytes');
/** Unix seconds, although some wallets write a full uint256. */
const zWindow = z.int().min(0);

const zPermit2Lock = z.strictObject({ signature: zSignature, deadline: zWindow });
const zEip3009Authorization = z.strictObject({
  signature: zSignature,
  validAfter: zWindow,
  validBefore: zWindow,
  nonce: zBytes32,
});

export const zSubmission = {
  signature: zSignature,
  signScheme: z.enum(['EIP712', 'EIP1271']).default('EIP712'),
  permit2Lock: zPermit2Lock.nullable().optional(),
  eip3009Authorization: zEip3009Authorization.nullable().optional(),
};

export const zOrderSubmitRequest = z.strictObject({ quoteResponse: zQuoteCandidate, ...zSubmission });
export type OrderSubmitRequest = z.infer<typeof zOrderSubmitRequest>;
export type Permit2Lock = z.infer<typeof zPermit2Lock>;
export type Eip3009Authorization = z.infer<typeof zEip3009Authorization>;

/** Printable ASCII survives headers, logs and indexes unchanged. */
export const zIdempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/, 'must be 1 to 255 printable ASCII characters');

export const zOrder = z.object({
  id: z.string(),
  status: z.enum(ORDER_STATUSES),
  quoteId: z.string(),
  createdAt: z.iso.datetime(),
});
