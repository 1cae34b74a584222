/** Proof that a fill happened on another chain: asking attesters for it, and being one. */

import type { Attestation } from '../domain/attestation.ts';
import type { Address, Bytes32, Hex } from '../domain/hex.ts';

/** The oracle that has to believe it. */
export interface OracleRef {
  chainId: number;
  oracle: Address;
}

/** What settlement asks: enough signatures for that oracle, from whichever attesters. */
export interface Attestations {
  /**
   * Ascending by signer, as many as the oracle wants; undefined while there are not. `orderId` helps an
   * attester that has just started to find the fill.
   */
  signatures(
    attestation: Attestation,
    oracle: OracleRef,
    orderId?: Bytes32,
  ): Promise<readonly Hex[] | undefined>;
}

/** Who would answer, asked before there is anything to prove. */
export interface Voices {
  /** Asks every attester about a fill that cannot be, between these chains. Never throws. */
  look(oracle: OracleRef, remote: Pick<Attestation, 'remoteChainId' | 'application'>): Promise<void>;
  /**
   * How many have answered within this time, 10 s when absent, with a key that the oracle believes, and how
   * many it wants; undefined while the oracle has not said.
   */
  heard(oracle: OracleRef, withinMs?: number): { speaking: number; needed: number } | undefined;
}

export interface AttestRequest extends Attestation, OracleRef {
  orderId?: Bytes32;
}

export type AttestAnswer =
  | { kind: 'signed'; signer: Address; signature: Hex }
  /** No such fill was seen; it may still come, and this is who would sign it. */
  | { kind: 'unknown'; signer?: Address | undefined }
  /** Seen, but not deep enough to be final. */
  | { kind: 'not_final'; blocksToGo: number }
  /** This will never be signed. */
  | { kind: 'refused'; reason: string };

/** One attester. */
export interface Attester {
  readonly address: Address;
  attest(request: AttestRequest): Promise<AttestAnswer>;
}
