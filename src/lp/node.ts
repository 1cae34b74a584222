/**
 * The maker as a whole: opens its store, builds its ledger, follows its chains, and quotes for as long as it
 * is safe.
 */

import type { Control } from '../domain/control.ts';
import { isDecline } from '../domain/decline.ts';
import { RequestError, UpstreamError } from '../domain/errors.ts';
import type { Address, Bytes32 } from '../domain/hex.ts';
import { atOnce } from '../domain/steps.ts';
import type { Money } from '../inventory/event.ts';
import type { LedgerOptions } from '../inventory/ledger.ts';
import type { Advice } from '../inventory/rebalance.ts';
import type { Attestations, Voices } from '../ports/attestations.ts';
import type { ChainPort } from '../ports/chain.ts';
import type { Clock } from '../ports/clock.ts';
import type { Feed, Sequencer } from '../ports/feed.ts';
import type { Link } from '../ports/link.ts';
import type { Log } from '../ports/log.ts';
import type { JournalStore } from '../ports/stores/accounting-store.ts';
import type { LpAward, LpStore } from '../ports/stores/lp-store.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { Random } from '../ports/random.ts';
import type { SharedInventory } from '../ports/shared-inventory.ts';
import type { Recovery, Signer } from '../ports/signer.ts';
import type { TxStore } from '../ports/stores/tx-store.ts';
import type { Transactor } from '../ports/transactor.ts';
import type { PricingPlugin } from '../pricing/price-inputs.ts';
import { type Accounts, createAccounts } from './accounting/accounts.ts';
import { createAfterwards } from './quote-log/afterwards.ts';
import { createAwardRunner } from './settlement/advance.ts';
import { createAwards } from './settlement/awards.ts';
import type { Position } from './accounting/bands.ts';
import type { ChainState } from './quoting/pricing-context.ts';
import { type Calibrator, createCalibrator, type CurveView } from './quoting/win-rates.ts';
import type { LpConfig } from './config/config.ts';
import { type Desk, type DeskDeps, makeDesk } from './quoting/quoting-config.ts';
import { createFaultLog } from './risk/fault-log.ts';
import { createFlow, type Flow } from './quote-log/recorded-requests.ts';
import { createFeedWatch } from './market/feed-monitor.ts';
import { createFollower, type Follower, type FollowListener } from './chain/follow.ts';
import type { KilledBy } from './risk/kill-switch.ts';
import { createLadders } from './quoting/ladder.ts';
import { ALONE, createLead, type Lead } from './replicas/leadership.ts';
import { createLeases } from './replicas/lease.ts';
import { createLevels } from './quoting/levels.ts';
import { type LimitUse, limitUse } from './risk/limit-use.ts';
import { createMarket } from './market/market.ts';
import { createLpMetrics, showAccounts, showGauges } from './metrics.ts';
import { createMoments } from './quote-log/quote-events.ts';
import { createRebalancing } from './accounting/rebalancing.ts';
import { createReceivables, type Receivable } from './accounting/receivables.ts';
import { bucketsOf, checkDecimals, graceOf, leaseRules, limitsOf, positionsOf, ready } from './node-setup.ts';
import { ownSlice } from './quoting/order.ts';
import { createProving } from './settlement/proving.ts';
import { createPump } from './chain/pump.ts';
import { type CommitmentSigner, commitmentSigner } from './quoting/quote.ts';
import { createReconciler } from './chain/reconcile.ts';
import { changesBetween, isLive, type Reloaded } from './config/reload.ts';
import { createReplica } from './replicas/replica.ts';
import { restore } from './chain/restore.ts';
import { createRisk, type Risk, type RiskStatus } from './risk/risk.ts';
import type { LpChain } from './quoting/route.ts';
import { createSession, type Session } from './quoting/session.ts';
import { createSharing, type SharedBucket, type Sharing } from './replicas/sharing.ts';
import { createStandby, type Reason, type Standby } from './risk/standby.ts';
import { createTakers } from './accounting/taker-costs.ts';
import { inTurns, turn, unhurried } from './quoting/turns.ts';

export interface LpNodeDeps {
  /** One per configured chain, started (its first head known or about to be). */
  chains: readonly ChainPort[];
  /** Senders for cross-chain fills by chain id, with the operator's key. Started and stopped by the node. */
  transactors: ReadonlyMap<number, Transactor>;
  /** One per venue. Started and stopped by the node. */
  links: readonly Link[];
  /** Started and stopped by the node. */
  feeds: readonly Feed[];
  /** Of chains that are rollups with an uptime feed. Started and stopped by the node. */
  sequencers?: ReadonlyMap<number, Sequencer>;
  /** Closed by whoever made it. */
  store: LpStore;
  /** The books, behind the same fence as the store. */
  journal: JournalStore;
  /** Where the operator's transactions are remembered: their gas goes into the books. */
  transactions?: Pick<TxStore, 'liveSlots'>;
  /** The operator's key: signs commitments and proves the account to venues. */
  signer: Signer;
  recovery: Recovery;
  /** Signs commitments in another way than the signer does over our own digest. */
  commit?: CommitmentSigner;
  random: Random;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** Where attesters' signatures come from; without it somebody else has to prove our fills. */
  proofs?: Attestations;
  /** Which of them would answer. */
  voices?: Voices;
  /** One of several replicas with one inventory; absent: it runs alone. Closed by whoever made it. */
  shared?: Shared;
  /** The kill switch was pulled, by whatever hand: for whoever keeps the audit trail. */
  killed?(by: KilledBy, note: string): void;
  /** Terms or a pricer of the market maker's own. */
  plugin?: PricingPlugin;
}

export interface Shared {
  inventory: SharedInventory;
  /** Its name among them, the same after a restart. */
  replica: string;
  /** How long a leader may be silent before another one takes its place. */
  leadMs: number;
}

export interface LpStatus {
  /** Where it is one of several: its name, and whether it acts for all. null: it runs alone. */
  replica: { name: string; leads: boolean } | null;
  status: 'active' | 'standby';
  note: string | null;
  reasons: readonly Reason[];
  liveQuotes: number;
  /** Accepted orders not yet final. */
  openAwards: number;
  venues: { name: string; welcome: boolean }[];
  chains: { chainId: number; slug: string; head: bigint | null; final: bigint; gasWei: bigint | null }[];
  prices: { symbol: string; usd: number | null; detail: string | null }[];
}

export interface LpNode {
  /**
   * Resolves when the ledger stands and quoting may begin; throws when the configuration or the chains do not
   * allow it.
   */
  start(): Promise<void>;
  /** Stops quoting at once, finishes steps, writes the ledger, closes links. */
  stop(): Promise<void>;
  status(): LpStatus;
  /** With several replicas, held and free are as of what any of them was told last. */
  inventory(): SharedBucket[];
  /** Every asset against its target and bands, and each chain's part of it. */
  positions(): Position[];
  /** What we filled and have not been paid for. */
  receivables(): Receivable[];
  /** What is worth moving between chains now. */
  rebalancing(): readonly Advice[];
  limits(): Promise<{ limits: LimitUse[] }>;
  /** Win-rate curves as quotes taught them, and which of them price. */
  curves(): Promise<CurveView[]>;
  awards(limit?: number): Promise<LpAward[]>;
  /** Explanations, books and profit. Throws `RequestError` while the LP is not up. */
  accounts(): Accounts;
  /** The requests of late and what became of them. */
  recorded: Flow['recorded'];
  /**
   * The kill switch: nothing is signed from this moment on. What was signed stays honoured. Before `start` it
   * holds from the start.
   */
  pause(note: string): void;
  /** The same by another hand. */
  kill(by: KilledBy, note: string): void;
  /** Ends whatever the operator may end; a kill file that is still there goes on holding. */
  resume(): void;
  /** The kill file is gone. */
  killFileGone(): void;
  /** What risk controls do at the moment, and what we own. */
  risk(): RiskStatus;
  /**
   * Puts another configuration in force from the next request on, all or nothing. What was signed keeps the
   * terms it was signed with. One at a time.
   */
  reload(next: LpConfig): Promise<Reloaded>;
}

const TICK_MS = 250;
const GAS_EVERY = 20;
const LEARNED_EVERY = 120;
const ADVICE_EVERY = 12;
/** From how many earlier awards it learns what is usual. */
const PAST_AWARDS = 500;
/**
 * A stop has ten seconds, of which 100,000 holds take about two; beyond this many the lease does the
 * remembering, as after a crash.
 */
const MOST_HOLDS_WRITTEN = 200_000;

export function createLpNode(deps: LpNodeDeps, config: LpConfig): LpNode {
  const { clock, log, store, transactors } = deps;
  const lpChains = config.chains.map((chain): LpChain & { port: ChainPort } => {
    const port = deps.chains.find((each) => each.chain.id === chain.chainId);
    if (port === undefined)
      throw new RequestError(
        `Chain ${chain.chainId} is configured for this LP but not described. Add it, or take it out.`,
        { code: 'bad_config' },
      );
    return { config: chain, chain: port.chain, port };
  });
  const [account, ...others] = new Set(lpChains.map((chain) => chain.config.account));
  if (account === undefined || others.length > 0)
    throw new RequestError(
      'An LP has one account address, the same on every chain: the escrow credits the address that paid.',
      { code: 'bad_config' },
    );
  const sequencers = deps.sequencers ?? new Map<number, Sequencer>();
  const market = createMarket({ clock, sequencers }, config);
  const ports = new Map(lpChains.map(({ port }) => [port.chain.id, port]));
  const buckets = bucketsOf(lpChains, config);
  const lpMetrics = createLpMetrics(deps.metrics);
  const slug = (chainId: number) => ports.get(chainId)?.chain.slug ?? String(chainId);
  const watch = createFeedWatch({
    market,
    feeds: deps.feeds,
    sequencers,
    slug,
    clock,
    log,
    metrics: deps.metrics,
  });

  const graceSeconds = (chainId: number) => graceOf(lpChains.find(({ chain }) => chain.id === chainId));

  let live: Live | undefined;
  /** Pulled before the start: holds from it. */
  const killedBefore = new Map<KilledBy, string>();

  interface Live {
    risk: Risk;
    standby: Standby;
    sessions: Session[];
    followers: Map<number, Follower>;
    desk(): Desk;
    reload(next: LpConfig): Promise<void>;
    awards: ReturnType<typeof createAwards>;
    lead: Lead;
    inventory(): SharedBucket[];
    accounts: Accounts;
    recorded: Flow['recorded'];
    receivables(): Receivable[];
    rebalancing(): readonly Advice[];
    curves: Calibrator['curves'];
    stop(): Promise<void>;
  }

  async function start(): Promise<void> {
    await Promise.all(lpChains.map(({ port }) => ready(port, clock)));
    await Promise.all(lpChains.map(({ port }) => checkDecimals(port, config)));
    const joining = deps.shared && (await store.join(deps.shared.replica));
    const opening = joining ?? (await store.open());
    /** Set once there is somebody to hear: what happens before is told as a whole. */
    let sharing: Sharing | undefined;
    const options: LedgerOptions = {
      buckets,
      graceSeconds,
      limits: limitsOf(config),
      ...(joining && { onEvent: (event) => sharing?.heard(event) }),
    };
    const restored = await restore(
      { ports, store, log, nowMs: clock.nowMs() },
      { opening, options, account: account as `0x${string}` },
    );
    live = await run(restored, opening, joining?.generation, (made) => (sharing = made));
  }

  async function run(
    restored: Awaited<ReturnType<typeof restore>>,
    opening: Awaited<ReturnType<LpStore['open']>>,
    generation: string | undefined,
    hear: (sharing: Sharing) => void,
  ): Promise<Live> {
    const me = account as `0x${string}`;
    const operator = deps.signer.address;
    const { ledger } = restored;
    const states = new Map(
      lpChains.map(({ port, config: chain }): [number, ChainState] => [
        port.chain.id,
        { port, config: chain, gasPrice: undefined, dataFees: undefined, native: undefined },
      ]),
    );
    const chains = new Map(lpChains.map((each) => [each.chain.id, each.chain]));
    const followers = new Map<number, Follower>();
    const time = (chainId: number) => followers.get(chainId)?.time() ?? 0;
    const startedWith = new Map(
      Object.keys(config.assets).map((asset) => [asset, ledger.exposure(asset).owned]),
    );
    const moments = createMoments({ log });
    const priceOf = (symbol: string) => {
      const mid = market.mid(symbol);
      return isDecline(mid) ? undefined : mid.price;
    };
    const worthUsd = ({ chainId, token, amount }: Money): number | undefined => {
      const found = ledger.bucket(chainId, token);
      const price = found && desk.book.usd(found.asset);
      return found && price && Number((amount * price.num) / (price.den * 10n ** BigInt(found.decimals)));
    };
    const symbolOf = (chainId: number, token: string) =>
      chains.get(chainId)?.tokens.find(({ address }) => address === token)?.symbol ?? 'unknown';
    const slugOf = (chainId: number) => chains.get(chainId)?.slug ?? String(chainId);
    /** Whether we quote changed by somebody's word: the venues hear it now. */
    let announce = () => {};
    const risk = createRisk(
      {
        ...{
          ledger,
          market,
          store,
          clock,
          log,
          metrics: deps.metrics,
          limitsOf,
          slug: slugOf,
          shared: deps.shared !== undefined,
        },
        saved: opening.risk,
        assetOf(chainId, token) {
          const found = ledger.bucket(chainId, token as Address);
          return found && { asset: found.asset, decimals: found.decimals };
        },
        changed: () => announce(),
        pulled: (by, note) => deps.killed?.(by, note),
      },
      config,
    );
    moments.listen(risk.listener);
    moments.listen(createFaultLog({ clock, log }));
    const takers = createTakers(config.takers);
    const rules = leaseRules(lpChains, config);
    const leases = createLeases(
      { store, log, now: (chainId) => desk.book.now(chainId), settled: time },
      { found: opening.leases, clean: restored.clean || deps.shared !== undefined, rules },
    );
    const lead =
      deps.shared === undefined ? ALONE : createLead({ store, clock, log }, { leaseMs: deps.shared.leadMs });
    const awards = createAwards(
      { ledger, store, recovery: deps.recovery, clock, log, chains, time, taken: moments.accepted },
      { account: me, operator },
    );
    for (const award of restored.awards) awards.load(award);
    const accounts = createAccounts(
      {
        ...{
          store: deps.journal,
          awards: store,
          open: awards.open,
          chains: ports,
          ledger,
          market,
          takers,
          clock,
          log,
          transactions: deps.transactions,
        },
        final: (chainId) => followers.get(chainId)?.cursor(),
        native: (chainId) => priceOf(states.get(chainId)?.config.gasPrice ?? ''),
        usd: (asset) => desk.book.usd(asset),
        routes: () => desk.routes,
      },
      {
        account: me,
        operator,
        tokens: buckets,
        maxBlocks: config.maxBlocksPerScan,
        reconcileMs: config.reconcileSeconds * 1000,
        explain: config.explain,
        journal: config.journal,
        resting: deps.shared !== undefined,
      },
    );
    moments.listen(accounts.listener);
    const flow = createFlow({ clock }, config.explain);
    moments.listen(flow.listener);
    const sharing =
      deps.shared &&
      createSharing(
        {
          ...{ inventory: deps.shared.inventory, store, followers, limits: risk.limits, graceSeconds, log },
          ledger: () => ledger,
          ours(orderId, order) {
            if (awards.restore(orderId, order)) awards.opened(orderId, order);
            void advance();
          },
          changed: () => announce(),
        },
        { generation: generation ?? '', chains: lpChains.map(({ chain }) => chain.id) },
      );
    if (sharing !== undefined) hear(sharing);
    const proving =
      deps.proofs &&
      createProving({ proofs: deps.proofs, voices: deps.voices, chains, clock }, config.quoting);
    const standby = createStandby({
      desk: () => desk,
      leases,
      followers,
      transactors,
      risk,
      clock,
      sharing,
      proving,
      lead,
    });
    const sessions: Session[] = [];
    const tell = (orderId: Bytes32, stage: string, txHash: `0x${string}` | null) => {
      for (const session of sessions) session.tell(orderId, stage, txHash);
    };
    const advancer = createAwardRunner(
      {
        awards,
        ledger,
        chains: ports,
        transactors,
        proving,
        metrics: lpMetrics,
        log,
        now: (chainId) => desk.book.now(chainId),
        worthUsd: ({ slice }) => worthUsd(slice.pays),
        tell,
        failed: moments.failed,
      },
      { quoting: config.quoting, account: me },
    );
    /**
     * Awards are the business of whoever owns the store; a replica that does not lead only writes down what
     * it heard.
     */
    const advance = async () => {
      if (leases.lost || lead.over) return;
      if (lead.mine()) await advancer.run();
      else await awards.flush().catch((error: unknown) => log.error({ error }, 'awards could not be stored'));
    };
    const replica =
      sharing &&
      createReplica(
        {
          store,
          lead,
          sharing,
          awards,
          ledger,
          followers,
          chains,
          transactors,
          accounts,
          log,
          advance: () => void advance(),
        },
        { account: me },
      );

    const calibrator = createCalibrator(
      { clock, log, metrics: deps.metrics, store },
      config.pricing.calibration,
      opening.curves,
    );
    moments.listen(calibrator);
    const deskDeps: DeskDeps = {
      ...{
        clock,
        market,
        ledger,
        chains: states,
        settled: time,
        startedWith,
        networks: chains,
        adverse: takers.adverse,
        curves: calibrator,
      },
      ...(deps.plugin && { plugin: deps.plugin }),
      ...{
        leases,
        ladders: createLadders({ clock }),
        guard: risk.guard,
        gapLoss: risk.gapLoss,
        moments: createAfterwards(moments),
        commit: deps.commit ?? commitmentSigner(deps.signer),
        random: deps.random,
        log,
        refusal: standby.refusal,
        sharing,
        proving,
      },
    };
    let desk = await inTurns(makeDesk(deskDeps, config));
    const past = await store.listAwards(PAST_AWARDS);
    const receivables = createReceivables(
      { awards, ledger, moments, chains, log, time },
      { ...config, account: me },
      past,
    );
    const rebalancing = createRebalancing(
      { bands: () => desk.book.bands, moments, chains, clock, log },
      { ...config, account: me },
      past,
    );
    standby.set('starting', 'starting');
    const levels = createLevels({
      ...{
        desk: () => desk,
        active: () => standby.status().status === 'active',
        refusal: standby.refusal,
        guard: risk.guard,
        clock,
        random: deps.random,
        log,
      },
      send: (message) => sessions.map((session) => session.levels(message)).some((sent) => sent),
    });
    const byId = new Map(lpChains.map((each) => [each.chain.id, each]));
    for (const link of deps.links) {
      sessions.push(
        createSession(
          {
            link,
            clock,
            log,
            metrics: lpMetrics,
            signer: deps.signer,
            desk: () => desk,
            awards,
            chains: byId,
            state: standby.status,
            awarded: () => void advance(),
            welcomed: () => levels.fresh(),
            released: risk.tradedElsewhere,
            replica: deps.shared?.replica,
          },
          config,
        ),
      );
    }

    function listener(chainId: number): FollowListener {
      return {
        opened: awards.opened,
        stranger(orderId, order) {
          log.debug({ orderId }, 'an order is open that no promise of ours belongs to');
          if (ownSlice(order, me, chains) !== undefined) sharing?.stranger(orderId, order);
        },
        filled(orderId, seen) {
          const { timestamp, txHash, blockNumber } = seen;
          awards.update(orderId, {
            fill: { timestamp, txHash, blockNumber },
            stage: 'filled',
            note: 'filled',
          });
          const award = awards.get(orderId);
          if (award?.slice.originChainId !== chainId) lpMetrics.fills.add({ outcome: 'filled' });
          if (award !== undefined) moments.filled(award, seen);
          tell(orderId, 'filled', txHash);
        },
        unfilled(orderId, was) {
          awards.update(orderId, { fill: null, stage: 'committed', note: 'the fill was reorganised away' });
          const award = awards.get(orderId);
          if (award !== undefined) moments.unfilled(award, was);
          lpMetrics.fills.add({ outcome: 'reorged' });
        },
        finalised(orderId, seen) {
          const award = awards.get(orderId);
          lpMetrics.awards.add({
            outcome: 'settled',
            kind: award?.slice.destChainId === chainId ? 'same_chain' : 'cross_chain',
          });
          awards.update(orderId, { stage: 'finalised', note: null });
          if (award !== undefined) moments.finalised(award, seen);
        },
        refunded(orderId) {
          const award = awards.get(orderId);
          awards.update(orderId, { stage: 'failed', note: 'refunded to the taker' });
          if (award !== undefined) moments.failed(award, 'refunded to the taker');
        },
        moved: moments.moved,
        operator(allowed) {
          if (!allowed)
            log.fatal(
              { chainId },
              'the account revoked our operator key on the chain: nothing more is signed',
            );
          standby.set('operator', allowed ? undefined : 'the operator key was revoked');
        },
        ...(sharing && { spent: (orderId: Bytes32) => sharing.spent(chainId, orderId), used: sharing.used }),
        followed() {
          sharing?.followed(chainId);
          void advance();
        },
      };
    }

    const pumps = lpChains.map(({ port, chain }) => {
      const cursor = restored.cursors.get(chain.id);
      if (cursor === undefined)
        throw new UpstreamError('A chain has no block to start from.', { code: 'block_missing' });
      const follower = createFollower(
        {
          port,
          ledger,
          log,
          listener: listener(chain.id),
          restore: awards.restore,
          ...(replica && { learn: replica.learn }),
        },
        { account: me, operator, maxBlocks: config.maxBlocksPerScan },
        cursor,
      );
      followers.set(chain.id, follower);
      const tokens = buckets.filter(({ chainId }) => chainId === chain.id).map(({ token }) => token);
      const requests = restored.requests.filter(({ chainId }) => chainId === chain.id);
      const reconciler = createReconciler(
        { follower, ledger, clock, log },
        { account: me, tokens, everyMs: config.reconcileSeconds * 1000, open: requests },
      );
      return createPump({ port, follower, reconciler, log });
    });

    await Promise.all(
      lpChains.map(async ({ port, chain }) => {
        if (!(await port.isOperator(me, operator)) && operator !== me) {
          log.fatal(
            { chainId: chain.id, operator },
            'the account has not named this operator on the chain: nothing is signed',
          );
          standby.set('operator', 'the operator key is not allowed on the chain');
        }
      }),
    );
    watch.start();
    await Promise.all([
      desk.book
        .refreshGas(operator)
        .catch((error: unknown) => log.warn({ error }, 'gas prices could not be read')),
      ...pumps.map((pump) => pump.first()),
    ]);
    if (replica === undefined) {
      await leases.tick();
      await accounts.start(opening.epoch);
      await Promise.all([...transactors.values()].map((transactor) => transactor.start()));
    } else await replica.tick();

    /** What standby found, for the board of controls. */
    function standing(): Map<Control, Map<string, string>> {
      const reasons = standby.reasons();
      return new Map(
        (['chain_lag', 'drift'] as const).map((control) => [
          control,
          new Map(
            reasons
              .filter((reason) => reason.control === control)
              .map(({ note }) => [note.split(':')[0] ?? note, note]),
          ),
        ]),
      );
    }

    let ticks = 0;
    let handedOver = false;
    let cancel = () => {};
    async function tick(): Promise<void> {
      ticks += 1;
      // What nobody may sign needs no lease, and an hour's outage of the shared inventory is not to be waited
      // for twice.
      if (sharing?.trouble()?.kind !== 'shared')
        await leases.tick().then(
          () => standby.set('store', undefined),
          (error: unknown) => {
            log.error({ error }, 'the lease could not be renewed');
            standby.set('store', 'the database does not answer');
          },
        );
      await replica
        ?.tick()
        .catch((error: unknown) => log.error({ error }, 'the other replicas cannot be heard of'));
      if (deps.shared !== undefined)
        await risk
          .heed()
          .catch((error: unknown) => log.error({ error }, 'what other replicas were told cannot be heard'));
      if ((leases.lost || lead.over) && !handedOver) {
        handedOver = true;
        // The one that took over has to send the fills, and two cannot hold the operator's nonces: give them
        // back now.
        log.fatal(
          {},
          'another process has taken this LP over: this one sends nothing any more and should be stopped',
        );
        await Promise.all([...transactors.values()].map((transactor) => transactor.stop()));
      }
      // With a thousand pairs each of these takes a millisecond or two: quotes get their turn in between.
      market.tick();
      proving?.look();
      await turn();
      if (ticks % 4 === 0) await inTurns(calibrator.tick());
      if (ticks % LEARNED_EVERY === 0 && !leases.lost)
        await calibrator
          .flush()
          .catch((error: unknown) =>
            log.warn({ error }, 'what was learned of win rates could not be stored'),
          );
      if (ticks % 4 === 1 && replica !== undefined)
        await accounts
          .heed()
          .catch((error: unknown) =>
            log.warn({ error }, 'what takers cost cannot be heard from the replica that leads'),
          );
      if (ticks % 4 === 0) receivables.look();
      if (ticks % ADVICE_EVERY === 0) rebalancing.look();
      if (ticks % GAS_EVERY === 0)
        await desk.book
          .refreshGas(operator)
          .catch((error: unknown) => log.warn({ error }, 'gas prices could not be read'));
      await turn();
      await inTurns(risk.look(standing()));
      await turn();
      await risk
        .flush()
        .catch((error: unknown) => log.error({ error }, 'what risk must remember could not be written'));
      if (standby.look()) {
        log.info({ ...standby.status() }, 'status');
        for (const session of sessions) session.status();
      }
    }
    const loop = () =>
      (cancel = clock.after(
        TICK_MS,
        () =>
          void tick()
            .catch((error: unknown) => log.error({ error }, 'a tick failed'))
            .finally(() => stopping || loop()),
      ));
    let stopping = false;

    for (const [by, note] of killedBefore) risk.kill.engage(by, note);
    atOnce(risk.look(new Map()));
    standby.set('starting', undefined);
    standby.look();
    announce = () => {
      standby.look();
      for (const session of sessions) session.status();
    };
    loop();
    for (const session of sessions) session.start();
    levels.start();
    void advance();
    showGauges(deps.metrics, {
      ledger,
      slug: slugOf,
      symbol: symbolOf,
      reasons: standby.reasons,
      quoting: () => standby.status().status === 'active',
      openAwards: () => awards.open().length,
      leaseSeconds: leases.reach,
      positions: () => positionsOf(desk),
      receivables: receivables.list,
      advice: rebalancing.advice,
    });
    showAccounts(deps.metrics, accounts);
    if (sharing !== undefined) {
      deps.metrics.gauge('firmquote_lp_replica_leads', '1 while this replica acts for the LP', [], (gauge) =>
        gauge.set(lead.mine() ? 1 : 0),
      );
      deps.metrics.gauge(
        'firmquote_lp_shared_ready',
        '1 while the shared inventory answers and remembers',
        [],
        (gauge) => gauge.set(sharing.trouble() === undefined ? 1 : 0),
      );
    }
    log.info(
      { status: standby.status(), clean: restored.clean, routes: desk.routes.all.length, operator },
      'LP is up',
    );

    return {
      risk,
      standby,
      sessions,
      followers,
      desk: () => desk,
      awards,
      lead,
      inventory: () => ledger.buckets().map((bucket) => sharing?.seen(bucket) ?? bucket),
      accounts,
      recorded: flow.recorded,
      receivables: receivables.list,
      rebalancing: rebalancing.advice,
      curves: calibrator.curves,
      async reload(next) {
        // Nothing is touched before everything that can say no has said yes; from there on nothing waits, so
        // no request comes in between.
        const fresh = await unhurried(makeDesk(deskDeps, next, desk));
        await turn();
        if (stopping)
          throw new RequestError('The LP is being stopped: the next start reads the new configuration.', {
            code: 'not_ready',
          });
        const freshBuckets = bucketsOf(lpChains, next);
        const before = desk;
        for (const chain of next.chains) Object.assign(states.get(chain.chainId) ?? {}, { config: chain });
        for (const [chainId, rule] of leaseRules(lpChains, next)) rules.set(chainId, rule);
        risk.configure(next);
        for (const { chainId, token, buffer } of freshBuckets) ledger.setBuffer(chainId, token, buffer);
        market.serve(next.pairs);
        desk = fresh;
        calibrator.configure(next.pricing.calibration);
        standby.look();
        for (const session of sessions) session.status();
        const said = ({ routes, config: { quoting } }: Desk) =>
          `${[...routes.corridors].sort().join(' ')} ${quoting.maxInFlight}`;
        if (said(before) !== said(fresh))
          for (const session of sessions) session.renew('the configuration changed what we offer');
      },
      async stop() {
        stopping = true;
        standby.set('stopping', 'stopping');
        cancel();
        levels.stop();
        for (const session of sessions) session.status();
        await Promise.all(sessions.map((session) => session.stop()));
        watch.stop();
        await Promise.all(pumps.map((pump) => pump.stop()));
        await sharing?.flush();
        await advance();
        await Promise.all([...transactors.values()].map((transactor) => transactor.stop()));
        await awards.flush();
        await risk
          .flush()
          .catch((error: unknown) => log.error({ error }, 'what risk must remember could not be written'));
        await calibrator.flush();
        await accounts.stop();
        if (ledger.live > MOST_HOLDS_WRITTEN)
          return log.warn(
            { live: ledger.live },
            'LP is down with more live quotes than are worth writing: the next start waits them out',
          );
        const ours = await store.stop({
          ledger: ledger.snapshotChunks(),
          cursors: [...followers.values()].map((follower) => follower.cursor()),
        });
        log.info({ clean: ours }, 'LP is down');
      },
    };
  }

  function pull(by: KilledBy, note: string): void {
    if (live === undefined) killedBefore.set(by, note);
    else live.risk.kill.engage(by, note);
  }

  return {
    start,
    async stop() {
      const stopping = live;
      live = undefined;
      await stopping?.stop();
    },
    status() {
      const state = live?.standby.status() ?? { status: 'standby', note: 'not running' };
      return {
        ...state,
        replica:
          deps.shared === undefined ? null : { name: deps.shared.replica, leads: live?.lead.mine() ?? false },
        reasons: live?.standby.reasons() ?? [],
        liveQuotes: live?.desk().book.ledger.live ?? 0,
        openAwards: live?.awards.open().length ?? 0,
        venues: live?.sessions.map(({ name, welcome }) => ({ name, welcome })) ?? [],
        chains: lpChains.map(({ port, chain }) => ({
          chainId: chain.id,
          slug: chain.slug,
          head: port.head()?.number ?? null,
          final: live?.followers.get(chain.id)?.cursor().block ?? 0n,
          gasWei: live?.desk().book.chains.get(chain.id)?.native ?? null,
        })),
        prices: Object.keys(config.prices).map((symbol) => {
          const mid = market.mid(symbol);
          return 'declined' in mid
            ? { symbol, usd: null, detail: mid.detail ?? null }
            : { symbol, usd: mid.value, detail: null };
        }),
      };
    },
    inventory: () => live?.inventory() ?? [],
    positions: () => (live === undefined ? [] : positionsOf(live.desk())),
    receivables: () => live?.receivables() ?? [],
    rebalancing: () => live?.rebalancing() ?? [],
    limits: async () => ({
      limits: live === undefined ? [] : limitUse(live.desk().book.ledger, live.risk.limits()),
    }),
    curves: async () => (live === undefined ? [] : await unhurried(live.curves())),
    awards: (limit = 50) => store.listAwards(limit),
    accounts() {
      if (live === undefined)
        throw new RequestError(
          'The LP is not up yet: its books are opened when its ledger stands. Ask again in a moment.',
          { code: 'not_ready' },
        );
      return live.accounts;
    },
    recorded: (after, limit) => live?.recorded(after, limit) ?? { rfqs: [], next: null },
    pause: (note) => pull('operator', note),
    kill: pull,
    resume() {
      for (const by of killedBefore.keys()) if (by !== 'file') killedBefore.delete(by);
      live?.risk.resume();
    },
    killFileGone() {
      killedBefore.delete('file');
      live?.risk.kill.releaseFile();
    },
    risk: () => live?.risk.status() ?? { tripped: [], navUsd: null, loss: null, suspects: [] },
    async reload(next) {
      const running = live;
      if (running === undefined) return { refused: ['The LP is not up yet. Try again when it is.'] };
      const changes = await unhurried(changesBetween(running.desk().config, next));
      const refused = changes
        .filter(({ path }) => !isLive(path))
        .map(({ path }) => `lp.${path.join('.')} is read only at start: restart the LP to change it.`);
      if (refused.length > 0) return { refused };
      try {
        await running.reload(next);
      } catch (error) {
        if (error instanceof RequestError) return { refused: [error.message] };
        throw error;
      }
      return { applied: changes };
    },
  };
}
