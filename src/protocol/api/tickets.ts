/** POST /api/v1/ws/tickets: a key for one WebSocket, for programs that cannot send headers with it. */

import * as z from 'zod';

/** A client offers this protocol as `Sec-WebSocket-Protocol` beside its ticket, and the venue chooses it. */
export const STREAM_PROTOCOL = 'firmquote';
export const TICKET_PREFIX = 'fq_ticket_';
/** The text is a token of RFC 9110, so that it may stand in `Sec-WebSocket-Protocol`. */
export const TICKET = /^fq_ticket_[A-Za-z0-9_-]{43}$/;

export const zTicketResponse = z
  .object({
    ticket: z
      .string()
      .regex(TICKET)
      .describe(
        `Opens one WebSocket at /api/v1/ws, once, as the key that asked for it: same workspace, kind and mode. ` +
          `Offer it as a subprotocol: new WebSocket(url, ["${STREAM_PROTOCOL}", ticket]). Never store or log it.`,
      ),
    expiresAt: z.iso.datetime().describe('When the ticket expires unused, by the clock of the venue.'),
  })
  .meta({ id: 'StreamTicket', description: 'Opens one WebSocket in place of a key.' });
