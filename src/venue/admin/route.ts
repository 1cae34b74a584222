/** A route of the admin API: for admin keys, and audited under the name of the key. */

import type { ApiCaller, Route } from '../../ports/http.ts';

const BASE = '/admin/v1';

export type AdminRoute = Route<unknown, unknown, unknown, ApiCaller>;

export function adminRoute<Body, Query, Params>(
  method: Route['method'],
  path: string,
  summary: string,
  schemas: Pick<Route<Body, Query, Params>, 'body' | 'query' | 'params' | 'response'>,
  handle: (request: { who: string; body: Body; query: Query; params: Params }) => Promise<object>,
): AdminRoute {
  const route: Route<Body, Query, Params, ApiCaller> = {
    method,
    path: `${BASE}${path}`,
    keyKinds: ['admin'],
    rate: method === 'GET' ? 'read' : 'submit',
    tag: path.includes('/members') ? 'members' : (path.split('/')[1] ?? ''),
    summary,
    ...schemas,
    handle: ({ key, body, query, params }) => handle({ who: `admin:${key.id}`, body, query, params }),
  };
  return route as unknown as AdminRoute;
}
