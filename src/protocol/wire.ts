/** Shared wire spellings: strict in, canonical out. */

import * as z from 'zod';
import { CHECKSUM_ADVICE, isMistyped } from '../domain/address.ts';
import { isAmount } from '../domain/amount.ts';
import { type AssetId, parseAssetId } from '../domain/asset.ts';
import type { Address, Bytes32, Hex } from '../domain/hex.ts';
import type { OrderMessage, StandardOrder } from '../domain/order.ts';
import { MAX_UINT32 } from '../domain/time.ts';

/** Error messages show this address as an example. */
export const EXAMPLE_ADDRESS = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913';
export const EXAMPLE_ASSET = `eip155:8453/erc20:${EXAMPLE_ADDRESS}`;

export const zAmount = z
  .string()
  .max(78)
  .refine(
    isAmount,
    'must be a decimal amount in base units: digits only, no leading zero, below 2^256, such as 1000000',
  );
/**
 * Text that is lower case when it has been read. A check of zod, not a transform: a message has up to 30 of
 * these fields, and a transform costs 0.3 us more each.
 */
const zLowerCase = <T extends string>(schema: z.ZodString) =>
  schema.toLowerCase() as unknown as z.ZodType<T, string>;

const WRONG_CHECKSUM = `must be an address whose EIP-55 checksum is right. ${CHECKSUM_ADVICE}`;

export const zAddress = zLowerCase<Address>(
  z
    .string()
    .regex(/^0x[0-9a-fA-F]{40}$/, `must be an address: 0x and 40 hex digits, such as ${EXAMPLE_ADDRESS}`)
    .refine((text) => !isMistyped(text), WRONG_CHECKSUM),
);
export const zBytes32 = zLowerCase<Bytes32>(
  z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/, `must be 32 bytes: 0x and 64 hex digits, such as 0x${'0'.repeat(63)}1`),
);
export const zHex = zLowerCase<Hex>(
  z
    .string()
    .regex(/^0x(?:[0-9a-fA-F]{2})*$/, 'must be hex bytes after 0x, two digits for each, such as 0x00ff'),
);
export const zSeconds = z.int().min(0).max(MAX_UINT32);
export const zAssetId = zLowerCase<AssetId>(
  z
    .string()
    .max(100)
    .refine(
      (text) => parseAssetId(text) !== undefined,
      `must be an asset: eip155:<chainId>/erc20:<token address>, such as ${EXAMPLE_ASSET}`,
    )
    .refine((text) => !isMistyped(text.slice(text.indexOf('0x'))), WRONG_CHECKSUM),
);

/** StandardOrder as the EIP-712 message: integers beyond 2^53 as decimal strings. */
export const zOrderMessage = z.strictObject({
  user: zAddress,
  nonce: zAmount,
  originChainId: zAmount,
  expires: zSeconds,
  fillDeadline: zSeconds,
  inputOracle: zAddress,
  inputs: z
    .array(z.tuple([zAmount, zAmount]))
    .min(1)
    .max(8),
  outputs: z
    .array(
      z.strictObject({
        oracle: zBytes32,
        settler: zBytes32,
        chainId: zAmount,
        token: zBytes32,
        amount: zAmount,
        recipient: zBytes32,
        callbackData: zHex,
        context: zHex,
      }),
    )
    .min(1)
    .max(32),
});

export function orderFromMessage(message: OrderMessage): StandardOrder {
  return {
    user: message.user,
    nonce: BigInt(message.nonce),
    originChainId: BigInt(message.originChainId),
    expires: message.expires,
    fillDeadline: message.fillDeadline,
    inputOracle: message.inputOracle,
    inputs: message.inputs.map(([token, amount]) => [BigInt(token), BigInt(amount)] as const),
    outputs: message.outputs.map((output) => ({
      ...output,
      chainId: BigInt(output.chainId),
      amount: BigInt(output.amount),
    })),
  };
}
