/** GET /workspaces/{id}/trades/export */

import * as z from 'zod';
import type { Route } from '../../ports/http.ts';
import { zTradesParams } from '../../protocol/api/trades/query.ts';
import { type TradesExportQuery, zTradesExportQuery } from '../../protocol/api/trades/bulk.ts';
import type { TradeHistory } from '../trades/history.ts';

export function tradesExportRoute({
  history,
}: {
  history: TradeHistory;
}): Route<unknown, TradesExportQuery, z.infer<typeof zTradesParams>> {
  return {
    method: 'GET',
    path: '/api/v1/workspaces/:id/trades/export',
    keyKinds: ['workspace'],
    rate: 'read',
    load: 'export',
    tag: 'trades',
    summary: 'All trades of a filter as CSV or NDJSON, streamed; one export of a workspace at a time',
    params: zTradesParams,
    query: zTradesExportQuery,
    response: z
      .string()
      .describe(
        'RFC 4180, UTF-8, with a header row. Amounts are in whole tokens; for a token that the venue no longer ' +
          'lists they are in base units and the symbol is empty. A text that a spreadsheet would run begins ' +
          'with an apostrophe. Empty: not known yet, or does not apply. With `format=ndjson` the answer is ' +
          '`application/x-ndjson` instead: one trade of the list on each line, with `cursor` if one was sent.',
      ),
    contentType: 'text/csv',
    handle: ({ key, params, query }) => history.export(key, params.id, query),
  };
}
