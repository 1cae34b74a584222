/** Computes the address of an owner's `LpAccount`, and the call that deploys it. */

import { encodeDeployData } from 'viem';
import { type Address, type Bytes32, type Hex, ZERO_BYTES32 } from '../../../domain/hex.ts';
import { keccakHex } from '../../../domain/keccak.ts';
import { lpAccountAbi } from '../../../settlement/abi/lp-account.ts';
import { creationCodeOf } from './creation-code.ts';

/** Arachnid's, at the same address on every chain: input is a salt and creation code. */
const CREATE2_DEPLOYER: Address = '0x4e59b44847b379578588920ca78fbf26c0b4956c';

/**
 * Builds the call by which anybody deploys the account, and its address: the same on every chain. `salt`
 * tells several accounts of one first owner apart.
 */
export function lpAccountDeployment(
  firstOwner: Address,
  salt: Bytes32 = ZERO_BYTES32,
): { address: Address; to: Address; data: Hex } {
  const bytecode = encodeDeployData({
    abi: lpAccountAbi,
    bytecode: creationCodeOf('LpAccount'),
    args: [firstOwner],
  });
  const hash = keccakHex(`0xff${CREATE2_DEPLOYER.slice(2)}${salt.slice(2)}${keccakHex(bytecode).slice(2)}`);
  const address: Address = `0x${hash.slice(-40)}`;
  return { address, to: CREATE2_DEPLOYER, data: `${salt}${bytecode.slice(2)}` };
}
