/** Recovers the signer of a digest. Accepts low s only, with v 0/1/27/28 or in the 64-byte compact form. */

import { type Bytes32, type Hex, hexToBytes } from '../../domain/hex.ts';
import type { Recovery } from '../../ports/signer.ts';
import { type Ecdsa, ecdsa as fastest } from './ecdsa.ts';
import { publicKeyAddress } from './signer.ts';

/** n / 2. Each s above it has a valid twin below. */
const HALF_ORDER = Buffer.from('7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0', 'hex');

export function createRecovery(ecdsa: Ecdsa = fastest): Recovery {
  return {
    recover(digest: Bytes32, signature: Hex) {
      const parts = splitSignature(signature);
      if (!parts) return undefined;
      const publicKey = ecdsa.recover(hexToBytes(digest), parts.rs, parts.recovery);
      return publicKey && publicKeyAddress(publicKey);
    },
  };
}

/** undefined for a malformed signature. */
export function splitSignature(signature: Hex): { rs: Buffer; recovery: number } | undefined {
  const bytes = Buffer.from(signature.slice(2), 'hex');
  if (signature.length === 2 + 128 && bytes.length === 64) {
    // ERC-2098: the recovery bit is the top bit of s.
    const recovery = (bytes[32] as number) >> 7;
    bytes[32] = (bytes[32] as number) & 0x7f;
    return lowS(bytes) ? { rs: bytes, recovery } : undefined;
  }
  if (signature.length !== 2 + 130 || bytes.length !== 65) return undefined;
  const v = bytes[64] as number;
  const recovery = v >= 27 ? v - 27 : v;
  const rs = bytes.subarray(0, 64);
  return (recovery === 0 || recovery === 1) && lowS(rs) ? { rs, recovery } : undefined;
}

function lowS(rs: Buffer): boolean {
  return rs.subarray(32).compare(HALF_ORDER) <= 0;
}
