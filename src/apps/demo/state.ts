/**
 * What the demo has to remember to go on after a SIGKILL of the supervisor itself: every key it drew and what
 * it deployed. A clean end removes it together with everything else.
 */

import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { randomBytes } from 'node:crypto';
import type { DexDeployment } from '../../adapters/evm/deploy/deploy-dex.ts';
import type { Address } from '../../domain/hex.ts';
import type { DemoConfig } from './config.ts';
import type { ManifestChain } from './manifest.ts';
import { drawKeyPair, type KeyPair } from './key-pair.ts';

export interface LpKeys {
  id: string;
  /** Owns the money; no process of the demo ever sees this key. */
  owner: KeyPair;
  operator: KeyPair;
}

/** Uniswap as it was deployed; its pools as the venue lists them. */
export interface DexState extends Pick<DexDeployment, 'constantProduct' | 'concentrated' | 'trader'> {
  pools: { address: Address; tokens: [Address, Address]; fee: number | null }[];
}

export interface DemoState {
  /** 'drawn' while the chains are being set up; only a 'ready' demo can be resumed. */
  phase: 'drawn' | 'ready';
  config: DemoConfig;
  deployer: KeyPair;
  relayer: KeyPair;
  feeRecipient: Address;
  attesters: KeyPair[];
  lps: LpKeys[];
  spareLp: LpKeys;
  takers: KeyPair[];
  /** For the checks of --once and for the demo's own trading: nobody else knows these keys. */
  houseTakers: KeyPair[];
  walletOwners: KeyPair[];
  sealSecret: string;
  /** Opens the venue's admin API. */
  adminSecret: string;
  keystorePassword: string;
  apiKeys: {
    service: string;
    workspaceAdmin: string;
    workspaceMember: string;
    otherService: string;
    solvers: Record<string, string>;
  };
  chains: (ManifestChain & {
    contractWallets: Address[];
    startBlock: number;
    /** Absent in a demo of before there was one. */ batch?: Address;
    minted: Record<string, string>;
    /** Price oracle by price symbol, on the first chain. */ oracles: Record<string, Address>;
    /** The uptime feed, where the chain plays a rollup. */ sequencer: Address | null;
    dex: DexState;
  })[];
}

/** More than the stories of one `--once` take: two that shared one would see each other's money move. */
const HOUSE_TAKERS = 48;

export function drawState(config: DemoConfig): DemoState {
  const wallets = (count: number) => Array.from({ length: count }, drawKeyPair);
  const lp = (id: string): LpKeys => ({ id, owner: drawKeyPair(), operator: drawKeyPair() });
  return {
    phase: 'drawn',
    config,
    deployer: drawKeyPair(),
    relayer: drawKeyPair(),
    feeRecipient: drawKeyPair().address,
    attesters: wallets(config.attesters.count),
    lps: config.lps.map(({ id }) => lp(id)),
    spareLp: lp(config.spareLp.id),
    takers: wallets(config.takers.count),
    houseTakers: wallets(HOUSE_TAKERS),
    walletOwners: wallets(2),
    sealSecret: randomBytes(32).toString('hex'),
    adminSecret: randomBytes(32).toString('hex'),
    keystorePassword: randomBytes(24).toString('base64url'),
    apiKeys: { service: '', workspaceAdmin: '', workspaceMember: '', otherService: '', solvers: {} },
    chains: [],
  };
}

/** What an interrupted demo left behind, if it got far enough to go on. */
export async function readState(path: string): Promise<DemoState | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const state = JSON.parse(text) as DemoState;
    return state.phase === 'ready' ? state : undefined;
  } catch {
    // Written whole or not at all; anything else is not ours.
    return undefined;
  }
}

export async function writeState(path: string, state: DemoState): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.draft`;
  await rm(draft, { force: true });
  await writeFile(draft, JSON.stringify(state), { mode: 0o600 });
  await rename(draft, path);
}
