/** POST /quotes */

import type { Route } from '../../ports/http.ts';
import { type QuoteRequest, zQuoteRequest } from '../../protocol/api/quote.ts';
import type { Schema } from '../../protocol/schema.ts';
import type { RfqQuoter } from '../quoting/quote.ts';
import type { Workspaces } from '../access/workspaces.ts';
import type { Namespace } from './caller.ts';

export function quotesRoute(
  { quoter, workspaces }: { quoter: Pick<RfqQuoter, 'quote'>; workspaces: Workspaces },
  namespace: Namespace,
  response: Schema,
): Route<QuoteRequest> {
  return {
    method: 'POST',
    path: `/api/v1/${namespace}/quotes`,
    keyKinds: ['service'],
    rate: 'quote',
    tag: namespace,
    summary: 'Ask for firm quotes; the answer is ranked, best first',
    body: zQuoteRequest,
    response,
    handle: async ({ body, key }) => quoter.quote(body, key, await workspaces.of(key)),
  };
}
