/**
 * Advances every open order until it ends. Events and submissions wake an order; a sweep makes up for lost
 * wake-ups. An order belongs to the worker that claims it, and only one that may send on its origin does.
 */

import type { Bytes32 } from '../../../domain/hex.ts';
import type { Attestations } from '../../../ports/attestations.ts';
import type { Bus } from '../../../ports/bus.ts';
import type { Claim, EventStore, OrderNews, OrderStore } from '../../../ports/stores/store.ts';
import type { Transactor } from '../../../ports/transactor.ts';
import type { VenueDeps } from '../../deps.ts';
import { createAdvanceOrder } from './advance-order.ts';
import { type ChainView, createChainView } from './chain-view.ts';
import { followHeads } from './follow-heads.ts';
import { type OpenOrder, openOrder } from './open-order.ts';
import { createRunStep } from './run-step.ts';

export type OrderAdvancerDeps = Pick<
  VenueDeps,
  'chains' | 'routeVenues' | 'queue' | 'clock' | 'log' | 'metrics' | 'tracer'
> & {
  store: OrderStore & Pick<EventStore, 'ordersWith'>;
  transactors: ReadonlyMap<number, Transactor>;
  attestations: Attestations;
  bus: Pick<Bus, 'subscribe'>;
};

export interface OrderAdvancerOptions {
  owner: string;
  leaseMs?: number;
  sweepMs?: number;
  graceMs?: number;
  topic?: string;
}

export type OrderAdvancer = ReturnType<typeof createOrderAdvancer>;

const PAGE = 500;
const OPEN_STAGES = ['awaiting_escrow', 'escrowed', 'delivered', 'proven', 'refund_pending'];

export function createOrderAdvancer(deps: OrderAdvancerDeps, options: OrderAdvancerOptions) {
  const { store, chains, transactors, queue, bus, clock, log, metrics, tracer } = deps;
  const { owner, leaseMs = 6_000, sweepMs = 5_000, graceMs = 8_000, topic = 'orders' } = options;
  const looks = metrics.counter('firmquote_venue_order_looks_total', 'Looks at orders', {
    result: ['ok', 'error'],
  });
  const stages = metrics.gauge('firmquote_venue_orders_open', 'Open orders of this worker', ['stage']);
  metrics.gauge(
    'firmquote_venue_worker_leads',
    'Chains on which this worker sends and has the orders: 1, else 0',
    ['chain'],
    (gauge) => {
      for (const [id, { chain }] of chains) gauge.set(maySend(id) ? 1 : 0, { chain: chain.slug });
    },
  );

  const views = new Map([...chains].map(([id, chain]) => [id, createChainView(chain)]));
  const runStep = createRunStep(deps, { graceMs });
  const advanceOrder = createAdvanceOrder({ store, views, runStep, clock, log, metrics, tracer });
  const work = new Map<Bytes32, OpenOrder>();
  const runs = new Set<Promise<void>>();
  const wanted = new Set<Bytes32>();
  let claiming: Promise<void> | undefined;
  let followers: { stop(): Promise<void> }[] = [];
  let stopped = true;
  let cancelSweep = () => {};
  let cancelRenewal = () => {};
  let unsubscribe = async (): Promise<void> => {};

  function wake(item: OpenOrder) {
    if (stopped) return;
    item.again = true;
    if (item.running) return;
    item.running = true;
    const run = advance(item).finally(() => runs.delete(run));
    runs.add(run);
  }

  async function advance(item: OpenOrder) {
    const { orderId } = item.record;
    while (item.again && !stopped && work.get(orderId) === item) {
      item.again = false;
      item.lookedAtMs = clock.monotonicMs();
      try {
        const advanced = await advanceOrder(item);
        if (advanced === 'again') item.again = true;
        if (advanced === 'ended' || advanced === 'lost') drop(item);
        looks.add({ result: 'ok' });
      } catch (error) {
        looks.add({ result: 'error' });
        log.warn({ orderId, error }, 'an order could not be advanced; the next wake-up or sweep tries again');
      }
    }
    item.running = false;
  }

  function drop(item: OpenOrder) {
    const { orderId } = item.record;
    if (work.get(orderId) === item) work.delete(orderId);
  }

  async function readChain(view: ChainView) {
    const update = await view.update();
    if (!update) return;
    const { head, final, touched } = update;
    const { id } = view.chain.chain;
    for (const [orderId, item] of work) {
      const { waitFor, sent, proofs } = item;
      const timeHasPassed =
        waitFor?.chainId === id && (waitFor.at === 'head' ? head : final).timestamp > waitFor.until;
      if (timeHasPassed || touched.has(orderId) || proofs.some((hash) => touched.has(hash))) wake(item);
      else if (sent?.chainId === id) void wakeIfFailed(item, sent);
    }
  }

  async function wakeIfFailed(item: OpenOrder, sent: NonNullable<OpenOrder['sent']>) {
    const status = await transactors
      .get(sent.chainId)
      ?.status(sent.key)
      .catch(() => undefined);
    // A successful transaction wakes the order by its event, once that is final.
    if (status?.state === 'void' || (status?.state === 'mined' && status.receipt.status === 'reverted'))
      wake(item);
  }

  /** Orders of a chain without a relayer are only observed. */
  function maySend(chainId: number): boolean {
    return transactors.get(chainId)?.holds() ?? true;
  }

  /** Wake-ups within 2 ms share one claim. */
  function claimSoon(orderId: Bytes32): Promise<void> {
    if (!work.has(orderId)) wanted.add(orderId);
    claiming ??= claimWanted();
    return claiming;
  }

  async function claimWanted() {
    await new Promise<void>((done) => clock.after(2, done));
    const orderIds = [...wanted];
    wanted.clear();
    claiming = undefined;
    const chainIds = [...chains.keys()].filter(maySend);
    if (orderIds.length > 0 && chainIds.length > 0)
      await startClaimed(await store.claim(orderIds, owner, leaseMs, chainIds));
  }

  /** Records are read after the claim: a former owner may have added facts. */
  async function startClaimed(claims: readonly Claim[]) {
    if (claims.length === 0) return;
    const records = await store.ordersWith(claims.map(({ orderId }) => orderId));
    for (const claim of claims) {
      const [held, record] = [work.get(claim.orderId), records.get(claim.orderId)];
      // The later fence counts.
      if (held) held.claim = claim.fence > held.claim.fence ? claim : held.claim;
      else if (record) {
        const item = openOrder(record, claim);
        work.set(record.orderId, item);
        wake(item);
      }
    }
  }

  async function sweep() {
    let after: { createdAtMs: number; orderId: Bytes32 } | undefined;
    do {
      const page = await store.openOrders(PAGE, after);
      const last = page.at(-1);
      after =
        page.length === PAGE && last ? { createdAtMs: last.createdAtMs, orderId: last.orderId } : undefined;
      const unclaimed = page
        .filter(({ orderId, originChainId }) => !work.has(orderId) && maySend(originChainId))
        .map(({ orderId }) => orderId);
      if (unclaimed.length > 0) await startClaimed(await store.claim(unclaimed, owner, leaseMs));
    } while (after && !stopped);
    const before = clock.monotonicMs() - sweepMs;
    // The outcome of a pending transaction wakes its order; all other orders are tried again.
    for (const item of work.values()) if (!item.sent || item.lookedAtMs <= before) wake(item);
    const open = [...work.values()].map(({ progress }): string => progress.stage);
    for (const stage of OPEN_STAGES) stages.set(open.filter((each) => each === stage).length, { stage });
  }

  async function sweepAgain() {
    await sweep().catch((error: unknown) =>
      log.warn({ error }, 'the sweep over open orders failed; it will be repeated'),
    );
    if (!stopped) cancelSweep = clock.after(sweepMs, sweepAgain);
  }

  async function renewAgain() {
    await renew().catch((error: unknown) =>
      log.warn({ error }, 'the renewal of claims failed; it will be repeated'),
    );
    if (!stopped) cancelRenewal = clock.after(leaseMs / 3, renewAgain);
  }

  async function renew() {
    await releaseUnsendable();
    const held = [...work.values()];
    if (held.length === 0) return;
    const claims = held.map(({ claim }) => claim);
    const renewed = new Map((await store.renew(claims, leaseMs)).map((claim) => [claim.orderId, claim]));
    for (const item of held) {
      const claim = renewed.get(item.record.orderId);
      if (claim) item.claim = claim;
      else drop(item);
    }
  }

  async function releaseUnsendable() {
    const others = [...work.values()].filter(
      ({ record, running }) => !running && !maySend(record.originChainId),
    );
    for (const item of others) drop(item);
    await store.release(others.map(({ claim }) => claim));
  }

  return {
    async start() {
      stopped = false;
      followers = [...views.values()].map((view) => followHeads(view.chain, log, () => readChain(view)));
      await Promise.all([...views.values()].map(readChain));
      await sweep();
      cancelSweep = clock.after(sweepMs, sweepAgain);
      cancelRenewal = clock.after(leaseMs / 3, renewAgain);
      // The queue wakes one worker, perhaps not the one that may send; the bus reaches all of them.
      unsubscribe = await bus.subscribe(topic, (payload) => {
        const { orderId, event } = JSON.parse(payload) as OrderNews;
        if (event === 'order.created' && !stopped)
          claimSoon(orderId).catch((error: unknown) =>
            log.warn({ orderId, error }, 'a new order could not be claimed; the sweep tries again'),
          );
      });
      await queue.process(topic, 64, (orderId) => claimSoon(orderId as Bytes32));
    },
    async stop() {
      stopped = true;
      cancelSweep();
      cancelRenewal();
      await unsubscribe();
      await Promise.all(followers.map((follower) => follower.stop()));
      await Promise.all(runs);
      await store.release([...work.values()].map(({ claim }) => claim)).catch(() => {});
      work.clear();
    },
  };
}
