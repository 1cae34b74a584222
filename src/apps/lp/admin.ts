/** The LP operator's own door, on loopback only: look, pause, resume, hold transactions. */

import type { LpNode } from '../../lp/node.ts';
import type { OpsRoute } from '../../adapters/http/ops.ts';
import type { Brake } from './brake.ts';

const NOTE = 'paused by the operator';

export function adminRoutes(node: LpNode, brake: Brake): OpsRoute[] {
  const status = () => ({ ...node.status(), sending: brake.held() ? 'held' : 'free' });
  return [
    { method: 'GET', path: '/status', handle: () => ({ status: 200, body: status() }) },
    { method: 'GET', path: '/inventory', handle: () => ({ status: 200, body: { buckets: node.inventory() } }) },
    { method: 'GET', path: '/awards', handle: async ({ query }) => ({ status: 200, body: { awards: await node.awards(limitOf(query.get('limit'))) } }) },
    {
      method: 'POST',
      path: '/pause',
      // The kill switch: from here on nothing is signed; what was signed stays honoured.
      handle({ query }) {
        node.pause(query.get('note')?.slice(0, 200) || NOTE);
        return { status: 200, body: status() };
      },
    },
    {
      method: 'POST',
      path: '/resume',
      handle() {
        node.resume();
        return { status: 200, body: status() };
      },
    },
    {
      method: 'POST',
      path: '/fills/pause',
      handle() {
        brake.hold();
        return { status: 200, body: status() };
      },
    },
    {
      method: 'POST',
      path: '/fills/resume',
      handle() {
        brake.free();
        return { status: 200, body: status() };
      },
    },
  ];
}

function limitOf(text: string | null): number {
  const limit = Number(text ?? 50);
  return Number.isInteger(limit) ? Math.min(500, Math.max(1, limit)) : 50;
}
