/** What every action of an account's owner uses: how a call is made, and where money may go. */

import { formatTokens } from '../../../domain/amount.ts';
import type { Chain, TokenInfo } from '../../../domain/chain.ts';
import type { Address } from '../../../domain/hex.ts';
import type { ChainPort } from '../../../ports/chain.ts';
import { accountCall } from '../../../settlement/lp-account.ts';
import type { AccountCalls, Call } from '../account/calls.ts';
import { makeChange } from '../account/change.ts';
import type { OwnerStep, Sender } from '../account/sender.ts';
import type { LpAccountState } from '../account/state.ts';

export interface OwnerAccess {
  port: ChainPort;
  chain: Chain;
  account: Address;
  sender: Sender;
  /** undefined for an account that is the owner's own address. */
  lpAccount: LpAccountState | undefined;
  calls: AccountCalls;
}

/** Makes one call in the name of the account. */
export const act = async (
  { port, account, sender, lpAccount }: OwnerAccess,
  what: string,
  { to, data }: Call,
): Promise<OwnerStep[]> =>
  lpAccount === undefined
    ? [await sender.run(what, to, data)]
    : makeChange(port, sender, account, what, data);

/** Money leaves an `LpAccount` to its treasury only. */
export function requireTreasury({ account, sender, lpAccount }: OwnerAccess, to: Address): void {
  if (lpAccount === undefined || to === account || to === lpAccount.treasury) return;
  sender.refuse(
    `Money leaves the account ${account} only to its treasury, ${lpAccount.treasury ?? 'and it has none yet (firmquote lp account set --treasury)'}. Leave --to out, and it lies on the account; or name the treasury.`,
  );
}

/** An `LpAccount` takes it out to itself, and passes it on to its treasury if `to` is that. */
export async function takeOut(
  access: OwnerAccess,
  what: string,
  call: Call,
  { token, amount, to }: { token: TokenInfo; amount: bigint; to: Address },
): Promise<OwnerStep[]> {
  const { account, sender, lpAccount } = access;
  if (lpAccount === undefined || to === account) return act(access, what, call);
  const steps = await act(access, `${what}, by way of the account`, call);
  const passOn = accountCall.takeToTreasury(token.address, amount);
  const then = `take ${formatTokens(amount, token)} to the treasury`;
  return [
    ...steps,
    sender.sends ? await sender.run(then, account, passOn) : sender.later(then, account, passOn),
  ];
}
