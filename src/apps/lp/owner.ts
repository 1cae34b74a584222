/**
 * The owner's actions: deposit, withdraw, set operators. Each step is simulated on the chain before it is
 * sent. None needs the LP process or the operator's key.
 */

import { formatUnits } from '../../domain/amount.ts';
import { RequestError, SettlementError, UpstreamError } from '../../domain/errors.ts';
import type { TokenInfo } from '../../domain/chain.ts';
import type { Address, Hex } from '../../domain/hex.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import { signTransaction } from '../../adapters/evm/transactor/sign.ts';
import type { ChainPort, Receipt } from '../../ports/chain.ts';
import type { Signer } from '../../ports/signer.ts';
import {
  approveCall,
  depositCall,
  requestWithdrawalCall,
  setOperatorCall,
  withdrawCall,
} from '../../settlement/call.ts';

export interface OwnerStep {
  /** For a person. */
  what: string;
  to: Address;
  data: Hex;
  /** Simulated gas; null where an earlier step must be mined first. */
  gas: bigint | null;
  /** Maximum cost at present prices. */
  feeWei: bigint | null;
  /** null when it was only simulated. */
  txHash: Hex | null;
  blockNumber: bigint | null;
}

export interface OwnerDeps {
  chain: ChainPort;
  account: Address;
  /** Absent: steps are simulated and not sent. */
  signer?: Signer;
  told(line: string): void;
  sleep(ms: number): Promise<void>;
}

export interface PendingWithdrawal {
  amount: bigint;
  availableAt: UnixSeconds;
  lapsesAt: UnixSeconds;
}

export interface Owner {
  deposit(token: TokenInfo, amount: bigint): Promise<OwnerStep[]>;
  /** Starts the delay. `replace` restarts a pending request with this amount. */
  request(token: TokenInfo, amount: bigint, options: { replace: boolean }): Promise<OwnerStep[]>;
  cancel(token: TokenInfo): Promise<OwnerStep[]>;
  complete(token: TokenInfo, to: Address): Promise<OwnerStep[]>;
  /** undefined: no request is pending. */
  pending(token: TokenInfo): Promise<PendingWithdrawal | undefined>;
  setOperator(operator: Address, allowed: boolean): Promise<OwnerStep[]>;
}

const POLL_MS = 500;
const MINED_WITHIN_MS = 180_000;

export function createOwner({ chain: port, account, signer, told, sleep }: OwnerDeps): Owner {
  const { chain } = port;
  const show = (amount: bigint, { decimals, symbol }: TokenInfo) =>
    `${formatUnits(amount, decimals)} ${symbol}`;
  const refuse = (message: string): never => {
    throw new RequestError(message, { code: 'refused' });
  };
  const nowOf = async (): Promise<UnixSeconds> => {
    const head = port.head();
    if (head === undefined)
      throw new UpstreamError(`The chain ${chain.slug} has not been seen yet.`, { code: 'chain_unknown' });
    return head.timestamp;
  };

  async function take(what: string, to: Address, data: Hex): Promise<OwnerStep> {
    const tried = await port.simulate({ from: account, to, data });
    if (!tried.ok)
      throw new SettlementError(`${chain.slug} would refuse to ${what}: ${tried.reason}. Nothing was sent.`, {
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
    told(
      `${signer === undefined ? 'would' : 'to'} ${what}: about ${tried.gasUsed} gas, at most ${formatUnits(gas * maxFeePerGas, 18)} of the chain's currency`,
    );
    if (signer === undefined) return step;
    const native = await port.nativeBalance(account);
    if (native < gas * maxFeePerGas)
      refuse(
        `The account ${account} has ${formatUnits(native, 18)} of ${chain.slug}'s currency for gas, and this may take ${formatUnits(gas * maxFeePerGas, 18)}. Send it some first.`,
      );
    const nonce = await port.transactionCount(account, 'pending');
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
      throw new UpstreamError(`${chain.slug} did not take the transaction to ${what}: ${sent.message}`, {
        code: 'not_sent',
      });
    told(`sent ${hash}`);
    const receipt = await mined(hash, what);
    return { ...step, txHash: hash, blockNumber: receipt.blockNumber };
  }

  async function mined(hash: Hex, what: string): Promise<Receipt> {
    for (let waitedMs = 0; waitedMs < MINED_WITHIN_MS; waitedMs += POLL_MS) {
      const receipt = await port.receipt(hash);
      if (receipt?.status === 'reverted')
        throw new SettlementError(
          `The transaction to ${what} was mined and reverted: ${hash}. Something changed since it was tried; look at the balances and try again.`,
          { code: 'reverted' },
        );
      if (receipt !== undefined) return receipt;
      await sleep(POLL_MS);
    }
    throw new UpstreamError(
      `The transaction to ${what} is not mined after ${MINED_WITHIN_MS / 60_000} minutes: ${hash}. It may still be; look for it before sending another.`,
      { code: 'not_mined' },
    );
  }

  async function standing(token: TokenInfo): Promise<PendingWithdrawal | undefined> {
    const { amount, availableAt, lapsesAt } = await port.pendingWithdrawal(account, token.address);
    return amount > 0n && lapsesAt >= (await nowOf()) ? { amount, availableAt, lapsesAt } : undefined;
  }

  return {
    pending: standing,
    async deposit(token, amount) {
      if (amount <= 0n) refuse('Deposit how much? An amount above zero.');
      const balance = await port.tokenBalance(account, token.address);
      if (balance < amount)
        refuse(
          `The account ${account} has ${show(balance, token)} on ${chain.slug}: ${show(amount, token)} cannot be deposited.`,
        );
      const steps: OwnerStep[] = [];
      const allowance = await port.allowance(account, token.address, chain.escrow);
      if (allowance < amount) {
        // Some tokens refuse to change an allowance that is not zero.
        if (allowance > 0n)
          steps.push(
            await take('take back an earlier approval', token.address, approveCall(chain.escrow, 0n)),
          );
        steps.push(
          await take(
            `let the escrow take ${show(amount, token)}`,
            token.address,
            approveCall(chain.escrow, amount),
          ),
        );
      }
      const what = `deposit ${show(amount, token)}`;
      const data = depositCall(token.address, amount);
      if (signer === undefined && steps.length > 0) {
        told(`would ${what}, once the approval is mined`);
        return [
          ...steps,
          { what, to: chain.escrow, data, gas: null, feeWei: null, txHash: null, blockNumber: null },
        ];
      }
      return [...steps, await take(what, chain.escrow, data)];
    },
    async request(token, amount, { replace }) {
      if (amount <= 0n) refuse('Withdraw how much? An amount above zero; --cancel takes a request back.');
      const balance = await port.ledgerBalance(account, token.address);
      if (balance < amount)
        refuse(
          `The account has ${show(balance, token)} in the escrow on ${chain.slug}: ${show(amount, token)} cannot be withdrawn.`,
        );
      const known = await standing(token);
      if (known !== undefined && !replace)
        refuse(
          `A withdrawal of ${show(known.amount, token)} stands already and can be completed from ${dateOf(known.availableAt)} on. A new one would start the delay again: say --replace if you mean it, --cancel to take it back.`,
        );
      const delay = await port.withdrawalDelay();
      told(
        `From the request on it is not quoted any more; what was signed before may still use it. It can be completed ${delay} s after the request is mined.`,
      );
      return [
        await take(
          `request the withdrawal of ${show(amount, token)}`,
          chain.escrow,
          requestWithdrawalCall(token.address, amount),
        ),
      ];
    },
    async cancel(token) {
      const known = await standing(token);
      if (known === undefined)
        return refuse(
          `No withdrawal of ${token.symbol} stands on ${chain.slug}: there is nothing to cancel.`,
        );
      return [
        await take(
          `cancel the withdrawal of ${show(known.amount, token)}`,
          chain.escrow,
          requestWithdrawalCall(token.address, 0n),
        ),
      ];
    },
    async complete(token, to) {
      const known = await standing(token);
      if (known === undefined)
        return refuse(
          `No withdrawal of ${token.symbol} stands on ${chain.slug}: it was never requested, was completed, or lapsed. Request it with --amount.`,
        );
      const now = await nowOf();
      if (now < known.availableAt)
        return refuse(
          `The withdrawal of ${show(known.amount, token)} can be completed from ${dateOf(known.availableAt)} on, which is ${known.availableAt - now} s away on ${chain.slug}'s clock.`,
        );
      const balance = await port.ledgerBalance(account, token.address);
      const amount = balance < known.amount ? balance : known.amount;
      if (amount === 0n)
        return refuse(
          `Nothing of ${token.symbol} is left in the escrow on ${chain.slug}: quotes signed before the request used it.`,
        );
      if (amount < known.amount)
        told(
          `${show(amount, token)} of ${show(known.amount, token)} are left: quotes signed before the request used the rest`,
        );
      return [
        await take(`withdraw ${show(amount, token)} to ${to}`, chain.escrow, withdrawCall(token.address, to)),
      ];
    },
    async setOperator(operator, allowed) {
      if (allowed && operator === account)
        return refuse(
          'The account may always act for itself: an operator is another key, one that cannot withdraw.',
        );
      if ((await port.isOperator(account, operator)) === allowed) {
        told(`${operator} is ${allowed ? 'an operator already' : 'no operator'} on ${chain.slug}`);
        return [];
      }
      return [
        await take(
          `${allowed ? 'allow' : 'revoke'} the operator ${operator} on ${chain.slug}`,
          chain.escrow,
          setOperatorCall(operator, allowed),
        ),
      ];
    },
  };
}

export const dateOf = (seconds: UnixSeconds): string => new Date(seconds * 1000).toISOString();
