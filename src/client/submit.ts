/** The Idempotency-Key is a hash of the body, so repeating is safe. */

import type * as z from 'zod';
import type { Hex } from '../domain/hex.ts';
import { keccakText } from '../domain/keccak.ts';
import { canonicalJson } from '../protocol/canonical-json.ts';
import { zOrder } from '../protocol/api/submit.ts';
import { DistrustError, SubmissionUnknownError, UnreachableError, VenueError } from './errors.ts';
import type { Transport } from './transport.ts';
import type { Locks } from './wallet.ts';

export interface Submission extends Locks {
  signature: Hex;
  signScheme?: 'EIP712' | 'EIP1271';
  idempotencyKey?: string;
  attempts?: number;
}

export type Order = z.infer<typeof zOrder>;

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;

/** Throws `VenueError` when the venue refused, `SubmissionUnknownError` when no attempt got an answer. */
export async function sendOrder(
  transport: Transport,
  path: string,
  { candidate, orderId, quoteId }: { candidate: object; orderId: string; quoteId: string },
  {
    signature,
    signScheme = 'EIP712',
    permit2Lock,
    eip3009Authorization,
    idempotencyKey,
    attempts = 5,
  }: Submission,
): Promise<Order> {
  const body = {
    quoteResponse: candidate,
    signature,
    signScheme,
    ...(permit2Lock ? { permit2Lock } : {}),
    ...(eip3009Authorization ? { eip3009Authorization } : {}),
  };
  const key = idempotencyKey ?? keccakText(canonicalJson(body));
  let last: unknown;
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (attempt > 0) await pause(pauseMs(last, attempt));
    try {
      const order = await transport.call(zOrder, path, {
        method: 'POST',
        body,
        headers: { 'idempotency-key': key },
      });
      if (order.id.toLowerCase() !== orderId || order.quoteId !== quoteId)
        throw new DistrustError(
          'order_id',
          `The venue answered with the order ${order.id}; what was signed is ${orderId}.`,
          { orderId },
        );
      return order;
    } catch (error) {
      const again =
        error instanceof UnreachableError ||
        (error instanceof VenueError &&
          (error.retry === 'later' || error.code === 'idempotency_in_progress'));
      if (!again) throw error;
      last = error;
    }
  }
  if (last instanceof VenueError && last.code === 'rate_limited') throw last;
  throw new SubmissionUnknownError(key, last);
}

function pauseMs(last: unknown, attempt: number): number {
  if (last instanceof VenueError && last.retryAfterSeconds !== null)
    return Math.min(last.retryAfterSeconds * 1_000, LONGEST_PAUSE_MS);
  return Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), LONGEST_PAUSE_MS);
}

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
