/** Signs messages, in this process or at a key service, and recovers the address that signed a digest. */

import type { Address, Bytes32, Hex } from '../domain/hex.ts';

export interface Signer {
  readonly address: Address;
  /**
   * Signs keccak256(message), without a prefix. 65 bytes r ‖ s ‖ v, low s, v 27 or 28. Takes the message and
   * not its hash, because some key services hash themselves. Rejects with `UpstreamError` when a key service
   * does not sign within `withinMs`, or, without it, within the signer's own limit.
   */
  sign(message: Uint8Array, options?: { withinMs?: number }): Promise<Hex>;
  /**
   * Returns why the key service does not sign now; undefined while it does. Absent: the key is in this
   * process.
   */
  issue?(): string | undefined;
  /** The number of signatures that the key service makes at a time. Absent: the key is in this process. */
  places?: number;
}

export interface Recovery {
  /** Lower case. undefined unless 65 bytes (v 0, 1, 27, 28) or 64 bytes compact, with low s. */
  recover(digest: Bytes32, signature: Hex): Address | undefined;
}

/** A digest and what somebody signed of it. */
export interface Signed {
  digest: Bytes32;
  signature: Hex;
}

export interface Recoveries extends Recovery {
  /** Recovers the signers in the order given, beside the event loop where that is possible. Never rejects. */
  recoverAll(signed: readonly Signed[]): Promise<(Address | undefined)[]>;
}
