/** What checks and the demo's trades see: the manifest, the processes, the chains and the balances. */

import { type Address, createPublicClient, http, type PublicClient } from 'viem';
import { parseUnits } from '../../domain/amount.ts';
import { devTokenAbi } from '../../settlement/abi/dev-token.ts';
import { escrowAbi } from '../../settlement/abi/escrow.ts';
import type { SimulatedExchanges } from './exchange.ts';
import type { Manifest, ManifestChain, ManifestToken } from './manifest.ts';
import type { Supervisor } from './supervisor.ts';
import { createDemoTaker, type DemoTaker, type DemoTakerOptions } from './taker.ts';
import type { KeyPair } from './key-pair.ts';

export interface ContractWallet {
  chainId: number;
  address: Address;
  owner: KeyPair;
}

export interface LpAccount {
  id: string;
  account: Address;
  adminUrl: string;
  metricsUrl: string;
}

export interface DemoWorld {
  manifest: Manifest;
  supervisor: Supervisor;
  lps: readonly LpAccount[];
  /** A funded taker that no other check uses. */
  freshTaker(apiKey?: string): DemoTaker;
  /** Only its key. */
  freshWallet(): KeyPair;
  contractWallet(slug: string): ContractWallet;
  /** Every account that may hold tokens. */
  accounts(): readonly Address[];
  /** Base units minted at the start; nothing is minted later. */
  minted(slug: string, symbol: string): bigint;
  /** Starting balance of every fresh taker, whole tokens. */
  holdings: Readonly<Record<string, string>>;
  disturbances: Disturbances;
}

/** Faults that the risk checks cause. */
export interface Disturbances {
  exchange: Pick<SimulatedExchanges, 'mid' | 'jump' | 'shift' | 'hush'>;
  /** Offsets all price oracles. */
  shiftOracles(bps: number): void;
  /** Takes a simulated sequencer down or up. */
  sequencer(slug: string, up: boolean): Promise<void>;
  /** Rewrites an LP's configuration and reloads it. Returns a function that restores it. */
  reconfigure(id: string, change: (lp: Record<string, unknown>) => void): Promise<() => Promise<void>>;
  killFile(id: string): string;
  /** The venue's deny list. */
  denyList: string;
}

export interface ChainView {
  chain: ManifestChain;
  client: PublicClient;
  token(symbol: string): ManifestToken;
  /** CAIP-19. */
  asset(symbol: string): string;
  units(symbol: string, whole: string): bigint;
  balance(owner: string, symbol: string): Promise<bigint>;
  /** Balance in the escrow. */
  ledger(account: string, symbol: string): Promise<bigint>;
  supply(symbol: string): Promise<bigint>;
}

export function viewChain(manifest: Manifest, slug: string): ChainView {
  const chain = manifest.chains.find((one) => one.slug === slug);
  if (!chain) throw new Error(`The demo has no chain "${slug}".`);
  const client = createPublicClient({
    transport: http(chain.rpcUrl, { retryCount: 8 }),
    cacheTime: 0,
    pollingInterval: 200,
  });
  const token = (symbol: string) => {
    const found = chain.tokens.find((one) => one.symbol === symbol);
    if (!found) throw new Error(`The chain ${slug} has no token "${symbol}".`);
    return found;
  };
  return {
    chain,
    client,
    token,
    asset: (symbol) => `eip155:${chain.id}/erc20:${token(symbol).address}`,
    units: (symbol, whole) => parseUnits(whole, token(symbol).decimals),
    balance: (owner, symbol) =>
      client.readContract({
        address: token(symbol).address,
        abi: devTokenAbi,
        functionName: 'balanceOf',
        args: [owner as Address],
      }),
    ledger: (account, symbol) =>
      client.readContract({
        address: chain.escrow,
        abi: escrowAbi,
        functionName: 'balanceOf',
        args: [account as Address, token(symbol).address],
      }),
    supply: (symbol) =>
      client.readContract({ address: token(symbol).address, abi: devTokenAbi, functionName: 'totalSupply' }),
  };
}

export function takerFor(
  manifest: Manifest,
  who: Pick<DemoTakerOptions, 'privateKey' | 'contractWallet'>,
  apiKey = manifest.venue.keys.service,
): DemoTaker {
  return createDemoTaker({
    venueUrl: manifest.venue.url,
    apiKey,
    rpcUrls: new Map(manifest.chains.map(({ id, rpcUrl }) => [id, rpcUrl])),
    ...who,
  });
}
