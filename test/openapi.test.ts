/**
 * What docs/openapi.json, which documents.test.ts holds to what the venue serves, owes its readers: a meaning
 * for every field and value, the errors of every operation, and examples that its own schemas accept.
 */

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { lintFromString, loadConfig } from '@redocly/openapi-core';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { type Content, type OpenApi, openApiDocument, type Operation } from '../src/adapters/http/openapi.ts';
import type { Route } from '../src/ports/http.ts';
import { TRADE_SORTS } from '../src/protocol/api/trades/query.ts';
import type { JsonSchema } from '../src/protocol/json-schemas.ts';
import type { Admin } from '../src/venue/admin/admin.ts';
import { operationRoutes } from '../src/venue/admin/operation-routes.ts';
import type { Operations } from '../src/venue/admin/operations.ts';
import { venueAdminRoutes } from '../src/venue/admin/routes.ts';
import { bundled } from './support/openapi-schemas.ts';

const ROOT = resolve(import.meta.dirname, '..');
const PATH = resolve(ROOT, 'docs/openapi.json');
const SOURCE = readFileSync(PATH, 'utf8');
const document = JSON.parse(SOURCE) as OpenApi;

const operations: readonly [string, Operation][] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]): [string, Operation] => [
    `${method.toUpperCase()} ${path}`,
    operation,
  ]),
);
const components = Object.entries(document.components?.['schemas'] ?? {}) as [string, JsonSchema][];

/** Schemas outside the components: of parameters, bodies and answers. */
const written: readonly [string, JsonSchema][] = operations.flatMap(([name, operation]) => {
  const contents: [string, Record<string, Content> | undefined][] = [
    ['body', operation.requestBody?.content],
    ...Object.entries(operation.responses ?? {}).map(
      ([status, { content }]) => [status, content] as [string, typeof content],
    ),
  ];
  return [
    ...(operation.parameters ?? []).map((parameter): [string, JsonSchema] => [
      `${name} ?${parameter.name}`,
      parameter.schema as JsonSchema,
    ]),
    ...contents.flatMap(([part, content]) =>
      Object.values(content ?? {}).map(({ schema }): [string, JsonSchema] => [
        `${name} ${part}`,
        schema as JsonSchema,
      ]),
    ),
  ];
});

/** A schema and all inside it, each with its place. */
function* within(place: string, schema: JsonSchema): Generator<[string, JsonSchema]> {
  yield [place, schema];
  const { properties = {}, items, additionalProperties, anyOf = [], oneOf = [], allOf = [] } = schema;
  for (const [name, each] of Object.entries(properties)) yield* within(`${place}.${name}`, each);
  for (const [part, each] of [
    ['[]', items],
    ['.*', additionalProperties],
  ] as const)
    if (typeof each === 'object') yield* within(`${place}${part}`, each as JsonSchema);
  for (const each of [anyOf, oneOf, allOf].flat() as JsonSchema[]) yield* within(`${place}|`, each);
}
const everywhere = [...components, ...written].flatMap(([place, schema]) => [...within(place, schema)]);

const target = ($ref: string): JsonSchema | undefined =>
  components.find(([name]) => $ref === `#/components/schemas/${name}`)?.[1];
const described = ({ description, $ref }: JsonSchema): boolean =>
  (description ?? ($ref === undefined ? undefined : target($ref)?.description) ?? '') !== '';

describe('every part of the document says what it means', () => {
  test('every named schema and every property of it', () => {
    expect(components.filter(([, schema]) => !described(schema)).map(([name]) => name)).toEqual([]);
    expect(
      everywhere.flatMap(([place, { properties = {} }]) =>
        Object.entries(properties)
          .filter(([, schema]) => !described(schema))
          .map(([name]) => `${place}.${name}`),
      ),
    ).toEqual([]);
  });

  test('every parameter, header and key', () => {
    const silent = operations.flatMap(([name, { parameters = [] }]) =>
      parameters.filter((each) => !each.description).map((each) => `${name} ?${each.name}`),
    );
    expect(silent).toEqual([]);
    for (const kind of ['headers', 'securitySchemes'])
      for (const [name, each] of Object.entries(document.components?.[kind] ?? {}))
        expect([name, (each as JsonSchema).description]).toEqual([name, expect.stringMatching(/\w/)]);
  });

  test('every value of an enum, and every sort column', () => {
    const parameters = operations.flatMap(([name, each]) =>
      (each.parameters ?? []).map(({ description, schema }): [string, JsonSchema] => [
        name,
        { ...(schema as JsonSchema), ...(description !== undefined && { description }) },
      ]),
    );
    const explained = [...components, ...parameters].flatMap(([place, schema]) => [...within(place, schema)]);
    const silent = explained.flatMap(([place, { enum: values = [], description = '' }]) =>
      (values as string[])
        .filter((value) => !description.includes(`- \`${value}\`: `))
        .map((value) => `${place}: ${value}`),
    );
    expect(silent).toEqual([]);
    const sorts = parameters.filter(([, { description }]) => description?.startsWith('Sort column'));
    expect(sorts).toHaveLength(2);
    for (const [, { description }] of sorts)
      for (const column of TRADE_SORTS) expect(description).toContain(`- \`${column}\`: `);
  });
});

describe('schemas', () => {
  test('every object with fields has a name and is written once', () => {
    const inlined = everywhere.filter(
      ([place, { properties }]) => properties !== undefined && !components.some(([name]) => name === place),
    );
    expect(inlined.map(([place]) => place)).toEqual([]);
    const texts = components.map(([, schema]) => JSON.stringify(schema));
    expect(components.filter((_, at) => texts.indexOf(texts[at] as string) !== at)).toEqual([]);
  });

  test('every reference has a target, and every named schema a use', () => {
    const used = new Set(everywhere.flatMap(([, { $ref }]) => ($ref === undefined ? [] : [$ref])));
    expect([...used].filter(($ref) => !target($ref))).toEqual([]);
    expect(
      components.filter(([name]) => !used.has(`#/components/schemas/${name}`)).map(([name]) => name),
    ).toEqual([]);
  });

  test('a number without a fraction is an integer', () => {
    const fractions = everywhere
      .filter(([, { type }]) => [type].flat().includes('number'))
      .map(([place]) => place.split(/[.?]/).at(-1)?.replace('|', ''));
    expect([...new Set(fractions)].sort()).toMatchInlineSnapshot(`
      [
        "amountUsd",
        "deltaFromMid",
        "failed",
        "feeUsd",
        "maxAmountUsd",
        "median",
        "minAmountUsd",
        "p99",
        "pending",
        "priceUsd",
        "refunded",
        "settled",
        "thresholdUsd",
        "usd",
      ]
    `);
    const texts = everywhere.filter(
      ([, { type, pattern }]) =>
        type === 'string' &&
        typeof pattern === 'string' &&
        new RegExp(pattern).test('7') &&
        !new RegExp(pattern).test('x'),
    );
    // An opaque cursor.
    expect(texts.filter(([place]) => !place.endsWith('?before')).map(([place]) => place)).toEqual([]);
  });
});

describe('operations', () => {
  test('each names who may call it and how it can fail', () => {
    const schemes = Object.keys(document.components?.['securitySchemes'] ?? {});
    for (const [name, { security = [], responses = {}, requestBody, parameters = [] }] of operations) {
      const asked = security.flatMap((each) => Object.keys(each));
      expect([name, asked.length > 0, asked.filter((each) => !schemes.includes(each))]).toEqual([
        name,
        true,
        [],
      ]);
      const expected = [
        ...['401', '403', '422', '429', '503', 'default'],
        ...(parameters.some(({ in: where }) => where === 'path') ? ['404'] : []),
        ...(requestBody ? ['413', '415'] : []),
      ];
      for (const status of expected) {
        const schema = responses[status]?.content?.['application/json']?.schema as JsonSchema | undefined;
        expect([name, status, schema?.$ref]).toEqual([
          name,
          status,
          `#/components/schemas/${status === '422' ? 'ValidationError' : 'Error'}`,
        ]);
      }
    }
    expect(document.servers?.length).toBeGreaterThan(0);
  });

  test('each shows a call that succeeded and one refusal of each status, as its schemas have them', () => {
    const fault = (schema: unknown, value: unknown) =>
      z.fromJSONSchema(bundled(schema as object, document) as never).safeParse(value).error?.issues;
    for (const [name, { requestBody, responses = {}, parameters = [] }] of operations) {
      const shown = [
        ...Object.entries(responses)
          .filter(([status]) => status !== 'default')
          .flatMap(([status, { content = {} }]) =>
            Object.values(content).map((each) => ({ ...each, part: status })),
          ),
        ...Object.values(requestBody?.content ?? {}).map((each) => ({ ...each, part: 'body' })),
        ...parameters
          .filter(({ in: where }) => where === 'path')
          .map((each) => ({ ...each, part: each.name })),
      ];
      for (const { part, schema, example } of shown) {
        expect([name, part, example]).toEqual([name, part, expect.anything()]);
        expect([name, part, fault(schema, example)]).toEqual([name, part, undefined]);
      }
      for (const { name: parameter, schema, example } of parameters)
        if (example !== undefined)
          expect([name, parameter, fault(schema, example)]).toEqual([name, parameter, undefined]);
    }
  });
});

test('the document of the admin API names its objects and says what their fields mean', () => {
  const routes = [
    ...venueAdminRoutes({} as Admin),
    ...operationRoutes({} as Operations),
  ] as unknown as Route[];
  const { paths, components: made } = openApiDocument('admin', routes, {}, { bodyLimitBytes: 65_536 });
  const named = Object.entries(made?.['schemas'] ?? {}) as [string, JsonSchema][];
  const silent = named.flatMap(([place, schema]) =>
    [...within(place, schema)].flatMap(([at, { properties = {} }]) => [
      ...(at !== place && Object.keys(properties).length > 0 ? [`${at}: no name`] : []),
      ...Object.entries(properties)
        .filter(([, { description, $ref }]) => description === undefined && $ref === undefined)
        .map(([name]) => `${at}.${name}`),
    ]),
  );
  expect(silent).toEqual([]);
  expect(named.filter(([, { description }]) => !description).map(([name]) => name)).toEqual([]);
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods)))
    expect((operation.parameters ?? []).filter(({ description }) => !description)).toEqual([]);
});

test('the linter of redocly.yaml finds nothing', async () => {
  const config = await loadConfig({ configPath: resolve(ROOT, 'redocly.yaml') });
  const problems = await lintFromString({ source: SOURCE, absoluteRef: PATH, config });
  expect(
    problems.map(
      ({ ruleId, severity, message, location }) =>
        `${severity} ${ruleId}: ${message} ${location.map(({ pointer }) => pointer).join()}`,
    ),
  ).toEqual([]);
});
