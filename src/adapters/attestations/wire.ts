/** Wire formats of `GET /attestations?…` and `POST /attestations/lists`: strict parsing, canonical output. */

import * as z from 'zod';
import {
  type AttestAnswer,
  type AttestListRequest,
  type AttestRequest,
  MOST_LISTED,
} from '../../ports/attestations.ts';
import { zAddress, zBytes32, zHex } from '../../protocol/wire.ts';

export const ATTESTATIONS_PATH = '/attestations';
export const ATTESTATION_LISTS_PATH = '/attestations/lists';

const zChainId = z
  .string()
  .regex(/^[1-9][0-9]{0,15}$/, 'must be a chain id')
  .transform(Number);

const zAttestFields = z.strictObject({
  remoteChainId: zChainId,
  application: zBytes32,
  payloadHash: zBytes32,
  oracleChainId: zChainId,
  oracle: zAddress,
  orderId: zBytes32.optional(),
});
export const ATTEST_KEYS = Object.keys(zAttestFields.shape);
export const zAttestQuery = zAttestFields.transform(
  ({ remoteChainId, oracleChainId, orderId, ...rest }): AttestRequest => ({
    ...rest,
    remoteChainId: BigInt(remoteChainId),
    chainId: oracleChainId,
    ...(orderId && { orderId }),
  }),
);

export const zAttestList = z
  .strictObject({
    remoteChainId: zChainId,
    application: zBytes32,
    oracleChainId: zChainId,
    oracle: zAddress,
    fills: z
      .array(z.strictObject({ payloadHash: zBytes32, orderId: zBytes32 }))
      .min(2)
      .max(MOST_LISTED),
  })
  .transform(({ remoteChainId, oracleChainId, ...rest }): AttestListRequest => ({
    ...rest,
    remoteChainId: BigInt(remoteChainId),
    chainId: oracleChainId,
  }));

export const toListBody = ({
  remoteChainId,
  application,
  chainId,
  oracle,
  fills,
}: AttestListRequest): string =>
  JSON.stringify({
    remoteChainId: remoteChainId.toString(),
    application,
    oracleChainId: String(chainId),
    oracle,
    fills,
  });

export const zAttestAnswer: z.ZodType<AttestAnswer> = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('signed'), signer: zAddress, signature: zHex }),
  z.strictObject({ kind: z.literal('unknown'), signer: zAddress.optional() }),
  z.strictObject({ kind: z.literal('not_final'), blocksToGo: z.int() }),
  z.strictObject({ kind: z.literal('refused'), reason: z.string().max(300) }),
]);

export function toQuery({
  remoteChainId,
  application,
  payloadHash,
  chainId,
  oracle,
  orderId,
}: AttestRequest): URLSearchParams {
  return new URLSearchParams({
    remoteChainId: remoteChainId.toString(),
    application,
    payloadHash,
    oracleChainId: String(chainId),
    oracle,
    ...(orderId && { orderId }),
  });
}
