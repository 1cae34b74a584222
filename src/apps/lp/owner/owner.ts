/** The owner's actions. Each step is simulated before it is sent. */

import { formatTokens } from '../../../domain/amount.ts';
import { type Chain, nativeTokenUnitsUp, type TokenInfo } from '../../../domain/chain.ts';
import type { Address, Hex } from '../../../domain/hex.ts';
import type { ChainPort } from '../../../ports/chain.ts';
import type { BondTerms } from '../../../domain/bond.ts';
import { postBondCall } from '../../../settlement/bond-call.ts';
import { approveCall, depositCall, depositForCall } from '../../../settlement/call.ts';
import { accountCall, moverCall } from '../../../settlement/lp-account.ts';
import { type AccountCalls, type Call, lpAccountCalls, plainCalls } from '../account/calls.ts';
import { dateOf, makeChange } from '../account/change.ts';
import type { OwnerStep, Sender } from '../account/sender.ts';
import type { LpAccountState } from '../account/state.ts';

/** The actions of an account's owner. Each refuses with a `RequestError` that says what to do. */
export interface Owner {
  /** Reads the pending withdrawal of a token; undefined when there is none. */
  pending(token: TokenInfo): Promise<PendingWithdrawal | undefined>;
  /** Deposits what lies on an `LpAccount` first, then what the owner's wallet has. */
  deposit(token: TokenInfo, amount: bigint): Promise<OwnerStep[]>;
  /** Pays into the bond contract from the owner's wallet. */
  postBond(token: TokenInfo, amount: bigint): Promise<OwnerStep[]>;
  /** Asks for a part of the bond; the delay begins. */
  requestBondBack(token: TokenInfo, amount: bigint): Promise<OwnerStep[]>;
  /** Keeps what was asked back. */
  cancelBondBack(token: TokenInfo): Promise<OwnerStep[]>;
  /** Takes what was asked back, after the delay. */
  takeBondBack(token: TokenInfo, to: Address): Promise<OwnerStep[]>;
  /** Says which orders across chains the bond answers for. */
  setBondTerms(terms: BondTerms): Promise<OwnerStep[]>;
  /** Requests a withdrawal; `replace` restarts the delay of a pending one. */
  request(token: TokenInfo, amount: bigint, replace: boolean): Promise<OwnerStep[]>;
  /** Cancels the pending withdrawal. */
  cancel(token: TokenInfo): Promise<OwnerStep[]>;
  /** Completes the pending withdrawal after the delay. */
  complete(token: TokenInfo, to: Address): Promise<OwnerStep[]>;
  /** Allows an operator without limits: it may spend all that the account has here. */
  allowOperator(operator: Address): Promise<OwnerStep[]>;
  /** Allows an operator within limits: it may spend nothing of a token that never got one. */
  limitOperator(
    operator: Address,
    limits: readonly { token: TokenInfo; most: bigint; windowSeconds: number }[],
  ): Promise<OwnerStep[]>;
  /** Revokes an operator immediately. */
  revokeOperator(operator: Address): Promise<OwnerStep[]>;
}

interface PendingWithdrawal {
  amount: bigint;
  /** The time when it can be withdrawn, Unix seconds by the clock of the chain. */
  availableAt: number;
  lapsesAt: number;
}

interface Ground {
  port: ChainPort;
  chain: Chain;
  account: Address;
  sender: Sender;
  /** undefined for an account that is the owner's own address. */
  lpAccount: LpAccountState | undefined;
  calls: AccountCalls;
}

/** Gas of two approvals and a deposit or bond, with a margin. */
const PAYMENT_GAS = 400_000n;
/** The escrow keeps a limit in 96 bits. */
const MAX_LIMIT = 2n ** 96n - 1n;

/** Makes the owner's actions. `lpAccount`: undefined for an account that is the owner's own address. */
export function createOwner(
  port: ChainPort,
  account: Address,
  sender: Sender,
  lpAccount: LpAccountState | undefined,
): Owner {
  const { chain } = port;
  const calls = lpAccount === undefined ? plainCalls(chain.escrow) : lpAccountCalls(account);
  const ground: Ground = { port, chain, account, sender, lpAccount, calls };
  return {
    pending: (token) => pendingOf(ground, token),
    deposit: (token, amount) => deposit(ground, token, amount),
    postBond: (token, amount) => postBond(ground, token, amount),
    requestBondBack: (token, amount) => requestBondBack(ground, token, amount),
    cancelBondBack: (token) => cancelBondBack(ground, token),
    takeBondBack: (token, to) => takeBondBack(ground, token, to),
    setBondTerms: (terms) => setBondTerms(ground, terms),
    request: (token, amount, replace) => requestWithdrawal(ground, token, amount, replace),
    cancel: (token) => cancelRequest(ground, token),
    complete: (token, to) => completeWithdrawal(ground, token, to),
    allowOperator: (operator) => allowOperator(ground, operator),
    limitOperator: (operator, limits) => limitOperator(ground, operator, limits),
    revokeOperator: (operator) => revokeOperator(ground, operator),
  };
}

const act = async (
  { port, account, sender, lpAccount }: Ground,
  what: string,
  { to, data }: Call,
): Promise<OwnerStep[]> =>
  lpAccount === undefined
    ? [await sender.run(what, to, data)]
    : makeChange(port, sender, account, what, data);

async function pendingOf(
  { port, account, sender }: Ground,
  token: TokenInfo,
): Promise<PendingWithdrawal | undefined> {
  const { amount, availableAt, lapsesAt } = await port.pendingWithdrawal(account, token.address);
  return amount > 0n && lapsesAt >= sender.now() ? { amount, availableAt, lapsesAt } : undefined;
}

const bondPlace = ({ chain, sender }: Ground): Address =>
  chain.quoteBond ??
  sender.refuse(`The configuration names no bond contract on ${chain.slug} (networks, quoteBond).`);

/** Approves and pays. `verb`: such as "deposit". */
async function payInto(
  ground: Ground,
  place: Address,
  named: string,
  verb: string,
  token: TokenInfo,
  amount: bigint,
  data: Hex,
): Promise<OwnerStep[]> {
  const { port, chain, sender } = ground;
  const what = `${verb} ${formatTokens(amount, token)}`;
  if (amount <= 0n) sender.refuse(`The amount to ${verb.split(' ')[0]} must be above zero.`);
  const balance = await port.tokenBalance(sender.from, token.address);
  if (balance < amount)
    sender.refuse(
      `The account ${sender.from} has ${formatTokens(balance, token)} on ${chain.slug}: not enough to ${what}.`,
    );
  const steps: OwnerStep[] = [];
  const allowance = await port.allowance(sender.from, token.address, place);
  if (token.address === chain.native.token?.address) await leaveGas(ground, token, amount, balance, what);
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
  { port, chain, sender }: Ground,
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

/** Money leaves an `LpAccount` to its treasury only. */
function requireOwn({ account, sender, lpAccount }: Ground, to: Address): void {
  if (lpAccount === undefined || to === account || to === lpAccount.treasury) return;
  sender.refuse(
    `Money leaves the account ${account} only to its treasury, ${lpAccount.treasury ?? 'and it has none yet (firmquote lp account set --treasury)'}. Leave --to out, and it lies on the account; or name the treasury.`,
  );
}

/** An `LpAccount` takes it out to itself, and passes it on to its treasury if `to` is that. */
async function takeOut(
  ground: Ground,
  what: string,
  call: Call,
  { token, amount, to }: { token: TokenInfo; amount: bigint; to: Address },
): Promise<OwnerStep[]> {
  const { account, sender, lpAccount } = ground;
  if (lpAccount === undefined || to === account) return act(ground, what, call);
  const steps = await act(ground, `${what}, by way of the account`, call);
  const passOn = accountCall.takeToTreasury(token.address, amount);
  const then = `take ${formatTokens(amount, token)} to the treasury`;
  return [
    ...steps,
    sender.sends ? await sender.run(then, account, passOn) : sender.later(then, account, passOn),
  ];
}

function refuseItself({ account, sender, lpAccount }: Ground, operator: Address): void {
  if (operator === account || operator === lpAccount?.owner)
    sender.refuse(
      'The account and its owner need no permission. An operator is a different key that cannot withdraw.',
    );
}

/** Deposits what lies on an `LpAccount` first, then what the owner's wallet has. */
async function deposit(ground: Ground, token: TokenInfo, amount: bigint): Promise<OwnerStep[]> {
  const { port, chain, account, sender, lpAccount } = ground;
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
  return [...steps, ...(await payInto(ground, chain.escrow, 'the escrow', 'deposit', token, rest, data))];
}

async function postBond(ground: Ground, token: TokenInfo, amount: bigint): Promise<OwnerStep[]> {
  const { account } = ground;
  const data = postBondCall(account, token.address, amount);
  return payInto(ground, bondPlace(ground), 'the bond contract', 'post a bond of', token, amount, data);
}

async function requestBondBack(ground: Ground, token: TokenInfo, amount: bigint): Promise<OwnerStep[]> {
  const { port, chain, account, sender, calls } = ground;
  const place = bondPlace(ground);
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
    ground,
    `ask to take back ${formatTokens(amount, token)} of the bond`,
    calls.requestTakeBack(place, token.address, amount),
  );
}

async function cancelBondBack(ground: Ground, token: TokenInfo): Promise<OwnerStep[]> {
  const { port, chain, account, sender, calls } = ground;
  const place = bondPlace(ground);
  const bond = await port.bond(account, token.address);
  if (bond === undefined || bond.leaving === 0n)
    return sender.refuse(`Nothing of the bond in ${token.symbol} on ${chain.slug} is asked back.`);
  const what = `keep the ${formatTokens(bond.leaving, token)} of the bond that were asked back`;
  return act(ground, what, calls.requestTakeBack(place, token.address, 0n));
}

async function takeBondBack(ground: Ground, token: TokenInfo, to: Address): Promise<OwnerStep[]> {
  const { port, chain, account, sender, calls } = ground;
  const place = bondPlace(ground);
  requireOwn(ground, to);
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
  return takeOut(ground, what, calls.takeBack(place, token.address, to), { token, amount: taken, to });
}

async function setBondTerms(ground: Ground, terms: BondTerms): Promise<OwnerStep[]> {
  const { sender, calls } = ground;
  const covered =
    terms.fillWindowSeconds === 0
      ? 'no orders across chains'
      : `orders across chains that are open ${terms.fillWindowSeconds} s before their deadline and deliver ${terms.wallets ? 'anywhere' : 'into the ledger'}`;
  sender.report('The first terms count at once; a change counts after the delay of the bond.');
  return act(ground, `answer for ${covered}`, calls.setBondTerms(bondPlace(ground), terms));
}

async function requestWithdrawal(
  ground: Ground,
  token: TokenInfo,
  amount: bigint,
  replace: boolean,
): Promise<OwnerStep[]> {
  const { port, chain, account, sender, calls } = ground;
  if (amount <= 0n)
    sender.refuse('The amount to withdraw must be above zero. To cancel a request: --cancel.');
  const balance = await port.ledgerBalance(account, token.address);
  if (balance < amount)
    sender.refuse(
      `The account has ${formatTokens(balance, token)} in the escrow on ${chain.slug}: ${formatTokens(amount, token)} cannot be withdrawn.`,
    );
  const pending = await pendingOf(ground, token);
  if (pending !== undefined && !replace)
    sender.refuse(
      `A withdrawal of ${formatTokens(pending.amount, token)} is pending and can be completed from ${dateOf(pending.availableAt)} on. A new request restarts the delay: use --replace to do so, or --cancel.`,
    );
  const delay = await port.withdrawalDelay();
  sender.report(
    `The LP stops quoting this amount; quotes signed before may still use it. It can be withdrawn ${delay} s after the request is mined.`,
  );
  return act(
    ground,
    `request the withdrawal of ${formatTokens(amount, token)}`,
    calls.requestWithdrawal(token.address, amount),
  );
}

async function cancelRequest(ground: Ground, token: TokenInfo): Promise<OwnerStep[]> {
  const { chain, sender, calls } = ground;
  const pending = await pendingOf(ground, token);
  if (pending === undefined)
    return sender.refuse(
      `No withdrawal of ${token.symbol} is pending on ${chain.slug}: there is nothing to cancel.`,
    );
  return act(
    ground,
    `cancel the withdrawal of ${formatTokens(pending.amount, token)}`,
    calls.requestWithdrawal(token.address, 0n),
  );
}

async function completeWithdrawal(ground: Ground, token: TokenInfo, to: Address): Promise<OwnerStep[]> {
  const { port, chain, account, sender, calls } = ground;
  const pending = await pendingOf(ground, token);
  if (pending === undefined)
    return sender.refuse(
      `No withdrawal of ${token.symbol} is pending on ${chain.slug}: it was never requested, was completed, or expired. Request it with --amount.`,
    );
  requireOwn(ground, to);
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
  return takeOut(ground, what, calls.withdraw(token.address, to), { token, amount, to });
}

/** Allows the operator without limits: it may spend all that the account has here. */
async function allowOperator(ground: Ground, operator: Address): Promise<OwnerStep[]> {
  const { port, chain, account, sender, calls } = ground;
  refuseItself(ground, operator);
  const [allowed, limited] = await Promise.all([
    port.isOperator(account, operator),
    hasLimits(port, account, operator),
  ]);
  if (allowed && !limited) {
    sender.report(`${operator} is already an operator without limits on ${chain.slug}`);
    return [];
  }
  return act(
    ground,
    `allow the operator ${operator} on ${chain.slug} without limits`,
    calls.setOperator(operator, true),
  );
}

/** Allows the operator within limits: it may spend nothing of a token that never got one. */
async function limitOperator(
  ground: Ground,
  operator: Address,
  limits: readonly { token: TokenInfo; most: bigint; windowSeconds: number }[],
): Promise<OwnerStep[]> {
  const { port, chain, account, sender, calls } = ground;
  refuseItself(ground, operator);
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
        ground,
        `let the operator ${operator} spend ${formatTokens(most, token)} in ${windowSeconds} s on ${chain.slug}`,
        calls.limitOperator(operator, token.address, most, windowSeconds),
      )),
    );
  }
  return steps;
}

async function revokeOperator(ground: Ground, operator: Address): Promise<OwnerStep[]> {
  const { port, chain, account, sender, calls } = ground;
  if (!(await port.isOperator(account, operator))) {
    sender.report(`${operator} is not an operator on ${chain.slug}`);
    return [];
  }
  return act(ground, `revoke the operator ${operator} on ${chain.slug}`, calls.setOperator(operator, false));
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
