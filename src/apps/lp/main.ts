/** `firmquote lp`: wires an LP together. Nothing is decided here. */

import { type OpsRoute, startOps } from '../../adapters/http/ops.ts';
import type { EvmChain } from '../../adapters/evm/chain/chain.ts';
import { createLpAudit } from '../../adapters/postgres/lp/audit-log.ts';
import { createJournalStore } from '../../adapters/postgres/lp/accounting-store.ts';
import { createPricingVersions } from '../../adapters/postgres/lp/pricing-versions.ts';
import { createShadowStore } from '../../adapters/postgres/lp/shadow-store.ts';
import { createLpStore } from '../../adapters/postgres/lp/lp-store.ts';
import { createTransferStore } from '../../adapters/postgres/transfer-store.ts';
import { createTxStore } from '../../adapters/postgres/tx-store.ts';
import { createSharedInventory } from '../../adapters/redis/shared-inventory.ts';
import { ecdsa } from '../../adapters/secp256k1/ecdsa.ts';
import { createRecovery } from '../../adapters/secp256k1/recovery.ts';
import { systemClock } from '../../adapters/system/clock.ts';
import { systemRandom } from '../../adapters/system/random.ts';
import { createLinkClient } from '../../adapters/ws/link-client.ts';
import { assumeInventory } from '../../lp/shadow/assumed-inventory.ts';
import { createLpNode } from '../../lp/node.ts';
import type { LpNode, ReplicaDeps } from '../../lp/node/interface.ts';
import type { JournalStore } from '../../ports/stores/accounting-store.ts';
import type { Link } from '../../ports/link.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { LpStore } from '../../ports/stores/lp-store.ts';
import type { TransferStore } from '../../ports/stores/transfers.ts';
import type { TxStore } from '../../ports/stores/tx-store.ts';
import { configJson, parseConfig, readConfigText } from '../config/load.ts';
import { openDatabase } from '../wiring/database.ts';
import { createSequencers } from '../wiring/feeds.ts';
import { expand, openSecret, type SecretContext, SecretError } from '../wiring/keys.ts';
import { createTransactors, openChains } from '../wiring/networks.ts';
import { type Life, liveAs, openHealth, processContext } from '../wiring/process.ts';
import { createProofs } from '../wiring/proofs.ts';
import { startRetention } from '../wiring/retention.ts';
import { openSigner } from '../wiring/signers.ts';
import { openTracing } from '../wiring/tracing.ts';
import { operatorRoutes } from './admin.ts';
import { bookRoutes } from './books.ts';
import { createBrake } from './brake.ts';
import { type LpAppConfig, lpWarnings, zLpAppConfig } from './config.ts';
import { openOperatorLog, type OperatorLog } from './operator-log.ts';
import { startLpConsole } from './console.ts';
import { createKillFile, type KillFile } from './kill-file.ts';
import { parametersIn } from './pricing/change.ts';
import { pricingRoutes } from './pricing/routes.ts';
import { createPricingHistory } from './pricing/versions.ts';
import { createReloader, type ReadConfig, sha256Of } from './reload.ts';
import { forNode, makeSources } from './sources.ts';
import { LP_SCHEMA, LP_TABLES } from './schema.ts';
import { parseShadowConfig, SHADOW_DATABASE, shadowRoute } from './shadow.ts';
import { signalRoutes } from './signals.ts';
import { makeAdminToken } from './token.ts';
import { openTransfers } from './transfers/transfers.ts';

export interface LpGround {
  store: LpStore;
  transactions: TxStore;
  journal: JournalStore;
  links: readonly Link[];
  chains: readonly EvmChain[];
  transfers: TransferStore;
}

export async function runLp(
  { config: file, shadow = false }: { config: string; shadow?: boolean },
  { wrap = (ground) => ground }: { wrap?: (ground: LpGround) => LpGround } = {},
): Promise<void> {
  const parse = parserOf(file, shadow);
  const read = parse(await readConfigText(file));
  const { config } = read;
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
    const tracer = await openTracing(config.tracing, 'firmquote-lp', { life, log });

    const signer = shadow
      ? undefined
      : await openSigner(config.keys.operator, { life, log, metrics, secrets });
    if (signer !== undefined) refuseOwner(config, signer.address);
    const db = await openDatabase(
      config.database,
      shadow ? SHADOW_DATABASE : { schema: LP_SCHEMA, migrations: LP_TABLES },
      { life, log, metrics, secrets },
    );
    const dialled = await dial(config, { log, secrets });
    const opened = await openChains(config.networks, { life, log, metrics, secrets });
    const {
      store,
      transactions,
      journal: books,
      links,
      chains,
      transfers: transferStore,
    } = wrap({
      store: createLpStore(db),
      transactions: createTxStore(db),
      journal: createJournalStore(db),
      links: dialled,
      chains: shadow ? opened.map((chain) => assumeInventory(chain, config.shadow.inventory)) : opened,
      transfers: createTransferStore(db),
    });
    const sequencers = createSequencers(config.networks, chains);
    const brake = createBrake();
    const senders =
      signer === undefined
        ? []
        : createTransactors(config.networks, chains, {
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
        transfers: transferStore,
        ...(signer === undefined
          ? { shadow: { store: createShadowStore(db), keep: config.shadow.keep } }
          : { signer }),
        recovery: createRecovery(),
        random: systemRandom,
        clock: systemClock,
        log,
        metrics,
        tracer,
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
    pauseAsBefore(node, operatorLog, log);
    const killFile = watchKillSwitches(node, config, life);
    const history = createPricingHistory({ store: createPricingVersions(db), clock: systemClock, log });
    const reloader = createReloader(
      {
        ...{ node, killFile, log: operatorLog, history, metrics, file, parse },
        make: (wanted, running) => makeSources(wanted, feedContext, running),
      },
      { read, sources },
    );
    void history.note('process', 'as the file was at the start', parametersIn(read.text));
    await operatorLog.note('process', 'start', { configSha256: await sha256Of(file) });
    const transfers = await openTransfers(config, {
      ...{ chains, transactions, node, brake, audit: operatorLog, life, log, metrics, secrets },
      store: transferStore,
    });
    await transfers.restore();
    await node.start();
    await transfers.start();
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
    const routes = [
      ...operatorRoutes({ node, brake, clock: systemClock, log: operatorLog, reloader }),
      ...signalRoutes({ node, clock: systemClock, log: operatorLog, metrics }),
      ...bookRoutes(node, operatorLog),
      ...pricingRoutes({ reloader, history, file }),
      shadowRoute(node),
      ...transfers.routes,
    ];
    const urls = await openAdmin(config.admin, { routes, life, log, secrets });
    log.info(
      {
        ...(signer !== undefined && { operator: signer.address, signing: ecdsa.name }),
        ...{ ...urls, metrics: metricsUrl },
      },
      shadow ? 'LP is running in shadow mode: nothing is signed' : 'LP is running',
    );
  });
}

const parserOf =
  (file: string, shadow: boolean) =>
  (text: string): ReadConfig => {
    const json = configJson(text, file);
    const parsed = shadow
      ? parseShadowConfig(json, process.env, file)
      : parseConfig(zLpAppConfig, json, process.env, file);
    return { text, ...parsed };
  };

/** Opens one link to each venue, with the key that the venue gave. */
function dial(
  { venues }: LpAppConfig,
  { log, secrets }: { log: Log; secrets: SecretContext },
): Promise<Link[]> {
  return Promise.all(
    venues.map(async ({ name, url, apiKey, venueId }) =>
      createLinkClient(
        { clock: systemClock, log },
        { name, url, venueId, apiKey: await openSecret(apiKey, secrets) },
      ),
    ),
  );
}

/** Restores a pause by the operator, which outlasts a restart. */
function pauseAsBefore(node: LpNode, operatorLog: OperatorLog, log: Log): void {
  const paused = operatorLog.pause();
  if (paused === null) return;
  log.warn(paused, 'still paused by the operator, as before the restart; resume with: firmquote lp resume');
  node.pause(paused.note || 'paused by the operator');
}

/** The kill file and SIGUSR2 stop quoting immediately. */
function watchKillSwitches(node: LpNode, { lp }: LpAppConfig, life: Life): KillFile {
  const killFile = createKillFile(node);
  killFile.watch(lp.risk.killFile);
  life.onStop('kill file', () => killFile.stop());
  const killed = () => node.kill('signal', 'stopped by a signal');
  process.on('SIGUSR2', killed);
  life.onStop('kill signal', () => process.off('SIGUSR2', killed));
  return killFile;
}

/** Opens the admin API, and the console where one is configured. */
async function openAdmin(
  admin: LpAppConfig['admin'],
  {
    routes,
    life,
    log,
    secrets,
  }: { routes: readonly OpsRoute[]; life: Life; log: Log; secrets: SecretContext },
): Promise<{ admin: string; console?: string }> {
  const { port, tokenFile } = admin;
  const token = tokenFile === null ? undefined : await makeAdminToken(tokenFile, secrets);
  if (token !== undefined) secrets.redactor.hide(token);
  const server = await startOps({
    host: '127.0.0.1',
    port,
    log,
    routes,
    prefix: '/v1',
    localOnly: true,
    ...(token !== undefined && { token }),
  });
  life.onStop('admin API', () => server.close());
  const pages = await startLpConsole(admin, { routes, secrets, log });
  if (pages === undefined) return { admin: server.url };
  life.onStop('console', () => pages.close());
  return { admin: server.url, console: pages.url };
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
