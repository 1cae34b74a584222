/** AsyncAPI 3 document of both WebSockets, from the schemas of the frames. */

import type * as z from 'zod';
import { createComponents, type JsonSchema } from '../json-schemas.ts';
import {
  CLOSE,
  EVENTS_MAX_PAYLOAD_BYTES,
  EVENTS_PATH,
  MAX_TOPICS,
  PRICES_EVERY_MS,
  zClientFrame,
  zOrderEvent,
  zPriceEvent,
  zSolverEvent,
  zStreamError,
  zSubscribed,
  zUnsubscribed,
} from './events.ts';
import { STREAM_PROTOCOL } from './tickets.ts';
import {
  LINK_HEARTBEAT_SECONDS,
  LINK_MAX_PAYLOAD_BYTES,
  LINK_MISSED_HEARTBEATS,
  LINK_PATH,
  LINK_PROOF_TYPE,
  zFromSolver,
  zFromVenue,
} from '../link/link.ts';

type FrameExamples = Readonly<Record<string, readonly unknown[]>>;

const EVENTS: Record<string, { schema: z.ZodType; summary: string }> = {
  subscribe: {
    schema: zClientFrame,
    summary: `Subscribe to topics or unsubscribe; at most ${MAX_TOPICS} per connection. A frame applies to all of its topics or to none.`,
  },
  subscribed: { schema: zSubscribed, summary: 'The subscription is active; missed events follow.' },
  unsubscribed: { schema: zUnsubscribed, summary: 'No more events of these topics are sent.' },
  error: { schema: zStreamError, summary: 'Why the request was not carried out.' },
  orderEvent: {
    schema: zOrderEvent,
    summary: 'An order was created, settled or failed; `data` is what GET answered at that time.',
  },
  solverEvent: {
    schema: zSolverEvent,
    summary: 'A solver that this workspace may trade with changed its status.',
  },
  priceEvent: {
    schema: zPriceEvent,
    summary: `Indicative levels of a market, both sides. Never firm. At most one in ${PRICES_EVERY_MS} ms per topic.`,
  },
};
const FROM_CLIENT = ['subscribe'];

const LINK: Record<string, string> = {
  challenge: 'The first frame: what to sign, and the chains with their escrows.',
  hello: `Who the solver is. For each chain its operator signs ${LINK_PROOF_TYPE}, EIP-712 domain {name: "FirmquoteLink", version: "1", chainId, verifyingContract: escrow}.`,
  welcome: 'The proof holds. Send `status` next: the venue asks only solvers that have.',
  refused: 'The proof does not hold, or this solver may not join; the socket closes.',
  status: '`active` takes part in the fan-out; `standby` does not. The note is shown on the roster.',
  levels:
    'Optional: indicative outputs for rising sizes. Shown as prices, never executed. An empty list withdraws them. Repeat every few seconds while valid, at most a few times a second.',
  rfq: 'A request for a firm quote. Answer within deadlineMs with quotes, a partial or a decline.',
  quote:
    'A firm quote: the complete order, and the commitment of the operator over its id. Several are allowed; `more` says whether another follows.',
  partial: 'What this solver could fill of a request that is too large for it alone. Not firm.',
  decline: 'No quote, with the reason; maxAmount or minAmount when the size was the reason.',
  slice: 'A planned split: sign the whole order if your output in it is what you offered.',
  commit: 'The commitment over the order of a slice.',
  released:
    'Quotes that can no longer execute. `proof` names what excludes them on chain; without it a hold runs to its deadline.',
  rejected:
    'A quote, partial or commit does not hold, and no taker sees it: why, and the field to look at. Rate-limited.',
  outcome:
    'To a solver whose hello said `shadow`: the amounts of the quote that the taker accepted, for a request that it was shown.',
  award: 'The taker accepted your quote: everything needed to fill the order.',
  order: 'The stage of your order changed. A hint: only the chain is authoritative.',
  fill: 'The solver filled an output. A hint: the venue reads the chain.',
  resync:
    'From the solver: a request for its open orders. From the venue: these orders, in several messages.',
  ping: `Either side sends it every ${LINK_HEARTBEAT_SECONDS} seconds; after ${LINK_MISSED_HEARTBEATS} missed ones the other side counts as gone.`,
  pong: 'The answer to a ping.',
};

const KEY = { $ref: '#/components/securitySchemes/apiKey' };
const TICKET = { $ref: '#/components/securitySchemes/ticket' };

export function asyncApiDocument({
  title,
  events,
  link,
}: {
  title: string;
  events: FrameExamples;
  link: FrameExamples;
}): object {
  const components = createComponents('draft-7');
  const eventMessages = Object.fromEntries(
    Object.entries(EVENTS).map(([name, { schema, summary }]) => [
      name,
      message(
        name,
        summary,
        components.of(schema, FROM_CLIENT.includes(name) ? 'input' : 'output'),
        events[name],
      ),
    ]),
  );
  const [fromVenue, fromSolver] = [byType(zFromVenue), byType(zFromSolver)];
  const linkMessages = Object.fromEntries([
    ...[...fromVenue].map(([type, schema]) => [
      `venue_${type}`,
      message(`venue_${type}`, LINK[type] ?? '', components.of(schema, 'input'), link[`venue_${type}`]),
    ]),
    ...[...fromSolver].map(([type, schema]) => [
      `solver_${type}`,
      message(`solver_${type}`, LINK[type] ?? '', components.of(schema, 'input'), link[`solver_${type}`]),
    ]),
  ]) as Record<string, object>;
  const operation = (action: 'send' | 'receive', channel: string, summary: string, names: string[]) => ({
    action,
    summary,
    channel: { $ref: `#/channels/${channel}` },
    messages: names.map((name) => ({ $ref: `#/channels/${channel}/messages/${name}` })),
  });
  return {
    asyncapi: '3.0.0',
    info: {
      title: `${title}: streams`,
      version: '1',
      description: `JSON text frames, one message each. Send the key in the X-API-Key header of the upgrade request, never in the URL. Web pages, which cannot, open the event stream with a ticket of POST /api/v1/ws/tickets, if the venue lists their origin. No compression, no binary frames (${CLOSE.unsupported}). Frames above the limit close with ${CLOSE.tooBig}, too many with ${CLOSE.policy}, and clients that read too slowly with ${CLOSE.tryLater}: reconnect and resume. A venue or replica that restarts closes with ${CLOSE.restarting}: reconnect immediately and resume at another replica.`,
    },
    defaultContentType: 'application/json',
    servers: {
      venue: {
        host: '{host}',
        protocol: 'wss',
        variables: { host: { default: 'localhost:8080', description: 'The host of the HTTP API.' } },
        security: [KEY, TICKET],
      },
    },
    channels: {
      events: {
        address: EVENTS_PATH,
        title: 'Events for takers',
        description: `Topics: "orders" (all of the workspace), "orders:{id}", "solvers", "prices:{source}-{dest}:{inputSymbol}-{outputSymbol}". Takes a service or a workspace key; frames of at most ${EVENTS_MAX_PAYLOAD_BYTES} bytes. Resuming: subscribe to "orders" with since = the last cursor you handled, and every event after it is sent once, in order, followed by new ones. "orders:{id}" always begins with the order's first event: drop events whose seq you have. "solvers": subscribe, then read GET /api/v1/solvers; changes follow. "prices": the newest state is sent immediately. The server pings every 30 seconds.`,
        messages: eventMessages,
      },
      link: {
        address: LINK_PATH,
        title: 'The solver link',
        description: `Solvers connect with a solver key and answer requests for quotes; frames of at most ${LINK_MAX_PAYLOAD_BYTES} bytes. Unknown types are ignored, unknown fields refused. A worked session: challenge, hello, welcome, status, then rfq and quote as often as asked, award when one is taken, order as it moves.`,
        messages: linkMessages,
      },
    },
    operations: {
      hearClients: operation('receive', 'events', 'Frames from clients.', FROM_CLIENT),
      tellClients: operation(
        'send',
        'events',
        'Frames to clients.',
        Object.keys(EVENTS).filter((name) => !FROM_CLIENT.includes(name)),
      ),
      hearSolvers: operation(
        'receive',
        'link',
        'Messages from solvers.',
        [...fromSolver.keys()].map((type) => `solver_${type}`),
      ),
      tellSolvers: operation(
        'send',
        'link',
        'Messages to solvers.',
        [...fromVenue.keys()].map((type) => `venue_${type}`),
      ),
    },
    components: {
      securitySchemes: {
        apiKey: { type: 'httpApiKey', in: 'header', name: 'X-API-Key' },
        ticket: {
          type: 'httpApiKey',
          in: 'header',
          name: 'Sec-WebSocket-Protocol',
          description: `For the event stream only: new WebSocket(url, ["${STREAM_PROTOCOL}", ticket]) with a fresh ticket of POST /api/v1/ws/tickets. The venue chooses "${STREAM_PROTOCOL}". A ticket opens one stream, within seconds; then, and when it is late, the answer is 401 ticket_invalid.`,
        },
      },
      schemas: components.schemas,
    },
  };
}

function message(
  name: string,
  summary: string,
  payload: JsonSchema,
  examples: readonly unknown[] = [],
): object {
  return {
    name,
    summary,
    payload,
    ...(examples.length > 0 && { examples: examples.map((example) => ({ payload: example })) }),
  };
}

function byType(union: typeof zFromVenue | typeof zFromSolver): Map<string, z.ZodType> {
  return new Map(union.options.map((option) => [option.shape.type.value, option]));
}
