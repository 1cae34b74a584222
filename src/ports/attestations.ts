/** Attestations of fills on another chain. */

import type { Attestation } from '../domain/attestation.ts';
import type { Address, Bytes32, Hex } from '../domain/hex.ts';

export interface OracleRef {
  chainId: number;
  oracle: Address;
}

export interface Attestations {
  /**
   * Returns as many signatures as the oracle requires, ascending by signer; undefined while there are fewer.
   */
  signatures(
    attestation: Attestation,
    oracle: OracleRef,
    orderId?: Bytes32,
  ): Promise<readonly Hex[] | undefined>;
  /**
   * Once for all of a list; undefined while there are fewer, or while one of its fills cannot be signed.
   * Absent: each fill is asked for alone.
   */
  listSignatures?(list: FillList, oracle: OracleRef): Promise<readonly Hex[] | undefined>;
}

/** Fills of one chain and application, at most `MOST_LISTED`. */
export interface FillList extends Omit<Attestation, 'payloadHash'> {
  fills: readonly { payloadHash: Bytes32; orderId: Bytes32 }[];
}

export const MOST_LISTED = 32;

export interface AttesterPresence {
  /** Asks every attester about a fill that cannot exist, on any other chain. Never throws. */
  probe(oracle: OracleRef): Promise<void>;
  /**
   * Attesters that answered within this time (default 10 s) with a committee key, and how many are
   * required; undefined until the oracle has been read.
   */
  presence(oracle: OracleRef, withinMs?: number): { present: number; needed: number } | undefined;
}

export interface AttestRequest extends Attestation, OracleRef {
  orderId?: Bytes32;
}

export const ATTEST_ANSWERS = ['signed', 'unknown', 'not_final', 'refused'] as const;

export type AttestAnswer =
  | { kind: 'signed'; signer: Address; signature: Hex }
  /** The attester has not seen the fill yet; `signer` would sign it. */
  | { kind: 'unknown'; signer?: Address | undefined }
  | { kind: 'not_final'; blocksToGo: number }
  /** Will never be signed. */
  | { kind: 'refused'; reason: string };

export interface AttestListRequest extends FillList, OracleRef {}

export interface Attester {
  readonly address: Address;
  attest(request: AttestRequest): Promise<AttestAnswer>;
  /** Signs the list when each of its fills passes; else answers as for the first that does not. */
  attestList(request: AttestListRequest): Promise<AttestAnswer>;
}
