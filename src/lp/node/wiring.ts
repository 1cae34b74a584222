/** Wires every part of the LP around its restored ledger. Nothing starts here. */

import type { Address } from '../../domain/hex.ts';
import type { Signer } from '../../ports/signer.ts';
import { type Accounts, createAccounts } from '../accounting/accounts.ts';
import { createRebalancing } from '../accounting/rebalancing.ts';
import { createReceivables } from '../accounting/receivables.ts';
import { createTakerCosts, type TakerCosts } from '../accounting/taker-costs.ts';
import { createBonds } from '../chain/bonds.ts';
import { type CommitmentSigner, createCommitmentSigner, createTreeSigner } from '../commitment-signer.ts';
import type { LpConfig } from '../config/config.ts';
import { createQuoteEvents } from '../quote-log/quote-events.ts';
import { createRecordedRequests } from '../quote-log/recorded-requests.ts';
import { createLevelsPublisher } from '../quoting/levels.ts';
import { createQuoteMetrics } from '../quoting/quote-metrics.ts';
import {
  createQuotingSnapshot,
  type QuotingSnapshot,
  type QuotingSnapshotDeps,
} from '../quoting/quoting-snapshot.ts';
import { venueOf } from '../quoting/session/session-state.ts';
import { createVenueSession, type VenueSession } from '../quoting/session/venue-session.ts';
import { createSignals } from '../quoting/signals.ts';
import { createWinRates } from '../quoting/win-rates.ts';
import { ALONE, createLead, SHADOW_LEAD } from '../replicas/leadership.ts';
import { createLeases } from '../replicas/lease.ts';
import { createReplica } from '../replicas/replica.ts';
import { createSharing, type Sharing } from '../replicas/sharing.ts';
import { createFaultLog } from '../risk/fault-log.ts';
import { createRisk } from '../risk/risk.ts';
import { createStandby } from '../risk/standby.ts';
import { createVenueBudgets } from '../risk/venue-budgets.ts';
import { createChainState } from '../routes/chain-state.ts';
import { createAwardRunner } from '../settlement/advance.ts';
import { type Awards, createAwards } from '../settlement/awards.ts';
import { createProving } from '../settlement/proving.ts';
import { createShadowLog } from '../shadow/shadow-log.ts';
import type { LpNodeDeps } from './interface.ts';
import type { OpenedLedger } from './opened-ledger.ts';
import type { CommonDeps, LpCore, LpParts } from './parts.ts';
import { graceSecondsOf, leaseRules, type NodeBase } from './setup.ts';
import { awardPairOf, createValues } from './values.ts';

export function wireLp(deps: LpNodeDeps, config: LpConfig, base: NodeBase, opened: OpenedLedger): LpParts {
  const core = createCore(deps, config, base, opened);
  const { common, quoting, values, operator, ports, states, current } = core;
  const { log, random, shared, shadow, transactors, signer } = deps;
  const { account, lpMetrics, slug } = base;
  const { ledger, opening, pastAwards } = opened;

  function announceStatus(): void {
    standby.update();
    for (const session of sessions) session.sendStatus();
  }
  async function advance(): Promise<void> {
    if (leases.lost || lead.over) return;
    if (lead.mine()) await awardRunner.run();
    else await awards.flush().catch((error: unknown) => log.error({ error }, 'awards could not be stored'));
  }
  const advanceAwards = () => void advance();

  const quoteEvents = createQuoteEvents({ log });
  const risk = createRisk(
    {
      ...{ ...common, slug, shared: shared !== undefined, saved: opening.risk },
      pauses: opened.pauses,
      assetOf: (chainId, token) => ledger.bucket(chainId, token as Address),
      changed: announceStatus,
      killed: (by, note) => deps.killed?.(by, note),
    },
    config,
  );
  const venues = createVenueBudgets(
    { ...common, limits: risk.limits },
    () => quoting().config.risk.venueShare,
  );
  const takers = createTakerCosts(config.takers);
  const { leases, lead, rules } = wireLeases(core);
  const awardDeps = {
    ...{ ...common, recovery: deps.recovery, taken: quoteEvents.accepted },
    formerOperators: (chainId: number) => opened.formerOperators.get(chainId) ?? new Set<Address>(),
  };
  const awards = createAwards(awardDeps, { account, operator });
  for (const award of opened.awards) awards.load(award);
  const accounts = wireAccounts(core, awards, takers);
  const recordedRequests = createRecordedRequests(common, { ...config.explain, shown: shadow === undefined });
  const winRates = createWinRates(common, config.pricing.calibration, opening.curves);
  const signals = createSignals({ ...common, random }, config.signals, opened.signals);
  const shadowLog = shadow && createShadowLog({ ...common, store: shadow.store, mid: values.midOf }, shadow);
  for (const each of [
    risk.listener,
    createFaultLog(common),
    accounts.listener,
    recordedRequests.listener,
    // Takers never see a shadow quote, so it teaches nothing about when they accept.
    shadowLog?.listener ?? winRates,
    venues,
    createQuoteMetrics(lpMetrics),
  ])
    quoteEvents.listen(each);

  const sharing = wireSharing(core, { risk, awards, announceStatus, advance });
  const { proofs, attesterPresence, plugin } = deps;
  const proving = proofs && createProving({ ...common, proofs, attesterPresence }, config.quoting);
  const bonds = createBonds({ ...common, ports }, account);
  const standby = createStandby({
    ...{ ...common, quoting, leases, transactors, risk, sharing, proving, signer, bonds, lead },
    booksBehind: accounts.behind,
  });
  const pairOf: LpParts['pairOf'] = (award) => awardPairOf(quoting(), award);
  const awardRunner = createAwardRunner(
    {
      ...{ ...common, awards, chains: ports, transactors, proving, metrics: lpMetrics },
      ...{ now: (chainId) => quoting().context.now(chainId), worthUsd: values.awardUsd, pairOf },
      tell: (orderId, stage, txHash) => sessions.forEach((each) => each.sendFill(orderId, stage, txHash)),
      failed: quoteEvents.failed,
    },
    { quoting: config.quoting, sandbox: config.sandbox, account },
  );
  const replicaDeps = { ...common, lead, awards, transactors, accounts, advance: advanceAwards };
  const replica = sharing && createReplica({ ...replicaDeps, sharing }, { account });

  const quotingDeps: QuotingSnapshotDeps = {
    ...{ ...common, chains: states, networks: common.chains, lastReadTime: common.time },
    ...{ winRates, leases, random, quoteEvents, takers },
    ...{ sharing, proving, risk, standby, bonds, guard: risk.guard, venues, signals },
    startedWith: new Map(Object.keys(config.assets).map((asset) => [asset, ledger.exposure(asset).owned])),
    commitments: signer && (deps.commitments ?? commitmentsOf(core, signer)),
  };
  current.snapshot = createQuotingSnapshot(quotingDeps, config, { market: common.market(), plugin });
  const levels = createLevelsPublisher({
    ...{ ...common, quoting, refusal: standby.refusal, guard: risk.guard, random },
    active: () => signer !== undefined && standby.status().status === 'active',
    send: (message) => sessions.map((session) => session.sendLevels(message)).some((sent) => sent),
  });
  const sessions = wireSessions(core, { risk, awards, bonds, standby, levels, shadowLog, advance });
  const owner = { ...config, account };
  const bands = () => quoting().context.bands;
  return {
    ...{ ...common, deps, base, opened, operator, states, current, quoting, quotingDeps, rules },
    ...{ quoteEvents, risk, leases, lead, awards, accounts, recordedRequests, winRates, sharing, proving },
    ...{ bonds, venues, standby, replica, levels, sessions, signals, shadowLog, advance, announceStatus },
    receivables: createReceivables({ ...common, awards, quoteEvents }, owner, pastAwards),
    rebalancing: createRebalancing({ ...common, bands, quoteEvents }, owner, pastAwards),
    finalBlock: (chainId) => common.followers.get(chainId)?.cursor().block ?? 0n,
    worthUsd: values.worthUsd,
    pairOf,
  };
}

function createCore(deps: LpNodeDeps, config: LpConfig, base: NodeBase, opened: OpenedLedger): LpCore {
  const { clock, log, store, metrics, tracer, signer } = deps;
  const { account, lpChains, prices } = base;
  const { ledger } = opened;
  const states = new Map(lpChains.map((each) => [each.chain.id, createChainState(each)]));
  const followers: CommonDeps['followers'] = new Map();
  const common: CommonDeps = {
    ...{ clock, log, tracer, store, metrics, ledger, followers },
    market: prices.market,
    chains: new Map(lpChains.map(({ chain }) => [chain.id, chain])),
    reconcilers: new Map(),
    time: (chainId) => followers.get(chainId)?.time() ?? 0,
  };
  const current: LpCore['current'] = {};
  const quoting = () => current.snapshot as QuotingSnapshot;
  return {
    ...{ deps, base, opened, config, common, states, current, quoting },
    // A shadow LP has no operator: what it may pay out is limited by the account's balance alone.
    operator: signer?.address ?? account,
    ports: new Map(lpChains.map(({ port }) => [port.chain.id, port])),
    values: createValues({ ledger, market: prices.market, states, quoting }),
  };
}

function wireLeases({
  deps: { shared, shadow },
  base: { lpChains },
  opened,
  config,
  common,
  ports,
  quoting,
}: LpCore): Pick<LpParts, 'leases' | 'lead' | 'rules'> {
  const { leases: found } = opened.opening;
  const rules = leaseRules(lpChains, config);
  // Whoever traded the account on another database may have signed until now.
  const signed = [...rules].map(([chainId, { longestQuoteSeconds }]) => {
    const signedUpTo = Math.max(
      (ports.get(chainId)?.head()?.timestamp ?? 0) + longestQuoteSeconds,
      found.get(chainId)?.signedUpTo ?? 0,
    );
    return [chainId, { signedUpTo, clean: false }] as const;
  });
  const now = (chainId: number) => quoting().context.now(chainId);
  const leases = createLeases(
    { ...common, now, lastReadTime: common.time },
    {
      found: opened.learned ? new Map(signed) : found,
      clean: (opened.clean || shared !== undefined) && !opened.learned,
      rules,
    },
  );
  const alone = shadow ? SHADOW_LEAD : ALONE;
  return { leases, rules, lead: shared ? createLead(common, { leaseMs: shared.leadMs }) : alone };
}

function wireAccounts(
  { deps, base, config, common, values, ports, states, operator, quoting }: LpCore,
  awards: Awards,
  takers: TakerCosts,
): Accounts {
  return createAccounts(
    {
      ...{ ...common, store: deps.journal, awards: deps.store, open: awards.open, chains: ports, takers },
      ...{ transactions: deps.transactions, transfers: deps.transfers },
      ...{ usd: values.usd, native: values.nativeUsd, routes: () => quoting().routes },
      nativeSymbol: (chainId) => states.get(chainId)?.port.chain.native.symbol ?? 'native',
      final: (chainId) => common.followers.get(chainId)?.cursor(),
    },
    {
      ...{ ...config, account: base.account, operator, tokens: base.buckets },
      maxBlocks: config.maxBlocksPerScan,
      following: deps.shared !== undefined || deps.shadow !== undefined,
      reconcileMs: config.reconcileSeconds * 1000,
    },
  );
}

/** undefined: this LP runs alone. */
function wireSharing(
  { deps: { shared }, base: { lpChains }, opened, common }: LpCore,
  { risk, awards, announceStatus, advance }: Pick<LpParts, 'risk' | 'awards' | 'announceStatus' | 'advance'>,
): Sharing | undefined {
  if (shared === undefined) return undefined;
  const sharing = createSharing(
    {
      ...{ ...common, inventory: shared.inventory, limits: risk.limits, changed: announceStatus },
      ledger: () => common.ledger,
      graceSeconds: (chainId) => graceSecondsOf(lpChains.find(({ chain }) => chain.id === chainId)),
      ours(orderId, order) {
        if (awards.restore(orderId, order)) awards.opened(orderId, order);
        void advance();
      },
    },
    { generation: opened.generation ?? '', chains: [...common.chains.keys()] },
  );
  opened.onLedgerEvent(sharing.heard);
  return sharing;
}

function commitmentsOf({ base: { lpMetrics }, common: { clock } }: LpCore, by: Signer): CommitmentSigner {
  if (by.places === undefined) return createCommitmentSigner(by);
  const signed = (count: number) => lpMetrics.signatures.add({ of: count === 1 ? 'one' : 'tree' });
  return createTreeSigner({ signer: by, clock, signed }, by.places);
}

function wireSessions(
  { deps: { links, signer, shared }, base: { lpChains, lpMetrics }, config, common, quoting }: LpCore,
  {
    risk,
    awards,
    bonds,
    standby,
    levels,
    shadowLog,
    advance,
  }: Pick<LpParts, 'risk' | 'awards' | 'bonds' | 'standby' | 'levels' | 'shadowLog' | 'advance'>,
): VenueSession[] {
  const chains = new Map(lpChains.map((each) => [each.chain.id, each]));
  return links.map((link) =>
    createVenueSession(
      {
        ...{ ...common, link, metrics: lpMetrics, signer, quoting, awards, chains },
        ...{ advanceAwards: () => void advance(), status: standby.publicStatus },
        welcomed(minBond) {
          // Who only looks on need not have posted a bond.
          if (signer !== undefined) bonds.demanded(link.name, minBond);
          levels.resend();
        },
        outcome: (told) => shadowLog?.accepted(told),
        replica: shared?.replica,
        tradedElsewhere: risk.tradedElsewhere,
        shares: new Set(links.map(venueOf)).size > 1,
      },
      config,
    ),
  );
}
