/** What attesters sign: that a payload (a fill) was seen in a contract on another chain, deep enough. */

import { separatorOf } from './escrow-domain.ts';
import { type Address, type Bytes32, hexToBytes } from './hex.ts';
import { keccak, keccakBytes, keccakText, typedDataDigest } from './keccak.ts';
import type { MandateOutput } from './order.ts';
import type { UnixSeconds } from './time.ts';
import { writeHexWord, writeUint } from './word.ts';

export const ATTESTATION_TYPEHASH = keccakText(
  'Attestation(uint256 remoteChainId,bytes32 application,bytes32 payloadHash)',
);
export const ORACLE_DOMAIN_NAME = 'AttestationOracle';
export const ORACLE_DOMAIN_VERSION = '1';

export interface Attestation {
  /** The chain on which the fill happened. */
  remoteChainId: bigint;
  /** The settler there, as 32 bytes. */
  application: Bytes32;
  /** keccak256 of the fill description. */
  payloadHash: Bytes32;
}

/** Digest on the oracle that will believe it. */
export function attestationDigest(
  oracle: { chainId: number; oracle: Address },
  { remoteChainId, application, payloadHash }: Attestation,
): Bytes32 {
  const words = Buffer.allocUnsafe(4 * 32);
  writeHexWord(words, 0, ATTESTATION_TYPEHASH);
  writeUint(words, 32, remoteChainId);
  writeHexWord(words, 64, application);
  writeHexWord(words, 96, payloadHash);
  const separator = separatorOf({
    name: ORACLE_DOMAIN_NAME,
    version: ORACLE_DOMAIN_VERSION,
    chainId: oracle.chainId,
    verifyingContract: oracle.oracle,
  });
  return typedDataDigest(separator, keccakBytes(words));
}

/** What the escrow keeps of a fill: who delivered, and when. */
export function fillRecordOf({ solver, timestamp }: Pick<FillFacts, 'solver' | 'timestamp'>): Bytes32 {
  const bytes = Buffer.allocUnsafe(36);
  writeHexWord(bytes, 0, solver);
  bytes.writeUInt32BE(timestamp, 32);
  return keccak(bytes);
}

/**
 * OIF's fill description: solver(32) orderId(32) timestamp(4) token(32) amount(32) recipient(32) callLen(2)
 * call ctxLen(2) ctx.
 */
export function fillDescription({ solver, orderId, timestamp, output }: FillFacts): Buffer {
  const call = hexToBytes(output.callbackData);
  const context = hexToBytes(output.context);
  const payload = Buffer.allocUnsafe(168 + call.length + context.length);
  writeHexWord(payload, 0, solver);
  writeHexWord(payload, 32, orderId);
  payload.writeUInt32BE(timestamp, 64);
  writeHexWord(payload, 68, output.token);
  writeUint(payload, 100, output.amount);
  writeHexWord(payload, 132, output.recipient);
  let at = payload.writeUInt16BE(call.length, 164);
  payload.set(call, at);
  at = payload.writeUInt16BE(context.length, at + call.length);
  payload.set(context, at);
  return payload;
}

export interface FillFacts {
  /** Who is paid on the origin, as 32 bytes. */
  solver: Bytes32;
  orderId: Bytes32;
  /** Block time of the fill. */
  timestamp: UnixSeconds;
  output: MandateOutput;
}

export const fillPayloadHash = (facts: FillFacts): Bytes32 => keccak(fillDescription(facts));

/** The attestation that proves this fill, made on `output.chainId` by `output.settler`. */
export function fillAttestation(facts: FillFacts): Attestation {
  return {
    remoteChainId: facts.output.chainId,
    application: facts.output.settler,
    payloadHash: fillPayloadHash(facts),
  };
}
