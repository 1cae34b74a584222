/** demo.json: what other programs need to take part. */

import { replaceSecretFile } from '../../adapters/keystore/file.ts';
import { WORKSPACE } from './api-keys.ts';
import { lpProcess, lpSections } from './configs.ts';
import type { Layout } from './layout.ts';
import type { DemoState } from './state.ts';
import type { Supervisor } from './supervisor.ts';

export type Manifest = ReturnType<typeof manifestOf>;

export function manifestOf(
  state: DemoState,
  layout: Layout,
  supervisor: Supervisor,
  environment: Record<string, string>,
) {
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
      /** Vault shares, whose supply changes with the trades. */
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
