/** A workspace's trade history: list, one trade in full, all as CSV or NDJSON, and totals per day. */

import type { Chain } from '../../domain/chain.ts';
import { type Bytes32, isBytes32 } from '../../domain/hex.ts';
import { toIso } from '../../domain/time.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ApiKey, OrderRecord } from '../../ports/stores/store.ts';
import type { VenueStore } from '../../ports/stores/venue-store.ts';
import type { Download } from '../../ports/http.ts';
import type { ExportedTrade, TradeBook } from '../../ports/stores/trades.ts';
import {
  cursorText,
  type TradeCursor,
  type TradeLine,
  type TradesDailyQuery,
  type TradesDay,
  type TradesExportQuery,
} from '../../protocol/api/trades/bulk.ts';
import { ApiError, invalid } from '../../protocol/errors.ts';
import type { TradeDossier } from '../../protocol/api/trades/dossier.ts';
import type { TradeItem } from '../../protocol/api/trades/trades.ts';
import { DEFAULT_LIMIT, type TradesFilter } from '../../protocol/api/trades/query.ts';
import { receiverOf } from '../quoting/receiver.ts';
import type { Screening } from '../access/screening.ts';
import { csvHeader, csvLine } from './csv.ts';
import { dailyRange, dayTotals } from './daily.ts';
import { tradeDossier } from './dossier.ts';
import { type Names, tradeItem } from './item.ts';
import { tradeLegs } from './legs.ts';
import { isPrivileged, tradeQuery } from './search.ts';

interface HistoryDeps {
  store: VenueStore;
  chains: ReadonlyMap<number, Chain>;
  /** The route venues by id. */
  venues: ReadonlyMap<string, { name: string }>;
  screening: Screening;
  clock: Clock;
}

/** Each member throws 404 for a workspace that is not the key's. */
export interface TradeHistory {
  list(
    key: ApiKey,
    workspaceId: string,
    filter: TradesFilter & { limit?: number | undefined; offset?: number | undefined },
  ): Promise<{ items: TradeItem[]; total: number; offset: number; limit: number }>;
  /** Throws 404 for an order of another workspace or mode, as for an unknown one. */
  dossier(key: ApiKey, workspaceId: string, orderId: string): Promise<TradeDossier>;
  /**
   * A cursor makes the order; then the file is NDJSON. Throws 429 while the workspace reads another export.
   */
  export(key: ApiKey, workspaceId: string, query: TradesExportQuery): Promise<Download>;
  /** Sums the trades of each day, UTC. */
  daily(
    key: ApiKey,
    workspaceId: string,
    filter: TradesDailyQuery,
  ): Promise<{ from: string; to: string; items: TradesDay[] }>;
}

/** Refuses a trade of another workspace in the same words as an unknown one. */
const nowhere = () => new ApiError('not_found', 'No such workspace or trade.');
const EXPORT_RETRY_SECONDS = 10;

export function createTradeHistory({ store, chains, venues, screening, clock }: HistoryDeps): TradeHistory {
  const { trades } = store;

  function bookOf(key: ApiKey, workspaceId: string): TradeBook {
    if (key.workspaceId !== workspaceId) throw nowhere();
    return { workspaceId, mode: key.mode };
  }

  async function namesFor(key: ApiKey, workspaceId: string): Promise<Names> {
    const [solvers, members] = await Promise.all([
      store.listSolvers(),
      isPrivileged(key) ? store.listMembers(workspaceId) : undefined,
    ]);
    return {
      chains,
      solvers: new Map(solvers.map((solver) => [solver.id, solver])),
      venues,
      members: members && new Map(members.map((member) => [member.id, member])),
      nowMs: clock.nowMs(),
    };
  }

  async function routeOf(record: OrderRecord): Promise<OrderRecord[]> {
    if (record.namespace !== 'router') return [record];
    let first = record;
    while (first.parentOrderId) {
      const parent = await store.order(first.parentOrderId);
      if (!parent) break;
      first = parent;
    }
    const route = [first];
    for (let last: OrderRecord | undefined = first; last;) {
      const next: OrderRecord[] = await store.nextLegs(last.orderId);
      // A failed leg may have been requested again.
      last = next.find(({ orderId }) => orderId === record.orderId) ?? next.at(-1);
      if (last) route.push(last);
    }
    return route;
  }

  return {
    async list(key, workspaceId, { limit = DEFAULT_LIMIT, offset = 0, ...filter }) {
      const book = bookOf(key, workspaceId);
      const names = await namesFor(key, workspaceId);
      const { rows, total } = await trades.page(tradeQuery(book, filter, names), limit, offset);
      return { items: rows.map((row) => tradeItem(row, names)), total, offset, limit };
    },
    async dossier(key, workspaceId, orderId) {
      const book = bookOf(key, workspaceId);
      const id = isBytes32(orderId) ? (orderId.toLowerCase() as Bytes32) : undefined;
      const record = id && (await store.order(id));
      if (!id || !record || record.workspaceId !== book.workspaceId || record.mode !== book.mode)
        throw nowhere();
      const privileged = isPrivileged(key);
      const [row, gas, names, route, travelRule, screenedNow] = await Promise.all([
        trades.trade(id),
        trades.gasOf(id),
        namesFor(key, workspaceId),
        routeOf(record),
        privileged ? store.travelRule(id) : undefined,
        privileged
          ? screening.screen({ taker: record.order.user, receiver: receiverOf(record.order) })
          : undefined,
      ]);
      if (!row) throw nowhere();
      return tradeDossier({
        row,
        record,
        route,
        gas,
        names,
        native: (chainId) => chains.get(chainId)?.native,
        restricted: screenedNow && { screenedNow, travelRule },
      });
    },
    async export(key, workspaceId, { format = 'csv', createdAfter, updatedAfter, ...filter }) {
      const book = bookOf(key, workspaceId);
      const names = await namesFor(key, workspaceId);
      const cursor = typeof createdAfter === 'object' ? createdAfter : updatedAfter;
      const fromMs = typeof createdAfter === 'object' ? undefined : createdAfter;
      const rows = await trades.exportAll(
        tradeQuery(book, { ...filter, createdAfter: fromMs }, names),
        cursor,
      );
      if (rows === 'busy')
        throw new ApiError(
          'rate_limited',
          'One export of a workspace is read at a time, and one is being read now. Wait until it has ended.',
          { retryAfterSeconds: EXPORT_RETRY_SECONDS },
        );
      if (rows === 'ahead')
        throw invalid(
          'value_error',
          ['query', cursor?.by === 'created' ? 'createdAfter' : 'updatedAfter'],
          'is after the newest trade of this workspace and mode. Use a cursor that this workspace was given, or start again.',
        );
      return format === 'csv'
        ? {
            contentType: 'text/csv; charset=utf-8; header=present',
            filename: 'trades.csv',
            chunks: chunksOf(rows, (row) => csvLine(row, names), csvHeader(names)),
          }
        : {
            contentType: 'application/x-ndjson; charset=utf-8',
            filename: 'trades.ndjson',
            chunks: chunksOf(rows, (row) => ndjsonLine(row, names, cursor?.by)),
          };
    },
    async daily(key, workspaceId, filter) {
      const book = bookOf(key, workspaceId);
      const { fromMs, toMs } = dailyRange(filter, clock.nowMs());
      const names = await namesFor(key, workspaceId);
      const sums = await trades.days(
        tradeQuery(book, { ...filter, createdAfter: fromMs, createdBefore: toMs }, names),
      );
      return { from: toIso(fromMs), to: toIso(toMs), items: dayTotals(sums, names) };
    },
  };
}

function ndjsonLine(row: ExportedTrade, names: Names, by: TradeCursor['by'] | undefined): string {
  const line: TradeLine = {
    ...tradeItem(row, names),
    legs:
      tradeLegs(row.terms)?.map(({ kind, solverId, fees }) => ({
        ...{ kind, solverId, fees: fees?.map(({ asset, amount }) => ({ asset, amount })) ?? null },
      })) ?? null,
    ...(by !== undefined && row.position !== null && { cursor: cursorText({ by, after: row.position }) }),
  };
  return `${JSON.stringify(line)}\n`;
}

/** Stopping at any time, also before the first chunk, releases the rows. */
function chunksOf(
  rows: AsyncGenerator<ExportedTrade[]>,
  lineOf: (row: ExportedTrade) => string,
  header = '',
): AsyncIterable<string> {
  let head: string | undefined = header;
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const batch = await rows.next();
        const before = head ?? '';
        head = undefined;
        if (batch.done)
          return before === '' ? { done: true, value: undefined } : { done: false, value: before };
        return { done: false, value: before + batch.value.map(lineOf).join('') };
      },
      async return() {
        await rows.return(undefined);
        return { done: true, value: undefined };
      },
    }),
  };
}
