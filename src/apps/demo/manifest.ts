/** demo.json: what other programs need to take part. */

import { chmod, rename, writeFile } from 'node:fs/promises';
import type { Address, Hex } from '../../domain/hex.ts';

interface ManifestToken {
  symbol: string;
  address: Address;
  decimals: number;
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

interface SpareLp {
  solverId: string;
  account: Address;
  operatorPrivateKey: Hex;
}

export interface Manifest {
  venue: {
    url: string;
    wsUrl: string;
    metricsUrl: string;
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
  lpSections: {
    networks: object[];
    attesters: object;
    feeds: object;
    prices: object;
    assets: object;
    chain: object;
  };
  processes: Record<string, number>;
  environment: Record<string, string>;
}

export async function writeManifest(path: string, manifest: Manifest): Promise<void> {
  const draft = `${path}.draft`;
  await writeFile(draft, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
  await chmod(draft, 0o600);
  await rename(draft, path);
}
