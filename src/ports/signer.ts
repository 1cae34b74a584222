/** Signs 32-byte digests, and recovers the address that signed one. */

import type { Address, Bytes32, Hex } from '../domain/hex.ts';

export interface Signer {
  readonly address: Address;
  /** 65 bytes r ‖ s ‖ v, low s, v 27 or 28. Asynchronous because a key may live in a KMS. */
  sign(digest: Bytes32): Promise<Hex>;
}

export interface Recovery {
  /** Lower case. undefined unless 65 bytes (v 0, 1, 27, 28) or 64 bytes compact, with low s. */
  recover(digest: Bytes32, signature: Hex): Address | undefined;
}
