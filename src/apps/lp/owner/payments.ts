/** Pays from the owner's wallet into the escrow or the bond contract. */

import { formatTokens } from '../../../domain/amount.ts';
import { nativeTokenUnitsUp, type TokenInfo } from '../../../domain/chain.ts';
import type { Address, Hex } from '../../../domain/hex.ts';
import { approveCall, depositCall, depositForCall } from '../../../settlement/call.ts';
import { moverCall } from '../../../settlement/lp-account.ts';
import type { OwnerStep } from '../account/sender.ts';
import type { OwnerAccess } from './access.ts';

/** Gas of two approvals and a deposit or bond, with a margin. */
const PAYMENT_GAS = 400_000n;

/** Deposits what lies on an `LpAccount` first, then what the owner's wallet has. */
export async function depositTokens(
  access: OwnerAccess,
  token: TokenInfo,
  amount: bigint,
): Promise<OwnerStep[]> {
  const { port, chain, account, sender, lpAccount } = access;
  if (amount <= 0n) sender.refuse('The amount to deposit must be above zero.');
  const lies = lpAccount === undefined ? 0n : await port.tokenBalance(account, token.address);
  const own = lies < amount ? lies : amount;
  const rest = amount - own;
  const wallet = rest === 0n ? 0n : await port.tokenBalance(sender.from, token.address);
  if (own > 0n && wallet < rest)
    sender.refuse(
      `On the account lie ${formatTokens(lies, token)}, and its owner ${sender.from} has ${formatTokens(wallet, token)} on ${chain.slug}: not enough to deposit ${formatTokens(amount, token)}.`,
    );
  const steps: OwnerStep[] = [];
  if (own > 0n) {
    const what = `deposit ${formatTokens(own, token)} that lie on the account`;
    steps.push(await sender.run(what, account, moverCall.deposit(token.address, own)));
  }
  if (rest === 0n) return steps;
  const data =
    lpAccount === undefined ? depositCall(token.address, rest) : depositForCall(account, token.address, rest);
  return [...steps, ...(await payInto(access, chain.escrow, 'the escrow', 'deposit', token, rest, data))];
}

/** Approves and pays. `verb`: such as "deposit". */
export async function payInto(
  access: OwnerAccess,
  place: Address,
  named: string,
  verb: string,
  token: TokenInfo,
  amount: bigint,
  data: Hex,
): Promise<OwnerStep[]> {
  const { port, chain, sender } = access;
  const what = `${verb} ${formatTokens(amount, token)}`;
  if (amount <= 0n) sender.refuse(`The amount to ${verb.split(' ')[0]} must be above zero.`);
  const balance = await port.tokenBalance(sender.from, token.address);
  if (balance < amount)
    sender.refuse(
      `The account ${sender.from} has ${formatTokens(balance, token)} on ${chain.slug}: not enough to ${what}.`,
    );
  const steps: OwnerStep[] = [];
  const allowance = await port.allowance(sender.from, token.address, place);
  if (token.address === chain.native.token?.address) await leaveGas(access, token, amount, balance, what);
  if (allowance < amount) {
    // Some tokens refuse to change an allowance that is not zero.
    if (allowance > 0n)
      steps.push(await sender.run('revoke an earlier approval', token.address, approveCall(place, 0n)));
    steps.push(
      await sender.run(
        `let ${named} take ${formatTokens(amount, token)}`,
        token.address,
        approveCall(place, amount),
      ),
    );
  }
  if (!sender.sends && steps.length > 0) return [...steps, sender.later(what, place, data)];
  return [...steps, await sender.run(what, place, data)];
}

/**
 * Leaves enough for gas: where it is paid in the token itself, the approvals and the payment need some of the
 * balance.
 */
async function leaveGas(
  { port, chain, sender }: OwnerAccess,
  token: TokenInfo,
  amount: bigint,
  balance: bigint,
  what: string,
): Promise<void> {
  const { baseFee, priorityFee } = await port.fees();
  const gas = nativeTokenUnitsUp(chain.native, PAYMENT_GAS * (2n * baseFee + priorityFee)) ?? 0n;
  if (balance >= amount + gas) return;
  const most = balance > gas ? balance - gas : 0n;
  sender.refuse(
    `Gas on ${chain.slug} is paid in ${token.symbol}: to ${what} may take ${formatTokens(gas, token)} more, and the account ${sender.from} has ${formatTokens(balance, token)}. At most ${formatTokens(most, token)} can be paid in now. ${sender.soFar()}`,
  );
}
