/**
 * Dispatches order events: solvers get awards and progress, the roster counts settled orders and fades,
 * others use `onOrder`.
 */

import { nonceGroupOf } from '../../domain/order.ts';
import { type Evidence, type Fact, FADE_CODES } from '../../domain/fact.ts';
import type { Bytes32 } from '../../domain/hex.ts';
import type { OrderNews, OrderRecord, OrderStore } from '../../ports/stores/store.ts';
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

export function createOrderEventDispatcher({
  bus,
  store,
  roster,
  openQuotes,
  log,
}: Pick<VenueDeps, 'bus' | 'log'> & { store: OrderStore; roster: Roster; openQuotes: OpenQuotes }) {
  const listeners: OrderEventListener[] = [];
  let unsubscribe: (() => Promise<void>) | undefined;

  async function dispatch(payload: string) {
    const news = JSON.parse(payload) as OrderNews;
    const record = await store.order(news.orderId);
    if (!record) return;
    notifySolvers(record, news);
    for (const listener of listeners) listener(record, news);
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
      unsubscribe = await bus.subscribe(
        ORDERS_TOPIC,
        (payload) =>
          void dispatch(payload).catch((error: unknown) =>
            log.warn({ error }, 'an order event was not dispatched; polling shows the order'),
          ),
      );
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
