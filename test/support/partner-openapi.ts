/** docs/partner-openapi.json: the route partner protocol as an OpenAPI document, from its schemas. */

import { createComponents, type JsonSchema } from '../../src/protocol/json-schemas.ts';
import type { Schema } from '../../src/protocol/schema.ts';
import {
  PARTNER_ERRORS,
  PARTNER_OPERATIONS,
  PARTNER_PROTOCOL_VERSION,
  type PartnerOperation,
  zPartnerError,
  zPartnerEvent,
  zReconciliationLine,
  zReconciliationRequest,
} from '../../src/protocol/partner/messages.ts';

type Path = PartnerOperation | 'reconciliation';

const MEANING: Record<Path, { summary: string; description: string; tag: string }> = {
  terms: {
    summary: 'What the partner serves',
    description: 'Read every half minute. It decides which pairs the venue asks for.',
    tag: 'quotes',
  },
  quote: {
    summary: 'Ask for a price',
    description: 'Nothing is reserved by it. Declining is normal.',
    tag: 'quotes',
  },
  reserve: {
    summary: 'Make a quote firm',
    description: 'Asked before the taker sees the quote. From `reserved: true` on, the quote is firm.',
    tag: 'quotes',
  },
  accept: {
    summary: 'Hand over an order',
    description: 'Its input is in escrow. The same order gets the same answer.',
    tag: 'orders',
  },
  deliver: {
    summary: 'Ask for the delivery',
    description: 'Repeated until the chain shows the fill. The answer may come before the fill does.',
    tag: 'orders',
  },
  status: { summary: 'Ask how an order stands', description: 'A hint: the chain decides.', tag: 'orders' },
  cancel: {
    summary: 'Give an order up',
    description: 'Only what is not being delivered can be given up. The input is then released to the taker.',
    tag: 'orders',
  },
  reconciliation: {
    summary: 'The deliveries of a day',
    description: 'One line of JSON for each order that was filled on this day (UTC), in any order.',
    tag: 'afterwards',
  },
  'payout-offer': {
    summary: 'Ask what a payout would bring',
    description: 'A later step that the taker may choose. No order settles by it.',
    tag: 'afterwards',
  },
  'payout-status': {
    summary: 'Ask how a payout stands',
    description: 'The signature of the answer attests the reference of the bank.',
    tag: 'afterwards',
  },
};

const TAGS = {
  quotes: 'Before an order.',
  orders: 'An order whose input is in escrow.',
  afterwards: 'Books, and payouts that a taker chooses afterwards.',
  events: 'From the partner to the venue.',
};

const PARAMETERS = {
  MessageId: {
    name: 'webhook-id',
    description: 'Id of the message, new for each. The answer carries that of its request.',
    schema: { type: 'string', minLength: 1, maxLength: 100 },
  },
  MessageTime: {
    name: 'webhook-timestamp',
    description: 'Unix seconds of sending. Five minutes away from your clock is too far.',
    schema: { type: 'string', pattern: '^[0-9]{1,12}$', minLength: 1, maxLength: 12 },
  },
} as const;
const SIGNATURE = 'webhook-signature';
const SIGNED = `\`v1a,<base64>\`: Ed25519 over \`<webhook-id>.<webhook-timestamp>.<body>\`, with the key of the sender. \
Several, with spaces between them, while a key is replaced.`;

/** The whole document. */
export function partnerOpenApi(): object {
  const components = createComponents('draft-2020-12');
  const json = (schema: Schema, io: 'input' | 'output') => ({
    'application/json': { schema: components.of(schema, io) },
  });
  const headers = Object.fromEntries(
    ['MessageId', 'MessageTime', 'Signature'].map((name) => [
      Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name as keyof typeof PARAMETERS].name : SIGNATURE,
      { $ref: `#/components/headers/${name}` },
    ]),
  );
  const refusals = () =>
    Object.fromEntries(
      Object.entries(PARTNER_ERRORS).map(([code, { status, meaning }]) => [
        String(status),
        { description: `${code}: ${meaning}`, headers, content: json(zPartnerError, 'output') },
      ]),
    );
  const operation = (
    operationId: string,
    { summary, description, tag }: (typeof MEANING)[Path],
    body: Schema,
    ok: object,
  ) => ({
    post: {
      operationId,
      summary,
      description,
      tags: [tag],
      security: [{ signature: [] }],
      parameters: Object.keys(PARAMETERS).map((name) => ({ $ref: `#/components/parameters/${name}` })),
      requestBody: { required: true, content: json(body, 'input') },
      responses: { '200': ok, ...refusals() },
    },
  });
  const idOf = (path: string) => path.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const done = (content: object) => ({ description: 'Done.', headers, content });
  const paths: Record<string, object> = {};
  for (const path of Object.keys(MEANING) as Path[]) {
    const asked = path === 'reconciliation' ? undefined : PARTNER_OPERATIONS[path];
    paths[`/${path}`] =
      asked === undefined
        ? operation(
            path,
            MEANING[path],
            zReconciliationRequest,
            done({ 'application/x-ndjson': { schema: components.of(zReconciliationLine, 'output') } }),
          )
        : operation(idOf(path), MEANING[path], asked.request, done(json(asked.answer, 'output')));
  }
  const event = operation(
    'orderEvent',
    {
      summary: 'An order has changed',
      description:
        'A hint that saves time. Sent to `{venue}/api/v1/partners/events`. Any 2xx ends it; do not repeat it.',
      tag: 'events',
    },
    zPartnerEvent,
    { description: 'Taken.' },
  );
  const { schemas } = components;
  return {
    openapi: '3.1.0',
    info: {
      title: 'firmquote route partner',
      version: String(PARTNER_PROTOCOL_VERSION),
      description:
        'What a route partner serves, and the event that it may send. `docs/reference/route-partner-protocol.md` explains it.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: 'https://{host}', description: 'The partner.', variables: HOST }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: { order: event },
    components: {
      securitySchemes: { signature: { type: 'apiKey', in: 'header', name: SIGNATURE, description: SIGNED } },
      parameters: Object.fromEntries(
        Object.entries(PARAMETERS).map(([name, each]) => [name, { in: 'header', required: true, ...each }]),
      ),
      headers: {
        ...Object.fromEntries(
          Object.entries(PARAMETERS).map(([name, { description, schema }]) => [
            name,
            { description, required: true, schema },
          ]),
        ),
        Signature: { description: SIGNED, required: true, schema: { type: 'string', maxLength: 1_000 } },
      },
      schemas: schemas satisfies Readonly<Record<string, JsonSchema>>,
    },
  };
}

const HOST = { host: { default: 'partner.example', description: 'Host, port and path of the partner.' } };
