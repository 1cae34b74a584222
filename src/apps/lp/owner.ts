/** The owner's actions. Each step is simulated before it is sent. */

import { formatTokens, formatUnits } from '../../domain/amount.ts';
import { RequestError, SettlementError, UpstreamError } from '../../domain/errors.ts';
import { nativeTokenUnitsUp, type TokenInfo } from '../../domain/chain.ts';
import type { Address, Hex } from '../../domain/hex.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import { signTransaction } from '../../adapters/evm/transactor/sign.ts';
import type { ChainPort, Receipt } from '../../ports/chain.ts';
import type { Signer } from '../../ports/signer.ts';
import type { BondTerms } from '../../domain/bond.ts';
import {
  postBondCall,
  requestTakeBackCall,
  setBondTermsCall,
  takeBackCall,
} from '../../settlement/bond-call.ts';
import {
  approveCall,
  depositCall,
  limitOperatorCall,
  requestWithdrawalCall,
  setOperatorCall,
  withdrawCall,
} from '../../settlement/call.ts';

export interface OwnerStep {
  what: string;
  to: Address;
  data: Hex;
  /** Simulated gas; null where an earlier step must be mined first. */
  gas: bigint | null;
  feeWei: bigint | null;
  txHash: Hex | null;
  blockNumber: bigint | null;
}

export type Owner = ReturnType<typeof createOwner>;

const POLL_MS = 500;
const MINED_WITHIN_MS = 180_000;
/** Two approvals and a deposit or bond, with a margin. */
const PAYMENT_GAS = 400_000n;
/** The escrow keeps a limit in 96 bits. */
const MAX_LIMIT = 2n ** 96n - 1n;

/** Without a signer, steps are simulated and not sent. */
export function createOwner(
  port: ChainPort,
  account: Address,
  signer: Signer | undefined,
  report: (line: string) => void,
) {
  const { chain } = port;
  const refuse = (message: string): never => {
    throw new RequestError(message, { code: 'refused' });
  };
  const nowOf = async (): Promise<UnixSeconds> => {
    const head = port.head();
    if (head === undefined)
      throw new UpstreamError(`No block of ${chain.slug} has been read yet. Try again shortly.`, {
        code: 'chain_unknown',
      });
    return head.timestamp;
  };

  const minedSteps: string[] = [];
  /** Of the last step. Behind one address there may be a node that has not seen its block yet. */
  let last: { blockNumber: bigint; nonce: number } | undefined;
  /** For an error: what the command has changed on the chain. */
  const soFar = (): string =>
    minedSteps.length === 0
      ? 'Nothing was sent.'
      : `Mined before and still in force: ${minedSteps.join(', ')}. Run the command again when the reason is gone.`;

  async function runStep(what: string, to: Address, data: Hex): Promise<OwnerStep> {
    const tried = await port.simulate({ from: account, to, data }, last?.blockNumber);
    if (!tried.ok)
      throw new SettlementError(`${chain.slug} would refuse to ${what}: ${tried.reason}. ${soFar()}`, {
        code: 'would_revert',
      });
    const { baseFee, priorityFee } = await port.fees();
    const gas = (tried.gasUsed * 12n) / 10n;
    const maxFeePerGas = 2n * baseFee + priorityFee;
    const step: OwnerStep = {
      what,
      to,
      data,
      gas: tried.gasUsed,
      feeWei: gas * maxFeePerGas,
      txHash: null,
      blockNumber: null,
    };
    report(
      `${signer === undefined ? 'would' : 'to'} ${what}: about ${tried.gasUsed} gas, at most ${formatUnits(gas * maxFeePerGas, 18)} of the chain's currency`,
    );
    if (signer === undefined) return step;
    const native = await port.nativeBalance(account, last?.blockNumber);
    if (native < gas * maxFeePerGas)
      refuse(
        `The account ${account} has ${formatUnits(native, 18)} of ${chain.slug}'s currency for gas, and to ${what} may take ${formatUnits(gas * maxFeePerGas, 18)}. Send it some first. ${soFar()}`,
      );
    // Every step waits until the one before is mined.
    const nonce = Math.max(await port.transactionCount(account, 'latest'), (last?.nonce ?? -1) + 1);
    const { raw, hash } = await signTransaction(signer, {
      chainId: chain.id,
      nonce,
      to,
      data,
      gas,
      maxFeePerGas,
      maxPriorityFeePerGas: priorityFee,
    });
    const sent = await port.sendRaw(raw);
    // No answer may still mean that it was sent; its receipt decides.
    if (sent.kind !== 'sent' && sent.kind !== 'indeterminate')
      throw new UpstreamError(
        `${chain.slug} did not take the transaction to ${what}: ${sent.message}. ${soFar()}`,
        { code: 'not_sent' },
      );
    report(`sent ${hash}`);
    const receipt = await mined(hash, what);
    minedSteps.push(what);
    last = { blockNumber: receipt.blockNumber, nonce };
    return { ...step, txHash: hash, blockNumber: receipt.blockNumber };
  }

  async function mined(hash: Hex, what: string): Promise<Receipt> {
    for (let waitedMs = 0; waitedMs < MINED_WITHIN_MS; waitedMs += POLL_MS) {
      const receipt = await port.receipt(hash);
      if (receipt?.status === 'reverted')
        throw new SettlementError(
          `The transaction to ${what} was mined and reverted: ${hash}. The chain's state changed after the simulation: check the balances and try again.`,
          { code: 'reverted' },
        );
      if (receipt !== undefined) return receipt;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    throw new UpstreamError(
      `The transaction to ${what} is not mined after ${MINED_WITHIN_MS / 60_000} minutes: ${hash}. It may still be mined: check before sending another.`,
      { code: 'not_mined' },
    );
  }

  const callEscrow = async (what: string, data: Hex): Promise<OwnerStep[]> => [
    await runStep(what, chain.escrow, data),
  ];

  async function pendingOf(token: TokenInfo) {
    const { amount, availableAt, lapsesAt } = await port.pendingWithdrawal(account, token.address);
    return amount > 0n && lapsesAt >= (await nowOf()) ? { amount, availableAt, lapsesAt } : undefined;
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
    const balance = await port.tokenBalance(account, token.address);
    if (balance < amount)
      refuse(
        `The account ${account} has ${formatTokens(balance, token)} on ${chain.slug}: not enough to ${what}.`,
      );
    const steps: OwnerStep[] = [];
    const allowance = await port.allowance(account, token.address, place);
    if (token.address === chain.native.token?.address) await leaveGas(token, amount, balance, what);
    if (allowance < amount) {
      // Some tokens refuse to change an allowance that is not zero.
      if (allowance > 0n)
        steps.push(await runStep('revoke an earlier approval', token.address, approveCall(place, 0n)));
      steps.push(
        await runStep(
          `let ${named} take ${formatTokens(amount, token)}`,
          token.address,
          approveCall(place, amount),
        ),
      );
    }
    if (signer === undefined && steps.length > 0) {
      report(`would ${what}, once the approval is mined`);
      return [...steps, { what, to: place, data, gas: null, feeWei: null, txHash: null, blockNumber: null }];
    }
    return [...steps, await runStep(what, place, data)];
  }

  /** Where gas is paid in the token itself, the approvals and the payment need some of the balance. */
  async function leaveGas(token: TokenInfo, amount: bigint, balance: bigint, what: string): Promise<void> {
    const { baseFee, priorityFee } = await port.fees();
    const gas = nativeTokenUnitsUp(chain.native, PAYMENT_GAS * (2n * baseFee + priorityFee)) ?? 0n;
    if (balance >= amount + gas) return;
    const most = balance > gas ? balance - gas : 0n;
    refuse(
      `Gas on ${chain.slug} is paid in ${token.symbol}: to ${what} may take ${formatTokens(gas, token)} more, and the account ${account} has ${formatTokens(balance, token)}. At most ${formatTokens(most, token)} can be paid in now. ${soFar()}`,
    );
  }

  function refuseItself(operator: Address): void {
    if (operator === account)
      refuse('The account itself needs no permission. An operator is a different key that cannot withdraw.');
  }

  return {
    pending: pendingOf,
    deposit: (token: TokenInfo, amount: bigint): Promise<OwnerStep[]> =>
      payInto(chain.escrow, 'the escrow', 'deposit', token, amount, depositCall(token.address, amount)),
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
      const data = requestTakeBackCall(token.address, amount);
      return [await runStep(`ask to take back ${formatTokens(amount, token)} of the bond`, place, data)];
    },
    async cancelBondBack(token: TokenInfo): Promise<OwnerStep[]> {
      const place = bondPlace();
      const bond = await port.bond(account, token.address);
      if (bond === undefined || bond.leaving === 0n)
        return refuse(`Nothing of the bond in ${token.symbol} on ${chain.slug} is asked back.`);
      const what = `keep the ${formatTokens(bond.leaving, token)} of the bond that were asked back`;
      return [await runStep(what, place, requestTakeBackCall(token.address, 0n))];
    },
    async takeBondBack(token: TokenInfo, to: Address): Promise<OwnerStep[]> {
      const place = bondPlace();
      const [bond, now] = await Promise.all([port.bond(account, token.address), nowOf()]);
      if (bond === undefined || bond.leaving === 0n)
        return refuse(
          `Nothing of the bond in ${token.symbol} on ${chain.slug} is asked back. Ask with --amount.`,
        );
      if (now < bond.availableAt)
        return refuse(
          `${formatTokens(bond.leaving, token)} can be taken back from ${dateOf(bond.availableAt)} on, in ${bond.availableAt - now} s by the clock of ${chain.slug}.`,
        );
      const what = `take back ${formatTokens(bond.leaving, token)} of the bond to ${to}`;
      return [await runStep(what, place, takeBackCall(token.address, to))];
    },
    async setBondTerms(terms: BondTerms): Promise<OwnerStep[]> {
      const covered =
        terms.fillWindowSeconds === 0
          ? 'no orders across chains'
          : `orders across chains that are open ${terms.fillWindowSeconds} s before their deadline and deliver ${terms.wallets ? 'anywhere' : 'into the ledger'}`;
      report('The first terms count at once; a change counts after the delay of the bond.');
      return [await runStep(`answer for ${covered}`, bondPlace(), setBondTermsCall(terms))];
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
      return callEscrow(
        `request the withdrawal of ${formatTokens(amount, token)}`,
        requestWithdrawalCall(token.address, amount),
      );
    },
    async cancel(token: TokenInfo): Promise<OwnerStep[]> {
      const pending = await pendingOf(token);
      if (pending === undefined)
        return refuse(
          `No withdrawal of ${token.symbol} is pending on ${chain.slug}: there is nothing to cancel.`,
        );
      return callEscrow(
        `cancel the withdrawal of ${formatTokens(pending.amount, token)}`,
        requestWithdrawalCall(token.address, 0n),
      );
    },
    async complete(token: TokenInfo, to: Address): Promise<OwnerStep[]> {
      const pending = await pendingOf(token);
      if (pending === undefined)
        return refuse(
          `No withdrawal of ${token.symbol} is pending on ${chain.slug}: it was never requested, was completed, or expired. Request it with --amount.`,
        );
      const now = await nowOf();
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
      return callEscrow(`withdraw ${formatTokens(amount, token)} to ${to}`, withdrawCall(token.address, to));
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
      return callEscrow(
        `allow the operator ${operator} on ${chain.slug} without limits`,
        setOperatorCall(operator, true),
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
          await runStep(
            `let the operator ${operator} spend ${formatTokens(most, token)} in ${windowSeconds} s on ${chain.slug}`,
            chain.escrow,
            limitOperatorCall(operator, token.address, most, windowSeconds),
          ),
        );
      }
      return steps;
    },
    async revokeOperator(operator: Address): Promise<OwnerStep[]> {
      if (!(await port.isOperator(account, operator))) {
        report(`${operator} is not an operator on ${chain.slug}`);
        return [];
      }
      return callEscrow(`revoke the operator ${operator} on ${chain.slug}`, setOperatorCall(operator, false));
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

export const dateOf = (seconds: UnixSeconds): string => new Date(seconds * 1000).toISOString();
