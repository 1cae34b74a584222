/** The owner's bond: posting it, taking it back, and the orders that it answers for. */

import { formatTokens } from '../../../domain/amount.ts';
import type { BondTerms } from '../../../domain/bond.ts';
import type { TokenInfo } from '../../../domain/chain.ts';
import type { Address } from '../../../domain/hex.ts';
import { postBondCall } from '../../../settlement/bond-call.ts';
import { dateOf } from '../account/change.ts';
import type { OwnerStep } from '../account/sender.ts';
import { act, type OwnerAccess, requireTreasury, takeOut } from './access.ts';
import { payInto } from './payments.ts';

const bondPlace = ({ chain, sender }: OwnerAccess): Address =>
  chain.quoteBond ??
  sender.refuse(`The configuration names no bond contract on ${chain.slug} (networks, quoteBond).`);

export async function payBond(access: OwnerAccess, token: TokenInfo, amount: bigint): Promise<OwnerStep[]> {
  const { account } = access;
  const data = postBondCall(account, token.address, amount);
  return payInto(access, bondPlace(access), 'the bond contract', 'post a bond of', token, amount, data);
}

export async function requestBondBack(
  access: OwnerAccess,
  token: TokenInfo,
  amount: bigint,
): Promise<OwnerStep[]> {
  const { port, chain, account, sender, calls } = access;
  const place = bondPlace(access);
  const bond = await port.bond(account, token.address);
  if (bond === undefined || bond.amount < amount || amount <= 0n)
    return sender.refuse(
      `The bond on ${chain.slug} is ${formatTokens(bond?.amount ?? 0n, token)}: ${formatTokens(amount, token)} cannot be taken back.`,
    );
  if (bond.leaving > 0n)
    sender.report(
      `This replaces the request for ${formatTokens(bond.leaving, token)}; the delay starts again.`,
    );
  sender.report('From now on nobody counts on this amount; it pays claims until it has left.');
  return act(
    access,
    `ask to take back ${formatTokens(amount, token)} of the bond`,
    calls.requestTakeBack(place, token.address, amount),
  );
}

export async function cancelBondBack(access: OwnerAccess, token: TokenInfo): Promise<OwnerStep[]> {
  const { port, chain, account, sender, calls } = access;
  const place = bondPlace(access);
  const bond = await port.bond(account, token.address);
  if (bond === undefined || bond.leaving === 0n)
    return sender.refuse(`Nothing of the bond in ${token.symbol} on ${chain.slug} is asked back.`);
  const what = `keep the ${formatTokens(bond.leaving, token)} of the bond that were asked back`;
  return act(access, what, calls.requestTakeBack(place, token.address, 0n));
}

export async function takeBond(access: OwnerAccess, token: TokenInfo, to: Address): Promise<OwnerStep[]> {
  const { port, chain, account, sender, calls } = access;
  const place = bondPlace(access);
  requireTreasury(access, to);
  const bond = await port.bond(account, token.address);
  const now = sender.now();
  if (bond === undefined || bond.leaving === 0n)
    return sender.refuse(
      `Nothing of the bond in ${token.symbol} on ${chain.slug} is asked back. Ask with --amount.`,
    );
  if (now < bond.availableAt)
    return sender.refuse(
      `${formatTokens(bond.leaving, token)} can be taken back from ${dateOf(bond.availableAt)} on, in ${bond.availableAt - now} s by the clock of ${chain.slug}.`,
    );
  const taken = bond.leaving < bond.amount ? bond.leaving : bond.amount;
  const what = `take back ${formatTokens(taken, token)} of the bond to ${to}`;
  return takeOut(access, what, calls.takeBack(place, token.address, to), { token, amount: taken, to });
}

export async function changeBondTerms(access: OwnerAccess, terms: BondTerms): Promise<OwnerStep[]> {
  const { sender, calls } = access;
  const covered =
    terms.fillWindowSeconds === 0
      ? 'no orders across chains'
      : `orders across chains that are open ${terms.fillWindowSeconds} s before their deadline and deliver ${terms.wallets ? 'anywhere' : 'into the ledger'}`;
  sender.report('The first terms count at once; a change counts after the delay of the bond.');
  return act(access, `answer for ${covered}`, calls.setBondTerms(bondPlace(access), terms));
}
