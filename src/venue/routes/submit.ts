/** POST /orders */

import type { Route } from '../../ports/http.ts';
import type { Schema } from '../../protocol/schema.ts';
import { zOrder } from '../../protocol/api/submit.ts';
import type { Submitter } from '../orders/submit.ts';
import type { SubmitRequest } from '../orders/verify-submission.ts';
import type { Workspaces } from '../access/workspaces.ts';
import { explainCandidate } from './candidate-shape.ts';
import { callerOf, type Namespace } from './caller.ts';

export function submitRoute(
  { submitter, workspaces }: { submitter: Submitter; workspaces: Workspaces },
  namespace: Namespace,
  body: Schema<SubmitRequest>,
): Route<SubmitRequest> {
  return {
    method: 'POST',
    path: `/api/v1/${namespace}/orders`,
    keyKinds: ['service'],
    rate: 'submit',
    tag: namespace,
    summary: "Submit a candidate with the taker's signature; repeat safely with the same Idempotency-Key",
    body,
    response: zOrder,
    errors: ['idempotency_in_progress'],
    headers: [
      {
        name: 'Idempotency-Key',
        description:
          'Of your choosing, printable ASCII. For 24 hours the same key and body answer with the same order, and ' +
          'the same key with another body is refused.',
        schema: { type: 'string', minLength: 1, maxLength: 255 },
      },
    ],
    explain: (details, sent) => explainCandidate(namespace, details, sent),
    handle: async ({ body, key, header }) =>
      submitter.submit(body, {
        ...(await callerOf(workspaces, key, namespace)),
        idempotencyKey: header('idempotency-key'),
      }),
  };
}
