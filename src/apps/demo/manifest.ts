/** `demo.json`: all that a script or another program needs to take part while the demo runs. */

import { chmod, rename, writeFile } from 'node:fs/promises';
import type { Address, Hex } from '../../domain/hex.ts';

export interface ManifestToken {
  symbol: string;
  address: Address;
  decimals: number;
  /** EIP-712 domain of its `receiveWithAuthorization`, null when it has none. */
  eip3009: { name: string; version: string } | null;
}

export interface ManifestChain {
  id: number;
  slug: string;
  rpcUrl: string;
  escrow: Address;
  oracle: Address;
  permit2: Address;
  tokens: ManifestToken[];
}

/** A ledger account with money in it and the key that may sign for it; nobody in the demo uses either. */
export interface SpareLp {
  solverId: string;
  account: Address;
  operatorPrivateKey: Hex;
}

export interface Manifest {
  venue: {
    url: string;
    wsUrl: string;
    metricsUrl: string;
    /** Workspaces, members, keys and solvers: with `keys.admin`. */
    adminUrl: string;
    workspaceId: string;
    keys: {
      service: string;
      workspaceAdmin: string;
      workspaceMember: string;
      solver: string;
      otherService: string;
      admin: string;
      lp: SpareLp;
    };
  };
  chains: ManifestChain[];
  takers: { address: Address; privateKey: Hex }[];
  contractWallets: { chainId: number; address: Address; ownerPrivateKey: Hex }[];
  solvers: { id: string; metricsUrl: string; adminUrl: string; pid: number | null }[];
  lp: SpareLp;
  /** Sections of an LP's configuration that describe this demo, for `firmquote lp init --from-demo`. */
  lpSections: {
    networks: object[];
    attesters: object;
    feeds: object;
    prices: object;
    assets: object;
    chain: object;
  };
  processes: Record<string, number>;
  /**
   * What the configurations under `data/demo/config` take from the environment: set it to run `firmquote`
   * commands on them.
   */
  environment: Record<string, string>;
}

/** Whole or not at all, and for its owner only: it holds keys. */
export async function writeManifest(path: string, manifest: Manifest): Promise<void> {
  const draft = `${path}.draft`;
  await writeFile(draft, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
  await chmod(draft, 0o600);
  await rename(draft, path);
}
