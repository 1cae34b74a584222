/**
 * Why the chain said no, in words: the escrow's own errors and those of what it calls, decoded. The fillers
 * share theirs.
 */

import { type Abi, decodeErrorResult } from 'viem';
import type { Hex } from '../domain/hex.ts';
import { attestationOracleAbi } from './abi/attestation-oracle.ts';
import { concentratedFillerAbi } from './abi/concentrated-filler.ts';
import { devUsdAbi } from './abi/dev-usd.ts';
import { escrowAbi } from './abi/escrow.ts';
import { permit2Abi } from './abi/permit2.ts';

// The token's errors are OpenZeppelin's and EIP-6093's, which many tokens share.
const ABI: Abi = [
  ...escrowAbi,
  ...attestationOracleAbi,
  ...permit2Abi,
  ...concentratedFillerAbi,
  ...devUsdAbi,
].filter(({ type }) => type === 'error') as Abi;

export interface Revert {
  /**
   * The error's name, such as `InsufficientBalance`; `Error` for text, `unknown` for bytes that nobody here
   * knows.
   */
  name: string;
  /** Name and arguments on one line. */
  text: string;
}

export function decodeRevert(data: Hex): Revert {
  if (data === '0x') return { name: 'unknown', text: 'reverted without a reason' };
  try {
    const { errorName, args = [] } = decodeErrorResult({ abi: ABI, data });
    return {
      name: errorName,
      text:
        errorName === 'Error'
          ? String(args[0]).slice(0, 200)
          : `${errorName}(${args.map(String).join(', ').slice(0, 300)})`,
    };
  } catch {
    return { name: 'unknown', text: `an unknown error ${data.slice(0, 10)}` };
  }
}

/** Reverts that are about the taker's money rather than about the order's terms. */
const FUNDING_ERRORS = new Set([
  'ShortTransfer',
  'ERC20InsufficientBalance',
  'ERC20InsufficientAllowance',
  'ERC3009UsedAuthorization',
  'ERC3009InvalidAuthorizationTime',
  'ERC3009InvalidSignature',
  'AllowanceExpired',
  'InsufficientAllowance',
  'InvalidAmount',
  'InvalidNonce',
  'SignatureExpired',
  'InvalidSigner',
  'InvalidContractSignature',
  'Blocked',
  'Paused',
  'SafeERC20FailedOperation',
]);

/** Did the taker's side fail to pay? `InsufficientBalance` counts when the account is the taker's. */
export function isFundingRevert({ name, text }: Revert, user: Hex): boolean {
  if (name === 'InsufficientBalance') return text.toLowerCase().includes(user);
  return FUNDING_ERRORS.has(name) || /TRANSFER_FROM_FAILED|transfer amount exceeds/i.test(text);
}
