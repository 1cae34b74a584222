/** The steps of a preflight plan in words, before each is taken. */

import { decodeFunctionData, erc20Abi } from 'viem';
import type { Step } from '../../client/client.ts';
import { formatTokens } from '../../domain/amount.ts';
import type { TokenNames } from './end.ts';

const TRANSACTIONS: Readonly<Record<string, string>> = {
  tokenApproval: 'approve',
  permit2Grant: 'grant the escrow an allowance in Permit2',
  resourceLockDeposit: 'deposit the input into the escrow’s ledger',
  settlementBroadcast: 'settle',
};

export function describeStep(step: Step, names: TokenNames): { facts: object; line: string } {
  if (step.kind === 'transaction') {
    const { purpose, to, data } = step;
    return {
      facts: { kind: step.kind, purpose, to, data },
      line: `Sending a transaction: ${purpose === 'tokenApproval' ? approval(step, names) : `${TRANSACTIONS[purpose] ?? purpose}, to ${to}`}`,
    };
  }
  return {
    facts: { kind: step.kind },
    line:
      step.kind === 'permit2Lock'
        ? 'Signing a Permit2 lock: the escrow may take the input of this order only.'
        : step.kind === 'eip3009Authorization'
          ? 'Signing an EIP-3009 authorization: the escrow may take the input of this order only.'
          : 'Signing the order.',
  };
}

function approval({ to, data }: Extract<Step, { kind: 'transaction' }>, names: TokenNames): string {
  const { functionName, args } = decodeFunctionData({ abi: erc20Abi, data });
  if (functionName !== 'approve') return `approve, to ${to}`;
  const [spender, amount] = args;
  return `approve ${spender} to take up to ${formatTokens(amount, names(to))}`;
}
