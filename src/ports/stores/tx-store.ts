/** Transactions of one signer: nonce slots and their attempts, stored before any byte is broadcast. */

import type { Address, Hex } from '../../domain/hex.ts';
import type { UnixSeconds } from '../../domain/time.ts';

export interface TxStore {
  /** The signer's exclusive lease on a chain; undefined while another process holds it. */
  leaseSigner(chainId: number, signer: Address, owner: string, leaseMs: number): Promise<bigint | undefined>;
  /** Prolongs; false once somebody else holds it. */
  renewSigner(signer: TxSigner, leaseMs: number): Promise<boolean>;
  releaseSigner(signer: TxSigner): Promise<void>;
  /**
   * One slot each, in order, with rising nonces from max(chain nonce, highest reserved + 1). A key that has a
   * live slot, of this signer or of another one of `lanes`, answers with that; for a bundle of which a key
   * has one, there is none (undefined in its place). undefined, and nothing written, when the fence is stale.
   */
  reserve(
    signer: TxSigner,
    chainNonce: number,
    intents: readonly NewSlot[],
    lanes: readonly Address[],
  ): Promise<(TxSlot | undefined)[] | undefined>;
  /** Records signed bytes before broadcast. false, and nothing written, when the fence is stale. */
  addAttempts(
    signer: TxSigner,
    attempts: readonly (Omit<TxAttempt, 'createdAtMs'> & { slotId: string })[],
  ): Promise<boolean>;
  /** Ends slots: mined, or void because the intent never ran. false when the fence is stale. */
  finish(signer: TxSigner, ends: readonly SlotEnd[]): Promise<boolean>;
  /** Puts mined or void slots back to open after a reorganisation. */
  reopen(signer: TxSigner, slotIds: readonly string[]): Promise<boolean>;
  /** The newest slot of each key that has one with these signers; a bundle once. */
  slotsOf(chainId: number, signers: readonly Address[], keys: readonly string[]): Promise<TxSlot[]>;
  /**
   * Open slots, and ended ones from this nonce or block on: whatever a reorganisation may still touch. By
   * nonce.
   */
  liveSlots(chainId: number, signer: Address, from: { nonce: number; block: bigint }): Promise<TxSlot[]>;
}

/** A held lease on a signer; every write carries its fence. */
export interface TxSigner {
  chainId: number;
  signer: Address;
  fence: bigint;
}

export interface NewSlot {
  /** The slot's own name: its key's, or a bundle's. */
  key: string;
  /** What shares it, in the bundle's order; just `key` when it is no bundle. */
  keys: readonly string[];
  to: Address;
  data: Hex;
  gas: bigint | null;
  notAfter: UnixSeconds | null;
}

export type SlotEnd = {
  slotId: string;
  mined: { txHash: Hex; blockNumber: bigint; blockHash: Hex } | null;
  state: 'mined' | 'void';
  reason: string | null;
};

export interface TxSlot {
  id: string;
  chainId: number;
  signer: Address;
  nonce: number;
  key: string;
  keys: readonly string[];
  to: Address;
  data: Hex;
  gas: bigint | null;
  notAfter: UnixSeconds | null;
  state: 'open' | 'mined' | 'void';
  reason: string | null;
  mined: { txHash: Hex; blockNumber: bigint; blockHash: Hex } | null;
  attempts: TxAttempt[];
  createdAtMs: number;
}

export interface TxAttempt {
  hash: Hex;
  raw: Hex;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
  gas: bigint;
  /** A no-op (self transfer of nothing) that only uses the nonce up. */
  noop: boolean;
  createdAtMs: number;
}
