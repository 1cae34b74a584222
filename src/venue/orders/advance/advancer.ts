/**
 * Advances every open order until it ends. Events and submissions wake an order; a sweep makes up for lost
 * wake-ups. An order belongs to the worker that claims it, and only one that may send on its origin does.
 */

import type { Counter, Gauge } from '../../../ports/metrics.ts';
import type { Bytes32 } from '../../../domain/hex.ts';
import type { Attestations } from '../../../ports/attestations.ts';
import type { Bus } from '../../../ports/bus.ts';
import type { Claim, EventStore, OrderNews, OrderStore } from '../../../ports/stores/store.ts';
import type { Transactor } from '../../../ports/transactor.ts';
import type { VenueDeps } from '../../deps.ts';
import { type Advanced, createAdvanceOrder } from './advance-order.ts';
import { type ChainView, createChainView } from './chain-view.ts';
import { followHeads } from './follow-heads.ts';
import { type OpenOrder, openOrder } from './open-order.ts';
import { createRunStep } from './run-step.ts';

type OrderAdvancerDeps = Pick<
  VenueDeps,
  'chains' | 'routeVenues' | 'queue' | 'clock' | 'log' | 'metrics' | 'tracer'
> & {
  store: OrderStore & Pick<EventStore, 'ordersWith'>;
  transactors: ReadonlyMap<number, Transactor>;
  attestations: Attestations;
  bus: Pick<Bus, 'subscribe'>;
};

interface OrderAdvancerOptions {
  owner: string;
  leaseMs?: number;
  sweepMs?: number;
  graceMs?: number;
  topic?: string;
}

const PAGE = 500;
/** Orders that arrive within this time share the statements of a claim. A small part of any block time. */
const CLAIM_GATHER_MS = 20;
const OPEN_STAGES = ['awaiting_escrow', 'escrowed', 'delivered', 'proven', 'refund_pending'];

/** The options, the open orders that this worker has claimed, and what it does now. */
interface AdvancerState {
  readonly owner: string;
  readonly leaseMs: number;
  readonly sweepMs: number;
  readonly topic: string;
  readonly advances: Counter;
  readonly stages: Gauge;
  readonly views: ReadonlyMap<number, ChainView>;
  readonly advanceOrder: (item: OpenOrder) => Promise<Advanced>;
  /** The orders of this worker. */
  readonly work: Map<Bytes32, OpenOrder>;
  /** Orders being advanced. */
  readonly runs: Set<Promise<void>>;
  /** Orders to claim next. */
  readonly wanted: Set<Bytes32>;
  claiming: Promise<void> | undefined;
  followers: { stop(): Promise<void> }[];
  stopped: boolean;
  cancelSweep: () => void;
  cancelRenewal: () => void;
  unsubscribe: () => Promise<void>;
}

export interface OrderAdvancer {
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createOrderAdvancer(deps: OrderAdvancerDeps, options: OrderAdvancerOptions): OrderAdvancer {
  const { owner, leaseMs = 6_000, sweepMs = 5_000, graceMs = 8_000, topic = 'orders' } = options;
  const runStep = createRunStep(deps, { graceMs });
  const views = new Map([...deps.chains].map(([id, chain]) => [id, createChainView(chain)]));
  const state: AdvancerState = {
    ...{ owner, leaseMs, sweepMs, topic },
    advances: deps.metrics.counter('firmquote_venue_order_looks_total', 'Looks at orders', {
      result: ['ok', 'error'],
    }),
    stages: deps.metrics.gauge('firmquote_venue_orders_open', 'Open orders of this worker', ['stage']),
    views,
    advanceOrder: createAdvanceOrder({
      store: deps.store,
      views,
      runStep,
      clock: deps.clock,
      log: deps.log,
      metrics: deps.metrics,
      tracer: deps.tracer,
    }),
    work: new Map<Bytes32, OpenOrder>(),
    runs: new Set<Promise<void>>(),
    wanted: new Set<Bytes32>(),
    claiming: undefined,
    followers: [],
    stopped: true,
    cancelSweep: () => {},
    cancelRenewal: () => {},
    unsubscribe: async (): Promise<void> => {},
  };
  deps.metrics.gauge(
    'firmquote_venue_worker_leads',
    'Chains on which this worker sends and has the orders: 1, else 0',
    ['chain'],
    (gauge) => {
      for (const [id, { chain }] of deps.chains) gauge.set(maySend(deps, id) ? 1 : 0, { chain: chain.slug });
    },
  );
  return { start: () => start(deps, state), stop: () => stop(deps, state) };
}

async function start(deps: OrderAdvancerDeps, state: AdvancerState): Promise<void> {
  state.stopped = false;
  state.followers = [...state.views.values()].map((view) =>
    followHeads(view.chain, deps.log, () => readChain(deps, state, view)),
  );
  await Promise.all([...state.views.values()].map((view) => readChain(deps, state, view)));
  await sweep(deps, state);
  state.cancelSweep = deps.clock.after(state.sweepMs, () => sweepAgain(deps, state));
  state.cancelRenewal = deps.clock.after(state.leaseMs / 3, () => renewAgain(deps, state));
  // The queue wakes one worker, perhaps not the one that may send; the bus reaches all of them.
  state.unsubscribe = await deps.bus.subscribe(state.topic, (payload) => {
    const { orderId, event } = JSON.parse(payload) as OrderNews;
    if (event === 'order.created' && !state.stopped)
      claimSoon(deps, state, orderId).catch((error: unknown) =>
        deps.log.warn({ orderId, error }, 'a new order could not be claimed; the sweep tries again'),
      );
  });
  await deps.queue.process(state.topic, 64, (orderId) => claimSoon(deps, state, orderId as Bytes32));
}

async function readChain(deps: OrderAdvancerDeps, state: AdvancerState, view: ChainView): Promise<void> {
  const update = await view.update();
  if (!update) return;
  const { head, final, touched } = update;
  const { id } = view.chain.chain;
  for (const [orderId, item] of state.work) {
    const { waitFor, sent, proofs } = item;
    const timeHasPassed =
      waitFor?.chainId === id && (waitFor.at === 'head' ? head : final).timestamp > waitFor.until;
    if (timeHasPassed || touched.has(orderId) || proofs.some((hash) => touched.has(hash)))
      wake(deps, state, item);
    else if (sent?.chainId === id) void wakeIfFailed(deps, state, item, sent);
  }
}

function wake(deps: OrderAdvancerDeps, state: AdvancerState, item: OpenOrder): void {
  if (state.stopped) return;
  item.again = true;
  if (item.running) return;
  item.running = true;
  const run = advance(deps, state, item).finally(() => state.runs.delete(run));
  state.runs.add(run);
}

async function advance(deps: OrderAdvancerDeps, state: AdvancerState, item: OpenOrder): Promise<void> {
  const { orderId } = item.record;
  while (item.again && !state.stopped && state.work.get(orderId) === item) {
    item.again = false;
    item.advancedAtMs = deps.clock.monotonicMs();
    try {
      const advanced = await state.advanceOrder(item);
      if (advanced === 'again') item.again = true;
      if (advanced === 'ended' || advanced === 'lost') drop(state, item);
      state.advances.add({ result: 'ok' });
    } catch (error) {
      state.advances.add({ result: 'error' });
      deps.log.warn(
        { orderId, error },
        'an order could not be advanced; the next wake-up or sweep tries again',
      );
    }
  }
  item.running = false;
}

function drop(state: AdvancerState, item: OpenOrder): void {
  const { orderId } = item.record;
  if (state.work.get(orderId) === item) state.work.delete(orderId);
}

async function wakeIfFailed(
  deps: OrderAdvancerDeps,
  state: AdvancerState,
  item: OpenOrder,
  sent: NonNullable<OpenOrder['sent']>,
): Promise<void> {
  const status = await deps.transactors
    .get(sent.chainId)
    ?.status(sent.key)
    .catch(() => undefined);
  // A successful transaction wakes the order by its event, once that is final.
  if (status?.state === 'void' || (status?.state === 'mined' && status.receipt.status === 'reverted'))
    wake(deps, state, item);
}

async function sweep(deps: OrderAdvancerDeps, state: AdvancerState): Promise<void> {
  let after: { createdAtMs: number; orderId: Bytes32 } | undefined;
  do {
    const page = await deps.store.openOrders(PAGE, after);
    const last = page.at(-1);
    after =
      page.length === PAGE && last ? { createdAtMs: last.createdAtMs, orderId: last.orderId } : undefined;
    const unclaimed = page
      .filter(({ orderId, originChainId }) => !state.work.has(orderId) && maySend(deps, originChainId))
      .map(({ orderId }) => orderId);
    if (unclaimed.length > 0)
      await startClaimed(deps, state, await deps.store.claim(unclaimed, state.owner, state.leaseMs));
  } while (after && !state.stopped);
  const before = deps.clock.monotonicMs() - state.sweepMs;
  // The outcome of a pending transaction wakes its order; all other orders are tried again.
  for (const item of state.work.values())
    if (!item.sent || item.advancedAtMs <= before) wake(deps, state, item);
  const open = [...state.work.values()].map(({ progress }): string => progress.stage);
  for (const stage of OPEN_STAGES) state.stages.set(open.filter((each) => each === stage).length, { stage });
}

/** Orders of a chain without a relayer are only observed. */
function maySend(deps: OrderAdvancerDeps, chainId: number): boolean {
  return deps.transactors.get(chainId)?.holds() ?? true;
}

/** Records are read after the claim: a former state.owner may have added facts. */
async function startClaimed(
  deps: OrderAdvancerDeps,
  state: AdvancerState,
  claims: readonly Claim[],
): Promise<void> {
  if (claims.length === 0) return;
  const records = await deps.store.ordersWith(claims.map(({ orderId }) => orderId));
  for (const claim of claims) {
    const [held, record] = [state.work.get(claim.orderId), records.get(claim.orderId)];
    // The later fence counts.
    if (held) held.claim = claim.fence > held.claim.fence ? claim : held.claim;
    else if (record) {
      const item = openOrder(record, claim);
      state.work.set(record.orderId, item);
      wake(deps, state, item);
    }
  }
}

async function sweepAgain(deps: OrderAdvancerDeps, state: AdvancerState): Promise<void> {
  await sweep(deps, state).catch((error: unknown) =>
    deps.log.warn({ error }, 'the sweep over open orders failed; it will be repeated'),
  );
  if (!state.stopped) state.cancelSweep = deps.clock.after(state.sweepMs, () => sweepAgain(deps, state));
}

async function renewAgain(deps: OrderAdvancerDeps, state: AdvancerState): Promise<void> {
  await renew(deps, state).catch((error: unknown) =>
    deps.log.warn({ error }, 'the renewal of claims failed; it will be repeated'),
  );
  if (!state.stopped)
    state.cancelRenewal = deps.clock.after(state.leaseMs / 3, () => renewAgain(deps, state));
}

async function renew(deps: OrderAdvancerDeps, state: AdvancerState): Promise<void> {
  await releaseUnsendable(deps, state);
  const held = [...state.work.values()];
  if (held.length === 0) return;
  const claims = held.map(({ claim }) => claim);
  const renewed = new Map(
    (await deps.store.renew(claims, state.leaseMs)).map((claim) => [claim.orderId, claim]),
  );
  for (const item of held) {
    const claim = renewed.get(item.record.orderId);
    if (claim) item.claim = claim;
    else drop(state, item);
  }
}

async function releaseUnsendable(deps: OrderAdvancerDeps, state: AdvancerState): Promise<void> {
  const others = [...state.work.values()].filter(
    ({ record, running }) => !running && !maySend(deps, record.originChainId),
  );
  for (const item of others) drop(state, item);
  await deps.store.release(others.map(({ claim }) => claim));
}

function claimSoon(deps: OrderAdvancerDeps, state: AdvancerState, orderId: Bytes32): Promise<void> {
  if (!state.work.has(orderId)) state.wanted.add(orderId);
  state.claiming ??= claimWanted(deps, state);
  return state.claiming;
}

async function claimWanted(deps: OrderAdvancerDeps, state: AdvancerState): Promise<void> {
  await new Promise<void>((done) => deps.clock.after(CLAIM_GATHER_MS, done));
  const orderIds = [...state.wanted];
  state.wanted.clear();
  state.claiming = undefined;
  const chainIds = [...deps.chains.keys()].filter((chainId) => maySend(deps, chainId));
  if (orderIds.length > 0 && chainIds.length > 0)
    await startClaimed(deps, state, await deps.store.claim(orderIds, state.owner, state.leaseMs, chainIds));
}

async function stop(deps: OrderAdvancerDeps, state: AdvancerState): Promise<void> {
  state.stopped = true;
  state.cancelSweep();
  state.cancelRenewal();
  await state.unsubscribe();
  await Promise.all(state.followers.map((follower) => follower.stop()));
  await Promise.all(state.runs);
  await deps.store.release([...state.work.values()].map(({ claim }) => claim)).catch(() => {});
  state.work.clear();
}
