/**
 * Defines what attesters sign: that a payload (a fill) was seen in a contract on another chain, deep enough.
 */

import { separatorOf } from './escrow-domain.ts';
import type { Address, Bytes32 } from './hex.ts';
import { keccak, keccakText, typedDataMessage } from './keccak.ts';
import type { MandateOutput } from './order.ts';
import type { UnixSeconds } from './time.ts';
import { AbiWriter, byteLength, encodeWords } from './abi.ts';

export const ATTESTATION_TYPEHASH = keccakText(
  'Attestation(uint256 remoteChainId,bytes32 application,bytes32 payloadHash)',
);
const ATTESTATION_LIST_TYPEHASH = keccakText(
  'AttestationList(uint256 remoteChainId,bytes32 application,bytes32[] payloadHashes)',
);
const ORACLE_DOMAIN_NAME = 'AttestationOracle';
const ORACLE_DOMAIN_VERSION = '1';

export interface Attestation {
  /** The chain on which the fill happened. */
  remoteChainId: bigint;
  /** The settler there, as 32 bytes. */
  application: Bytes32;
  /** keccak256 of the fill description. */
  payloadHash: Bytes32;
}

interface OraclePlace {
  chainId: number;
  oracle: Address;
}

/** Several payloads of one chain and application, which one set of signatures proves. */
interface AttestationList extends Omit<Attestation, 'payloadHash'> {
  payloadHashes: readonly Bytes32[];
}

/** Returns the message that attesters sign for the oracle contract that accepts it. */
export const attestationMessage = (
  oracle: OraclePlace,
  { remoteChainId, application, payloadHash }: Attestation,
): Uint8Array => messageAt(oracle, [ATTESTATION_TYPEHASH, remoteChainId, application, payloadHash]);

export const attestationDigest = (oracle: OraclePlace, attestation: Attestation): Bytes32 =>
  keccak(attestationMessage(oracle, attestation));

export const attestationListDigest = (oracle: OraclePlace, list: AttestationList): Bytes32 =>
  keccak(attestationListMessage(oracle, list));

export const attestationListMessage = (
  oracle: OraclePlace,
  { remoteChainId, application, payloadHashes }: AttestationList,
): Uint8Array =>
  messageAt(oracle, [
    ATTESTATION_LIST_TYPEHASH,
    remoteChainId,
    application,
    keccak(encodeWords(payloadHashes)),
  ]);

function messageAt({ chainId, oracle }: OraclePlace, words: Parameters<typeof encodeWords>[0]): Uint8Array {
  const separator = separatorOf({
    name: ORACLE_DOMAIN_NAME,
    version: ORACLE_DOMAIN_VERSION,
    chainId,
    verifyingContract: oracle,
  });
  return typedDataMessage(separator, keccak(encodeWords(words)));
}

/**
 * Returns what the escrow stores of a fill: keccak256 of the account that delivered (32 bytes) and the time
 * (4 bytes).
 */
export function fillRecordOf({ solver, timestamp }: Pick<FillFacts, 'solver' | 'timestamp'>): Bytes32 {
  return keccak(new AbiWriter(36).word(solver).uint(timestamp, 4).bytes);
}

/**
 * OIF's fill description: solver(32) orderId(32) timestamp(4) token(32) amount(32) recipient(32) callLen(2)
 * call ctxLen(2) ctx.
 */
function fillDescription({ solver, orderId, timestamp, output }: FillFacts): Uint8Array {
  const { token, amount, recipient, callbackData, context } = output;
  const [callLength, contextLength] = [byteLength(callbackData), byteLength(context)];
  return new AbiWriter(5 * 32 + 4 + 2 + callLength + 2 + contextLength)
    .word(solver)
    .word(orderId)
    .uint(timestamp, 4)
    .word(token)
    .word(amount)
    .word(recipient)
    .uint(callLength, 2)
    .raw(callbackData)
    .uint(contextLength, 2)
    .raw(context).bytes;
}

interface FillFacts {
  /** The account that is paid on the origin, as 32 bytes. */
  solver: Bytes32;
  orderId: Bytes32;
  /** Block time of the fill. */
  timestamp: UnixSeconds;
  output: MandateOutput;
}

export const fillPayloadHash = (facts: FillFacts): Bytes32 => keccak(fillDescription(facts));

/** Returns the attestation that proves this fill, made on `output.chainId` by `output.settler`. */
export function fillAttestation(facts: FillFacts): Attestation {
  return {
    remoteChainId: facts.output.chainId,
    application: facts.output.settler,
    payloadHash: fillPayloadHash(facts),
  };
}
