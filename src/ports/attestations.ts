/** Attestations that a fill happened on another chain: requesting signatures, and the attester's side. */

import type { Attestation } from '../domain/attestation.ts';
import type { Address, Bytes32, Hex } from '../domain/hex.ts';

/** The oracle contract that verifies the signatures. */
export interface OracleRef {
  chainId: number;
  oracle: Address;
}

/** For settlement: collects enough signatures for the oracle, from any attesters. */
export interface Attestations {
  /**
   * Signatures in ascending order of signer, as many as the oracle requires; undefined while there are fewer.
   * `orderId` helps an attester that has just started to find the fill.
   */
  signatures(
    attestation: Attestation,
    oracle: OracleRef,
    orderId?: Bytes32,
  ): Promise<readonly Hex[] | undefined>;
}

/** Whether enough attesters respond, checked before there is anything to prove. */
export interface Voices {
  /** Asks every attester about a fill that cannot exist, to see whether it responds. Never throws. */
  look(oracle: OracleRef, remote: Pick<Attestation, 'remoteChainId' | 'application'>): Promise<void>;
  /**
   * How many attesters answered within this time (10 s by default) with a key that the oracle accepts, and
   * how many it requires; undefined until the oracle has been read.
   */
  heard(oracle: OracleRef, withinMs?: number): { speaking: number; needed: number } | undefined;
}

export interface AttestRequest extends Attestation, OracleRef {
  orderId?: Bytes32;
}

export type AttestAnswer =
  | { kind: 'signed'; signer: Address; signature: Hex }
  /** The fill has not been seen yet; `signer` would sign it. */
  | { kind: 'unknown'; signer?: Address | undefined }
  /** Seen, but not final yet. */
  | { kind: 'not_final'; blocksToGo: number }
  /** The attester will never sign this. */
  | { kind: 'refused'; reason: string };

/** One attester. */
export interface Attester {
  readonly address: Address;
  attest(request: AttestRequest): Promise<AttestAnswer>;
}
