/** GET /workspaces/{id}/trades/daily */

import type * as z from 'zod';
import type { Route } from '../../ports/http.ts';
import { zTradesParams } from '../../protocol/api/trades/query.ts';
import {
  type TradesDailyQuery,
  zTradesDailyQuery,
  zTradesDailyResponse,
} from '../../protocol/api/trades/bulk.ts';
import type { TradeHistory } from '../trades/history.ts';

export function tradesDailyRoute({
  history,
}: {
  history: TradeHistory;
}): Route<unknown, TradesDailyQuery, z.infer<typeof zTradesParams>> {
  return {
    method: 'GET',
    path: '/api/v1/workspaces/:id/trades/daily',
    keyKinds: ['workspace'],
    rate: 'read',
    load: 'history',
    tag: 'trades',
    summary: 'Totals per UTC day of creation: trades, notionals and amounts by token, each by status',
    params: zTradesParams,
    query: zTradesDailyQuery,
    response: zTradesDailyResponse,
    handle: ({ key, params, query }) => history.daily(key, params.id, query),
  };
}
