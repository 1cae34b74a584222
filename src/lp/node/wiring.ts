/** Wires every part of the LP around its restored ledger. Nothing starts here. */

import { isDecline } from '../../domain/decline.ts';
import { assetId } from '../../domain/asset.ts';
import type { Address } from '../../domain/hex.ts';
import type { Money } from '../../inventory/event.ts';
import type { Signer } from '../../ports/signer.ts';
import { createAccounts } from '../accounting/accounts.ts';
import { createRebalancing } from '../accounting/rebalancing.ts';
import { createReceivables } from '../accounting/receivables.ts';
import { createTakerCosts } from '../accounting/taker-costs.ts';
import { createChainState, gasPriceOf } from '../routes/chain-state.ts';
import type { Follower } from '../chain/follow.ts';
import type { Reconciler } from '../chain/reconcile.ts';
import type { LpConfig } from '../config/config.ts';
import { createQuoteEvents } from '../quote-log/quote-events.ts';
import { createRecordedRequests } from '../quote-log/recorded-requests.ts';
import { createLevelsPublisher } from '../quoting/levels.ts';
import { createQuoteMetrics } from '../quoting/quote-metrics.ts';
import { type CommitmentSigner, createCommitmentSigner, createTreeSigner } from '../commitment-signer.ts';
import {
  createQuotingSnapshot,
  type QuotingSnapshot,
  type QuotingSnapshotDeps,
} from '../quoting/quoting-snapshot.ts';
import { createSignals } from '../quoting/signals.ts';
import { venueOf } from '../quoting/session/session-state.ts';
import { createVenueSession } from '../quoting/session/venue-session.ts';
import { createWinRates } from '../quoting/win-rates.ts';
import { ALONE, createLead, SHADOW_LEAD } from '../replicas/leadership.ts';
import { createLeases } from '../replicas/lease.ts';
import { createReplica } from '../replicas/replica.ts';
import { createSharing } from '../replicas/sharing.ts';
import { createFaultLog } from '../risk/fault-log.ts';
import { createRisk } from '../risk/risk.ts';
import { createStandby } from '../risk/standby.ts';
import { createVenueBudgets } from '../risk/venue-budgets.ts';
import { createShadowLog } from '../shadow/shadow-log.ts';
import { createAwardRunner } from '../settlement/advance.ts';
import { createAwards, type OpenAward } from '../settlement/awards.ts';
import { createProving } from '../settlement/proving.ts';
import type { LpNodeDeps } from './interface.ts';
import type { OpenedLedger } from './opened-ledger.ts';
import { createBonds } from '../chain/bonds.ts';
import { graceSecondsOf, leaseRules, limitsOf, type NodeBase } from './setup.ts';

export type LpParts = ReturnType<typeof wireLp>;

export function wireLp(deps: LpNodeDeps, config: LpConfig, base: NodeBase, opened: OpenedLedger) {
  const { clock, log, store, metrics, random, shared, shadow, transactors, signer } = deps;
  const { account, lpChains, prices, buckets, lpMetrics, slug } = base;
  const { market } = prices;
  const { ledger, opening, pastAwards } = opened;
  // A shadow LP has no operator: what it may pay out is limited by the account's balance alone.
  const operator = signer?.address ?? account;
  const chains = new Map(lpChains.map(({ chain }) => [chain.id, chain]));
  const ports = new Map(lpChains.map(({ port }) => [port.chain.id, port]));
  const states = new Map(lpChains.map((each) => [each.chain.id, createChainState(each)]));
  const followers = new Map<number, Follower>();
  const reconcilers = new Map<number, Reconciler>();
  const finalBlock = (chainId: number): bigint => followers.get(chainId)?.cursor().block ?? 0n;
  const lastReadTime = (chainId: number) => followers.get(chainId)?.time() ?? 0;
  const current: { snapshot?: QuotingSnapshot } = {};
  const quoting = () => current.snapshot as QuotingSnapshot;
  const now = (chainId: number) => quoting().context.now(chainId);
  const usd = (asset: string) => quoting().context.usd(asset);
  const common = {
    clock,
    log,
    tracer: deps.tracer,
    store,
    metrics,
    ledger,
    market,
    chains,
    followers,
    reconcilers,
    time: lastReadTime,
  };

  function worthUsd({ chainId, token, amount }: Money): number | undefined {
    const bucket = ledger.bucket(chainId, token);
    const price = bucket && usd(bucket.asset);
    return price && Number((amount * price.num) / (price.den * 10n ** BigInt(bucket.decimals)));
  }
  /**
   * Values the award as its quote was worth when it was signed: a price that has gone since must not delay
   * the fill.
   */
  function awardUsd({ orderId, slice }: OpenAward): number | undefined {
    const notional = ledger.quote(orderId)?.request.notional ?? 0n;
    return notional > 0n ? Number(notional) / 1e6 : worthUsd(slice.pays);
  }
  /** "none": the configuration no longer has the pair. */
  const pairOf = ({ slice: { earns, pays } }: Pick<OpenAward, 'slice'>): string =>
    quoting().routes.find(assetId(earns), assetId(pays))?.pairName ?? 'none';
  const nativeSymbol = (chainId: number): string => states.get(chainId)?.port.chain.native.symbol ?? 'native';
  function nativeUsd(chainId: number) {
    const state = states.get(chainId);
    const mid = state && market().mid(gasPriceOf(state));
    return mid === undefined || isDecline(mid) ? undefined : mid.price;
  }
  function midOf(pairName: string): number | undefined {
    const pair = quoting().routes.all.find((each) => each.pairName === pairName)?.pair;
    const price = pair && market().pair(pair.base, pair.quote);
    return price === undefined || isDecline(price) ? undefined : price.mid.value;
  }
  function announceStatus(): void {
    standby.update();
    for (const session of sessions) session.sendStatus();
  }
  /** Runs the awards on the leading replica; the others only store what they received. */
  async function advance(): Promise<void> {
    if (leases.lost || lead.over) return;
    if (lead.mine()) await awardRunner.run();
    else await awards.flush().catch((error: unknown) => log.error({ error }, 'awards could not be stored'));
  }
  const advanceAwards = () => void advance();

  const quoteEvents = createQuoteEvents({ log });
  const risk = createRisk(
    {
      ...{ ...common, limitsOf, slug, shared: shared !== undefined, saved: opening.risk },
      pauses: opened.pauses,
      assetOf: (chainId, token) => ledger.bucket(chainId, token as Address),
      changed: announceStatus,
      killed: (by, note) => deps.killed?.(by, note),
    },
    config,
  );
  const venues = createVenueBudgets(
    { ledger, clock, limits: risk.limits },
    () => quoting().config.risk.venueShare,
  );
  const takers = createTakerCosts(config.takers);
  const rules = leaseRules(lpChains, config);
  const clean = opened.clean || shared !== undefined;
  const leaseDeps = { ...common, now, lastReadTime };
  // Whoever traded the account on another database may have signed until now.
  const signed = [...rules].map(([chainId, { longestQuoteSeconds }]) => {
    const signedUpTo = Math.max(
      (ports.get(chainId)?.head()?.timestamp ?? 0) + longestQuoteSeconds,
      opening.leases.get(chainId)?.signedUpTo ?? 0,
    );
    return [chainId, { signedUpTo, clean: false }] as const;
  });
  const leases = createLeases(leaseDeps, {
    found: opened.learned ? new Map(signed) : opening.leases,
    clean: clean && !opened.learned,
    rules,
  });
  const alone = shadow ? SHADOW_LEAD : ALONE;
  const lead = shared === undefined ? alone : createLead(common, { leaseMs: shared.leadMs });
  const awardDeps = {
    ...{ ...common, recovery: deps.recovery, taken: quoteEvents.accepted },
    formerOperators: (chainId: number) => opened.formerOperators.get(chainId) ?? new Set<Address>(),
  };
  const awards = createAwards(awardDeps, { account, operator });
  for (const award of opened.awards) awards.load(award);
  const accounts = createAccounts(
    {
      ...{ ...common, store: deps.journal, awards: store, open: awards.open, chains: ports, takers, usd },
      ...{ transactions: deps.transactions, transfers: deps.transfers },
      ...{ native: nativeUsd, nativeSymbol, routes: () => quoting().routes },
      final: (chainId) => followers.get(chainId)?.cursor(),
    },
    {
      ...{ ...config, account, operator, tokens: buckets, maxBlocks: config.maxBlocksPerScan },
      ...{
        following: shared !== undefined || shadow !== undefined,
        reconcileMs: config.reconcileSeconds * 1000,
      },
    },
  );
  const recordedRequests = createRecordedRequests(
    { clock },
    { ...config.explain, shown: shadow === undefined },
  );
  const winRates = createWinRates(common, config.pricing.calibration, opening.curves);
  const signals = createSignals({ clock, log, random }, config.signals, opened.signals);
  const { listener } = recordedRequests;
  const counted = createQuoteMetrics(lpMetrics);
  const shadowLog = shadow && createShadowLog({ clock, log, store: shadow.store, mid: midOf }, shadow);
  for (const each of [
    risk.listener,
    createFaultLog(common),
    accounts.listener,
    listener,
    // Takers never see a shadow quote, so it teaches nothing about when they accept.
    shadowLog?.listener ?? winRates,
    venues,
    counted,
  ])
    quoteEvents.listen(each);

  const sharing =
    shared &&
    createSharing(
      {
        ...{ ...common, inventory: shared.inventory, limits: risk.limits, changed: announceStatus },
        ledger: () => ledger,
        graceSeconds: (chainId) => graceSecondsOf(lpChains.find(({ chain }) => chain.id === chainId)),
        ours(orderId, order) {
          if (awards.restore(orderId, order)) awards.opened(orderId, order);
          advanceAwards();
        },
      },
      { generation: opened.generation ?? '', chains: [...chains.keys()] },
    );
  if (sharing !== undefined) opened.onLedgerEvent(sharing.heard);
  const { proofs, attesterPresence } = deps;
  const proving = proofs && createProving({ proofs, attesterPresence, chains, clock }, config.quoting);
  const bonds = createBonds({ ...common, ports }, account);
  const standby = createStandby({
    ...{ ...common, quoting, leases, transactors, risk, sharing, proving, signer, bonds, lead },
    booksBehind: accounts.behind,
  });
  const awardRunner = createAwardRunner(
    {
      ...{ ...common, awards, chains: ports, transactors, proving, metrics: lpMetrics, now },
      worthUsd: awardUsd,
      pairOf,
      tell: (orderId, stage, txHash) => sessions.forEach((each) => each.sendFill(orderId, stage, txHash)),
      failed: quoteEvents.failed,
    },
    { quoting: config.quoting, sandbox: config.sandbox, account },
  );
  const replicaDeps = { ...common, lead, awards, transactors, accounts, advance: advanceAwards };
  const replica = sharing && createReplica({ ...replicaDeps, sharing }, { account });

  const commitmentsOf = (by: Signer): CommitmentSigner =>
    by.places === undefined
      ? createCommitmentSigner(by)
      : createTreeSigner(
          {
            signer: by,
            clock,
            signed: (count) => lpMetrics.signatures.add({ of: count === 1 ? 'one' : 'tree' }),
          },
          by.places,
        );
  const quotingDeps: QuotingSnapshotDeps = {
    ...{ ...common, chains: states, networks: chains, lastReadTime, winRates, leases, random, quoteEvents },
    ...{ sharing, proving, risk, standby, guard: risk.guard, venues, signals },
    startedWith: new Map(Object.keys(config.assets).map((asset) => [asset, ledger.exposure(asset).owned])),
    takers,
    commitments: signer && (deps.commitments ?? commitmentsOf(signer)),
  };
  const firstSources = { market: market(), plugin: deps.plugin };
  current.snapshot = createQuotingSnapshot(quotingDeps, config, firstSources);
  const levels = createLevelsPublisher({
    ...{ ...common, quoting, refusal: standby.refusal, guard: risk.guard, random },
    active: () => signer !== undefined && standby.status().status === 'active',
    send: (message) => sessions.map((session) => session.sendLevels(message)).some((sent) => sent),
  });
  const venueChains = new Map(lpChains.map((each) => [each.chain.id, each]));
  const sessions = deps.links.map((link) =>
    createVenueSession(
      {
        ...{ ...common, link, metrics: lpMetrics, signer, quoting, awards, advanceAwards },
        ...{ chains: venueChains, status: standby.publicStatus },
        welcomed(minBond) {
          // Who only looks on need not have posted a bond.
          if (signer !== undefined) bonds.demanded(link.name, minBond);
          levels.resend();
        },
        outcome: (told) => shadowLog?.accepted(told),
        ...{
          replica: shared?.replica,
          tradedElsewhere: risk.tradedElsewhere,
          shares: new Set(deps.links.map(venueOf)).size > 1,
        },
      },
      config,
    ),
  );
  const owner = { ...config, account };
  const receivables = createReceivables({ ...common, awards, quoteEvents }, owner, pastAwards);
  const bands = () => quoting().context.bands;
  const rebalancing = createRebalancing({ ...common, bands, quoteEvents }, owner, pastAwards);
  return {
    ...{ ...common, deps, base, opened, operator, states, current, quoting, quotingDeps, rules },
    ...{ quoteEvents, risk, leases, lead, awards, accounts, recordedRequests, winRates, sharing, proving },
    ...{
      worthUsd,
      pairOf,
      finalBlock,
      bonds,
      venues,
      standby,
      replica,
      levels,
      sessions,
      receivables,
      rebalancing,
      signals,
      shadowLog,
      advance,
      announceStatus,
    },
  };
}
