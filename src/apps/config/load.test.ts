/** Tests the parsing and printing of configuration files. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { ConfigError, loadConfig, parseConfig } from './load.ts';
import { printConfig } from './print.ts';

const schema = z.strictObject({
  http: z
    .strictObject({ port: z.int().min(0).max(65_535).default(8080), host: z.string().default('127.0.0.1') })
    .prefault({}),
  chains: z
    .array(
      z.strictObject({
        slug: z.string(),
        depth: z.int().default(2),
        rpcUrls: z.array(z.string()).default([]),
      }),
    )
    .default([]),
  quotes: z.strictObject({ timeoutMs: z.int().default(300), label: z.string().optional() }).prefault({}),
  buffers: z.record(z.string(), z.string()).default({}),
  price: z
    .union([
      z.strictObject({ fixed: z.string() }),
      z.strictObject({ feed: z.string(), maxAgeMs: z.int().default(1) }),
    ])
    .optional(),
});

function problems(json: unknown, env: NodeJS.ProcessEnv = {}): readonly string[] {
  try {
    parseConfig(schema, json, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('parseConfig', () => {
  test('fills defaults', () => {
    expect(parseConfig(schema, {}, {}).config).toEqual({
      http: { port: 8080, host: '127.0.0.1' },
      chains: [],
      quotes: { timeoutMs: 300 },
      buffers: {},
    });
  });

  test('environment variables override the file, with or without underscores', () => {
    const env = {
      FIRMQUOTE__HTTP__PORT: '9000',
      FIRMQUOTE__QUOTES__TIMEOUT_MS: '250',
      FIRMQUOTE__QUOTES__LABEL: '8453',
      FIRMQUOTE__CHAINS__0__DEPTH: '5',
      FIRMQUOTE__CHAINS__0__RPC_URLS: '["http://a"]',
      FIRMQUOTE__BUFFERS__USDC: '12.5',
      UNRELATED: 'x',
    };
    const { config, fromEnv } = parseConfig(schema, { http: { port: 1 }, chains: [{ slug: 'base' }] }, env);
    expect(config).toMatchObject({
      http: { port: 9000 },
      quotes: { timeoutMs: 250, label: '8453' },
      chains: [{ slug: 'base', depth: 5, rpcUrls: ['http://a'] }],
      buffers: { USDC: '12.5' },
    });
    expect(fromEnv).toContain('quotes.timeoutMs');
  });

  test.each([
    [{ htp: {} }, 'htp: no such option; did you mean "http"?'],
    [{ http: { prot: 1 } }, 'http.prot: no such option; did you mean "port"?'],
    [{ chains: [{ slug: 'a', dpeth: 1 }] }, 'chains.0.dpeth: no such option; did you mean "depth"?'],
    [{ quotes: { timeout: 1 } }, 'quotes.timeout: no such option; did you mean "timeoutMs"?'],
    [{ price: { feed: 'x', maxAge: 1 } }, 'price.maxAge: no such option; did you mean "maxAgeMs"?'],
    [{ zzzzzz: 1 }, 'zzzzzz: no such option'],
    [{ http: { port: '1' } }, 'http.port: Invalid input: expected number, received string'],
    [[], 'must be one JSON object'],
  ])('error: %j', (json, problem) => {
    expect(problems(json)).toEqual([problem]);
  });

  test('error: an environment variable that names no option', () => {
    expect(problems({}, { FIRMQUOTE__HTTP__PROT: '1' })).toEqual([
      'environment FIRMQUOTE__HTTP__PROT: "PROT" is not an option of http; did you mean PORT?',
    ]);
  });

  test('error: lists every problem', () => {
    expect(problems({ a: 1, b: 2, http: { port: -1 } })).toHaveLength(3);
  });

  test('prototype keys are rejected and change no prototype', () => {
    expect(
      problems(JSON.parse('{"__proto__":{"polluted":1},"http":{"constructor":{"prototype":{"polluted":1}}}}'))
        .length,
    ).toBeGreaterThan(0);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

test('reads files of other editors: byte order mark and CRLF; names UTF-16 and other encodings', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fq-config-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'venue.json');
  const text = '{\r\n  "quotes": { "label": "gr\u00fcn" }\r\n}\r\n';
  await writeFile(file, `\ufeff${text}`);
  expect((await loadConfig(schema, file, {})).config.quotes.label).toBe('gr\u00fcn');
  await writeFile(file, Buffer.from(`\ufeff${text}`, 'utf16le'));
  await expect(loadConfig(schema, file, {})).rejects.toThrow(/- is UTF-16.*Save it as UTF-8/);
  await writeFile(file, Buffer.from(text, 'latin1'));
  await expect(loadConfig(schema, file, {})).rejects.toThrow(
    /- is not UTF-8: byte 30 is not part of a character/,
  );
});

test('printConfig says where each value comes from and shows no secret part of a URL', () => {
  const file = { chains: [{ slug: 'base', rpcUrls: ['https://node.example/v3/c4nary'] }] };
  const { config, fromEnv } = parseConfig(schema, file, { FIRMQUOTE__HTTP__PORT: '9000' });
  const lines = printConfig(config, { file, fromEnv });
  expect(lines).toContain('http.port = 9000  (environment)');
  expect(lines).toContain('http.host = "127.0.0.1"  (default)');
  expect(lines).toContain('chains.0.slug = "base"');
  expect(lines).toContain('chains.0.rpcUrls.0 = "https://node.example/…"');
  expect(lines.join()).not.toContain('c4nary');
});
