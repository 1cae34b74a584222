/** The demo's state: kept to resume after a SIGKILL, removed on a clean end. */

import { readFile } from 'node:fs/promises';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { DexDeployment } from '../../adapters/dex/deploy-dex.ts';
import { replaceSecretFile } from '../../adapters/keystore/file.ts';
import type { Address } from '../../domain/hex.ts';
import type { IssuersState } from './chains/issuers.ts';
import type { DemoConfig } from './config.ts';
import { drawKeyPair, type KeyPair } from './key-pair.ts';

interface LpKeys {
  id: string;
  owner: KeyPair;
  operator: KeyPair;
}

interface DexState extends Pick<DexDeployment, 'constantProduct' | 'concentrated' | 'trader'> {
  pools: { address: Address; tokens: [Address, Address]; fee: number | null }[];
}

export interface DemoState {
  phase: 'drawn' | 'ready';
  config: DemoConfig;
  deployer: KeyPair;
  relayer: KeyPair;
  feeRecipient: Address;
  attesters: KeyPair[];
  lps: LpKeys[];
  spareLp: LpKeys;
  bridge: LpKeys;
  partner: LpKeys & { venuePem: string; partnerPem: string };
  takers: KeyPair[];
  houseTakers: KeyPair[];
  walletOwners: KeyPair[];
  sealSecret: string;
  adminSecret: string;
  keystorePassword: string;
  apiKeys: {
    service: string;
    workspaceAdmin: string;
    workspaceMember: string;
    otherService: string;
    solvers: Record<string, string>;
  };
  chains: {
    id: number;
    slug: string;
    rpcUrl: string;
    escrow: Address;
    oracle: Address;
    permit2: Address;
    tokens: {
      symbol: string;
      address: Address;
      decimals: number;
      eip3009: { name: string; version: string } | null;
    }[];
    contractWallets: Address[];
    startBlock: number;
    /** Absent in states of older versions. */
    batch?: Address;
    quoteBond?: Address;
    minted: Record<string, string>;
    oracles: Record<string, Address>;
    sequencer: Address | null;
    dex: DexState;
    /** Absent where there are none. */
    issuers?: IssuersState;
  }[];
}

/**
 * How many takers the house has, more than `--once` needs: two checks on one taker would see each other's
 * transfers.
 */
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
    bridge: lp(config.bridge.id),
    partner: { ...lp(config.partner.id), venuePem: newPem(), partnerPem: newPem() },
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

const newPem = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();

export async function readState(path: string): Promise<DemoState | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const state = JSON.parse(text) as DemoState;
    // Older versions had no partner and no bridge.
    const complete = [state.partner, state.bridge].every((each: unknown) => each !== undefined);
    return state.phase === 'ready' && complete ? state : undefined;
  } catch {
    // Written atomically, so anything else is not a state file.
    return undefined;
  }
}

export async function writeState(path: string, state: DemoState): Promise<void> {
  await replaceSecretFile(path, JSON.stringify(state));
}
