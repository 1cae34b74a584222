/** The owner's actions. Each step is simulated before it is sent. */

import { formatTokens } from '../../domain/amount.ts';
import { nativeTokenUnitsUp, type TokenInfo } from '../../domain/chain.ts';
import type { Address, Hex } from '../../domain/hex.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { BondTerms } from '../../domain/bond.ts';
import { postBondCall } from '../../settlement/bond-call.ts';
import { approveCall, depositCall, depositForCall } from '../../settlement/call.ts';
import { accountCall, moverCall } from '../../settlement/lp-account.ts';
import { type Call, lpAccountCalls, plainCalls } from './account/calls.ts';
import { dateOf, makeChange } from './account/change.ts';
import type { OwnerStep, Sender } from './account/sender.ts';
import type { LpAccountState } from './account/state.ts';

export type Owner = ReturnType<typeof createOwner>;

/** Two approvals and a deposit or bond, with a margin. */
const PAYMENT_GAS = 400_000n;
/** The escrow keeps a limit in 96 bits. */
const MAX_LIMIT = 2n ** 96n - 1n;

/** `lpAccount`: undefined for an account that is the owner's own address. */
export function createOwner(
  port: ChainPort,
  account: Address,
  sender: Sender,
  lpAccount: LpAccountState | undefined,
) {
  const { chain } = port;
  const { refuse, report, run, soFar, from } = sender;
  const calls = lpAccount === undefined ? plainCalls(chain.escrow) : lpAccountCalls(account);

  const act = async (what: string, { to, data }: Call): Promise<OwnerStep[]> =>
    lpAccount === undefined ? [await run(what, to, data)] : makeChange(port, sender, account, what, data);

  async function pendingOf(token: TokenInfo) {
    const { amount, availableAt, lapsesAt } = await port.pendingWithdrawal(account, token.address);
    return amount > 0n && lapsesAt >= sender.now() ? { amount, availableAt, lapsesAt } : undefined;
  }

  const bondPlace = (): Address =>
    chain.quoteBond ??
    refuse(`The configuration names no bond contract on ${chain.slug} (networks, quoteBond).`);

  /** Approves and pays. `verb`: such as "deposit". */
  async function payInto(
    place: Address,
    named: string,
    verb: string,
    token: TokenInfo,
    amount: bigint,
    data: Hex,
  ): Promise<OwnerStep[]> {
    const what = `${verb} ${formatTokens(amount, token)}`;
    if (amount <= 0n) refuse(`The amount to ${verb.split(' ')[0]} must be above zero.`);
    const balance = await port.tokenBalance(from, token.address);
    if (balance < amount)
      refuse(
        `The account ${from} has ${formatTokens(balance, token)} on ${chain.slug}: not enough to ${what}.`,
      );
    const steps: OwnerStep[] = [];
    const allowance = await port.allowance(from, token.address, place);
    if (token.address === chain.native.token?.address) await leaveGas(token, amount, balance, what);
    if (allowance < amount) {
      // Some tokens refuse to change an allowance that is not zero.
      if (allowance > 0n)
        steps.push(await run('revoke an earlier approval', token.address, approveCall(place, 0n)));
      steps.push(
        await run(
          `let ${named} take ${formatTokens(amount, token)}`,
          token.address,
          approveCall(place, amount),
        ),
      );
    }
    if (!sender.sends && steps.length > 0) return [...steps, sender.later(what, place, data)];
    return [...steps, await run(what, place, data)];
  }

  /** Where gas is paid in the token itself, the approvals and the payment need some of the balance. */
  async function leaveGas(token: TokenInfo, amount: bigint, balance: bigint, what: string): Promise<void> {
    const { baseFee, priorityFee } = await port.fees();
    const gas = nativeTokenUnitsUp(chain.native, PAYMENT_GAS * (2n * baseFee + priorityFee)) ?? 0n;
    if (balance >= amount + gas) return;
    const most = balance > gas ? balance - gas : 0n;
    refuse(
      `Gas on ${chain.slug} is paid in ${token.symbol}: to ${what} may take ${formatTokens(gas, token)} more, and the account ${from} has ${formatTokens(balance, token)}. At most ${formatTokens(most, token)} can be paid in now. ${soFar()}`,
    );
  }

  /** Money leaves an `LpAccount` to its treasury only. */
  function requireOwn(to: Address): void {
    if (lpAccount === undefined || to === account || to === lpAccount.treasury) return;
    refuse(
      `Money leaves the account ${account} only to its treasury, ${lpAccount.treasury ?? 'and it has none yet (firmquote lp account set --treasury)'}. Leave --to out, and it lies on the account; or name the treasury.`,
    );
  }

  /** An `LpAccount` takes it out to itself, and passes it on to its treasury if `to` is that. */
  async function takeOut(
    what: string,
    call: Call,
    { token, amount, to }: { token: TokenInfo; amount: bigint; to: Address },
  ): Promise<OwnerStep[]> {
    if (lpAccount === undefined || to === account) return act(what, call);
    const steps = await act(`${what}, by way of the account`, call);
    const passOn = accountCall.takeToTreasury(token.address, amount);
    const then = `take ${formatTokens(amount, token)} to the treasury`;
    return [...steps, sender.sends ? await run(then, account, passOn) : sender.later(then, account, passOn)];
  }

  function refuseItself(operator: Address): void {
    if (operator === account || operator === lpAccount?.owner)
      refuse(
        'The account and its owner need no permission. An operator is a different key that cannot withdraw.',
      );
  }

  return {
    pending: pendingOf,
    /** What lies on an `LpAccount` is deposited first, then what the owner's wallet has. */
    async deposit(token: TokenInfo, amount: bigint): Promise<OwnerStep[]> {
      if (amount <= 0n) refuse('The amount to deposit must be above zero.');
      const lies = lpAccount === undefined ? 0n : await port.tokenBalance(account, token.address);
      const own = lies < amount ? lies : amount;
      const rest = amount - own;
      const wallet = rest === 0n ? 0n : await port.tokenBalance(from, token.address);
      if (own > 0n && wallet < rest)
        refuse(
          `On the account lie ${formatTokens(lies, token)}, and its owner ${from} has ${formatTokens(wallet, token)} on ${chain.slug}: not enough to deposit ${formatTokens(amount, token)}.`,
        );
      const steps: OwnerStep[] = [];
      if (own > 0n) {
        const what = `deposit ${formatTokens(own, token)} that lie on the account`;
        steps.push(await run(what, account, moverCall.deposit(token.address, own)));
      }
      if (rest === 0n) return steps;
      const data =
        lpAccount === undefined
          ? depositCall(token.address, rest)
          : depositForCall(account, token.address, rest);
      return [...steps, ...(await payInto(chain.escrow, 'the escrow', 'deposit', token, rest, data))];
    },
    async postBond(token: TokenInfo, amount: bigint): Promise<OwnerStep[]> {
      const data = postBondCall(account, token.address, amount);
      return payInto(bondPlace(), 'the bond contract', 'post a bond of', token, amount, data);
    },
    async requestBondBack(token: TokenInfo, amount: bigint): Promise<OwnerStep[]> {
      const place = bondPlace();
      const bond = await port.bond(account, token.address);
      if (bond === undefined || bond.amount < amount || amount <= 0n)
        return refuse(
          `The bond on ${chain.slug} is ${formatTokens(bond?.amount ?? 0n, token)}: ${formatTokens(amount, token)} cannot be taken back.`,
        );
      if (bond.leaving > 0n)
        report(`This replaces the request for ${formatTokens(bond.leaving, token)}; the delay starts again.`);
      report('From now on nobody counts on this amount; it pays claims until it has left.');
      return act(
        `ask to take back ${formatTokens(amount, token)} of the bond`,
        calls.requestTakeBack(place, token.address, amount),
      );
    },
    async cancelBondBack(token: TokenInfo): Promise<OwnerStep[]> {
      const place = bondPlace();
      const bond = await port.bond(account, token.address);
      if (bond === undefined || bond.leaving === 0n)
        return refuse(`Nothing of the bond in ${token.symbol} on ${chain.slug} is asked back.`);
      const what = `keep the ${formatTokens(bond.leaving, token)} of the bond that were asked back`;
      return act(what, calls.requestTakeBack(place, token.address, 0n));
    },
    async takeBondBack(token: TokenInfo, to: Address): Promise<OwnerStep[]> {
      const place = bondPlace();
      requireOwn(to);
      const bond = await port.bond(account, token.address);
      const now = sender.now();
      if (bond === undefined || bond.leaving === 0n)
        return refuse(
          `Nothing of the bond in ${token.symbol} on ${chain.slug} is asked back. Ask with --amount.`,
        );
      if (now < bond.availableAt)
        return refuse(
          `${formatTokens(bond.leaving, token)} can be taken back from ${dateOf(bond.availableAt)} on, in ${bond.availableAt - now} s by the clock of ${chain.slug}.`,
        );
      const taken = bond.leaving < bond.amount ? bond.leaving : bond.amount;
      const what = `take back ${formatTokens(taken, token)} of the bond to ${to}`;
      return takeOut(what, calls.takeBack(place, token.address, to), { token, amount: taken, to });
    },
    async setBondTerms(terms: BondTerms): Promise<OwnerStep[]> {
      const covered =
        terms.fillWindowSeconds === 0
          ? 'no orders across chains'
          : `orders across chains that are open ${terms.fillWindowSeconds} s before their deadline and deliver ${terms.wallets ? 'anywhere' : 'into the ledger'}`;
      report('The first terms count at once; a change counts after the delay of the bond.');
      return act(`answer for ${covered}`, calls.setBondTerms(bondPlace(), terms));
    },
    async request(token: TokenInfo, amount: bigint, replace: boolean): Promise<OwnerStep[]> {
      if (amount <= 0n) refuse('The amount to withdraw must be above zero. To cancel a request: --cancel.');
      const balance = await port.ledgerBalance(account, token.address);
      if (balance < amount)
        refuse(
          `The account has ${formatTokens(balance, token)} in the escrow on ${chain.slug}: ${formatTokens(amount, token)} cannot be withdrawn.`,
        );
      const pending = await pendingOf(token);
      if (pending !== undefined && !replace)
        refuse(
          `A withdrawal of ${formatTokens(pending.amount, token)} is pending and can be completed from ${dateOf(pending.availableAt)} on. A new request restarts the delay: use --replace to do so, or --cancel.`,
        );
      const delay = await port.withdrawalDelay();
      report(
        `The LP stops quoting this amount; quotes signed before may still use it. It can be withdrawn ${delay} s after the request is mined.`,
      );
      return act(
        `request the withdrawal of ${formatTokens(amount, token)}`,
        calls.requestWithdrawal(token.address, amount),
      );
    },
    async cancel(token: TokenInfo): Promise<OwnerStep[]> {
      const pending = await pendingOf(token);
      if (pending === undefined)
        return refuse(
          `No withdrawal of ${token.symbol} is pending on ${chain.slug}: there is nothing to cancel.`,
        );
      return act(
        `cancel the withdrawal of ${formatTokens(pending.amount, token)}`,
        calls.requestWithdrawal(token.address, 0n),
      );
    },
    async complete(token: TokenInfo, to: Address): Promise<OwnerStep[]> {
      const pending = await pendingOf(token);
      if (pending === undefined)
        return refuse(
          `No withdrawal of ${token.symbol} is pending on ${chain.slug}: it was never requested, was completed, or expired. Request it with --amount.`,
        );
      requireOwn(to);
      const now = sender.now();
      if (now < pending.availableAt)
        return refuse(
          `The withdrawal of ${formatTokens(pending.amount, token)} can be completed from ${dateOf(pending.availableAt)} on, in ${pending.availableAt - now} s by the clock of ${chain.slug}.`,
        );
      const balance = await port.ledgerBalance(account, token.address);
      const amount = balance < pending.amount ? balance : pending.amount;
      if (amount === 0n)
        return refuse(
          `No ${token.symbol} is left in the escrow on ${chain.slug}: quotes signed before the request used it.`,
        );
      if (amount < pending.amount)
        report(
          `${formatTokens(amount, token)} of ${formatTokens(pending.amount, token)} are left: quotes signed before the request used the rest`,
        );
      const what = `withdraw ${formatTokens(amount, token)} to ${to}`;
      return takeOut(what, calls.withdraw(token.address, to), { token, amount, to });
    },
    /** Without limits: the operator may spend all that the account has here. */
    async allowOperator(operator: Address): Promise<OwnerStep[]> {
      refuseItself(operator);
      const [allowed, limited] = await Promise.all([
        port.isOperator(account, operator),
        hasLimits(port, account, operator),
      ]);
      if (allowed && !limited) {
        report(`${operator} is already an operator without limits on ${chain.slug}`);
        return [];
      }
      return act(
        `allow the operator ${operator} on ${chain.slug} without limits`,
        calls.setOperator(operator, true),
      );
    },
    /** Within limits: it may spend nothing of a token that never got one. */
    async limitOperator(
      operator: Address,
      limits: readonly { token: TokenInfo; most: bigint; windowSeconds: number }[],
    ): Promise<OwnerStep[]> {
      refuseItself(operator);
      for (const { token, most } of limits)
        if (most > MAX_LIMIT)
          refuse(
            `A limit of ${formatTokens(most, token)} is more than the escrow can count: at most ${formatTokens(MAX_LIMIT, token)}. Give a smaller one, or none with --unlimited. ${soFar()}`,
          );
      const steps: OwnerStep[] = [];
      for (const { token, most, windowSeconds } of limits) {
        const now = await port.operatorLimit(account, operator, token.address);
        if (now?.most === most && now.windowSeconds === windowSeconds) {
          report(`${operator} already has this limit for ${token.symbol} on ${chain.slug}`);
          continue;
        }
        steps.push(
          ...(await act(
            `let the operator ${operator} spend ${formatTokens(most, token)} in ${windowSeconds} s on ${chain.slug}`,
            calls.limitOperator(operator, token.address, most, windowSeconds),
          )),
        );
      }
      return steps;
    },
    async revokeOperator(operator: Address): Promise<OwnerStep[]> {
      if (!(await port.isOperator(account, operator))) {
        report(`${operator} is not an operator on ${chain.slug}`);
        return [];
      }
      return act(`revoke the operator ${operator} on ${chain.slug}`, calls.setOperator(operator, false));
    },
  };
}

/** Whether limits count for the operator. They do for every token or for none. */
export async function hasLimits(
  { chain, operatorLimit }: Pick<ChainPort, 'chain' | 'operatorLimit'>,
  account: Address,
  operator: Address,
): Promise<boolean> {
  const [token] = chain.tokens;
  return token !== undefined && (await operatorLimit(account, operator, token.address)) !== undefined;
}
