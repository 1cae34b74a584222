/** Reads of a workspace key: trades, one trade in full, all trades as CSV. */

import { type TradeDossier, zTradeDossier } from '../protocol/api/trades/dossier.ts';
import { type TradeItem, zTradesResponse } from '../protocol/api/trades/trades.ts';
import type { TradeSort } from '../protocol/api/trades/query.ts';
import type { Transport } from './transport.ts';

interface TradeFilters {
  status?: 'all' | 'pending' | 'settled' | 'failed' | 'refunded';
  corridor?: string;
  createdAfter?: string;
  createdBefore?: string;
  /** Name or email; owner and admin keys only. */
  member?: string;
  lp?: string;
  routingPath?: 'all' | 'direct' | 'via_broker';
  minAmountUsd?: number;
  maxAmountUsd?: number;
  sort?: TradeSort;
  direction?: 'asc' | 'desc';
}

interface Page {
  limit?: number;
  offset?: number;
}

export interface History {
  list(
    workspaceId: string,
    filters?: TradeFilters & Page,
  ): Promise<{ items: TradeItem[]; total: number; offset: number; limit: number }>;
  dossier(workspaceId: string, orderId: string): Promise<TradeDossier>;
  export(workspaceId: string, filters?: TradeFilters): AsyncGenerator<string, void>;
}

export function createHistory(transport: Transport): History {
  const path = (workspaceId: string, rest: string) =>
    `/api/v1/workspaces/${encodeURIComponent(workspaceId)}/trades${rest}`;
  return {
    list: (workspaceId, filters = {}) => transport.call(zTradesResponse, path(workspaceId, queryOf(filters))),
    dossier: (workspaceId, orderId) =>
      transport.call(zTradeDossier, path(workspaceId, `/${encodeURIComponent(orderId)}`)),
    export: (workspaceId, filters = {}) =>
      transport.stream(path(workspaceId, `/export${queryOf(filters)}`), { headers: { accept: 'text/csv' } }),
  };
}

function queryOf(filters: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filters))
    if (value !== undefined) query.append(name, String(value));
  return query.size === 0 ? '' : `?${query}`;
}
