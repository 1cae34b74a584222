/** Signing 32-byte digests, and recovering the address that signed one. */

import type { Address, Bytes32, Hex } from '../domain/hex.ts';

export interface Signer {
  readonly address: Address;
  /** 65 bytes r ‖ s ‖ v with low s and v 27 or 28. Asynchronous because a key may live in a KMS. */
  sign(digest: Bytes32): Promise<Hex>;
}

export interface Recovery {
  /**
   * The signer's address in lower case. undefined for anything that is not a 65-byte (v 0, 1, 27, 28) or
   * 64-byte compact signature with low s.
   */
  recover(digest: Bytes32, signature: Hex): Address | undefined;
}
