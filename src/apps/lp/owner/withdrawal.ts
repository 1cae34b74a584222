/** Withdrawals from the escrow: requested, then completed after its delay. */

import { formatTokens } from '../../../domain/amount.ts';
import type { TokenInfo } from '../../../domain/chain.ts';
import type { Address } from '../../../domain/hex.ts';
import { dateOf } from '../account/change.ts';
import type { OwnerStep } from '../account/sender.ts';
import { act, type OwnerAccess, requireTreasury, takeOut } from './access.ts';

export interface PendingWithdrawal {
  amount: bigint;
  /** The time when it can be withdrawn, Unix seconds by the clock of the chain. */
  availableAt: number;
  lapsesAt: number;
}

export async function pendingOf(
  { port, account, sender }: OwnerAccess,
  token: TokenInfo,
): Promise<PendingWithdrawal | undefined> {
  const { amount, availableAt, lapsesAt } = await port.pendingWithdrawal(account, token.address);
  return amount > 0n && lapsesAt >= sender.now() ? { amount, availableAt, lapsesAt } : undefined;
}

export async function requestWithdrawal(
  access: OwnerAccess,
  token: TokenInfo,
  amount: bigint,
  replace: boolean,
): Promise<OwnerStep[]> {
  const { port, chain, account, sender, calls } = access;
  if (amount <= 0n)
    sender.refuse('The amount to withdraw must be above zero. To cancel a request: --cancel.');
  const balance = await port.ledgerBalance(account, token.address);
  if (balance < amount)
    sender.refuse(
      `The account has ${formatTokens(balance, token)} in the escrow on ${chain.slug}: ${formatTokens(amount, token)} cannot be withdrawn.`,
    );
  const pending = await pendingOf(access, token);
  if (pending !== undefined && !replace)
    sender.refuse(
      `A withdrawal of ${formatTokens(pending.amount, token)} is pending and can be completed from ${dateOf(pending.availableAt)} on. A new request restarts the delay: use --replace to do so, or --cancel.`,
    );
  const delay = await port.withdrawalDelay();
  sender.report(
    `The LP stops quoting this amount; quotes signed before may still use it. It can be withdrawn ${delay} s after the request is mined.`,
  );
  return act(
    access,
    `request the withdrawal of ${formatTokens(amount, token)}`,
    calls.requestWithdrawal(token.address, amount),
  );
}

export async function cancelRequest(access: OwnerAccess, token: TokenInfo): Promise<OwnerStep[]> {
  const { chain, sender, calls } = access;
  const pending = await pendingOf(access, token);
  if (pending === undefined)
    return sender.refuse(
      `No withdrawal of ${token.symbol} is pending on ${chain.slug}: there is nothing to cancel.`,
    );
  return act(
    access,
    `cancel the withdrawal of ${formatTokens(pending.amount, token)}`,
    calls.requestWithdrawal(token.address, 0n),
  );
}

export async function completeWithdrawal(
  access: OwnerAccess,
  token: TokenInfo,
  to: Address,
): Promise<OwnerStep[]> {
  const { port, chain, account, sender, calls } = access;
  const pending = await pendingOf(access, token);
  if (pending === undefined)
    return sender.refuse(
      `No withdrawal of ${token.symbol} is pending on ${chain.slug}: it was never requested, was completed, or expired. Request it with --amount.`,
    );
  requireTreasury(access, to);
  const now = sender.now();
  if (now < pending.availableAt)
    return sender.refuse(
      `The withdrawal of ${formatTokens(pending.amount, token)} can be completed from ${dateOf(pending.availableAt)} on, in ${pending.availableAt - now} s by the clock of ${chain.slug}.`,
    );
  const balance = await port.ledgerBalance(account, token.address);
  const amount = balance < pending.amount ? balance : pending.amount;
  if (amount === 0n)
    return sender.refuse(
      `No ${token.symbol} is left in the escrow on ${chain.slug}: quotes signed before the request used it.`,
    );
  if (amount < pending.amount)
    sender.report(
      `${formatTokens(amount, token)} of ${formatTokens(pending.amount, token)} are left: quotes signed before the request used the rest`,
    );
  const what = `withdraw ${formatTokens(amount, token)} to ${to}`;
  return takeOut(access, what, calls.withdraw(token.address, to), { token, amount, to });
}
