/** GET /pairs */

import type { Route } from '../../ports/http.ts';
import { zPairsResponse } from '../../protocol/api/pairs.ts';
import type { Markets } from '../market/markets.ts';
import type { Namespace } from './caller.ts';

export function pairsRoute({ markets }: { markets: Markets }, namespace: Namespace): Route {
  return {
    method: 'GET',
    path: `/api/v1/${namespace}/pairs`,
    keyKinds: ['service'],
    rate: 'read',
    load: 'memory',
    tag: namespace,
    summary: 'Chain slugs and ids that this key can name',
    response: zPairsResponse,
    handle: async ({ key }) => markets.pairs(key.mode),
  };
}
