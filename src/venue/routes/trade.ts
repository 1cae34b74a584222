/** GET /workspaces/{id}/trades/{orderId} */

import type * as z from 'zod';
import type { Route } from '../../ports/http.ts';
import { zTradeDossier } from '../../protocol/api/trades/dossier.ts';
import { zTradeParams } from '../../protocol/api/trades/query.ts';
import type { TradeHistory } from '../trades/history.ts';

export function tradeRoute({
  history,
}: {
  history: TradeHistory;
}): Route<unknown, unknown, z.infer<typeof zTradeParams>> {
  return {
    method: 'GET',
    path: '/api/v1/workspaces/:id/trades/:orderId',
    keyKinds: ['workspace'],
    rate: 'read',
    load: 'history',
    tag: 'trades',
    summary: 'One trade in full; owners and admins see more of it',
    params: zTradeParams,
    response: zTradeDossier,
    handle: ({ key, params }) => history.dossier(key, params.id, params.orderId),
  };
}
