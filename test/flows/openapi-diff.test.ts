/**
 * The API as it was released keeps working: `docs/released/openapi.json` is what clients were written
 * against, and nothing in it may break.
 */

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { OpenApi } from '../../src/adapters/http/openapi.ts';
import { breakingChanges } from '../support/openapi-diff.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string) => JSON.parse(readFileSync(resolve(ROOT, path), 'utf8')) as OpenApi;

test('no released operation breaks', () => {
  // docs/openapi.json is what the venue serves: documents.test.ts holds it to that.
  expect(breakingChanges(read('docs/released/openapi.json'), read('docs/openapi.json'))).toEqual([]);
});

interface Loose {
  [key: string]: Loose | undefined;
}

const BASE: OpenApi = {
  openapi: '3.1.0',
  info: { title: 't', version: '1' },
  paths: {
    '/a': {
      post: {
        parameters: [
          { name: 'page', in: 'query', required: false, schema: { type: 'integer', maximum: 100 } },
        ],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: {
                type: 'object',
                properties: {
                  amount: { type: 'string', maxLength: 78 },
                  mode: { type: 'string', enum: ['x', 'y'] },
                  list: { type: 'array', maxItems: 5, items: { type: 'string' } },
                },
                required: ['amount'],
                additionalProperties: false,
              },
            },
          },
        },
        responses: {
          '200': {
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  properties: {
                    id: { type: 'string' },
                    at: { type: 'string', format: 'date-time' },
                    status: { type: 'string', enum: ['pending', 'settled'] },
                    fee: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
                    map: { type: 'object', additionalProperties: { type: 'integer' } },
                    items: {
                      type: 'array',
                      items: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
                    },
                  },
                  required: ['id', 'status'],
                },
              },
            },
          },
          '404': { content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } },
        },
      },
    },
  },
  components: {
    schemas: { Error: { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] } },
  },
};

function changed(change: (post: Loose, document: Loose) => void): OpenApi {
  const document = structuredClone(BASE) as unknown as Loose;
  change(document['paths']?.['/a']?.['post'] as Loose, document);
  return document as unknown as OpenApi;
}

const request = (post: Loose) => post['requestBody']?.['content']?.['application/json']?.['schema'] as Loose;
const answer = (post: Loose) =>
  post['responses']?.['200']?.['content']?.['application/json']?.['schema'] as Loose;
const set = (target: Loose | undefined, key: string, value: unknown) =>
  void Object.assign(target as object, { [key]: value });

describe('a breaking change is detected', () => {
  test.each<[string, (post: Loose, document: Loose) => void, RegExp]>([
    ['path removed', (_, document) => delete document['paths']?.['/a'], /POST \/a: removed/],
    [
      'method changed',
      (post, document) => set(document['paths'] as Loose, '/a', { get: post }),
      /POST \/a: removed/,
    ],
    ['parameter removed', (post) => set(post, 'parameters', []), /parameter page removed/],
    [
      'parameter required',
      (post) => set(post['parameters']?.[0], 'required', true),
      /parameter page is required now/,
    ],
    [
      'parameter narrowed',
      (post) => set(post['parameters']?.[0]?.['schema'], 'maximum', 50),
      /\?page: maximum is 50 now/,
    ],
    [
      'new required parameter',
      (post) =>
        (post['parameters'] as unknown as object[]).push({
          name: 'x',
          in: 'query',
          required: true,
          schema: {},
        }),
      /new required parameter x/,
    ],
    [
      'new required request field',
      (post) => (
        set(request(post)['properties'], 'extra', { type: 'string' }),
        set(request(post), 'required', ['amount', 'extra'])
      ),
      /\.extra: required now/,
    ],
    [
      'optional request field required',
      (post) => set(request(post), 'required', ['amount', 'mode']),
      /\.mode: required now/,
    ],
    [
      'request field removed',
      (post) => delete request(post)['properties']?.['mode'],
      /\.mode: accepted no more/,
    ],
    [
      'request enum narrowed',
      (post) => set(request(post)['properties']?.['mode'], 'enum', ['x']),
      /"y" is accepted no more/,
    ],
    [
      'request enum introduced',
      (post) => set(request(post)['properties']?.['amount'], 'enum', ['1']),
      /only some values/,
    ],
    [
      'request type changed',
      (post) => set(request(post)['properties']?.['amount'], 'type', 'integer'),
      /accepted string and does not any more/,
    ],
    [
      'request text shortened',
      (post) => set(request(post)['properties']?.['amount'], 'maxLength', 10),
      /maxLength is 10 now/,
    ],
    [
      'request pattern introduced',
      (post) => set(request(post)['properties']?.['amount'], 'pattern', '^1$'),
      /another pattern/,
    ],
    [
      'request list shortened',
      (post) => set(request(post)['properties']?.['list'], 'maxItems', 2),
      /maxItems is 2 now/,
    ],
    [
      'request items changed',
      (post) => set(request(post)['properties']?.['list']?.['items'], 'type', 'object'),
      /list\[\]: accepted string/,
    ],
    ['body removed', (post) => delete post['requestBody'], /body: application\/json removed/],
    ['answer removed', (post) => delete post['responses']?.['404'], /answer 404 removed/],
    [
      'media type removed',
      (post) => set(post['responses']?.['200'], 'content', { 'text/csv': {} }),
      /200: application\/json removed/,
    ],
    ['answer field removed', (post) => delete answer(post)['properties']?.['at'], /\.at: removed/],
    ['answer field optional', (post) => set(answer(post), 'required', ['id']), /\.status: not always there/],
    [
      'answer enum narrowed',
      (post) => set(answer(post)['properties']?.['status'], 'enum', ['pending']),
      /"settled" is told no more/,
    ],
    [
      'answer enum widened',
      (post) => set(answer(post)['properties']?.['status'], 'enum', ['pending', 'settled', 'odd']),
      /"odd" is new to every client/,
    ],
    [
      'answer enum dropped',
      (post) => delete answer(post)['properties']?.['status']?.['enum'],
      /can be anything now/,
    ],
    [
      'answer type changed',
      (post) => set(answer(post)['properties']?.['id'], 'type', 'integer'),
      /tells integer now/,
    ],
    [
      'answer nullable',
      (post) => set(answer(post)['properties'], 'id', { anyOf: [{ type: 'string' }, { type: 'null' }] }),
      /\.id: tells null now/,
    ],
    [
      'answer number widened',
      (post) => set(answer(post)['properties'], 'fee', { anyOf: [{ type: 'number' }, { type: 'null' }] }),
      /\.fee: tells number now/,
    ],
    [
      'answer format dropped',
      (post) => delete answer(post)['properties']?.['at']?.['format'],
      /no date-time any more/,
    ],
    [
      'answer map changed',
      (post) => set(answer(post)['properties']?.['map']?.['additionalProperties'], 'type', 'string'),
      /map\.\*: tells string now/,
    ],
    [
      'answer items changed',
      (post) => delete answer(post)['properties']?.['items']?.['items']?.['properties']?.['n'],
      /items\[\]\.n: removed/,
    ],
    [
      'error shape changed',
      (_, document) => delete document['components']?.['schemas']?.['Error']?.['properties']?.['code'],
      /404\.code: removed/,
    ],
  ])('%s', (_, change, what) => {
    expect(breakingChanges(BASE, changed(change)).join('\n')).toMatch(what);
  });
});

describe('an addition passes', () => {
  test.each<[string, (post: Loose, document: Loose) => void]>([
    ['nothing', () => {}],
    ['new path', (post, document) => set(document['paths'] as Loose, '/b', { get: post })],
    [
      'new optional parameter',
      (post) =>
        (post['parameters'] as unknown as object[]).push({
          name: 'x',
          in: 'query',
          required: false,
          schema: { type: 'string' },
        }),
    ],
    ['new optional request field', (post) => set(request(post)['properties'], 'extra', { type: 'string' })],
    ['request enum widened', (post) => set(request(post)['properties']?.['mode'], 'enum', ['x', 'y', 'z'])],
    [
      'request field nullable',
      (post) =>
        set(request(post)['properties'], 'mode', {
          anyOf: [{ type: 'string', enum: ['x', 'y'] }, { type: 'null' }],
        }),
    ],
    ['request text longer', (post) => set(request(post)['properties']?.['amount'], 'maxLength', 100)],
    ['request field optional', (post) => set(request(post), 'required', [])],
    ['new answer field', (post) => set(answer(post)['properties'], 'more', { type: 'string' })],
    ['answer field always there', (post) => set(answer(post), 'required', ['id', 'status', 'at'])],
    ['answer never null', (post) => set(answer(post)['properties'], 'fee', { type: 'integer' })],
    ['new error', (post) => set(post['responses'], '409', {})],
    ['other words', (post) => set(post, 'summary', 'else')],
  ])('%s', (_, change) => {
    expect(breakingChanges(BASE, changed(change))).toEqual([]);
  });
});
