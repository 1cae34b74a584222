/** What the edge takes and refuses before anybody looks inside, and the one spelling of what it signs. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Hex } from '../domain/hex.ts';
import { canonicalJson } from './canonical-json.ts';
import { answerFor, detailsOf, InvalidError } from './errors.ts';
import { zQuoteRequest } from './api/quote.ts';
import { decodeCommitments, encodeCommitments, formatSeal, parseSeal } from './seal-wire.ts';
import { readStrictJson } from './strict-json.ts';

const read = (text: string) => readStrictJson(Buffer.from(text));
const typeOf = (text: string) => {
  const result = read(text);
  return result.ok ? 'ok' : result.error.details[0]?.type;
};

describe('strict json', () => {
  test('law: reads whatever JSON.stringify writes, to the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
        const text = JSON.stringify(value);
        if (/"(?:__proto__|constructor|prototype)":|\\u0000|\\ud[89a-f]/i.test(text)) return;
        const result = read(text);
        expect(result.ok && JSON.stringify(result.value)).toBe(text);
      }),
    );
  });

  test.each([
    ['{"a":1,"a":2}', 'json_invalid'],
    ['{"a":1,"\\u0061":2}', 'json_invalid'],
    ['{"a":{"b":1},"a":2}', 'json_invalid'],
    ['[{"a":1},{"a":2}]', 'ok'],
    ['{"a":["a","a"],"b":"a"}', 'ok'],
    ['{"__proto__":{"x":1}}', 'json_invalid'],
    ['{"\\u005f_proto__":1}', 'json_invalid'],
    ['{"constructor":{"prototype":{}}}', 'json_invalid'],
    ['\ufeff{}', 'json_invalid'],
    ['{"a":"\\ud800"}', 'json_invalid'],
    ['{"a":"\\u0000"}', 'json_invalid'],
    ['{"a":1,}', 'json_invalid'],
    ['{"a"', 'json_invalid'],
    ['"open', 'json_invalid'],
    ['', 'json_invalid'],
    ['[1] 2', 'json_invalid'],
    ['NaN', 'json_invalid'],
    [`${'['.repeat(33)}${']'.repeat(33)}`, 'too_deep'],
    ['['.repeat(100_000), 'too_deep'],
    [`${'['.repeat(32)}${']'.repeat(32)}`, 'ok'],
    [`[${'1,'.repeat(6_000)}1]`, 'too_large'],
    ['{"a":"\\\\","b":"\\""}', 'ok'],
  ])('%.40s is %s', (text, type) => expect(typeOf(text)).toBe(type));

  test('behavior: refuses bytes that are not UTF-8', () => {
    const result = readStrictJson(Buffer.from([0x22, 0xff, 0x22]));
    expect(!result.ok && result.error.details[0]?.type).toBe('json_invalid');
  });
});

describe('canonical json', () => {
  test('law: key order does not matter, values do', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
        const shuffled = Object.fromEntries(Object.entries(object).reverse());
        expect(canonicalJson(shuffled)).toBe(canonicalJson(object));
        expect(JSON.parse(canonicalJson(object))).toEqual(JSON.parse(JSON.stringify(object)));
      }),
    );
  });

  test('behavior: equals the example of RFC 8785', () => {
    const value: unknown = JSON.parse(
      '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
    );
    expect(canonicalJson(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });
});

describe('seal text', () => {
  const hex = (bytes: number) =>
    fc
      .uint8Array({ minLength: bytes, maxLength: bytes })
      .map((data): Hex => `0x${Buffer.from(data).toString('hex')}`);
  const commitment = fc.record({
    lp: hex(20),
    deadline: fc.integer({ min: 0, max: 0xffff_ffff }),
    signature: fc.oneof(hex(65), hex(64), hex(1), hex(200)),
  });

  test('law: commitments round-trip', () => {
    fc.assert(
      fc.property(
        fc.array(commitment, { maxLength: 6 }),
        (commitments) => void expect(decodeCommitments(encodeCommitments(commitments))).toEqual(commitments),
      ),
    );
  });

  test('law: nothing else decodes, and nothing throws', () => {
    fc.assert(
      fc.property(fc.array(commitment, { minLength: 1, maxLength: 3 }), fc.nat(), (commitments, at) => {
        const bytes = Buffer.from(encodeCommitments(commitments), 'base64url');
        const index = at % bytes.length;
        bytes[index] = (bytes[index] as number) ^ 1;
        const decoded = decodeCommitments(bytes.toString('base64url'));
        if (decoded) expect(decoded).not.toEqual(commitments);
      }),
    );
    fc.assert(fc.property(fc.string(), (text) => void expect(decodeCommitments(text)).toBeUndefined()));
  });

  test('behavior: parse refuses every other encoding', () => {
    const seal = { kid: 'k1', mac: 'ab'.repeat(32), commitments: 'AAAA', route: null };
    const text = formatSeal(seal);
    expect(parseSeal(text)).toEqual(seal);
    expect(parseSeal(formatSeal({ ...seal, route: 'e30' }))).toEqual({ ...seal, route: 'e30' });
    expect([parseSeal(`${text}.`), parseSeal(`${text}.e30.e30`)]).toEqual([undefined, undefined]);
    for (const bad of [
      '',
      'v1',
      text.toUpperCase(),
      text.replace('v1', 'v2'),
      text.slice(0, -5),
      `${text}=`,
      ` ${text}`,
      text.replace('ab', 'zz'),
    ])
      expect(parseSeal(bad)).toBeUndefined();
  });
});

describe('422 details', () => {
  const asset = (chain: number, byte: string) => `eip155:${chain}/erc20:0x${byte.repeat(20)}`;
  const good = {
    taker: `0x${'11'.repeat(20)}`,
    input: { asset: asset(1, 'aa'), amount: '1' },
    output: { asset: asset(1, 'bb') },
  };
  const details = (body: unknown) => {
    const parsed = zQuoteRequest.safeParse(body);
    return parsed.success ? [] : detailsOf(parsed.error, 'body', body);
  };

  test('default: a valid request has none', () => expect(details(good)).toEqual([]));

  test.each([
    [['taker'], 5],
    [['taker'], '0x1'],
    [['receiver'], null],
    [['input', 'asset'], 'USDC'],
    [['input', 'asset'], 7],
    [['input', 'amount'], 1_000_000],
    [['input', 'amount'], '1.5'],
    [['input', 'amount'], '0'],
    [['minValidUntil'], 'tomorrow'],
    [['minValidUntil'], 1.5],
    [['minValidUntil'], -1],
    [['maxCandidates'], 0],
    [['maxCandidates'], 21],
    [['maxCandidates'], '5'],
    [['splitFill'], 'maybe'],
    [['splitFill'], null],
    [['solvers'], []],
    [['solvers', 'include'], 'lp-1'],
    [['referenceId'], 5],
  ] as const)('%j as %j: the message names the rule, and its example passes', (path, wrong) => {
    const withValue = (value: unknown) => {
      const body = structuredClone({ ...good, solvers: {} }) as unknown as Record<string, unknown>;
      const parent = path.length === 1 ? body : (body[path[0]] as Record<string, unknown>);
      parent[path.at(-1) as string] = value;
      return body;
    };
    const [refusal] = details(withValue(wrong));
    expect(refusal?.loc).toEqual(['body', ...path]);
    const msg = refusal?.msg ?? '';
    expect(msg).toMatch(/^must /);
    const shown = /(?:such as|one of) (.+?)(?:, "[^"]*")*$/.exec(msg)?.[1] ?? '';
    if (shown.startsWith('{')) return;
    // Text rules name their example bare, type rules as JSON.
    const example: unknown = /^["[]|^\d{1,12}$/.test(shown) ? JSON.parse(shown) : shown;
    const value =
      typeof wrong === 'string' && typeof example === 'number' && path[1] === 'amount' ? shown : example;
    expect(details(withValue(value)), msg).toEqual([]);
  });

  test.each([
    '-1',
    '0x10',
    '1e18',
    '1.0',
    '',
    ' 5 ',
    '+1',
    '01',
    '9'.repeat(79),
    (2n ** 256n).toString(),
    '1'.repeat(5_000),
    '１',
    'NaN',
    '0',
  ])('amount %.20j is refused at its place', (amount) => {
    expect(details({ ...good, input: { ...good.input, amount } })[0]?.loc).toEqual([
      'body',
      'input',
      'amount',
    ]);
  });
  test('names the path of an amount that is a number', () => {
    expect(details({ ...good, input: { ...good.input, amount: 1 } })[0]).toMatchObject({
      loc: ['body', 'input', 'amount'],
      type: 'string_type',
    });
  });

  test.each([
    asset(0, 'aa'),
    'eip155:01/erc20:0x' + 'aa'.repeat(20),
    'eip155:9007199254740992/erc20:0x' + 'aa'.repeat(20),
    asset(1, '00'),
    `eip155:1/erc20:0x${'00'.repeat(19)}01`,
    'eip155:1/erc721:0x' + 'aa'.repeat(20),
    '',
  ])('asset %s is refused', (bad) => {
    expect(details({ ...good, output: { asset: bad } })[0]?.loc).toEqual(['body', 'output', 'asset']);
  });

  test('names missing, extra and conflicting fields', () => {
    const { taker: _, ...without } = good;
    expect(details(without)).toEqual([{ loc: ['body', 'taker'], msg: 'Field required', type: 'missing' }]);
    expect(details({ ...good, extra: 1 })[0]).toMatchObject({
      loc: ['body', 'extra'],
      type: 'extra_forbidden',
    });
    expect(details({ ...good, toString: 1 })[0]).toMatchObject({ type: 'extra_forbidden' });
    expect(details({ ...good, output: { ...good.output, amount: '1' } })[0]?.loc).toEqual([
      'body',
      'output',
      'amount',
    ]);
    expect(details({ ...good, input: { asset: good.input.asset } })[0]?.loc).toEqual([
      'body',
      'input',
      'amount',
    ]);
    expect(details({ ...good, output: { asset: good.input.asset } })[0]?.loc).toEqual([
      'body',
      'output',
      'asset',
    ]);
    for (const top of [null, [], '', 1]) expect(details(top)[0]?.loc).toEqual(['body']);
  });

  test('answers contain only the fields of the table', () => {
    expect(answerFor(new InvalidError([{ loc: ['body'], msg: 'm', type: 't' }]))).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body'], msg: 'm', type: 't' }] },
    });
    expect(JSON.stringify(answerFor(new Error('postgres://user:secret@host')))).not.toContain('secret');
  });
});
