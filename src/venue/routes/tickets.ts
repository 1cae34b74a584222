/** POST /ws/tickets */

import type { Route } from '../../ports/http.ts';
import { zTicketResponse } from '../../protocol/api/tickets.ts';
import type { Tickets } from '../access/tickets.ts';

export function ticketsRoute({ tickets }: { tickets: Tickets }): Route {
  return {
    method: 'POST',
    path: '/api/v1/ws/tickets',
    keyKinds: ['service', 'workspace'],
    rate: 'socket',
    load: 'read',
    tag: 'streams',
    summary: 'A ticket that opens one WebSocket, for web pages, which cannot send a key with it',
    response: zTicketResponse,
    handle: async ({ key }) => tickets.issue(key),
  };
}
