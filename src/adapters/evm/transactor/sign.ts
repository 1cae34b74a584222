/** Signs an EIP-1559 transaction; returns its bytes and hash. */

import { serializeTransaction } from 'viem';
import { type Address, type Hex, hexToBytes } from '../../../domain/hex.ts';
import { keccakHex } from '../../../domain/keccak.ts';
import type { Signer } from '../../../ports/signer.ts';
import type { TxFees } from './fees.ts';

interface UnsignedTx extends TxFees {
  chainId: number;
  nonce: number;
  to: Address;
  data: Hex;
  /** Wei; 0n when absent. */
  value?: bigint;
  gas: bigint;
}

export async function signTransaction(signer: Signer, tx: UnsignedTx): Promise<{ raw: Hex; hash: Hex }> {
  const unsigned = { type: 'eip1559', ...tx } as const;
  const signature = await signer.sign(hexToBytes(serializeTransaction(unsigned)));
  const raw = serializeTransaction(unsigned, {
    r: `0x${signature.slice(2, 66)}`,
    s: `0x${signature.slice(66, 130)}`,
    yParity: signature.endsWith('1b') ? 0 : 1,
  });
  return { raw, hash: keccakHex(raw) };
}
