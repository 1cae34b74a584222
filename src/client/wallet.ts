/** Sends what a checked plan needs; signs only what the client built. */

import {
  type Account,
  type Chain,
  erc20Abi,
  type Transport,
  type TypedDataDefinition,
  type WalletClient,
} from 'viem';
import type { Address, Hex } from '../domain/hex.ts';
import type { Eip3009Authorization, Permit2Lock } from '../protocol/api/submit.ts';
import { RevertedError, WalletError } from './errors.ts';
import type { Plan, Step } from './plan.ts';
import type { Terms } from './terms.ts';
import { asked, type TrustedChain } from './trust.ts';

/**
 * viem's wallet client with an account. A contract wallet uses viem's `toAccount` with the contract's
 * address, a `signTypedData` that satisfies its `isValidSignature`, and `signScheme: 'EIP1271'`.
 */
export type Wallet = WalletClient<Transport, Chain | undefined, Account>;

export interface Locks {
  permit2Lock?: Permit2Lock;
  eip3009Authorization?: Eip3009Authorization;
}

export interface Done {
  rerun: boolean;
  locks: Locks;
  sent: { purpose: string; txHash: Hex }[];
}

export interface RunOptions {
  /** Grants the escrow a bounded Permit2 allowance instead of a lock for each trade. */
  standingGrant?: boolean;
  /** Called before a step is taken: its transaction sent, its lock signed. */
  onStep?: (step: Step) => void;
  /** Called when a transaction of the set-up is mined. */
  onSent?: (sent: { purpose: string; txHash: Hex }) => void;
}

const RECEIPT_TIMEOUT_MS = 120_000;

export async function runSteps(
  { steps, fundingLock }: Plan,
  terms: Terms,
  wallet: Wallet,
  { rpc }: TrustedChain,
  { standingGrant = false, onStep, onSent }: RunOptions,
): Promise<Done> {
  requireAccount(wallet, terms);
  if (fundingLock !== 'ResourceLock') await requireFunds(terms, rpc);
  const done: Done = { rerun: false, locks: {}, sent: [] };
  for (const step of steps) {
    switch (step.kind) {
      case 'transaction': {
        if (step.purpose === 'settlementBroadcast' || (step.alternative && !standingGrant)) break;
        onStep?.(step);
        const sent = { purpose: step.purpose, txHash: await send(step, terms, wallet, rpc) };
        done.sent.push(sent);
        onSent?.(sent);
        if (step.rerun) return { ...done, rerun: true };
        break;
      }
      case 'permit2Lock':
        onStep?.(step);
        done.locks.permit2Lock = {
          signature: await signWith(wallet, step.typedData),
          deadline: step.deadline,
        };
        break;
      case 'eip3009Authorization': {
        onStep?.(step);
        const { validAfter, validBefore, nonce } = step;
        done.locks.eip3009Authorization = {
          signature: await signWith(wallet, step.typedData),
          validAfter,
          validBefore,
          nonce,
        };
        break;
      }
      case 'orderSignature':
        break;
    }
  }
  return done;
}

async function requireFunds(
  { inputToken, inputAmount, order }: Terms,
  rpc: TrustedChain['rpc'],
): Promise<void> {
  const held = await asked(
    rpc.readContract({ address: inputToken, abi: erc20Abi, functionName: 'balanceOf', args: [order.user] }),
  );
  if (held < inputAmount)
    throw new WalletError(
      'insufficient_balance',
      `The wallet holds ${held} of ${inputToken}; the order takes ${inputAmount}.`,
      { held, needed: inputAmount },
    );
}

export function signOrder(terms: Terms, wallet: Wallet): Promise<Hex> {
  requireAccount(wallet, terms);
  return signWith(wallet, terms.envelope);
}

/** Sends the settlement of walletBroadcast after submission. undefined when the plan has none. */
export async function broadcastStep(
  { steps }: Plan,
  terms: Terms,
  wallet: Wallet,
  { rpc }: TrustedChain,
): Promise<Hex | undefined> {
  requireAccount(wallet, terms);
  const step = steps.find((one) => one.kind === 'transaction' && one.purpose === 'settlementBroadcast');
  return step?.kind === 'transaction' ? send(step, terms, wallet, rpc) : undefined;
}

/** Gas and its price come from the wallet and its own endpoint, never from the venue. */
export async function send(
  { purpose, to, data }: { purpose: string; to: Address; data: Hex },
  { domain, order }: Terms,
  wallet: Wallet,
  rpc: TrustedChain['rpc'],
): Promise<Hex> {
  const chainId = await wallet.getChainId();
  if (chainId !== domain.chainId)
    throw new WalletError(
      'wrong_wallet_chain',
      `The wallet is on chain ${chainId}; ${purpose} belongs to chain ${domain.chainId}. Switch it and run again.`,
      { chainId },
    );
  // A revert must show before it costs gas.
  await rpc.estimateGas({ account: order.user, to, data, value: 0n }).catch((error: unknown) => {
    const { shortMessage, message } = error as { shortMessage?: string; message: string };
    throw new WalletError(
      'would_revert',
      `${purpose} was not sent, because it would fail now: ${shortMessage ?? message}`,
      { purpose },
    );
  });
  const txHash = await wallet.sendTransaction({ account: wallet.account, chain: null, to, data, value: 0n });
  const receipt = await asked(rpc.waitForTransactionReceipt({ hash: txHash, timeout: RECEIPT_TIMEOUT_MS }));
  if (receipt.status !== 'success') throw new RevertedError(purpose, txHash);
  return txHash;
}

export function requireAccount({ account }: Wallet, { order }: Terms): void {
  const address = account.address.toLowerCase() as Address;
  if (address !== order.user)
    throw new WalletError('wrong_account', `The wallet is ${address}; the order is ${order.user}'s.`);
}

function signWith(
  wallet: Wallet,
  {
    domain,
    types,
    primaryType,
    message,
  }: { domain: object; types: object; primaryType: string; message: object },
): Promise<Hex> {
  return wallet.signTypedData({
    account: wallet.account,
    domain,
    types,
    primaryType,
    message,
  } as unknown as TypedDataDefinition & { account: Account });
}
