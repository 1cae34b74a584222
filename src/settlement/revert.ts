/** Decodes errors of escrow, LP account, fillers and tokens. */

import { type Abi, decodeErrorResult } from 'viem';
import type { Hex } from '../domain/hex.ts';
import { attestationOracleAbi } from './abi/attestation-oracle.ts';
import { concentratedFillerAbi } from './abi/concentrated-filler.ts';
import { escrowAbi } from './abi/escrow.ts';
import { lpAccountAbi } from './abi/lp-account.ts';
import { permit2Abi } from './abi/permit2.ts';
import { tokenErrorsAbi } from './abi/token-errors.ts';

const ABI: Abi = [
  ...escrowAbi,
  ...attestationOracleAbi,
  ...permit2Abi,
  ...concentratedFillerAbi,
  ...tokenErrorsAbi,
  ...lpAccountAbi,
].filter(({ type }) => type === 'error') as Abi;

export interface Revert {
  name: string;
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

/** About the taker's money rather than the order's terms. */
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

/** `InsufficientBalance` counts for the taker's account. */
export function isFundingRevert({ name, text }: Revert, user: Hex): boolean {
  if (name === 'InsufficientBalance') return text.toLowerCase().includes(user);
  return FUNDING_ERRORS.has(name) || /TRANSFER_FROM_FAILED|transfer amount exceeds/i.test(text);
}
