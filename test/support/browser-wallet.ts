/**
 * A browser wallet for tests: the page finds and asks it as any other (EIP-6963, EIP-1193); its key and its
 * node are on the side of the test, so that the page's policy sees nothing of it.
 */

import type { BrowserContext } from 'playwright-core';
import { createWalletClient, encodeFunctionData, http, type TypedDataDefinition } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { Address } from '../../src/domain/hex.ts';
import { devWalletAbi } from '../../src/adapters/evm/deploy/abi/dev-wallet.ts';
import type { TestAccount, TestChain } from './devnet.ts';

export interface BrowserWallet {
  /** Methods that the page has asked for, in order. */
  asked: string[];
  /** Refuses the next signature, as its owner would. */
  refuseNext(): void;
}

const NAME = 'Test Wallet';

/** The script that runs in the page; only its text is used here. */
const ANNOUNCES = `(() => {
  const provider = {
    async request(asked) {
      const { result, error } = await globalThis.askTestWallet(asked);
      if (error) throw Object.assign(new Error(error.message), { code: error.code });
      return result;
    },
    on() {},
    removeListener() {},
  };
  const info = { uuid: '5f0e0f2c-97f6-4c9c-9c27-0d3f0c6a3a11', name: '${NAME}', icon: 'data:,', rdns: 'example.test' };
  const announce = () =>
    dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider }) }));
  addEventListener('eip6963:requestProvider', announce);
  announce();
})()`;

/** Installs the wallet. `contract`: it is this contract, which does what the account that owns it signs. */
export async function installWallet(
  context: BrowserContext,
  { address: owner, privateKey }: TestAccount,
  chains: readonly TestChain[],
  contract?: Address,
): Promise<BrowserWallet> {
  const address = contract ?? owner;
  const account = privateKeyToAccount(privateKey);
  const asked: string[] = [];
  let refuses = false;
  let current = chains[0] as TestChain;

  async function answer({ method, params = [] }: { method: string; params?: unknown[] }): Promise<unknown> {
    switch (method) {
      case 'eth_requestAccounts':
      case 'eth_accounts':
        return [address];
      case 'wallet_switchEthereumChain': {
        const { chainId } = params[0] as { chainId: string };
        const found = chains.find(({ chain }) => chain.id === Number(chainId));
        if (!found) throw Object.assign(new Error('Unrecognized chain ID.'), { code: 4902 });
        current = found;
        return null;
      }
      case 'eth_signTypedData_v4': {
        if (refuses) {
          refuses = false;
          throw Object.assign(new Error('User rejected the request.'), { code: 4001 });
        }
        const { EIP712Domain: _, ...types } = (JSON.parse(params[1] as string) as { types: object })
          .types as Record<string, unknown>;
        const data = JSON.parse(params[1] as string) as object;
        return account.signTypedData({ ...data, types } as TypedDataDefinition);
      }
      case 'eth_sendTransaction': {
        const { to, data, value = '0x0' } = params[0] as Record<'to' | 'data' | 'value', `0x${string}`>;
        const call = { to, data, value: BigInt(value) };
        const executed = contract && {
          to: contract,
          data: encodeFunctionData({
            abi: devWalletAbi,
            functionName: 'execute',
            args: [to, BigInt(value), data],
          }),
        };
        return createWalletClient({ account, transport: http(current.anvil.url) }).sendTransaction({
          chain: null,
          ...(executed ?? call),
        });
      }
      default: {
        const response = await fetch(current.anvil.url, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        });
        const { result, error } = (await response.json()) as {
          result?: unknown;
          error?: { message: string };
        };
        if (error) throw Object.assign(new Error(error.message), { code: -32_603 });
        return result;
      }
    }
  }

  await context.exposeFunction('askTestWallet', async (request: { method: string; params?: unknown[] }) => {
    asked.push(request.method);
    try {
      return { result: (await answer(request)) ?? null };
    } catch (error) {
      const { message, code = -32_603 } = error as Error & { code?: number };
      return { error: { message, code } };
    }
  });
  await context.addInitScript(ANNOUNCES);
  return { asked, refuseNext: () => void (refuses = true) };
}

/** The wallet's button on a page. */
export const CONNECT = `Connect ${NAME}`;
