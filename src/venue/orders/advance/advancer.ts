/**
 * Advances every open order: reads the chains, records what they say as facts, and runs the step that is the
 * venue's. Events and submissions wake it; a sweep looks at every order again, so a lost wake-up costs
 * seconds. Several workers may run: an order belongs to the worker that holds its claim, and only a worker
 * that may send on the order's origin claims it.
 *
 * Read first in this folder; then chain-view and event-cache (what the chains say), observe (the facts of one
 * order), run-step and send (its next step), failure. withdrawals runs beside them.
 */

import { fillPayloadHash } from '../../../domain/attestation.ts';
import type { Fact, Failure } from '../../../domain/fact.ts';
import { addressToBytes32, type Bytes32 } from '../../../domain/hex.ts';
import type { Attestations } from '../../../ports/attestations.ts';
import type { Bus } from '../../../ports/bus.ts';
import type { ChainPort } from '../../../ports/chain.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/log.ts';
import type { Metrics } from '../../../ports/metrics.ts';
import type { Queue } from '../../../ports/queue.ts';
import type { RouteVenue } from '../../../ports/route-venue.ts';
import type { Claim, EventStore, OrderNews, OrderRecord, OrderStore } from '../../../ports/stores/store.ts';
import type { Transactor } from '../../../ports/transactor.ts';
import { foldFacts, type Progress } from '../../../settlement/lifecycle.ts';
import { type SettlementPlan, plan } from '../../../settlement/plan.ts';
import { isFundingRevert, type Revert } from '../../../settlement/revert.ts';
import { explainFailure } from './failure.ts';
import { observeOrder, type ChainObservation } from './observe.ts';
import { createStepExecutor, type StepResult } from './run-step.ts';
import { type ChainWatch, createChainWatch, type PinnedBlocks } from './chain-view.ts';

export interface OrderAdvancerDeps {
  store: OrderStore & Pick<EventStore, 'ordersWith'>;
  chains: ReadonlyMap<number, ChainPort>;
  /** Relayers by chain; orders of a chain without one are only observed. */
  transactors: ReadonlyMap<number, Transactor>;
  /** Venues that fill from their own accounts are asked to deliver. */
  routeVenues: readonly RouteVenue[];
  attestations: Attestations;
  queue: Queue;
  bus: Pick<Bus, 'subscribe'>;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

export interface OrderAdvancerOptions {
  /** Unique per process. */
  owner: string;
  leaseMs?: number;
  sweepMs?: number;
  /** How long proving and finalising are left to the LP. */
  graceMs?: number;
  /** Queue topic on which submissions send their orderId. */
  topic?: string;
}

export interface OrderAdvancer {
  /** Looks at every open order, then follows events, wake-ups and its sweep until stopped. */
  start(): Promise<void>;
  /** Finishes work in progress and releases its claims. */
  stop(): Promise<void>;
}

interface Work {
  record: OrderRecord;
  progress: Progress;
  claim: Claim;
  running: boolean;
  again: boolean;
  /** When the last look began, by the monotonic clock. */
  lookedAtMs: number;
  /** Look again when this chain's time has passed. */
  waitFor: Extract<SettlementPlan, { kind: 'wait' }> | undefined;
  /** Look again when this transaction is no longer pending. */
  sent: { key: string; chainId: number } | undefined;
  /** Why the chain refused the last transaction in simulation. */
  refusal: Revert | undefined;
}

const PAGE = 500;
const SETTLE_SECONDS = [0.5, 1, 2, 3, 5, 8, 13, 21, 34, 60, 120, 300, 900];

export function createOrderAdvancer(deps: OrderAdvancerDeps, options: OrderAdvancerOptions): OrderAdvancer {
  const { store, chains, queue, bus, clock, log, metrics } = deps;
  const { owner, leaseMs = 6_000, sweepMs = 5_000, graceMs = 8_000, topic = 'orders' } = options;
  const stepsTotal = metrics.counter(
    'firmquote_venue_steps_total',
    'Settlement transactions handed to a relayer',
    ['step', 'chain'],
  );
  const endedTotal = metrics.counter(
    'firmquote_venue_orders_ended_total',
    'Orders that reached a public end, by status and failure code',
    ['status', 'code'],
  );
  const settleSeconds = metrics.histogram(
    'firmquote_venue_settle_seconds',
    'From acceptance to settled',
    SETTLE_SECONDS,
    ['flow'],
  );
  const looks = metrics.counter('firmquote_venue_order_looks_total', 'Times an order was looked at', [
    'result',
  ]);
  metrics.gauge(
    'firmquote_venue_worker_leads',
    'Chains on which this worker sends and has the orders: 1, else 0',
    ['chain'],
    (gauge) => {
      for (const [id, { chain }] of chains) gauge.set(maySend(id) ? 1 : 0, { chain: chain.slug });
    },
  );
  const stages = metrics.gauge('firmquote_venue_orders_open', 'Open orders held by this worker, by stage', [
    'stage',
  ]);

  const work = new Map<Bytes32, Work>();
  /** Orders by the payload hash of a fill, whose proof wakes them. */
  const proofsOf = new Map<Bytes32, Bytes32>();
  const stepExecutor = createStepExecutor(
    {
      chains,
      transactors: deps.transactors,
      routeVenues: deps.routeVenues,
      attestations: deps.attestations,
      clock,
      log,
      steps: stepsTotal,
    },
    { graceMs },
  );
  const watches = new Map<number, ChainWatch>(
    [...chains].map(([id, chain]) => [
      id,
      createChainWatch(chain, log, (pinned, touched) => onChainMoved(id, pinned, touched)),
    ]),
  );
  const running = new Set<Promise<void>>();
  const adopting = new Set<Bytes32>();
  let adoption: Promise<void> | undefined;
  let stopped = true;
  let cancelSweep = () => {};
  let cancelRenewal = () => {};
  let unsubscribe = async (): Promise<void> => {};

  /** Waking */

  function onChainMoved(chainId: number, { head, final }: PinnedBlocks, touched: ReadonlySet<Bytes32>): void {
    for (const id of touched) {
      const orderId = proofsOf.get(id) ?? id;
      if (work.has(orderId)) wake(orderId);
    }
    for (const [orderId, { waitFor, sent }] of work) {
      const due =
        waitFor?.chainId === chainId && (waitFor.at === 'head' ? head : final).timestamp > waitFor.until;
      if (due || sent?.chainId === chainId) wakeIfDone(orderId, due, sent);
    }
  }

  function wakeIfDone(orderId: Bytes32, due: boolean, sent: Work['sent']): void {
    if (due || !sent) return wake(orderId);
    void deps.transactors
      .get(sent.chainId)
      ?.status(sent.key)
      .then((status) => {
        // A successful transaction wakes the order by its event, once that is final.
        if (status?.state === 'void' || (status?.state === 'mined' && status.receipt.status === 'reverted'))
          wake(orderId);
      })
      .catch(() => {});
  }

  function wake(orderId: Bytes32): void {
    const item = work.get(orderId);
    if (!item || stopped) return;
    item.again = true;
    if (item.running) return;
    item.running = true;
    const run = (async () => {
      while (item.again && !stopped && work.get(orderId) === item) {
        item.again = false;
        item.lookedAtMs = clock.monotonicMs();
        await advanceOrder(item).then(
          () => looks.add({ result: 'ok' }),
          (error: unknown) => {
            looks.add({ result: 'error' });
            log.warn(
              { orderId, error },
              'an order could not be advanced; the next wake-up or sweep tries again',
            );
          },
        );
      }
      item.running = false;
    })().finally(() => running.delete(run));
    running.add(run);
  }

  /** Claiming */

  /** Orders of a chain without a relayer are observed by any worker. */
  const maySend = (chainId: number): boolean => deps.transactors.get(chainId)?.holds() ?? true;

  /** Wake-ups within 2 ms share one claim. */
  function claimSoon(orderIds: Iterable<Bytes32>): Promise<void> {
    for (const orderId of orderIds) if (!work.has(orderId)) adopting.add(orderId);
    adoption ??= (async () => {
      await new Promise<void>((done) => clock.after(2, done));
      const wanted = [...adopting];
      const chainIds = [...chains.keys()].filter(maySend);
      adopting.clear();
      adoption = undefined;
      if (wanted.length === 0 || chainIds.length === 0) return;
      const claims = await store.claim(wanted, owner, leaseMs, chainIds);
      await startClaimed(claims);
    })();
    return adoption;
  }

  /** Records are read after the claim, so that facts of a former owner are not missed. */
  async function startClaimed(claims: readonly Claim[]): Promise<void> {
    if (claims.length === 0) return;
    const records = await store.ordersWith(claims.map(({ orderId }) => orderId));
    for (const claim of claims) {
      const [item, record] = [work.get(claim.orderId), records.get(claim.orderId)];
      // Two claims of the same order: the later fence counts.
      if (item) item.claim = claim.fence > item.claim.fence ? claim : item.claim;
      else if (record) startWork(record, claim);
    }
  }

  function startWork(record: OrderRecord, claim: Claim): void {
    const progress = foldFacts(
      record.order,
      record.facts.map(({ fact }) => fact),
    );
    const item: Work = {
      record,
      progress,
      claim,
      running: false,
      again: false,
      lookedAtMs: Number.NEGATIVE_INFINITY,
      waitFor: undefined,
      sent: undefined,
      refusal: undefined,
    };
    work.set(record.orderId, item);
    for (const fill of progress.fills) if (fill && progress.flow === 'cross_chain') rememberProof(item, fill);
    wake(record.orderId);
  }

  function drop({ record }: Work): void {
    work.delete(record.orderId);
    stepExecutor.forget(record.orderId);
    for (const [payloadHash, orderId] of proofsOf)
      if (orderId === record.orderId) proofsOf.delete(payloadHash);
  }

  async function sweep(): Promise<void> {
    let after: { createdAtMs: number; orderId: Bytes32 } | undefined;
    do {
      const page = await store.openOrders(PAGE, after);
      const last = page.at(-1);
      after =
        page.length === PAGE && last ? { createdAtMs: last.createdAtMs, orderId: last.orderId } : undefined;
      const unclaimed = page.filter(
        ({ orderId, originChainId }) => !work.has(orderId) && maySend(originChainId),
      );
      if (unclaimed.length > 0) {
        await startClaimed(
          await store.claim(
            unclaimed.map(({ orderId }) => orderId),
            owner,
            leaseMs,
          ),
        );
      }
    } while (after && !stopped);
    const before = clock.monotonicMs() - sweepMs;
    // An order with a pending transaction is woken by its outcome; all others are tried again.
    for (const [orderId, { sent, lookedAtMs }] of work) if (!sent || lookedAtMs <= before) wake(orderId);
    const counts = new Map<string, number>();
    for (const { progress } of work.values())
      counts.set(progress.stage, (counts.get(progress.stage) ?? 0) + 1);
    for (const stage of ['awaiting_escrow', 'escrowed', 'delivered', 'proven', 'refund_pending'])
      stages.set(counts.get(stage) ?? 0, { stage });
  }

  async function renew(): Promise<void> {
    await releaseUnsendable();
    const held = [...work.values()];
    if (held.length === 0) return;
    const kept = new Map(
      (
        await store.renew(
          held.map(({ claim }) => claim),
          leaseMs,
        )
      ).map((claim) => [claim.orderId, claim]),
    );
    for (const item of held) {
      const claim = kept.get(item.record.orderId);
      if (claim) item.claim = claim;
      else if (work.get(item.record.orderId) === item) drop(item);
    }
  }

  /** Releases orders of chains on which another worker sends now. */
  async function releaseUnsendable(): Promise<void> {
    const others = [...work.values()].filter(
      ({ record, running: busy }) => !busy && !maySend(record.originChainId),
    );
    for (const item of others) drop(item);
    await store.release(others.map(({ claim }) => claim));
  }

  /** Advancing one order */

  async function advanceOrder(item: Work): Promise<void> {
    const seen = await observeOrder(item.record, item.progress, watches);
    if (!seen) return;
    const facts = withFailure(item, seen);
    if (facts.length > 0 && !(await appendFacts(item, facts))) return;
    if (item.progress.final) return drop(item);
    const next = decide(item, seen);
    item.waitFor = next.kind === 'wait' ? next : undefined;
    if (next.kind === 'fail') {
      const code = seen.nonceGone ? next.code : codeOf(item, next.code);
      if (
        await appendFacts(item, [
          { kind: 'failed', failure: explainFailure(code, item.record, item.refusal) },
        ])
      ) {
        if (item.progress.final) drop(item);
        // The input is in the escrow: the refund comes next.
        else item.again = true;
      }
      return;
    }
    if (next.kind !== 'step') return;
    const taken = await stepExecutor.take(item.record, item.progress, next);
    await recordResult(item, next, taken);
  }

  function decide(
    { record: { order, executionMode }, progress }: Work,
    { nonceGone, timeOf }: ChainObservation,
  ): SettlementPlan {
    if (nonceGone && !progress.opened) return { kind: 'fail', code: 'not_opened' };
    const margin = chains.get(Number(order.originChainId))?.chain.landingMarginSeconds ?? 0;
    return plan({ order, progress, executionMode, openReserveSeconds: Math.floor(margin / 2), timeOf });
  }

  /** A refund without a recorded failure: the LPs released the order, or another keeper refunded it first. */
  function withFailure({ progress, record: order }: Work, { facts }: ChainObservation): Fact[] {
    const refund = facts.find((fact) => fact.kind === 'refunded');
    if (refund?.kind !== 'refunded' || progress.failure) return facts;
    const code = refund.evidence.at <= order.order.expires ? 'solver_released' : 'expired_unfilled';
    const failed: Fact = { kind: 'failed', failure: explainFailure(code, order, undefined) };
    return facts.flatMap((fact) => (fact === refund ? [failed, fact] : [fact]));
  }

  function codeOf({ refusal, record: { order } }: Work, code: Failure['code']): Failure['code'] {
    if (code !== 'not_opened' || !refusal) return code;
    return isFundingRevert(refusal, order.user) ? 'funding_failed' : 'settlement_reverted';
  }

  async function recordResult(
    item: Work,
    next: Extract<SettlementPlan, { kind: 'step' }>,
    taken: StepResult,
  ): Promise<void> {
    if (taken.kind === 'refused') {
      // A passed deadline does not explain why the step failed before.
      if (taken.revert.name !== 'DeadlinePassed') item.refusal = taken.revert;
      log.info(
        { orderId: item.record.orderId, step: next.step, reason: taken.revert.text },
        'the simulation refused this step',
      );
    }
    item.sent = taken.kind === 'sent' ? { key: taken.key, chainId: taken.chainId } : undefined;
    if (next.notAfter !== null)
      item.waitFor = { kind: 'wait', chainId: next.chainId, until: next.notAfter, at: 'head' };
    const { step } = next;
    if (taken.kind !== 'sent' || !taken.hash || (step !== 'settle' && step !== 'open' && step !== 'refund'))
      return;
    if (item.progress.sent.some(({ txHash }) => txHash === taken.hash)) return;
    await appendFacts(item, [{ kind: 'sent', step, chainId: taken.chainId, txHash: taken.hash }]);
  }

  /** false when this worker no longer owns the order. */
  async function appendFacts(item: Work, facts: readonly Fact[]): Promise<boolean> {
    const before = item.progress.status;
    const all = [...item.record.facts.map(({ fact }) => fact), ...facts];
    const progress = foldFacts(item.record.order, all);
    const event =
      progress.status === before
        ? null
        : progress.status === 'settled'
          ? ('order.settled' as const)
          : ('order.failed' as const);
    const atMs = clock.nowMs();
    const seq = item.record.facts.length;
    const ours = await store.append(item.claim, item.record, facts, {
      status: progress.status,
      final: progress.final,
      event,
      atMs,
    });
    if (!ours) {
      drop(item);
      return false;
    }
    item.record = {
      ...item.record,
      updatedAtMs: atMs,
      facts: [
        ...item.record.facts,
        ...facts.map((fact, index) => ({ seq: seq + index + 1, recordedAtMs: atMs, fact })),
      ],
    };
    item.progress = progress;
    for (const fact of facts)
      if (fact.kind === 'filled' && progress.flow === 'cross_chain') rememberProof(item, fact);
    if (event) {
      endedTotal.add({ status: progress.status, code: progress.failure?.code ?? 'none' });
      if (progress.status === 'settled')
        settleSeconds.observe((atMs - item.record.createdAtMs) / 1_000, { flow: progress.flow });
      log.info(
        {
          orderId: item.record.orderId,
          status: progress.status,
          stage: progress.stage,
          ...(progress.failure && { code: progress.failure.code }),
        },
        'order ended',
      );
    }
    return true;
  }

  function rememberProof(
    { record: { order, orderId } }: Work,
    fact: Extract<Fact, { kind: 'filled' }>,
  ): void {
    const output = order.outputs[fact.outputIndex];
    if (output)
      proofsOf.set(
        fillPayloadHash({
          solver: addressToBytes32(fact.solver),
          orderId,
          timestamp: fact.timestamp,
          output,
        }),
        orderId,
      );
  }

  function repeat(everyMs: number, what: () => Promise<void>, name: string): () => void {
    let cancel = () => {};
    const next = () => {
      cancel = clock.after(everyMs, () => {
        what()
          .catch((error: unknown) => log.warn({ error }, `${name} failed; it will be repeated`))
          .finally(() => {
            if (!stopped) next();
          });
      });
    };
    next();
    return () => cancel();
  }

  return {
    async start() {
      stopped = false;
      await Promise.all([...watches.values()].map((watch) => watch.start()));
      await sweep();
      cancelSweep = repeat(sweepMs, sweep, 'the sweep over open orders');
      cancelRenewal = repeat(leaseMs / 3, renew, 'the renewal of claims');
      // The queue wakes one worker, perhaps not the one that may send; the bus reaches all of them.
      unsubscribe = await bus.subscribe(topic, (payload) => {
        const { orderId, event } = JSON.parse(payload) as OrderNews;
        if (event === 'order.created' && !stopped)
          claimSoon([orderId]).catch((error: unknown) =>
            log.warn({ orderId, error }, 'a new order could not be claimed; the sweep tries again'),
          );
      });
      await queue.process(topic, 64, (orderId) => claimSoon([orderId as Bytes32]));
    },
    async stop() {
      stopped = true;
      cancelSweep();
      cancelRenewal();
      await unsubscribe();
      await Promise.all([...watches.values()].map((watch) => watch.stop()));
      await Promise.all(running);
      await store.release([...work.values()].map(({ claim }) => claim)).catch(() => {});
      work.clear();
    },
  };
}
