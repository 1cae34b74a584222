/** Fees of an order's first input, by the escrow's arithmetic. */

import { decodeContext } from '../../domain/context.ts';
import type { StandardOrder } from '../../domain/order.ts';

const BPS = 10_000n;

/** Returns the fees, base units. undefined when a context cannot be decoded. */
export function feesOf({
  inputs,
  outputs,
}: StandardOrder): { protocol: bigint; relayer: bigint } | undefined {
  const amount = inputs[0]?.[1];
  const contexts = outputs.map(({ context }) => decodeContext(context));
  if (amount === undefined) return undefined;
  let [left, protocol, relayer] = [amount, 0n, 0n];
  for (const [index, context] of contexts.entries()) {
    if (!context) return undefined;
    // The last slice takes the rounding remainder.
    const slice = index === contexts.length - 1 ? left : (amount * BigInt(context.portionBps)) / BPS;
    left -= slice;
    protocol += (slice * BigInt(context.feeBps)) / BPS;
    relayer += context.relayFee;
  }
  return { protocol, relayer };
}
