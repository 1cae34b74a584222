/** Nonce slots of a signer and their attempts, stored before any byte is broadcast. */

import type { Address, Hex } from '../../domain/hex.ts';
import type { UnixSeconds } from '../../domain/time.ts';

export interface TxStore {
  /** Returns a fence; undefined while another process holds the signer. */
  leaseSigner(chainId: number, signer: Address, owner: string, leaseMs: number): Promise<bigint | undefined>;
  /** false once another process holds it. */
  renewSigner(signer: TxSigner, leaseMs: number): Promise<boolean>;
  releaseSigner(signer: TxSigner): Promise<void>;
  /**
   * Reserves one slot per intent, with nonces from max(chain nonce, highest reserved + 1). A key with a live
   * slot, of any of `lanes`, returns that slot; a bundle with such a key gets none. undefined, and nothing
   * written, when the fence is stale.
   */
  reserve(
    signer: TxSigner,
    chainNonce: number,
    intents: readonly NewSlot[],
    lanes: readonly Address[],
  ): Promise<(TxSlot | undefined)[] | undefined>;
  /** Stores attempts before they are broadcast. false, and nothing written, when the fence is stale. */
  addAttempts(
    signer: TxSigner,
    attempts: readonly (Omit<TxAttempt, 'createdAtMs'> & { slotId: string })[],
  ): Promise<boolean>;
  /** Ends slots; `void`: the intent never ran. false when the fence is stale. */
  finish(signer: TxSigner, ends: readonly SlotEnd[]): Promise<boolean>;
  /** Opens slots again after a reorganisation. false when the fence is stale. */
  reopen(signer: TxSigner, slotIds: readonly string[]): Promise<boolean>;
  /** Returns the newest slot of each key of these signers; a bundle once. */
  slotsOf(chainId: number, signers: readonly Address[], keys: readonly string[]): Promise<TxSlot[]>;
  /** Open slots, and ended ones from this nonce or block on, which a reorganisation may undo. By nonce. */
  liveSlots(chainId: number, signer: Address, from: { nonce: number; block: bigint }): Promise<TxSlot[]>;
  /** Returns slots from this nonce on, by nonce, without those mined below this block. */
  slotsFrom(
    chainId: number,
    signer: Address,
    from: { nonce: number; block: bigint },
    limit: number,
  ): Promise<TxSlot[]>;
  /**
   * Returns the key and signer of the transaction with this hash; undefined for a transaction that only uses
   * a nonce.
   */
  keyOf(chainId: number, txHash: Hex): Promise<{ key: string; signer: Address } | undefined>;
  /**
   * Returns every signer that was leased on this chain in this store, by its first transaction. A signer that
   * never sent is ordered by the end of its lease.
   */
  signers(chainId: number): Promise<Address[]>;
}

export interface TxSigner {
  chainId: number;
  signer: Address;
  fence: bigint;
}

export interface NewSlot {
  /** Its key's name, or a bundle's. */
  key: string;
  /** The keys of a bundle in order; otherwise just `key`. */
  keys: readonly string[];
  to: Address;
  data: Hex;
  /** Wei. */
  value: bigint;
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
  /** Wei. */
  value: bigint;
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
  /** A self-transfer that only uses the nonce. */
  noop: boolean;
  createdAtMs: number;
}
