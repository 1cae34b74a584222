/** POST /orders/preflight */

import type { Route } from '../../ports/http.ts';
import { zPreflightResponse } from '../../protocol/api/preflight.ts';
import type { Schema } from '../../protocol/schema.ts';
import type { AnyPreflightRequest, Preflighter } from '../orders/preflight.ts';
import type { Workspaces } from '../access/workspaces.ts';
import { explainCandidate } from './candidate-shape.ts';
import { callerOf, type Namespace } from './caller.ts';

export function preflightRoute(
  { preflighter, workspaces }: { preflighter: Pick<Preflighter, 'plan'>; workspaces: Workspaces },
  namespace: Namespace,
  body: Schema<AnyPreflightRequest>,
): Route<AnyPreflightRequest> {
  return {
    method: 'POST',
    path: `/api/v1/${namespace}/orders/preflight`,
    keyKinds: ['service'],
    rate: 'submit',
    load: 'preflight',
    tag: namespace,
    summary: 'Plan what must be sent and signed before a candidate can be submitted',
    body,
    response: zPreflightResponse,
    explain: (details, sent) => explainCandidate(namespace, details, sent),
    handle: async ({ body, key }) => preflighter.plan(body, await callerOf(workspaces, key, namespace)),
  };
}
