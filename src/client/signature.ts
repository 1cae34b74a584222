/** Recovers a digest's signer by the escrow's rule: 65 bytes with v 27 or 28, or 64 bytes compact, low s. */

import { recoverAddress } from 'viem';
import type { Address, Bytes32, Hex } from '../domain/hex.ts';

/** undefined when the escrow would recover no signer either. */
export async function signerOf(digest: Bytes32, signature: Hex): Promise<Address | undefined> {
  const whole = expanded(signature);
  if (!whole || BigInt(`0x${whole.slice(66, 130)}`) > HALF_ORDER) return undefined;
  try {
    return (await recoverAddress({ hash: digest, signature: whole })).toLowerCase() as Address;
  } catch {
    return undefined;
  }
}

/** Expands ERC-2098 to 65 bytes. */
function expanded(signature: Hex): Hex | undefined {
  const digits = signature.slice(2).toLowerCase();
  if (digits.length === 130)
    return digits.endsWith('1b') || digits.endsWith('1c') ? `0x${digits}` : undefined;
  if (digits.length !== 128) return undefined;
  const yParityAndS = BigInt(`0x${digits.slice(64)}`);
  const s = BigInt.asUintN(255, yParityAndS).toString(16).padStart(64, '0');
  return `0x${digits.slice(0, 64)}${s}${yParityAndS >> 255n === 0n ? '1b' : '1c'}`;
}

const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
