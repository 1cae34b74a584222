/** Tickets: each opens one WebSocket in place of a key, at any replica, once and within seconds. */

import { hash } from 'node:crypto';
import { toIso } from '../../domain/time.ts';
import type { ApiKey, TicketStore } from '../../ports/stores/store.ts';
import { TICKET, TICKET_PREFIX } from '../../protocol/api/tickets.ts';
import { ApiError } from '../../protocol/errors.ts';
import type { VenueDeps } from '../deps.ts';
import { newSecret } from './keys.ts';

const WHY = {
  used: 'has been used: it opens one WebSocket only',
  expired: 'has expired: it lives for seconds',
  unknown: 'is unknown, or its key was revoked',
} as const;

export interface Tickets {
  issue(key: ApiKey): Promise<{ ticket: string; expiresAt: string }>;
  /** Spends the ticket. Throws `ticket_invalid`. */
  redeem(ticket: string): Promise<ApiKey>;
}

export function createTickets(
  { store, random }: Pick<VenueDeps, 'random'> & { store: TicketStore },
  { ticketSeconds }: { ticketSeconds: number },
): Tickets {
  return {
    async issue({ id }) {
      const ticket = `${TICKET_PREFIX}${newSecret(random)}`;
      const expiresAtMs = await store.addTicket({
        sha256: hash('sha256', ticket),
        keyId: id,
        lifeMs: ticketSeconds * 1_000,
      });
      return { ticket, expiresAt: toIso(expiresAtMs) };
    },
    async redeem(ticket) {
      const found = TICKET.test(ticket)
        ? await store.useTicket(hash('sha256', ticket))
        : ({ kind: 'unknown' } as const);
      if (found.kind === 'fresh') return found.key;
      throw new ApiError(
        'ticket_invalid',
        `This ticket ${WHY[found.kind]}. Ask for a new one for each connection: POST /api/v1/ws/tickets.`,
      );
    },
  };
}
