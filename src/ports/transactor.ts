/** Sends transactions so that no crash loses one or sends it twice. */

import type { Address, Hex } from '../domain/hex.ts';
import type { UnixSeconds } from '../domain/time.ts';
import type { Receipt } from './chain.ts';

export interface TxIntent {
  /**
   * Identifies the step permanently, such as `<orderId>-settle`. A key has one slot at a time; keys of one
   * bundle share a slot.
   */
  key: string;
  to: Address;
  data: Hex;
  /** Wei that the call receives; 0n when absent. Such an intent never shares a transaction. */
  value?: bigint;
  /** Estimated with a margin when absent. */
  gas?: bigint;
  /** Chain time after which an unmined transaction is replaced by a no-op. */
  notAfter?: UnixSeconds;
  /** May share a transaction; the shared receipt is `reverted` when this part failed. */
  together?: boolean;
}

export type TxStatus =
  /** Stored and broadcast, perhaps not yet mined. `hashes` are all attempts, newest last. */
  | { state: 'pending'; hashes: Hex[] }
  /** The transaction is in a canonical block, which is not necessarily final. */
  | { state: 'mined'; receipt: Receipt; hashes: Hex[] }
  /** A no-op or a foreign transaction used the nonce: the intent never ran. */
  | { state: 'void'; reason: string; hashes: Hex[] };

export interface Transactor {
  readonly address: Address;
  /**
   * Idempotent per key; a `void` key gets a new slot. Throws `would_revert`, with the revert data in
   * `facts.data`, and `signer_short` while the signer cannot pay the value on top of what it has sent.
   */
  submit(intent: TxIntent): Promise<TxStatus>;
  status(key: string): Promise<TxStatus | undefined>;
  healthy(): boolean;
  /** The lease is ours as far as this process knows. */
  holds(): boolean;
  /** Takes the lease, resumes every open slot, then works on each new head. */
  start(): Promise<void>;
  stop(): Promise<void>;
}
