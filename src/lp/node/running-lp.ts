/** Starts and stops the parts of the LP in the right order, and reloads its configuration. */

import { RequestError, UpstreamError } from '../../domain/errors.ts';
import { createFollower } from '../chain/follow.ts';
import { createPump, type Pump } from '../chain/pump.ts';
import { createReconciler } from '../chain/reconcile.ts';
import { createSpending } from '../chain/spending.ts';
import type { LpConfig } from '../config/config.ts';
import type { Money } from '../../inventory/event.ts';
import { createQuotingSnapshot, type QuotingSnapshot } from '../quoting/quoting-snapshot.ts';
import type { KilledBy } from '../risk/kill-switch.ts';
import { yieldToEventLoop } from '../yield-to-event-loop.ts';
import { createChainListener } from './chain-events.ts';
import { exposeAccounts, exposeGauges } from './gauges.ts';
import { bucketsOf, leaseRules, positionsOf, type LpChainWithPort } from './setup.ts';
import { createTicker, type Ticker } from './ticker.ts';
import type { ReloadedSources } from './interface.ts';
import type { NextSources } from '../market/price-sources.ts';
import type { LpParts } from './parts.ts';

/** The amount that a transfer begun in an earlier process keeps back from quotes. */
export interface ReservedBefore extends Money {
  id: string;
}

export interface RunningLp {
  readonly parts: LpParts;
  reload(next: LpConfig, sources: ReloadedSources): Promise<void>;
  /**
   * Builds the quoting parts of another configuration without putting them in force. Throws `RequestError`
   * where `reload` would, except for new feeds that give no price.
   */
  trial(next: LpConfig, sources: ReloadedSources): QuotingSnapshot;
  stop(): Promise<void>;
}

/**
 * A stop has ten seconds, and 100,000 holds take about two. Above this the next start waits for the lease.
 */
const MAX_HOLDS_WRITTEN = 200_000;

interface Running {
  readonly parts: LpParts;
  readonly pumps: readonly Pump[];
  readonly ticker: Ticker;
  stopping: boolean;
}

export async function startLp(
  parts: LpParts,
  config: LpConfig,
  killed: ReadonlyMap<KilledBy, string>,
  reserved: readonly ReservedBefore[],
): Promise<RunningLp> {
  const { risk, standby, leases, accounts, sessions, levels, replica } = parts;
  const { log, transactors } = parts.deps;
  const { lpChains, prices } = parts.base;
  const ticker = createTicker(parts);

  standby.report('starting', 'starting');
  const pumps = lpChains.map((chain) => createChainPump(parts, config, chain, reserved));
  await Promise.all(lpChains.map((chain) => checkOperator(parts, chain)));
  prices.start();
  await Promise.all([
    parts
      .quoting()
      .context.refreshGas(parts.operator)
      .catch((error: unknown) => log.warn({ error }, 'gas prices could not be read')),
    // Before the first quote: it must not outlive the delays of the contracts.
    parts.bonds.refresh().catch((error: unknown) => log.warn({ error }, 'the bonds could not be read')),
    ...pumps.map((pump) => pump.first()),
  ]);
  if (replica === undefined) {
    await leases.tick();
    // The books of an account are kept by the LP that trades for it.
    if (parts.shadowLog === undefined) await accounts.start(parts.opened.opening.epoch);
    await Promise.all([...transactors.values()].map((transactor) => transactor.start()));
  } else await replica.tick();
  for (const [by, note] of killed) risk.kill.engage(by, note);
  risk.update(new Map());
  standby.report('starting', undefined);
  standby.update();
  ticker.start();
  parts.shadowLog?.start();
  for (const session of sessions) session.start();
  levels.start();
  void parts.advance();
  exposeMetrics(parts);
  log.info(
    {
      status: standby.status(),
      clean: parts.opened.clean,
      routes: parts.quoting().routes.all.length,
      ...(parts.shadowLog === undefined && { operator: parts.operator }),
    },
    parts.shadowLog === undefined ? 'LP is up' : 'LP is up in shadow mode: nothing is signed',
  );
  const running: Running = { parts, pumps, ticker, stopping: false };
  return {
    parts,
    reload: (next, sources) => reload(running, next, sources),
    trial: (next, { plugin }) =>
      createQuotingSnapshot(parts.quotingDeps, next, { market: prices.marketOf(next), plugin }),
    stop: () => stop(running),
  };
}

async function reload(running: Running, next: LpConfig, { feeds, plugin }: ReloadedSources): Promise<void> {
  const { parts } = running;
  const { prices } = parts.base;
  const nextPrices = await prices.prepare(next, feeds);
  try {
    const { market } = nextPrices;
    const snapshot = createQuotingSnapshot(parts.quotingDeps, next, { market, plugin });
    await yieldToEventLoop();
    if (running.stopping)
      throw new RequestError('The LP is being stopped: the next start reads the new configuration.', {
        code: 'not_ready',
      });
    apply(parts, next, snapshot, nextPrices);
  } catch (error) {
    nextPrices.discard();
    throw error;
  }
}

/** Synchronous, and nothing here can fail: no request sees half a reload. */
function apply(parts: LpParts, next: LpConfig, snapshot: QuotingSnapshot, nextPrices: NextSources): void {
  const { risk, ledger, sessions, base } = parts;
  const before = parts.quoting();
  for (const chain of next.chains) Object.assign(parts.states.get(chain.chainId) ?? {}, { config: chain });
  for (const [chainId, rule] of leaseRules(base.lpChains, next)) parts.rules.set(chainId, rule);
  risk.configure(next);
  parts.signals.configure(next.signals);
  for (const { chainId, token, buffer } of bucketsOf(base.lpChains, next))
    ledger.setBuffer(chainId, token, buffer);
  risk.sourcesChanged(nextPrices.apply());
  parts.current.snapshot = snapshot;
  parts.winRates.configure(next.pricing.calibration);
  parts.announceStatus();
  if (helloOf(before) !== helloOf(snapshot))
    for (const session of sessions) session.renew('the configuration changed what we offer');
}

async function stop(running: Running): Promise<void> {
  running.stopping = true;
  const { parts, pumps, ticker } = running;
  const { risk, standby, leases, accounts, sessions, levels, sharing, ledger } = parts;
  const { log, store, transactors } = parts.deps;
  standby.report('stopping', 'stopping');
  ticker.stop();
  levels.stop();
  for (const session of sessions) session.sendStatus();
  await Promise.all(sessions.map((session) => session.stop()));
  parts.base.prices.stop();
  await Promise.all(pumps.map((pump) => pump.stop()));
  await sharing?.flush();
  await parts.advance();
  await Promise.all([...transactors.values()].map((transactor) => transactor.stop()));
  await parts.awards.flush();
  await risk.flush().catch((error: unknown) => log.error({ error }, 'risk state could not be stored'));
  await parts.signals
    .flush(store)
    .catch((error: unknown) => log.error({ error }, 'signals could not be stored'));
  await parts.winRates.flush();
  await accounts.stop();
  await parts.shadowLog?.stop();
  if (ledger.live > MAX_HOLDS_WRITTEN)
    return log.warn(
      { live: ledger.live },
      'LP is down with too many live quotes to write: the next start waits',
    );
  // The ledger lacks the quotes of the process before this one: only waiting makes up for them.
  if (leases.quarantine().length > 0)
    return log.warn({}, 'LP is down before quotes of an earlier start have expired: the next start waits');
  const clean = await store.stop({
    ledger: ledger.snapshotChunks(),
    cursors: [...parts.followers.values()].map((follower) => follower.cursor()),
  });
  log.info({ clean }, 'LP is down');
}

const helloOf = ({ routes, config: { quoting } }: QuotingSnapshot): string =>
  `${[...routes.corridors].sort().join(' ')} ${quoting.maxInFlight}`;

function createChainPump(
  parts: LpParts,
  config: LpConfig,
  { port, chain }: LpChainWithPort,
  reserved: readonly ReservedBefore[],
): Pump {
  const { ledger, awards, replica, opened, operator, base } = parts;
  const { clock, log } = parts.deps;
  const { account } = base;
  const cursor = opened.cursors.get(chain.id);
  if (cursor === undefined)
    throw new UpstreamError('A chain has no block to start from.', { code: 'block_missing' });
  const tokens = base.buckets.filter(({ chainId }) => chainId === chain.id).map(({ token }) => token);
  const spending = createSpending(
    { port, ledger, clock, log },
    { account, operator, tokens, everyMs: config.reconcileSeconds * 1000 },
  );
  const follower = createFollower(
    {
      port,
      ledger,
      log,
      listener: createChainListener(parts, chain.id, spending),
      restore: awards.restore,
      ...(replica && { learn: replica.learn }),
      recognise: opened.inTransit.recognise,
    },
    { account, operator, maxBlocks: config.maxBlocksPerScan },
    cursor,
  );
  parts.followers.set(chain.id, follower);
  const open = opened.requests.filter(({ chainId }) => chainId === chain.id);
  const reconciler = createReconciler(
    { follower, ledger, clock, log },
    {
      ...{ account, tokens, open, everyMs: config.reconcileSeconds * 1000 },
      reserved: reserved.filter(({ chainId }) => chainId === chain.id),
    },
  );
  parts.reconcilers.set(chain.id, reconciler);
  return createPump({ port, spending, follower, reconciler, log });
}

async function checkOperator({ base, operator, deps, standby }: LpParts, { port, chain }: LpChainWithPort) {
  if (operator === base.account || (await port.isOperator(base.account, operator))) return;
  deps.log.fatal(
    { chainId: chain.id, operator },
    'the account has not named this operator on the chain: nothing is signed',
  );
  standby.report('operator', `the operator key is not allowed on ${chain.slug}`, String(chain.id));
}

function exposeMetrics(parts: LpParts): void {
  const { standby, awards, leases, sharing, lead } = parts;
  const { metrics } = parts.deps;
  exposeGauges(metrics, {
    ledger: parts.ledger,
    slug: parts.base.slug,
    symbol: (chainId, token) =>
      parts.chains.get(chainId)?.tokens.find(({ address }) => address === token)?.symbol ?? 'unknown',
    reasons: standby.reasons,
    pairs: standby.pairs,
    quoting: () => standby.status().status === 'active',
    shadow: parts.shadowLog !== undefined,
    openAwards: () => awards.open().length,
    leaseSeconds: leases.reach,
    positions: () => positionsOf(parts.quoting()),
    receivables: parts.receivables.list,
    advice: parts.rebalancing.advice,
    venues: () => parts.sessions,
    signals: parts.signals.list,
    configuredPairs: () => parts.quoting().config.pairs.map(({ base, quote }) => `${base}-${quote}`),
  });
  exposeAccounts(metrics, parts.accounts);
  if (sharing === undefined) return;
  metrics.gauge('firmquote_lp_replica_leads', '1 while this replica acts for the LP', [], (gauge) =>
    gauge.set(lead.mine() ? 1 : 0),
  );
  metrics.gauge(
    'firmquote_lp_shared_ready',
    '1 while the shared inventory answers and is complete',
    [],
    (gauge) => gauge.set(sharing.trouble() === undefined ? 1 : 0),
  );
}
