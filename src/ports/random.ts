/** Randomness as an argument, for order nonces, quote ids and EIP-3009 nonces. */

import type { Bytes32 } from '../domain/hex.ts';

export interface Random {
  /** Returns 32 bytes from a cryptographic source. */
  bytes32(): Bytes32;
}
