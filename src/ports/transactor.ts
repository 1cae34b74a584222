/** Sends transactions so that no crash loses one or sends it twice: slots, attempts, replacements. */

import type { Address, Hex } from '../domain/hex.ts';
import type { UnixSeconds } from '../domain/time.ts';
import type { Receipt } from './chain.ts';

export interface TxIntent {
  /**
   * Identifies the step permanently, such as `<orderId>-settle`. One key is one slot, however often it is
   * submitted.
   */
  key: string;
  to: Address;
  data: Hex;
  /** Gas limit; estimated with a margin when absent. */
  gas?: bigint;
  /** Chain time after which the step is pointless: an unmined transaction is then replaced by a no-op. */
  notAfter?: UnixSeconds;
  /**
   * May share a transaction with other settlements. The receipt is then the shared one, with status
   * `reverted` when this part failed.
   */
  together?: boolean;
}

export type TxStatus =
  /**
   * The slot and its signed bytes are stored and broadcast, perhaps not yet mined. `hashes` are all attempts,
   * newest last.
   */
  | { state: 'pending'; hashes: Hex[] }
  /** Mined in a canonical block, not necessarily final. */
  | { state: 'mined'; receipt: Receipt; hashes: Hex[] }
  /** A no-op or a foreign transaction used the nonce: the intent never ran. */
  | { state: 'void'; reason: string; hashes: Hex[] };

export interface Transactor {
  readonly address: Address;
  /**
   * Ensures that the intent has a stored, broadcast transaction. Idempotent per key; a `void` key may be
   * submitted again and gets a new slot. Throws `would_revert`, with the revert data in `facts.data`, when
   * the chain would refuse it now.
   */
  submit(intent: TxIntent): Promise<TxStatus>;
  status(key: string): Promise<TxStatus | undefined>;
  /** Whether it can pay for gas and holds its lease. */
  healthy(): boolean;
  /** Whether the lease is ours as far as known locally. Otherwise another process sends. */
  holds(): boolean;
  /** Takes the signer's lease, resumes every open slot, then works on each new head until stopped. */
  start(): Promise<void>;
  stop(): Promise<void>;
}
