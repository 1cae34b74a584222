/**
 * Signatures of 65 bytes (v 27, 28, 0 or 1) or 64 bytes compact (ERC-2098), low s. Stored as 65 bytes with v
 * 27 or 28, which every contract reads alike.
 */

import type { Hex } from '../../domain/hex.ts';

/** Returns the signature in its normal form; undefined for any other length. */
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

/**
 * Returns whether the signature carries the deployment of its wallet (ERC-6492). The venue never deploys
 * wallets.
 */
export const isWrapped = (signature: Hex): boolean =>
  signature.toLowerCase().endsWith('6492649264926492649264926492649264926492649264926492649264926492');
