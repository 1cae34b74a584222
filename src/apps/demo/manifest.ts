/** demo.json: what other programs need to take part. */

import { replaceSecretFile } from '../../adapters/keystore/file.ts';
import type { Address, Hex } from '../../domain/hex.ts';
import { WORKSPACE } from './api-keys.ts';
import { lpProcess, lpSections } from './configs.ts';
import type { KeyPair } from './key-pair.ts';
import type { Layout } from './layout.ts';
import type { DemoState } from './state.ts';
import type { Supervisor } from './supervisor.ts';

type Chain = DemoState['chains'][number];

/** The contents of demo.json. */
export interface Manifest {
  venue: {
    url: string;
    wsUrl: string;
    metricsUrl: string;
    adminUrl: string;
    consoleUrl: string;
    workspaceId: string;
    keys: Omit<DemoState['apiKeys'], 'solvers'> & { solver: string; admin: string; lp: SpareLp };
  };
  chains: (Pick<Chain, 'id' | 'slug' | 'rpcUrl' | 'escrow' | 'oracle' | 'permit2' | 'tokens'> & {
    quoteBond: Address | null;
    /** Vault shares, whose supply changes with the trades. */
    shares: Chain['tokens'];
  })[];
  takers: KeyPair[];
  contractWallets: { chainId: number; address: Address; ownerPrivateKey: Hex }[];
  solvers: { id: string; metricsUrl: string; adminUrl: string; consoleUrl: string; pid: number | null }[];
  lp: SpareLp;
  lpSections: ReturnType<typeof lpSections>;
  /** Process ids by name. */
  processes: Record<string, number>;
  environment: Record<string, string>;
}

/** An onboarded solver that no process of the demo runs. */
interface SpareLp {
  solverId: string;
  account: Address;
  operatorPrivateKey: Hex;
}

export function manifestOf(
  state: DemoState,
  layout: Layout,
  supervisor: Supervisor,
  environment: Record<string, string>,
): Manifest {
  const local = (port: number) => `http://127.0.0.1:${port}`;
  const lp = {
    solverId: state.spareLp.id,
    account: state.spareLp.owner.address,
    operatorPrivateKey: state.spareLp.operator.privateKey,
  };
  const { service, workspaceAdmin, workspaceMember, otherService, solvers } = state.apiKeys;
  return {
    venue: {
      url: local(layout.ports.venue),
      wsUrl: `ws://127.0.0.1:${layout.ports.venue}/api/v1/ws`,
      metricsUrl: `${local(layout.ports.venueOps)}/metrics`,
      adminUrl: local(layout.ports.venueAdmin),
      consoleUrl: `${local(layout.ports.venue)}/console/`,
      workspaceId: WORKSPACE,
      keys: {
        service,
        workspaceAdmin,
        workspaceMember,
        solver: solvers[state.spareLp.id] ?? '',
        otherService,
        admin: state.adminSecret,
        lp,
      },
    },
    chains: state.chains.map(({ id, slug, rpcUrl, escrow, oracle, permit2, quoteBond, tokens, issuers }) => ({
      id,
      slug,
      rpcUrl,
      escrow,
      oracle,
      permit2,
      quoteBond: quoteBond ?? null,
      tokens,
      shares: issuers ? [issuers.share] : [],
    })),
    takers: state.takers,
    contractWallets: state.chains.map(({ id, contractWallets }) => ({
      chainId: id,
      address: contractWallets[0] ?? '0x',
      ownerPrivateKey: state.walletOwners[0]?.privateKey ?? '0x',
    })),
    solvers: state.lps.map(({ id }, index) => ({
      id,
      metricsUrl: `${local(layout.ports.lpOps(index))}/metrics`,
      adminUrl: local(layout.ports.lpAdmin(index)),
      consoleUrl: `${local(layout.ports.lpConsole(index))}/console/`,
      pid: supervisor.pid(lpProcess(id)) ?? null,
    })),
    lp,
    lpSections: lpSections(state, layout),
    processes: supervisor.pids(),
    environment,
  };
}

export async function writeManifest(path: string, manifest: Manifest): Promise<void> {
  await replaceSecretFile(path, `${JSON.stringify(manifest, null, 2)}\n`);
}
