/** Allows, limits and revokes the operators of an account. */

import { formatTokens } from '../../../domain/amount.ts';
import type { TokenInfo } from '../../../domain/chain.ts';
import type { Address } from '../../../domain/hex.ts';
import type { ChainPort } from '../../../ports/chain.ts';
import type { OwnerStep } from '../account/sender.ts';
import { act, type OwnerAccess } from './access.ts';

/** The escrow keeps a limit in 96 bits. */
const MAX_LIMIT = 2n ** 96n - 1n;

/** Allows the operator without limits: it may spend all that the account has here. */
export async function allowOperator(access: OwnerAccess, operator: Address): Promise<OwnerStep[]> {
  const { port, chain, account, sender, calls } = access;
  refuseItself(access, operator);
  const [allowed, limited] = await Promise.all([
    port.isOperator(account, operator),
    hasLimits(port, account, operator),
  ]);
  if (allowed && !limited) {
    sender.report(`${operator} is already an operator without limits on ${chain.slug}`);
    return [];
  }
  return act(
    access,
    `allow the operator ${operator} on ${chain.slug} without limits`,
    calls.setOperator(operator, true),
  );
}

/** Allows the operator within limits: it may spend nothing of a token that never got one. */
export async function limitOperator(
  access: OwnerAccess,
  operator: Address,
  limits: readonly { token: TokenInfo; most: bigint; windowSeconds: number }[],
): Promise<OwnerStep[]> {
  const { port, chain, account, sender, calls } = access;
  refuseItself(access, operator);
  for (const { token, most } of limits)
    if (most > MAX_LIMIT)
      sender.refuse(
        `A limit of ${formatTokens(most, token)} is more than the escrow can count: at most ${formatTokens(MAX_LIMIT, token)}. Give a smaller one, or none with --unlimited. ${sender.soFar()}`,
      );
  const steps: OwnerStep[] = [];
  for (const { token, most, windowSeconds } of limits) {
    const now = await port.operatorLimit(account, operator, token.address);
    if (now?.most === most && now.windowSeconds === windowSeconds) {
      sender.report(`${operator} already has this limit for ${token.symbol} on ${chain.slug}`);
      continue;
    }
    steps.push(
      ...(await act(
        access,
        `let the operator ${operator} spend ${formatTokens(most, token)} in ${windowSeconds} s on ${chain.slug}`,
        calls.limitOperator(operator, token.address, most, windowSeconds),
      )),
    );
  }
  return steps;
}

export async function disallowOperator(access: OwnerAccess, operator: Address): Promise<OwnerStep[]> {
  const { port, chain, account, sender, calls } = access;
  if (!(await port.isOperator(account, operator))) {
    sender.report(`${operator} is not an operator on ${chain.slug}`);
    return [];
  }
  return act(access, `revoke the operator ${operator} on ${chain.slug}`, calls.setOperator(operator, false));
}

/** Returns true when limits count for the operator. They do for every token or for none. */
export async function hasLimits(
  { chain, operatorLimit }: Pick<ChainPort, 'chain' | 'operatorLimit'>,
  account: Address,
  operator: Address,
): Promise<boolean> {
  const [token] = chain.tokens;
  return token !== undefined && (await operatorLimit(account, operator, token.address)) !== undefined;
}

function refuseItself({ account, sender, lpAccount }: OwnerAccess, operator: Address): void {
  if (operator === account || operator === lpAccount?.owner)
    sender.refuse(
      'The account and its owner need no permission. An operator is a different key that cannot withdraw.',
    );
}
