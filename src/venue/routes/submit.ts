/** POST /orders */

import type { Route } from '../../ports/http.ts';
import { type OrderSubmitRequest, zOrder, zOrderSubmitRequest } from '../../protocol/submit.ts';
import type { Submitter } from '../submit.ts';
import type { Workspaces } from '../workspaces.ts';
import { explainCandidate } from './candidate-shape.ts';
import { callerOf, type Namespace } from './caller.ts';

export function submitRoute({ submitter, workspaces }: { submitter: Submitter; workspaces: Workspaces }, namespace: Namespace): Route<OrderSubmitRequest> {
  return {
    method: 'POST',
    path: `/api/v1/${namespace}/orders`,
    keyKinds: ['service'],
    rate: 'submit',
    tag: namespace,
    summary: 'Submit a candidate with the taker\'s signature; repeat safely with the same Idempotency-Key',
    body: zOrderSubmitRequest,
    response: zOrder,
    explain: (details, sent) => explainCandidate(namespace, details, sent),
    handle: async ({ body, key, header }) => submitter.submit(body, { ...(await callerOf(workspaces, key, namespace)), idempotencyKey: header('idempotency-key') }),
  };
}
