/** GET /workspaces/{id}/trades */

import type * as z from 'zod';
import type { Route } from '../../ports/http.ts';
import { zTradesResponse } from '../../protocol/api/trades/trades.ts';
import { zTradesParams, zTradesQuery } from '../../protocol/api/trades/query.ts';
import type { TradeHistory } from '../trades/history.ts';

export function tradesRoute({
  history,
}: {
  history: TradeHistory;
}): Route<unknown, z.infer<typeof zTradesQuery>, z.infer<typeof zTradesParams>> {
  return {
    method: 'GET',
    path: '/api/v1/workspaces/:id/trades',
    keyKinds: ['workspace'],
    rate: 'read',
    load: 'history',
    tag: 'trades',
    summary: "A workspace's trades, filtered, sorted and in pages; newest first",
    params: zTradesParams,
    query: zTradesQuery,
    response: zTradesResponse,
    handle: ({ key, params, query }) => history.list(key, params.id, query),
  };
}
