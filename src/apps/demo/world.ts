/** Declares what the checks and the demo's trades see of the running demo. */

import { replaceSecretFile } from '../../adapters/keystore/file.ts';
import {
  type Address,
  createPublicClient,
  createWalletClient,
  type Hex,
  http,
  type PublicClient,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type Client, createClient, type Wallet } from '../../client/client.ts';
import { parseUnits } from '../../domain/amount.ts';
import { type Solver, zSolversResponse } from '../../protocol/api/roster.ts';
import { devTokenAbi } from '../../adapters/evm/deploy/abi/dev-token.ts';
import { escrowAbi } from '../../settlement/abi/escrow.ts';
import { quoteBondAbi } from '../../settlement/abi/quote-bond.ts';
import type { IssuersState } from './chains/issuers.ts';
import { startWrongPartner, type WrongPartner } from './bridges/wrong-partner.ts';
import { PARTNER } from './configs.ts';
import { partnerConfig, wrongPartnerOptions } from './partner-config.ts';
import type { Layout } from './layout.ts';
import type { Manifest } from './manifest.ts';
import type { Disturbances } from './risk/disturbances.ts';
import type { DemoState } from './state.ts';
import type { Supervisor } from './supervisor.ts';
import { createDemoTaker, type DemoTaker, type DemoTakerOptions } from './taker.ts';
import type { KeyPair } from './key-pair.ts';

/** Functions throw for a chain or contract that the demo does not have. */
export interface DemoWorld {
  manifest: Manifest;
  supervisor: Supervisor;
  /** What each taker was given of each token, in whole tokens. */
  holdings: Readonly<Record<string, string>>;
  disturbances: Disturbances;
  lps: { id: string; account: Address; ownerKey: Hex; adminUrl: string; metricsUrl: string }[];
  partner: {
    id: string;
    tokens: DemoState['config']['partner']['tokens'];
    /** The name of its process. */
    process: string;
    /** Rewrites the partner's file, which the partner reads again at its next request. */
    configure(change: object): Promise<void>;
    /** Starts a partner with the same key that quotes wrong amounts, while the real process is held. */
    startWrong(): Promise<WrongPartner>;
  };
  bridge: { id: string; account: Address; ownerKey: Hex };
  /** Every taker of the house in turn. */
  freshTaker(apiKey?: string): DemoTaker;
  freshWallet(): KeyPair;
  contractWallet(slug: string): { chainId: number; address: Address; owner: KeyPair };
  /** Everybody who may hold money on a chain. */
  accounts(): Address[];
  /** `cap`: of the vault, in whole tokens. */
  issuers(slug: string): IssuersState & { cap: string };
  /** The base units of a token that the demo minted. */
  minted(slug: string, symbol: string): bigint;
}

export function createWorld(
  state: DemoState,
  layout: Layout,
  manifest: Manifest,
  supervisor: Supervisor,
  disturbances: Disturbances,
): DemoWorld {
  let next = 0;
  const freshWallet = (): KeyPair => {
    const wallet = state.houseTakers[next++ % state.houseTakers.length];
    if (!wallet) throw new Error('The demo has no takers.');
    return wallet;
  };
  const lpKeys = [...state.lps, state.spareLp, state.partner, state.bridge];
  return {
    manifest,
    supervisor,
    holdings: state.config.takers.holdings as Readonly<Record<string, string>>,
    disturbances,
    lps: state.lps.map(({ id, owner }, index) => ({
      id,
      account: owner.address,
      ownerKey: owner.privateKey,
      adminUrl: manifest.solvers[index]?.adminUrl ?? '',
      metricsUrl: manifest.solvers[index]?.metricsUrl ?? '',
    })),
    partner: {
      id: state.config.partner.id,
      tokens: state.config.partner.tokens,
      process: PARTNER,
      configure: (change) =>
        replaceSecretFile(
          layout.config(PARTNER),
          JSON.stringify({ ...partnerConfig(state, layout), ...change }),
        ),
      startWrong: () => startWrongPartner(wrongPartnerOptions(state, layout)),
    },
    bridge: {
      id: state.bridge.id,
      account: state.bridge.owner.address,
      ownerKey: state.bridge.owner.privateKey,
    },
    freshTaker: (apiKey) => takerFor(manifest, { privateKey: freshWallet().privateKey }, apiKey),
    freshWallet,
    contractWallet(slug) {
      const chain = state.chains.find((one) => one.slug === slug);
      const [address, owner] = [chain?.contractWallets[1], state.walletOwners[1]];
      if (!chain || !address || !owner) throw new Error(`The demo has no contract wallet on "${slug}".`);
      return { chainId: chain.id, address, owner };
    },
    accounts: () => [
      state.deployer.address,
      state.relayer.address,
      state.feeRecipient,
      ...lpKeys.flatMap(({ owner, operator }) => [owner.address, operator.address]),
      ...[...state.takers, ...state.houseTakers, ...state.walletOwners, ...state.attesters].map(
        ({ address }) => address,
      ),
      ...new Set(
        state.chains.flatMap(({ contractWallets, dex, issuers, quoteBond }) => [
          ...(quoteBond ? [quoteBond] : []),
          ...contractWallets,
          dex.trader,
          dex.constantProduct.filler,
          dex.concentrated.filler,
          ...dex.pools.map(({ address }) => address),
          ...(issuers
            ? [issuers.vault.address, issuers.vault.filler, issuers.psm.address, issuers.psm.filler]
            : []),
        ]),
      ),
    ],
    issuers(slug) {
      const issuers = state.chains.find((one) => one.slug === slug)?.issuers;
      const vault = state.config.chains.find((one) => one.slug === slug)?.issuers?.vault;
      if (!issuers || !vault) throw new Error(`The demo has no issuers on "${slug}".`);
      return { ...issuers, cap: vault.cap };
    },
    minted(slug, symbol) {
      const chain = state.chains.find((one) => one.slug === slug);
      return BigInt(chain?.minted[symbol] ?? '0');
    },
  };
}

/** A declaration file cannot name the inferred type of viem's client. */
export interface DemoChainView {
  chain: Manifest['chains'][number];
  client: PublicClient;
  token(symbol: string): Manifest['chains'][number]['tokens'][number];
  asset(symbol: string): string;
  units(symbol: string, whole: string): bigint;
  balance(owner: string, symbol: string): Promise<bigint>;
  ledger(account: string, symbol: string): Promise<bigint>;
  /** Reads the fees that the account has as their recipient, which its ledger balance leaves out. */
  fees(account: string, symbol: string): Promise<bigint>;
  /** The account's bond, and what the bond contract owes it. */
  bond(account: string, symbol: string): Promise<bigint>;
  supply(symbol: string): Promise<bigint>;
}

export function viewChain(manifest: Manifest, slug: string): DemoChainView {
  const chain = manifest.chains.find((one) => one.slug === slug);
  if (!chain) throw new Error(`The demo has no chain "${slug}".`);
  const client = createPublicClient({
    transport: http(chain.rpcUrl, { retryCount: 8 }),
    cacheTime: 0,
    pollingInterval: 200,
  });
  const token = (symbol: string) => {
    const found = [...chain.tokens, ...chain.shares].find((one) => one.symbol === symbol);
    if (!found) throw new Error(`The chain ${slug} has no token "${symbol}".`);
    return found;
  };
  const inEscrow = (functionName: 'balanceOf' | 'feesOf') => (account: string, symbol: string) =>
    client.readContract({
      address: chain.escrow,
      abi: escrowAbi,
      functionName,
      args: [account as Address, token(symbol).address],
    });
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
    ledger: inEscrow('balanceOf'),
    fees: inEscrow('feesOf'),
    async bond(account, symbol) {
      if (chain.quoteBond === null) return 0n;
      const args = [account as Address, token(symbol).address] as const;
      const at = { address: chain.quoteBond, abi: quoteBondAbi, args } as const;
      const [[amount], owed] = await Promise.all([
        client.readContract({ ...at, functionName: 'bondOf' }),
        client.readContract({ ...at, functionName: 'owed' }),
      ]);
      return amount + owed;
    },
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

export const readerFor = (manifest: Manifest, apiKey?: string): DemoTaker =>
  takerFor(manifest, { privateKey: `0x${'11'.repeat(32)}` }, apiKey);

export async function rosterOf(manifest: Manifest): Promise<Solver[]> {
  const { status, json } = await readerFor(manifest).call('GET', '/api/v1/solvers');
  if (status !== 200) throw new Error(`The roster answered ${status}.`);
  return zSolversResponse.parse(json).solvers;
}

export const readTrades = (
  { venue }: Manifest,
  path: string,
  key = venue.keys.workspaceAdmin,
): Promise<Response> =>
  fetch(`${venue.url}/api/v1/workspaces/${venue.workspaceId}/trades${path}`, {
    headers: { 'X-API-Key': key },
    signal: AbortSignal.timeout(15_000),
  });

export function trustlessTaker(
  { manifest, freshWallet }: DemoWorld,
  namespace: 'rfq' | 'router',
  fetch?: typeof globalThis.fetch,
): { client: Client; taker: Address; wallet: (chainId: number) => Wallet } {
  const account = privateKeyToAccount(freshWallet().privateKey);
  const views = new Map(manifest.chains.map(({ id, slug }) => [id, viewChain(manifest, slug)]));
  const client = createClient({
    url: manifest.venue.url,
    key: manifest.venue.keys.service,
    namespace,
    chains: Object.fromEntries(
      [...views].map(([id, { chain, client: rpc }]) => [
        id,
        {
          rpc,
          escrow: chain.escrow,
          oracles: [chain.oracle],
          permit2: chain.permit2,
          ...(chain.quoteBond !== null && { quoteBond: chain.quoteBond }),
        },
      ]),
    ),
    ...(fetch && { fetch }),
  });
  const wallet = (chainId: number) =>
    createWalletClient({ account, transport: http(views.get(chainId)?.chain.rpcUrl) });
  return { client, taker: account.address, wallet };
}
