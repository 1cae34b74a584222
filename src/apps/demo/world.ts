/**
 * What the checks and the demo's own trading see of the running demo: the public doors, the chains, and who
 * holds what.
 */

import { type Address, createPublicClient, http, type PublicClient } from 'viem';
import { parseUnits } from '../../domain/amount.ts';
import { devTokenAbi } from '../../settlement/abi/dev-token.ts';
import { escrowAbi } from '../../settlement/abi/escrow.ts';
import type { PlayedExchange } from './exchange.ts';
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
  /** Gives a fresh, funded taker that nobody else trades with. */
  freshTaker(apiKey?: string): DemoTaker;
  /** The same without our taker around it. */
  freshWallet(): KeyPair;
  contractWallet(slug: string): ContractWallet;
  /** Everybody who can hold a token: the sum over them is all there is. */
  accounts(): readonly Address[];
  /** Base units minted at the start; nobody mints afterwards. */
  minted(slug: string, symbol: string): bigint;
  /** Whole tokens that every fresh taker starts with. */
  holdings: Readonly<Record<string, string>>;
  stage: Disturbances;
}

/** What goes wrong on purpose. */
export interface Disturbances {
  exchange: Pick<PlayedExchange, 'mid' | 'jump' | 'shift' | 'hush'>;
  /** The price oracles say this much more than the exchanges. */
  shiftOracles(bps: number): void;
  /** The played sequencer of a chain goes down, or comes up. */
  sequencer(slug: string, up: boolean): Promise<void>;
  /**
   * Writes another configuration for an LP, as its operator would, and has it read; answers with how to undo
   * it.
   */
  reconfigure(id: string, change: (lp: Record<string, unknown>) => void): Promise<() => Promise<void>>;
  killFile(id: string): string;
  /** The file of addresses that the venue does not serve. */
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
  /** In the escrow's ledger. */
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
