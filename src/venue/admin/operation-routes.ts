/** Reads of the admin API about the venue's work. Its changes are in routes.ts. */

import * as z from 'zod';
import { zChainRow, zOpenOrders, zQueueRow, zRates, zRosterRow } from '../../protocol/admin/operations.ts';
import type { Operations } from './operations.ts';
import { adminRoute, type AdminRoute } from './route.ts';

const zRoster = z
  .object({ solvers: z.array(zRosterRow).describe('All of them.') })
  .meta({ id: 'RosterRows', description: 'Every onboarded solver, as this process sees it.' });
const zChainRows = z
  .object({ chains: z.array(zChainRow).describe('All of them.') })
  .meta({ id: 'ChainRows', description: 'Every chain, as this process sees it.' });
const zQueues = z
  .object({ queues: z.array(zQueueRow).describe('Topics that this process has used.') })
  .meta({ id: 'QueueRows', description: 'Depth of the queue of wake-ups.' });

export function operationRoutes({ orders, roster, chains, queues, limits }: Operations): AdminRoute[] {
  return [
    adminRoute(
      'GET',
      '/orders',
      'Open orders, stuck ones first, each with its next step',
      { response: zOpenOrders },
      orders,
    ),
    adminRoute('GET', '/roster', 'Solvers with status and breaker', { response: zRoster }, async () => ({
      solvers: await roster(),
    })),
    adminRoute('GET', '/chains', 'Chains with their relayers', { response: zChainRows }, async () => ({
      chains: await chains(),
    })),
    adminRoute('GET', '/queues', 'Depth of the queue', { response: zQueues }, async () => ({
      queues: queues(),
    })),
    adminRoute('GET', '/limits', 'Limits of this process', { response: zRates }, async () => limits()),
  ];
}
