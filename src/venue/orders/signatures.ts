/**
 * Accepted signature forms: 65 bytes with v 27, 28, 0 or 1, or 64 bytes compact (ERC-2098), with low s. All
 * are stored as 65 bytes with v 27 or 28, the only form that every contract involved reads alike.
 */

import type { Hex } from '../../domain/hex.ts';

/** undefined for any other length. `Recovery` tells who signed. */
export function normalSignature(signature: Hex): Hex | undefined {
  const digits = signature.slice(2).toLowerCase();
  if (digits.length === 128) {
    const yParityAndS = BigInt(`0x${digits.slice(64)}`);
    const s = BigInt.asUintN(255, yParityAndS);
    return `0x${digits.slice(0, 64)}${s.toString(16).padStart(64, '0')}${yParityAndS >> 255n === 0n ? '1b' : '1c'}`;
  }
  if (digits.length !== 130) return undefined;
  const v = digits.slice(128);
  if (v === '00' || v === '01') return `0x${digits.slice(0, 128)}${v === '00' ? '1b' : '1c'}`;
  return v === '1b' || v === '1c' ? `0x${digits}` : undefined;
}

/** ERC-6492 wraps a signature with the deployment of its wallet. The venue never deploys wallets. */
export const isWrapped = (signature: Hex): boolean =>
  signature.toLowerCase().endsWith('6492649264926492649264926492649264926492649264926492649264926492');
