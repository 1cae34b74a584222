/**
 * Sending transactions so that a crash at any point neither loses one nor sends a second: slots, attempts,
 * replacement.
 */

import type { Address, Hex } from '../domain/hex.ts';
import type { UnixSeconds } from '../domain/time.ts';
import type { Receipt } from './chain.ts';

export interface TxIntent {
  /**
   * Names the step for ever, such as `<orderId>-settle`: one key is one slot, however often it is asked for.
   */
  key: string;
  to: Address;
  data: Hex;
  /** Gas limit; estimated with a margin when absent. */
  gas?: bigint;
  /** After this chain time the step makes no sense: an unmined transaction is replaced by a no-op. */
  notAfter?: UnixSeconds;
  /**
   * A settlement that may share a transaction with others: its receipt is then that of all, `reverted` when
   * this one was.
   */
  together?: boolean;
}

export type TxStatus =
  /** A slot and its bytes exist; broadcast, perhaps not yet mined. `hashes` are all attempts, newest last. */
  | { state: 'pending'; hashes: Hex[] }
  /** Mined in a block that is canonical now; not necessarily deep. */
  | { state: 'mined'; receipt: Receipt; hashes: Hex[] }
  /** The slot was used up by a no-op or by somebody else's transaction: the intent itself never ran. */
  | { state: 'void'; reason: string; hashes: Hex[] };

export interface Transactor {
  readonly address: Address;
  /**
   * Makes sure that this intent has a persisted, broadcast transaction. Idempotent per key; a `void` key may
   * be asked for again and gets a new slot. Throws `would_revert`, with what the contract answered in
   * `facts.data`, when the chain would refuse it now.
   */
  submit(intent: TxIntent): Promise<TxStatus>;
  status(key: string): Promise<TxStatus | undefined>;
  /** Can it pay for gas at the moment, and is its lease held? */
  healthy(): boolean;
  /** Is the lease ours as far as we know? Where it is not, another process sends. */
  holds(): boolean;
  /** Takes the signer's lease, resumes every open slot, then works on every new head until stopped. */
  start(): Promise<void>;
  stop(): Promise<void>;
}
