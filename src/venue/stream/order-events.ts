/**
 * Dispatches order events: solvers get awards and progress, the roster counts settled orders and fades,
 * others use `onOrder`.
 */

import { nonceGroupOf } from '../../domain/order.ts';
import { type Evidence, type Fact, FADE_CODES } from '../../domain/fact.ts';
import type { Bytes32 } from '../../domain/hex.ts';
import type { EventStore, OrderNews, OrderRecord } from '../../ports/stores/store.ts';
import type { LinkMessage } from '../../protocol/link/link.ts';
import type { Progress } from '../../settlement/lifecycle.ts';
import type { VenueDeps } from '../deps.ts';
import type { Roster } from '../solvers/roster.ts';
import type { SolverSession } from '../solvers/roster-entry.ts';
import type { OpenQuotes } from '../market/open-quotes.ts';
import { awardOf } from '../orders/award.ts';
import { progressOf } from '../orders/status.ts';
import { ORDERS_TOPIC } from '../orders/submit.ts';

type OrderEventListener = (record: OrderRecord, news: OrderNews) => void;

const FADES: ReadonlySet<string> = new Set(FADE_CODES);
/** Orders in one read: about 3 ms of this process, so that quotes do not wait for a crowd of orders. */
const MOST_READ = 50;

export function createOrderEventDispatcher({
  bus,
  store,
  roster,
  openQuotes,
  log,
}: Pick<VenueDeps, 'bus' | 'log'> & {
  store: Pick<EventStore, 'ordersWith'>;
  roster: Roster;
  openQuotes: OpenQuotes;
}) {
  const listeners: OrderEventListener[] = [];
  let unsubscribe: (() => Promise<void>) | undefined;
  let waiting: string[] = [];
  let dispatching = false;

  /** News that arrive during a read share the next one. */
  async function dispatchWaiting() {
    if (dispatching) return;
    dispatching = true;
    while (waiting.length > 0) {
      const some = waiting.slice(0, MOST_READ);
      waiting = waiting.slice(MOST_READ);
      await dispatch(some).catch((error: unknown) =>
        log.warn({ error }, 'order events could not be read; polling shows the orders'),
      );
    }
    dispatching = false;
  }

  async function dispatch(payloads: readonly string[]) {
    const some = payloads.flatMap((payload) => newsOf(payload) ?? []);
    const records = await store.ordersWith([...new Set(some.map(({ orderId }) => orderId))]);
    for (const news of some) {
      const record = records.get(news.orderId);
      if (record) tell(record, news);
    }
  }

  /** Anybody who may connect to the database can notify. */
  function newsOf(payload: string): OrderNews | undefined {
    try {
      return JSON.parse(payload) as OrderNews;
    } catch (error) {
      log.warn({ error }, 'an order event could not be read; polling shows the order');
      return undefined;
    }
  }

  /** One order's failure must not cost the others their news. */
  function tell(record: OrderRecord, news: OrderNews) {
    try {
      notifySolvers(record, news);
      for (const listener of listeners) listener(record, news);
    } catch (error) {
      log.warn(
        { orderId: news.orderId, error },
        'an order event was not dispatched; polling shows the order',
      );
    }
  }

  /** Solvers get only orders of their mode. */
  function sessionOf(solverId: string, { mode }: OrderRecord): SolverSession | undefined {
    const session = roster.entry(solverId)?.session;
    return session?.mode === mode ? session : undefined;
  }

  function notifySolvers(record: OrderRecord, { event }: OrderNews) {
    const progress = progressOf(record);
    const created = event === 'order.created';
    const frame = created
      ? undefined
      : JSON.stringify(progressFrame(record.orderId, progress, record.facts.at(-1)?.fact));
    for (const solverId of record.solverIds) {
      sessionOf(solverId, record)?.send(frame ?? JSON.stringify(awardOf(record, solverId)));
      if (event === 'order.settled') roster.recordSettled(solverId);
      if (event === 'order.failed' && FADES.has(progress.failure?.code ?? ''))
        roster.recordFault(solverId, 'fade');
    }
    if (progress.opened) sendReleases(record);
  }

  /** The nonce is used on chain: no other quote of that request can execute. */
  function sendReleases(record: OrderRecord) {
    const { originChainId, order, quoteId } = record;
    for (const [solverId, quoteIds] of openQuotes.executed(
      nonceGroupOf(originChainId, order.user, order.nonce),
      quoteId,
    )) {
      const released: LinkMessage<'released'> = { type: 'released', quoteIds, proof: 'nonce_used' };
      sessionOf(solverId, record)?.send(JSON.stringify(released));
    }
  }

  return {
    onOrder: (listener: OrderEventListener) => void listeners.push(listener),
    async start() {
      unsubscribe = await bus.subscribe(ORDERS_TOPIC, (payload) => {
        waiting.push(payload);
        void dispatchWaiting();
      });
    },
    async stop() {
      await unsubscribe?.();
    },
  };
}

function progressFrame(orderId: Bytes32, { stage }: Progress, last: Fact | undefined): LinkMessage<'order'> {
  const evidence: Evidence | undefined = last && 'evidence' in last ? last.evidence : undefined;
  return {
    type: 'order',
    orderId,
    stage,
    evidence: evidence
      ? { chainId: evidence.chainId, txHash: evidence.txHash, blockNumber: evidence.blockNumber.toString() }
      : null,
  };
}
