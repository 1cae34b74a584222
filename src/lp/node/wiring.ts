/** Wires every part of the LP around its restored ledger. Nothing starts here. */

import { isDecline } from '../../domain/decline.ts';
import type { Address } from '../../domain/hex.ts';
import type { Money } from '../../inventory/event.ts';
import { createAccounts } from '../accounting/accounts.ts';
import { createRebalancing } from '../accounting/rebalancing.ts';
import { createReceivables } from '../accounting/receivables.ts';
import { createTakers } from '../accounting/taker-costs.ts';
import type { ChainState } from '../chain/chain-state.ts';
import type { Follower } from '../chain/follow.ts';
import type { LpConfig } from '../config/config.ts';
import { createQuoteEvents } from '../quote-log/quote-events.ts';
import { createRecordedRequests } from '../quote-log/recorded-requests.ts';
import { createLadders } from '../quoting/ladder.ts';
import { createLevelsPublisher } from '../quoting/levels.ts';
import { createCommitmentSigner } from '../quoting/quote.ts';
import {
  createQuotingSnapshot,
  type QuotingSnapshot,
  type QuotingSnapshotDeps,
} from '../quoting/quoting-snapshot.ts';
import { createVenueSession } from '../quoting/venue-session.ts';
import { createWinRates } from '../quoting/win-rates.ts';
import { ALONE, createLead } from '../replicas/leadership.ts';
import { createLeases } from '../replicas/lease.ts';
import { createReplica } from '../replicas/replica.ts';
import { createSharing } from '../replicas/sharing.ts';
import { createFaultLog } from '../risk/fault-log.ts';
import { createRisk } from '../risk/risk.ts';
import { createStandby } from '../risk/standby.ts';
import { createAwardRunner } from '../settlement/advance.ts';
import { createAwards } from '../settlement/awards.ts';
import { createProving } from '../settlement/proving.ts';
import type { LpNodeDeps } from './interface.ts';
import type { OpenedLedger } from './opened-ledger.ts';
import { graceSecondsOf, leaseRules, limitsOf, type NodeBase } from './setup.ts';

export type LpParts = ReturnType<typeof wireLp>;

export function wireLp(deps: LpNodeDeps, config: LpConfig, base: NodeBase, opened: OpenedLedger) {
  const { clock, log, store, metrics, random, shared, transactors } = deps;
  const { account, lpChains, market, buckets, lpMetrics, slug } = base;
  const { ledger, opening } = opened;
  const operator = deps.signer.address;
  const ports = new Map(lpChains.map(({ port }) => [port.chain.id, port]));
  const chains = new Map(lpChains.map(({ chain }) => [chain.id, chain]));
  const states = new Map(
    lpChains.map(({ port, config: chain }): [number, ChainState] => [
      port.chain.id,
      { port, config: chain, gasPrice: undefined, dataFees: undefined, native: undefined },
    ]),
  );
  const followers = new Map<number, Follower>();
  const lastReadTime = (chainId: number) => followers.get(chainId)?.time() ?? 0;
  /** A reload replaces the snapshot. */
  const current: { snapshot?: QuotingSnapshot } = {};
  const quoting = () => current.snapshot as QuotingSnapshot;
  const now = (chainId: number) => quoting().context.now(chainId);
  const usd = (asset: string) => quoting().context.usd(asset);

  function worthUsd({ chainId, token, amount }: Money): number | undefined {
    const bucket = ledger.bucket(chainId, token);
    const price = bucket && usd(bucket.asset);
    return price && Number((amount * price.num) / (price.den * 10n ** BigInt(bucket.decimals)));
  }
  function nativeUsd(chainId: number) {
    const mid = market.mid(states.get(chainId)?.config.gasPrice ?? '');
    return isDecline(mid) ? undefined : mid.price;
  }
  function announceStatus(): void {
    standby.update();
    for (const session of sessions) session.sendStatus();
  }
  /** Only the leading replica acts on awards; the others store what they received. */
  async function advance(): Promise<void> {
    if (leases.lost || lead.over) return;
    if (lead.mine()) await awardRunner.run();
    else await awards.flush().catch((error: unknown) => log.error({ error }, 'awards could not be stored'));
  }

  const quoteEvents = createQuoteEvents({ log });
  const risk = createRisk(
    {
      ...{ ledger, market, store, clock, log, metrics, limitsOf, slug },
      shared: shared !== undefined,
      saved: opening.risk,
      assetOf: (chainId, token) => ledger.bucket(chainId, token as Address),
      changed: announceStatus,
      killed: (by, note) => deps.killed?.(by, note),
    },
    config,
  );
  const takers = createTakers(config.takers);
  const rules = leaseRules(lpChains, config);
  const leases = createLeases(
    { store, log, now, settled: lastReadTime },
    { found: opening.leases, clean: opened.clean || shared !== undefined, rules },
  );
  const lead = shared === undefined ? ALONE : createLead({ store, clock, log }, { leaseMs: shared.leadMs });
  const awards = createAwards(
    {
      ...{ ledger, store, recovery: deps.recovery, clock, log, chains },
      time: lastReadTime,
      taken: quoteEvents.accepted,
    },
    { account, operator },
  );
  for (const award of opened.awards) awards.load(award);
  const accounts = createAccounts(
    {
      ...{ store: deps.journal, awards: store, open: awards.open, chains: ports, ledger, market, takers },
      ...{ clock, log, transactions: deps.transactions, usd, native: nativeUsd },
      final: (chainId) => followers.get(chainId)?.cursor(),
      routes: () => quoting().routes,
    },
    {
      ...{ account, operator, tokens: buckets, maxBlocks: config.maxBlocksPerScan },
      ...{ explain: config.explain, journal: config.journal, resting: shared !== undefined },
      reconcileMs: config.reconcileSeconds * 1000,
    },
  );
  const recordedRequests = createRecordedRequests({ clock }, config.explain);
  const winRates = createWinRates({ clock, log, metrics, store }, config.pricing.calibration, opening.curves);
  for (const listener of [
    risk.listener,
    createFaultLog({ clock, log }),
    accounts.listener,
    recordedRequests.listener,
    winRates,
  ])
    quoteEvents.listen(listener);

  const sharing =
    shared &&
    createSharing(
      {
        ...{ inventory: shared.inventory, store, followers, limits: risk.limits, log },
        ledger: () => ledger,
        graceSeconds: (chainId) => graceSecondsOf(lpChains.find(({ chain }) => chain.id === chainId)),
        ours(orderId, order) {
          if (awards.restore(orderId, order)) awards.opened(orderId, order);
          void advance();
        },
        changed: announceStatus,
      },
      { generation: opened.generation ?? '', chains: [...chains.keys()] },
    );
  if (sharing !== undefined) opened.onLedgerEvent(sharing.heard);
  const proving =
    deps.proofs &&
    createProving(
      { proofs: deps.proofs, attesterPresence: deps.attesterPresence, chains, clock },
      config.quoting,
    );
  const standby = createStandby({
    ...{ quoting, leases, followers, transactors, risk, clock, sharing, proving, lead },
  });
  const awardRunner = createAwardRunner(
    {
      ...{ awards, ledger, chains: ports, transactors, proving, metrics: lpMetrics, log, now },
      worthUsd: ({ slice }) => worthUsd(slice.pays),
      tell: (orderId, stage, txHash) => sessions.forEach((each) => each.sendFill(orderId, stage, txHash)),
      failed: quoteEvents.failed,
    },
    { quoting: config.quoting, account },
  );
  const replica =
    sharing &&
    createReplica(
      {
        ...{ store, lead, sharing, awards, ledger, followers, chains, transactors, accounts, log },
        advance: () => void advance(),
      },
      { account },
    );

  const assets = Object.keys(config.assets);
  const quotingDeps: QuotingSnapshotDeps = {
    ...{
      clock,
      market,
      ledger,
      chains: states,
      lastReadTime,
      networks: chains,
      winRates,
      leases,
      log,
      random,
    },
    ...{ quoteEvents, sharing, proving, guard: risk.guard, gapLoss: risk.gapLoss, refusal: standby.refusal },
    startedWith: new Map(assets.map((asset) => [asset, ledger.exposure(asset).owned])),
    adverse: takers.adverse,
    ladders: createLadders({ clock }),
    signCommitment: deps.commit ?? createCommitmentSigner(deps.signer),
    ...(deps.plugin && { plugin: deps.plugin }),
  };
  current.snapshot = createQuotingSnapshot(quotingDeps, config);
  const levels = createLevelsPublisher({
    ...{ quoting, refusal: standby.refusal, guard: risk.guard, clock, random, log },
    active: () => standby.status().status === 'active',
    send: (message) => sessions.map((session) => session.sendLevels(message)).some((sent) => sent),
  });
  const sessions = deps.links.map((link) =>
    createVenueSession(
      {
        ...{ link, clock, log, metrics: lpMetrics, signer: deps.signer, quoting, awards },
        chains: new Map(lpChains.map((each) => [each.chain.id, each])),
        status: standby.status,
        advanceAwards: () => void advance(),
        welcomed: levels.resend,
        tradedElsewhere: risk.tradedElsewhere,
        replica: shared?.replica,
      },
      config,
    ),
  );
  const receivables = createReceivables(
    { awards, ledger, quoteEvents, chains, log, time: lastReadTime },
    { ...config, account },
    opened.pastAwards,
  );
  const rebalancing = createRebalancing(
    { bands: () => quoting().context.bands, quoteEvents, chains, clock, log },
    { ...config, account },
    opened.pastAwards,
  );
  return {
    ...{
      deps,
      base,
      opened,
      operator,
      chains,
      states,
      followers,
      ledger,
      current,
      quoting,
      quotingDeps,
      rules,
    },
    ...{ quoteEvents, risk, leases, lead, awards, accounts, recordedRequests, winRates, sharing, proving },
    ...{ standby, replica, levels, sessions, receivables, rebalancing, advance, announceStatus },
  };
}
