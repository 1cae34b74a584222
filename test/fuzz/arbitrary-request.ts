/**
 * Requests made from the OpenAPI document: most nearly right, some right, some bytes that mean nothing. The
 * same seed makes the same requests.
 */

import fc from 'fast-check';
import '../support/fast-check.ts';
import type { Content, OpenApi, Parameter } from '../../src/adapters/http/openapi.ts';

export interface FuzzRequest {
  operation: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer | undefined;
}

/** Values that are valid at this venue, to start from. */
export interface Seeds {
  /** Requests that succeed, by operation. */
  happy: Readonly<Record<string, { path: string; body?: unknown }>>;
  /** Keys of every kind that there are, good and bad. */
  keys: readonly string[];
  /** The key that opens an operation. */
  rightKey(operation: string): string;
  /** Texts that occur here: assets, ids, addresses. */
  words: readonly string[];
}

interface Schema {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  prefixItems?: Schema[];
  anyOf?: Schema[];
  pattern?: string;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
}

const NASTY = [
  '',
  ' ',
  '0',
  '-1',
  '01',
  '1e18',
  '0x',
  '0x10',
  'NaN',
  'null',
  'true',
  '\u0000',
  '\ud800',
  '\u202e',
  "' or 1=1 --",
  '%',
  '_',
  '%00',
  '../../etc/passwd',
  '<script>alert(1)</script>',
  '{{7*7}}',
  '${7*7}',
  '=cmd()',
  'eip155:0/erc20:0x0000000000000000000000000000000000000000',
  'eip155:1/slip44:60',
  `0x${'00'.repeat(20)}`,
  `0x${'ff'.repeat(32)}`,
  '9'.repeat(79),
  (2n ** 256n).toString(),
  (2n ** 256n - 1n).toString(),
  'x'.repeat(5_000),
  '__proto__',
  'constructor',
  'toString',
  '5',
  '1\r\nX-Injected: 1',
  '2026-11-21T24:00:00Z',
  '10000-01-01T00:00:00Z',
  'orders:*',
  'all',
  'fq_test_',
  '٣',
  '１',
];

const nasty = fc.constantFrom(...NASTY);
const nastyValue: fc.Arbitrary<unknown> = fc.oneof(
  nasty,
  fc.constantFrom(null, true, false, 0, -1, 1.5, 2 ** 53, -(2 ** 53), 1e308, [], {}, [[]], [null], {
    length: 1,
  }),
  fc.jsonValue({ maxDepth: 3 }),
);

export function arbitraryRequest(document: OpenApi, seeds: Seeds): fc.Arbitrary<FuzzRequest> {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: `${method.toUpperCase()} ${path}`,
      path,
      method: method.toUpperCase(),
      operation,
    })),
  );
  const word = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...seeds.words) },
    { weight: 2, arbitrary: nasty },
    fc.string({ maxLength: 60 }),
    fc.stringMatching(/^0x[0-9a-f]{64}$/),
  );

  const patterns = new Map<string, fc.Arbitrary<string>>();

  function ofSchema(raw: Schema | undefined, depth = 0): fc.Arbitrary<unknown> {
    const schema = raw?.$ref
      ? (document.components?.['schemas']?.[raw.$ref.split('/').at(-1) ?? ''] as Schema)
      : raw;
    if (!schema || depth > 6) return nastyValue;
    const right = fitting(schema, depth);
    return fc.oneof({ weight: 14, arbitrary: right }, { weight: 1, arbitrary: nastyValue });
  }

  function fitting(schema: Schema, depth: number): fc.Arbitrary<unknown> {
    if (schema.enum) return fc.constantFrom(...schema.enum);
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.anyOf) return fc.oneof(...schema.anyOf.map((each) => ofSchema(each, depth + 1)));
    switch (schema.type) {
      case 'object': {
        const { properties = {}, required = [] } = schema;
        const record = fc.record(
          Object.fromEntries(
            Object.entries(properties).map(([name, each]) => [name, ofSchema(each, depth + 1)]),
          ),
          { requiredKeys: required.filter((name) => name in properties) },
        );
        return fc.oneof(
          { weight: 12, arbitrary: record },
          fc.tuple(record, word, nastyValue).map(([object, name, value]) => ({ ...object, [name]: value })),
        );
      }
      case 'array':
        return fc.array(ofSchema(schema.items ?? schema.prefixItems?.[0], depth + 1), { maxLength: 4 });
      case 'integer':
      case 'number':
        return fc.oneof(
          fc.integer({
            min: Math.max(schema.minimum ?? 0, -(2 ** 31)),
            max: Math.min(schema.maximum ?? 2 ** 31, 2 ** 31),
          }),
          fc.constantFrom(0, 1, 4_294_967_295),
        );
      case 'boolean':
        return fc.boolean();
      case 'null':
        return fc.constant(null);
      case 'string':
        return schema.pattern
          ? fc.oneof(word, matching(schema.pattern))
          : fc.oneof(word, fc.bigInt({ min: 0n, max: 10n ** 30n }).map(String));
      default:
        return nastyValue;
    }
  }

  function matching(pattern: string): fc.Arbitrary<string> {
    const known = patterns.get(pattern) ?? fc.stringMatching(new RegExp(pattern));
    patterns.set(pattern, known);
    return known;
  }

  /** A right body with one thing changed, or none. */
  function mutated(body: unknown): fc.Arbitrary<unknown> {
    const paths = pathsOf(body);
    if (paths.length === 0) return fc.constant(body);
    const change = fc.tuple(
      fc.constantFrom(...paths),
      fc.constantFrom('set', 'delete', 'add', 'flip', 'wrap'),
      nastyValue,
      word,
    );
    return fc.array(change, { maxLength: 3 }).map((changes) => {
      const copy = structuredClone(body) as object;
      for (const [path, how, value, name] of changes) spoil(copy, path, how, value, name);
      return copy;
    });
  }

  const junk = fc.oneof(
    fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)),
    fc.string({ maxLength: 200 }).map((text) => Buffer.from(text)),
    fc
      .constantFrom(
        '',
        '{',
        '[]',
        'null',
        '""',
        '{"a":1,"a":2}',
        '{"__proto__":{"x":1}}',
        '[1,]',
        '\ufeff{}',
        '{"a":"\\ud800"}',
        '{"a":"\\u0000"}',
        '{"a":1e999}',
        '-0',
        '{"quoteResponse":{}}',
      )
      .map((text) => Buffer.from(text)),
    fc.integer({ min: 1, max: 6_000 }).map((n) => Buffer.from('['.repeat(n))),
    fc.integer({ min: 1, max: 6_000 }).map((n) => Buffer.from(`{"a":[${'0,'.repeat(n)}0]}`)),
    fc.integer({ min: 200_000, max: 300_000 }).map((n) => Buffer.from(`"${'x'.repeat(n)}"`)),
  );

  // Made once each: to make them is far dearer than to draw from them.
  const made = operations.map(({ id, path, method, operation }) => {
    const happy = seeds.happy[id];
    const schema = (operation.requestBody?.content?.['application/json'] as Content | undefined)?.schema as
      | Schema
      | undefined;
    const text = (value: unknown) => Buffer.from(JSON.stringify(value));
    const bodies: fc.WeightedArbitrary<Buffer | undefined>[] = schema
      ? [
          { weight: 5, arbitrary: mutated(happy?.body).map(text) },
          { weight: 5, arbitrary: ofSchema(schema).map(text) },
          { weight: 2, arbitrary: junk },
        ]
      : [
          { weight: 12, arbitrary: fc.constant(undefined) },
          { weight: 1, arbitrary: junk },
        ];
    return fc.record({
      operation: fc.constant(id),
      method: fc.oneof(
        { weight: 40, arbitrary: fc.constant(method) },
        {
          weight: 1,
          arbitrary: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE'),
        },
      ),
      path: fc
        .tuple(
          pathOf(path, happy?.path, word),
          queryOf(operation.parameters ?? [], happy?.path, ofSchema, word),
        )
        .map(([where, query]) => where + query),
      headers: headersOf(seeds, id, word, schema !== undefined),
      body: fc.oneof(...bodies),
    });
  });
  return fc.oneof(...made);
}

function pathOf(
  template: string,
  happy: string | undefined,
  word: fc.Arbitrary<string>,
): fc.Arbitrary<string> {
  const right = happy?.split('?')[0] ?? template;
  const filled = fc.array(word, { minLength: 3, maxLength: 3 }).map((words) => {
    let at = 0;
    return template.replace(/\{[^}]+\}/g, () => encoded(words[at++] ?? 'x'));
  });
  const bent = fc.constantFrom('/', '//', '/.', '/%2e%2e', '%00', ';x=1', '/..;/').map((end) => right + end);
  return fc.oneof(
    { weight: 10, arbitrary: fc.constant(right) },
    { weight: 5, arbitrary: filled },
    { weight: 1, arbitrary: bent },
  );
}

function queryOf(
  parameters: readonly Parameter[],
  happy: string | undefined,
  ofSchema: (schema: Schema | undefined) => fc.Arbitrary<unknown>,
  word: fc.Arbitrary<string>,
): fc.Arbitrary<string> {
  const known = parameters.filter(({ in: where }) => where === 'query');
  const right = happy?.includes('?') ? `?${happy.split('?')[1]}` : '';
  const pairs = fc.array(
    fc.oneof(
      ...(known.length === 0
        ? []
        : [
            {
              weight: 8,
              arbitrary: fc
                .constantFrom(...known)
                .chain(({ name, schema }) =>
                  fc.tuple(fc.constant(name), fc.oneof(ofSchema(schema as Schema).map(String), word)),
                ),
            },
          ]),
      { weight: 1, arbitrary: fc.tuple(word, word) },
    ),
    { maxLength: 4 },
  );
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant(right) },
    {
      weight: known.length > 0 ? 6 : 1,
      arbitrary: pairs.map((all) =>
        all.length === 0
          ? ''
          : `?${all.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&')}`,
      ),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom('?', '?&&', '?=', '?%zz=1', '?limit=1&limit=2', `?q=${'a'.repeat(5_000)}`),
    },
  );
}

function headersOf(
  seeds: Seeds,
  id: string,
  word: fc.Arbitrary<string>,
  hasBody: boolean,
): fc.Arbitrary<Record<string, string>> {
  const clean = word.map((text) => text.replace(/[^\x21-\x7e]/g, '').slice(0, 300));
  const key = fc.oneof(
    { weight: 20, arbitrary: fc.constant(seeds.rightKey(id)) },
    { weight: 1, arbitrary: fc.constantFrom(...seeds.keys) },
    { weight: 1, arbitrary: clean },
  );
  const type = fc.oneof(
    { weight: 20, arbitrary: fc.constant('application/json') },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        'text/plain',
        'application/json; charset=utf-16',
        'multipart/form-data; boundary=x',
        'application/json;',
        '',
      ),
    },
  );
  const extra = fc.oneof(
    { weight: 6, arbitrary: fc.constant({}) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(
          fc.constantFrom(
            'Idempotency-Key',
            'Accept',
            'X-Forwarded-For',
            'Content-Encoding',
            'X-HTTP-Method-Override',
            'If-None-Match',
            'Range',
            'Origin',
            'Cookie',
            'Authorization',
            'Accept-Encoding',
          ),
          clean,
        )
        .map(([name, value]) => ({ [name]: value })),
    },
  );
  return fc
    .tuple(key, type, extra)
    .map(([apiKey, contentType, more]) => ({
      ...(apiKey === '' ? {} : { 'X-API-Key': apiKey }),
      ...(hasBody || contentType !== 'application/json' ? { 'Content-Type': contentType } : {}),
      ...more,
    }));
}

/** Lone surrogates have no encoding: they become what a browser would make of them. */
const encoded = (text: string): string => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'));

type Path = readonly (string | number)[];

function pathsOf(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return at.length > 0 ? [at] : [];
  return [
    ...(at.length > 0 ? [at] : []),
    ...Object.entries(value).flatMap(([key, part]) =>
      pathsOf(part, [...at, Array.isArray(value) ? Number(key) : key]),
    ),
  ];
}

function spoil(root: object, path: Path, how: string, drawn: unknown, name: string): void {
  // What is drawn is drawn again later: a later change must not reach into it.
  const value = structuredClone(drawn);
  let holder = root as Record<string | number, unknown>;
  for (const step of path.slice(0, -1)) {
    const next = holder[step];
    // An earlier change took it away.
    if (typeof next !== 'object' || next === null) return;
    holder = next as Record<string | number, unknown>;
  }
  const last = path.at(-1) as string | number;
  const now = holder[last];
  if (how === 'delete') delete holder[last];
  // Under a name such as 4294967294 a list would become that long.
  else if (how === 'add' && Array.isArray(holder)) holder.push(value);
  else if (how === 'add') holder[name] = value;
  else if (how === 'wrap') holder[last] = [now];
  else if (how === 'flip' && typeof now === 'string')
    holder[last] = now.slice(0, -1) + (now.endsWith('0') ? '1' : '0');
  else holder[last] = value;
}
