/** `firmquote lp`: wires an LP together. Nothing is decided here. */

import { startOps } from '../../adapters/http/ops.ts';
import type { EvmChain } from '../../adapters/evm/chain/chain.ts';
import { createLpAudit } from '../../adapters/postgres/lp/audit-log.ts';
import { createJournalStore } from '../../adapters/postgres/lp/accounting-store.ts';
import { createLpStore } from '../../adapters/postgres/lp/lp-store.ts';
import { createTxStore } from '../../adapters/postgres/tx-store.ts';
import { createSharedInventory } from '../../adapters/redis/shared-inventory.ts';
import { ecdsa } from '../../adapters/secp256k1/ecdsa.ts';
import { createRecovery } from '../../adapters/secp256k1/recovery.ts';
import { systemClock } from '../../adapters/system/clock.ts';
import { systemRandom } from '../../adapters/system/random.ts';
import { createLinkClient } from '../../adapters/ws/link-client.ts';
import { createLpNode } from '../../lp/node.ts';
import type { ReplicaDeps } from '../../lp/node/interface.ts';
import type { JournalStore } from '../../ports/stores/accounting-store.ts';
import type { Link } from '../../ports/link.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { LpStore } from '../../ports/stores/lp-store.ts';
import type { TxStore } from '../../ports/stores/tx-store.ts';
import { loadConfig } from '../config/load.ts';
import { openDatabase } from '../database.ts';
import { createSequencers } from '../feeds.ts';
import { expand, openSecret, type SecretContext, SecretError } from '../keys.ts';
import { createTransactors, openChains } from '../networks.ts';
import { liveAs, openHealth, processContext } from '../process.ts';
import { createProofs } from '../proofs.ts';
import { startRetention } from '../retention.ts';
import { openSigner } from '../signers.ts';
import { operatorRoutes } from './admin.ts';
import { bookRoutes } from './books.ts';
import { createBrake } from './brake.ts';
import { type LpAppConfig, lpWarnings, zLpAppConfig } from './config.ts';
import { openOperatorLog } from './operator-log.ts';
import { createKillFile } from './kill-file.ts';
import { createReloader, sha256Of } from './reload.ts';
import { forNode, makeSources } from './sources.ts';
import { LP_SCHEMA, LP_TABLES } from './schema.ts';
import { signalRoutes } from './signals.ts';
import { makeAdminToken } from './token.ts';

export interface LpGround {
  store: LpStore;
  transactions: TxStore;
  journal: JournalStore;
  links: readonly Link[];
  chains: readonly EvmChain[];
}

export async function runLp(
  { config: file }: { config: string },
  { wrap = (ground) => ground }: { wrap?: (ground: LpGround) => LpGround } = {},
): Promise<void> {
  const read = () => loadConfig(zLpAppConfig, file, process.env);
  const { config } = await read();
  const context = processContext('lp', config);
  const { secrets } = context;
  const log = context.log.child({ solver: config.lp.solver.id });

  for (const warning of lpWarnings(config)) log.warn({}, warning);

  await liveAs(`lp ${config.lp.solver.id}`, log, async (life) => {
    // SIGHUP would end the process by default.
    let reload = async (): Promise<unknown> =>
      log.warn({}, 'SIGHUP: the LP is still starting; nothing was reloaded');
    process.on(
      'SIGHUP',
      () =>
        void reload().catch((error: unknown) =>
          log.error({ err: error }, 'the configuration could not be reloaded'),
        ),
    );
    const { metrics, metricsUrl, readyWhen } = await openHealth(life, log, config.ops);

    const signer = await openSigner(config.keys.operator, { life, log, metrics, secrets });
    refuseOwner(config, signer.address);
    const db = await openDatabase(
      config.database,
      { schema: LP_SCHEMA, migrations: LP_TABLES },
      { life, log, secrets },
    );
    const dialled = await Promise.all(
      config.venues.map(async ({ name, url, apiKey, venueId }) =>
        createLinkClient(
          { clock: systemClock, log },
          { name, url, venueId, apiKey: await openSecret(apiKey, secrets) },
        ),
      ),
    );
    const opened = await openChains(config.networks, { life, log, metrics, secrets });
    const {
      store,
      transactions,
      journal: books,
      links,
      chains,
    } = wrap({
      store: createLpStore(db),
      transactions: createTxStore(db),
      journal: createJournalStore(db),
      links: dialled,
      chains: opened,
    });
    const sequencers = createSequencers(config.networks, chains);
    const brake = createBrake();
    const senders = createTransactors(config.networks, chains, {
      signers: [signer],
      store: transactions,
      log,
      metrics,
    });
    const operatorLog = await openOperatorLog({ audit: createLpAudit(db), clock: systemClock, log });
    if (life.stopping) return;
    const shared = openShared(config, { metrics, log, secrets });
    if (shared !== undefined) life.onStop('shared inventory', () => shared.inventory.close());
    const feedContext = { secrets, chains, sequencers };
    const sources = await makeSources(config, feedContext);
    const proofs = createProofs(config.attesters, { chains, log, metrics });
    const node = createLpNode(
      {
        chains,
        transactors: new Map([...senders].map(([chainId, sender]) => [chainId, brake.on(sender)])),
        links,
        ...forNode(sources),
        sequencers,
        store,
        journal: books,
        transactions,
        signer,
        recovery: createRecovery(),
        random: systemRandom,
        clock: systemClock,
        log,
        metrics,
        ...(shared && { shared }),
        proofs,
        ...(config.attesters.urls.length > 0 && { attesterPresence: proofs }),
        // Actions of the operator are logged by the admin API.
        killed: (by, note) =>
          void (by !== 'operator' && operatorLog.note(`kill switch (${by})`, 'kill', { note })),
      },
      config.lp,
    );
    // Registered before the start, so that a failed start is stopped too.
    life.onStop('LP', () => node.stop());
    const paused = operatorLog.pause();
    if (paused !== null) {
      log.warn(
        paused,
        'still paused by the operator, as before the restart; resume with: firmquote lp resume',
      );
      node.pause(paused.note || 'paused by the operator');
    }
    const killFile = createKillFile(node);
    killFile.watch(config.lp.risk.killFile);
    life.onStop('kill file', () => killFile.stop());
    const killed = () => node.kill('signal', 'stopped by a signal');
    process.on('SIGUSR2', killed);
    life.onStop('kill signal', () => process.off('SIGUSR2', killed));
    const reloader = createReloader(
      {
        ...{ node, killFile, log: operatorLog, metrics, file, read },
        make: (wanted, running) => makeSources(wanted, feedContext, running),
      },
      { config, sources },
    );
    await operatorLog.note('process', 'start', { configSha256: await sha256Of(file) });
    await node.start();
    life.onStop('audit log', () => operatorLog.note('process', 'stop'));
    reload = () => reloader.reload('SIGHUP');
    const retaining = startRetention(
      { db, clock: systemClock, log, metrics },
      { slots: config.retention.slotDays, explanations: config.retention.explanationDays },
    );
    life.onStop('retention', () => retaining.stop());
    readyWhen(async () => {
      const { status, reasons } = node.status();
      return status === 'active' ? [] : reasons.map(({ kind, note }) => `${kind}: ${note}`);
    });
    const { port, tokenFile } = config.admin;
    const token = tokenFile === null ? undefined : await makeAdminToken(tokenFile, secrets);
    if (token !== undefined) secrets.redactor.hide(token);
    const admin = await startOps({
      host: '127.0.0.1',
      port,
      log,
      routes: [
        ...operatorRoutes({ node, brake, clock: systemClock, log: operatorLog, reloader }),
        ...signalRoutes({ node, clock: systemClock, log: operatorLog, metrics }),
        ...bookRoutes(node, operatorLog),
      ],
      prefix: '/v1',
      localOnly: true,
      ...(token !== undefined && { token }),
    });
    life.onStop('admin API', () => admin.close());
    log.info(
      { operator: signer.address, signing: ecdsa.name, admin: admin.url, metrics: metricsUrl },
      'LP is running',
    );
  });
}

function refuseOwner({ keys, lp }: LpAppConfig, operator: string): void {
  if (keys.operatorMayBeOwner || !lp.chains.some(({ account }) => account === operator)) return;
  throw new SecretError(
    `The operator's key is the key of the account ${operator} itself, which can withdraw everything. Create another key (firmquote keystore new FILE), allow it on the chain (firmquote lp operator set) and configure it. For development: keys.operatorMayBeOwner.`,
  );
}

function openShared(
  { replicas, lp }: LpAppConfig,
  { metrics, log, secrets }: { metrics: Metrics; log: Log; secrets: SecretContext },
): ReplicaDeps | undefined {
  if (replicas.redisUrl === null) return undefined;
  const url = expand(replicas.redisUrl, secrets);
  secrets.redactor.hide(url);
  const inventory = createSharedInventory(
    { clock: systemClock, random: systemRandom, log, metrics },
    { url, name: `${lp.solver.id}:${lp.chains[0]?.account ?? ''}`, timeoutMs: replicas.timeoutMs },
  );
  return { inventory, replica: replicas.name, leadMs: replicas.leadSeconds * 1000 };
}
