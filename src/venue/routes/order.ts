/** GET /orders/{id} */

import * as z from 'zod';
import type { Chain } from '../../domain/chain.ts';
import { isBytes32, type Bytes32 } from '../../domain/hex.ts';
import type { Route } from '../../ports/http.ts';
import type { OrderStore } from '../../ports/stores/store.ts';
import { ApiError } from '../../protocol/errors.ts';
import { zOrderStatusResponse } from '../../protocol/api/status.ts';
import { statusResponse } from '../orders/status.ts';
import type { Namespace } from './caller.ts';

const zParams = z.strictObject({
  id: z.string().describe('Id of the order, as the submission answered it.'),
});

export function orderRoute(
  { store, chains }: { store: OrderStore; chains: ReadonlyMap<number, Chain> },
  namespace: Namespace,
): Route<unknown, unknown, z.infer<typeof zParams>> {
  return {
    method: 'GET',
    path: `/api/v1/${namespace}/orders/:id`,
    keyKinds: ['service'],
    rate: 'read',
    tag: namespace,
    summary: 'Where an order stands',
    params: zParams,
    response: zOrderStatusResponse,
    async handle({ params, key }) {
      const record = isBytes32(params.id) ? await store.order(params.id.toLowerCase() as Bytes32) : undefined;
      // Like an order that does not exist.
      if (!record || record.workspaceId !== key.workspaceId || record.mode !== key.mode)
        throw new ApiError('not_found', 'No such order.');
      return statusResponse(record, chains);
    },
  };
}
