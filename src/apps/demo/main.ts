/** `firmquote demo`: the whole system on one machine, on two fresh chains. */

import { mkdir, readdir, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { createLog } from '../../adapters/pino/log.ts';
import { ensureDevPackages } from '../../adapters/system/dev-packages.ts';
import { requireTrustedPath } from '../../adapters/system/trusted-path.ts';
import { PACKAGE_FOLDER } from '../../adapters/system/version.ts';
import type { Log } from '../../ports/log.ts';
import { loadConfig } from '../config/load.ts';
import { lockDirectory } from '../wiring/directory-lock.ts';
import { liveAs, type Life } from '../wiring/process.ts';
import { keepState } from './chains/anvil.ts';
import { issueDemoKeys } from './api-keys.ts';
import { type DemoConfig, zDemoConfig } from './config.ts';
import { lpProcess, writeConfigs } from './configs.ts';
import { followEvents } from './display/events.ts';
import { startExchanges } from './exchange.ts';
import { assertPortsFree, type Layout, layout as layoutOf, portsOf } from './layout.ts';
import { manifestOf, writeManifest } from './manifest.ts';
import { startMarket } from './market.ts';
import { keepPools } from './chains/pools.ts';
import { keepOracles } from './chains/oracle.ts';
import type { OnceReport } from './checks/check.ts';
import { runOnce } from './once.ts';
import { appSpecs, chainSpec, environmentOf, lineLog, partnerSpec, postgresSpec } from './processes.ts';
import { PEG, setUpChain } from './chains/set-up.ts';
import { drawState, readState, writeState } from './state.ts';
import { createSupervisor } from './supervisor.ts';
import { header, plainView, terminalView } from './display/view.ts';
import { withControls } from './risk/config.ts';
import { runRisk } from './risk/once.ts';
import { createDisturbances } from './risk/disturbances.ts';
import { createWorld, rosterOf, type DemoWorld } from './world.ts';

export interface DemoOptions {
  once?: boolean;
  risk?: boolean;
  dataDir: string;
  port: number;
  config?: string;
  quietMarket?: boolean;
}

const say = (line: string): void => console.log(line);

export async function runDemo(options: DemoOptions): Promise<void> {
  const startedAtMs = Date.now();
  const layout = layoutOf(resolve(options.dataDir), options.port);
  const { config: written } = await loadConfig(
    zDemoConfig,
    options.config ?? join(PACKAGE_FOLDER, 'config', 'demo.json'),
    process.env,
  );
  const config = options.risk === true ? withControls(written) : written;
  await requireTrustedPath(layout.log('demo'));
  await mkdir(dirname(layout.manifest), { recursive: true });
  const logFile = lineLog(layout.log('demo'));
  const log = createLog({ app: 'demo', destination: { write: (line) => logFile(line.trimEnd()) } });
  await liveAs('demo', log, (life) =>
    open(life, { options, layout, config, log, startedAtMs }).catch((error: unknown) => {
      if (life.stopping) return;
      console.error(error instanceof Error ? error.message : error);
      throw error;
    }),
  );
}

interface Start {
  options: DemoOptions;
  layout: Layout;
  config: DemoConfig;
  log: Log;
  startedAtMs: number;
}

async function open(life: Life, { options, layout, config, log, startedAtMs }: Start): Promise<void> {
  const { ports } = layout;
  const unlock = await lockDirectory(dirname(layout.manifest));
  life.onStop('data directory', async () => {
    await unlock();
    // Fails when other files are in it.
    await rmdir(dirname(layout.manifest)).catch(() => {});
  });
  const remains = await readState(layout.state);
  // Processes of a killed demo need some time to end; those of another demo do not end.
  await assertPortsFree(
    portsOf(layout, {
      chains: config.chains.length,
      lps: config.lps.length,
      attesters: config.attesters.count,
    }),
    remains ? 25_000 : 0,
  );
  await rm(layout.manifest, { force: true });
  // --once needs known balances, so it never resumes.
  const left = options.once ? undefined : remains;
  if (left) say('Resuming the demo in this folder, which was killed.');
  else await rm(layout.home, { recursive: true, force: true });
  await mkdir(layout.home, { recursive: true, mode: 0o755 });
  let keepLogs = false;
  let clusterDir: () => string | undefined = () => undefined;
  life.onStop('files', async () => {
    await rm(layout.manifest, { force: true });
    const cluster = clusterDir();
    const kept = keepLogs ? [basename(dirname(layout.log('demo')))] : [];
    for (const name of await readdir(layout.home))
      if (!kept.includes(name)) await rm(join(layout.home, name), { recursive: true, force: true });
    await rmdir(layout.home).catch(() => {});
    if (cluster && !cluster.startsWith(layout.home))
      await rm(dirname(cluster), { recursive: true, force: true });
  });

  let manifestReady = false;
  const supervisor = createSupervisor({ log, changed: () => void (manifestReady && refresh()) });
  life.onStop('processes', () => supervisor.stop());

  const state = left ?? drawState(config);
  const exchange = await startExchanges({ port: ports.exchange, ...state.config.exchange });
  life.onStop('simulated exchanges', () => exchange.close());

  await ensureDevPackages('market', say);
  say('Starting PostgreSQL and two chains …');
  const postgres = postgresSpec(layout, log);
  clusterDir = postgres.clusterDir;
  await Promise.all([
    supervisor.run(postgres.spec),
    ...state.config.chains.map((_, index) => supervisor.run(chainSpec(state, layout, index))),
  ]);
  const keepers = state.config.chains.map(({ slug }, index) =>
    keepState(() => `http://127.0.0.1:${ports.chain(index)}`, layout.chainDir(slug)),
  );
  life.onStop('chain files', () => keepers.forEach((keeper) => keeper.stop()));

  if (state.phase === 'drawn') {
    say('Deploying contracts, funding takers, depositing the LPs’ inventory …');
    state.chains = await Promise.all(
      state.config.chains.map(({ id }, index) =>
        setUpChain(state, id, `http://127.0.0.1:${ports.chain(index)}`),
      ),
    );
    await Promise.all(keepers.map((keeper) => keeper.saveNow()));
    for (const name of ['venue', ...state.lps.map(({ id }) => `lp_${id}`)])
      await postgres.database.create(name);
    state.apiKeys = await issueDemoKeys(postgres.database.url('venue'), state, log);
    await writeConfigs(state, layout);
    state.phase = 'ready';
    await writeState(layout.state, state);
  }

  let oracleShiftBps = 0;
  const kept = state.chains.flatMap(({ rpcUrl, oracles }) =>
    state.config.exchange.symbols.flatMap(({ price, base }) =>
      oracles[price]
        ? [{ rpcUrl, address: oracles[price], mid: () => exchange.mid(base) * (1 + oracleShiftBps / 10_000) }]
        : [],
    ),
  );
  const oracles = keepOracles(kept, (error) => log.warn({ err: error }, 'a price oracle was not updated'));
  life.onStop('price oracles', () => oracles.stop());

  say('Starting the venue, the LPs and the attesters …');
  const databaseBase = postgres.database.base();
  await Promise.all(
    [...appSpecs(state, layout, databaseBase), partnerSpec(layout)].map((spec) => supervisor.run(spec)),
  );
  const manifest = manifestOf(state, layout, supervisor, environmentOf(databaseBase));
  const disturbances = createDisturbances(state, layout, exchange, (bps) => void (oracleShiftBps = bps));
  const world = createWorld(state, layout, manifest, supervisor, disturbances);
  await untilServing(world, life);
  if (life.stopping) return;

  // One write at a time, with the newest pids.
  let writing: Promise<void> = Promise.resolve();
  function refresh(): Promise<void> {
    writing = writing.then(async () => {
      manifest.processes = supervisor.pids();
      for (const solver of manifest.solvers) solver.pid = supervisor.pid(lpProcess(solver.id)) ?? null;
      if (!life.stopping) await writeManifest(layout.manifest, manifest);
    });
    return writing.catch((error: unknown) => log.error({ err: error }, 'demo.json could not be written'));
  }
  manifestReady = true;
  await refresh();
  life.onStop('demo.json', () => writing);

  const head = header(manifest, layout.manifest);
  if (options.once) {
    for (const line of head) say(line);
    say('');
    const report =
      options.risk === true ? await runRisk(world, say, startedAtMs) : await runOnce(world, say, startedAtMs);
    const good = report.checks.every(({ ok }) => ok);
    if (!good) {
      keepLogs = true;
      say(`\nLogs of all processes: ${dirname(layout.log('venue'))}`);
    }
    finishOnce(life, report);
    return;
  }

  const view = process.stdout.isTTY ? terminalView(world, head) : plainView();
  life.onStop('view', () => view.stop());
  if (!process.stdout.isTTY) for (const line of head) say(line);
  view.line(`ready after ${((Date.now() - startedAtMs) / 1000).toFixed(1)} s`);
  const events = followEvents(manifest, (line) => view.line(line));
  life.onStop('events', () => events.stop());
  if (!options.quietMarket) {
    const mid = (price: string) =>
      exchange.mid(state.config.exchange.symbols.find((one) => one.price === price)?.base ?? '');
    const market = startMarket(world, state.config.market, mid, (line) => view.line(line));
    life.onStop('market', () => market.stop());
    const dollars = (symbol: string) => {
      const price = state.config.tokens.find((one) => one.symbol === symbol)?.price ?? '';
      return price === PEG ? 1 : mid(price);
    };
    const pools = keepPools(state.chains, dollars, (error) =>
      log.warn({ err: error }, 'a pool could not be traded back to the market price'),
    );
    life.onStop('pools', () => pools.stop());
  }
}

/** The report must be the last line. */
function finishOnce(life: Life, report: OnceReport): void {
  const good = report.checks.every(({ ok }) => ok);
  process.once('exit', () =>
    console.log(
      `${report.checks.filter(({ ok }) => ok).length} of ${report.checks.length} checks held\n${JSON.stringify(report)}`,
    ),
  );
  life.stop('all checks have run', good ? 0 : 1);
}

async function untilServing(world: DemoWorld, life: Life): Promise<void> {
  const deadline = performance.now() + 90_000;
  for (let seen = 'nothing'; !life.stopping;) {
    const roster = await rosterOf(world.manifest).catch((error: unknown) => void (seen = String(error)));
    const active = roster?.filter(({ status }) => status === 'active').map(({ id }) => id);
    if (active && world.lps.every(({ id }) => active.includes(id))) return;
    if (active) seen = `active LPs: ${active.join(', ') || 'none'}`;
    if (performance.now() > deadline)
      throw new Error(`The venue and its LPs were not ready after 90 s (${seen}). See their logs.`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
