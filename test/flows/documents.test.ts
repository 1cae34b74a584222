/**
 * The documents are true: every operation and message has examples that a real venue just confirmed, and the
 * copies under docs/ are what it serves. `npm run docs` renews them.
 */

import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { exampleKey } from '../../src/adapters/http/openapi.ts';
import { asyncApiDocument } from '../../src/protocol/api/asyncapi.ts';
import {
  zClientFrame,
  zOrderEvent,
  zPriceEvent,
  zSolverEvent,
  zStreamError,
  zSubscribed,
  zUnsubscribed,
} from '../../src/protocol/api/events.ts';
import { readFromSolver, readFromVenue } from '../../src/protocol/link/link.ts';
import { RECORDED, type Recording } from '../../src/protocol/api/recording.ts';
import { play, stageOf } from '../support/api-examples.ts';
import { shapeOf } from '../support/shape.ts';
import { bundled, createSchemas } from '../support/openapi-schemas.ts';
import { payoutVenue } from '../support/payout-desk.ts';
import { startOwnPostgres } from '../support/postgres.ts';
import { startTestVenue, type TestVenue } from '../support/venue.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const RENEW = process.env['RENEW_DOCS'] === 'yes';

let v: TestVenue;
let played: Recording;

beforeAll(async () => {
  // It stops its database, to see what the venue answers without.
  v = await startTestVenue({ routeVenues: async () => [payoutVenue()], postgres: await startOwnPostgres() });
  played = await play(await stageOf(v));
  if (RENEW)
    writeFileSync(resolve(ROOT, 'src/protocol/api/recorded.json'), `${JSON.stringify(played, null, 1)}\n`);
});
afterAll(() => v.stop());

describe('OpenAPI', () => {
  test('every operation is called, and every answer matches the schema of its status', async () => {
    const document = await v.http.openapi();
    const schemas = createSchemas(document);
    expect(Object.keys(played.http).sort()).toEqual(
      Object.entries(document.paths)
        .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
        .sort(),
    );
    for (const recording of RENEW ? [played] : [played, RECORDED]) {
      for (const [operation, { request, answers }] of Object.entries(recording.http)) {
        expect([operation, Object.keys(answers).sort()]).toEqual([
          operation,
          schemas.statuses(operation).sort(),
        ]);
        if (request.body !== undefined)
          expect([operation, schemas.requestFault(operation, request.body)]).toEqual([operation, undefined]);
        for (const [status, { body }] of Object.entries(answers))
          expect([operation, status, schemas.answerFault(operation, status, body)]).toEqual([
            operation,
            status,
            undefined,
          ]);
      }
    }
  });

  test('the examples have the shape of the recorded answers', () => {
    if (RENEW) return;
    for (const [operation, { request, answers }] of Object.entries(played.http)) {
      const shown = RECORDED.http[operation];
      expect([operation, shapeOf(shown?.request.body)]).toEqual([operation, shapeOf(request.body)]);
      for (const [status, { body }] of Object.entries(answers))
        expect([operation, status, shapeOf(shown?.answers[status]?.body)]).toEqual([
          operation,
          status,
          shapeOf(body),
        ]);
    }
  });

  test('no key is in the document', async () => {
    expect(JSON.stringify(await v.http.openapi())).not.toMatch(/fq_(test|live)_[A-Za-z0-9_-]{43}/);
  });

  test('docs/openapi.json is what is served', async () => {
    await expect(`${JSON.stringify(await v.http.openapi(), null, 1)}\n`).toMatchFileSnapshot(
      resolve(ROOT, 'docs/openapi.json'),
    );
  });

  test('examples are named as the document names operations', () => {
    for (const route of v.venue.routes) expect(played.http[exampleKey(route)]).toBeDefined();
  });
});

describe('AsyncAPI', () => {
  test('every message has an example that its schema parses', () => {
    const document = asyncApiDocument({
      title: 'firmquote venue',
      events: played.events,
      link: played.link,
    }) as {
      components: object;
      channels: Record<
        'events' | 'link',
        { messages: Record<string, { payload: object; examples?: { payload: unknown }[] }> }
      >;
    };
    const readers: Record<string, z.ZodType> = {
      subscribe: zClientFrame,
      subscribed: zSubscribed,
      unsubscribed: zUnsubscribed,
      error: zStreamError,
      orderEvent: zOrderEvent,
      solverEvent: zSolverEvent,
      priceEvent: zPriceEvent,
    };
    for (const recording of RENEW ? [played] : [played, RECORDED]) {
      expect(Object.keys(recording.events).sort()).toEqual(
        Object.keys(document.channels.events.messages).sort(),
      );
      expect(Object.keys(recording.link).sort()).toEqual(Object.keys(document.channels.link.messages).sort());
      for (const [name, frames] of Object.entries(recording.events))
        for (const frame of frames)
          expect([name, readers[name]?.safeParse(frame).error]).toEqual([name, undefined]);
      for (const [name, frames] of Object.entries(recording.link)) {
        for (const frame of frames)
          expect([
            name,
            (name.startsWith('venue_') ? readFromVenue : readFromSolver)(JSON.stringify(frame)).ok,
          ]).toEqual([name, true]);
      }
    }
    // The schemas as they are published accept what was said too.
    for (const { messages } of Object.values(document.channels)) {
      for (const [name, { payload, examples = [] }] of Object.entries(messages)) {
        const schema = z.fromJSONSchema(bundled(payload, document) as never);
        for (const example of examples)
          expect([name, schema.safeParse(example.payload).error]).toEqual([name, undefined]);
      }
    }
    if (!RENEW)
      for (const kind of ['events', 'link'] as const)
        for (const [name, frames] of Object.entries(played[kind]))
          expect([name, shapeOf([...frames])]).toEqual([name, shapeOf([...(RECORDED[kind][name] ?? [])])]);
  });

  test('docs/asyncapi.json is what is served', async () => {
    await expect(`${JSON.stringify(await v.http.asyncapi(), null, 1)}\n`).toMatchFileSnapshot(
      resolve(ROOT, 'docs/asyncapi.json'),
    );
  });
});

test('the page holds both documents as data, and runs its two scripts only', async () => {
  const { text, headers } = await v.call('GET', '/docs');
  expect(headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; script-src 'self' 'sha256-[^ ;]*'; .*connect-src 'self'; base-uri 'none'/,
  );
  expect(text.match(/<script[^>]*>/g)).toEqual([
    '<script id="documents" type="application/json">',
    '<script src="/docs/scalar.js">',
    '<script>',
  ]);
  const [, data = ''] = /<script id="documents"[^>]*>([^<]*)</.exec(text) ?? [];
  expect(JSON.parse(data)).toEqual({
    api: { ...(await v.http.openapi()), servers: [{ url: '/' }] },
    streams: await v.http.asyncapi(),
  });
});
