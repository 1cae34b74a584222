/** Keys at work: signing and recovering 32-byte digests, wherever the key lives. */

import type { Address, Bytes32, Hex } from '../domain/hex.ts';

export interface Signer {
  readonly address: Address;
  /** 65 bytes r ‖ s ‖ v with low s and v 27 or 28. A promise only when the key lives elsewhere (KMS). */
  sign(digest: Bytes32): Hex | Promise<Hex>;
}

export interface Recovery {
  /**
   * Who signed: lower case. undefined for anything that is not a 65-byte (v 0, 1, 27, 28) or 64-byte compact
   * signature with low s.
   */
  recover(digest: Bytes32, signature: Hex): Address | undefined;
}

/**
 * Recovery that need not be there at once: an answer, or a promise of one that never rejects. Same rules as
 * `Recovery`.
 */
export interface Recoveries {
  recover(digest: Bytes32, signature: Hex): Address | undefined | Promise<Address | undefined>;
}
