/** Wallets of the browser, as they announce themselves (EIP-6963), and one of them in use (EIP-1193). */

import { useEffect, useState } from 'react';
import {
  type Account,
  createWalletClient,
  custom,
  type EIP1193Provider,
  getAddress,
  numberToHex,
} from 'viem';
import type { Wallet } from '../../../../src/client/client.ts';

export interface Announced {
  info: { uuid: string; name: string };
  provider: EIP1193Provider;
}

/** Lists the wallets in the order in which they announced themselves; each once. */
export function useWallets(): readonly Announced[] {
  const [wallets, setWallets] = useState<readonly Announced[]>([]);
  useEffect(() => {
    const announced = (event: Event) => {
      const { detail } = event as CustomEvent<Announced>;
      setWallets((known) =>
        known.some(({ info }) => info.uuid === detail.info.uuid) ? known : [...known, detail],
      );
    };
    window.addEventListener('eip6963:announceProvider', announced);
    window.dispatchEvent(new Event('eip6963:requestProvider'));
    return () => window.removeEventListener('eip6963:announceProvider', announced);
  }, []);
  return wallets;
}

export interface Connected {
  name: string;
  provider: EIP1193Provider;
  address: `0x${string}`;
}

/** Asks the wallet for an account. Throws what the wallet says when its owner refuses. */
export async function connect({ info, provider }: Announced): Promise<Connected> {
  const [account] = await provider.request({ method: 'eth_requestAccounts' });
  if (account === undefined) throw new Error('The wallet has no account for this page.');
  return { name: info.name, provider, address: getAddress(account) };
}

/** Throws what the wallet says when it does not know the chain. */
export async function switchTo({ provider }: Connected, chainId: number): Promise<void> {
  const current = await provider.request({ method: 'eth_chainId' });
  if (Number(current) === chainId) return;
  await provider.request({
    method: 'wallet_switchEthereumChain',
    params: [{ chainId: numberToHex(chainId) }],
  });
}

/** Code of an account that only delegates to a contract (EIP-7702): its own key still signs. */
const DELEGATED = '0xef0100';

/** Resolves to true when the account is a contract on the wallet's chain. */
export async function contractAt({ provider, address }: Connected): Promise<boolean> {
  const code = await provider.request({ method: 'eth_getCode', params: [address, 'latest'] });
  return code !== '0x' && !code.startsWith(DELEGATED);
}

export const walletOf = ({ provider, address }: Connected): Wallet =>
  createWalletClient({ account: address, transport: custom(provider) }) as Wallet & { account: Account };
