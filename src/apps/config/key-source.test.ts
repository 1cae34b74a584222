/**
 * Tests where a key may come from: the sections that docs/lp/remote-signers.md shows, and what is refused.
 */

import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { blocksOf } from '../../../test/support/page.ts';
import { ConfigError, parseConfig } from './load.ts';
import { zKeySource } from './parts.ts';

const schema = z.strictObject({ keys: z.strictObject({ operator: zKeySource }) });
const parse = (operator: unknown, env: NodeJS.ProcessEnv = {}) =>
  parseConfig(schema, { keys: { operator } }, env).config.keys.operator;
const problems = (operator: unknown): string => {
  try {
    parse(operator);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.join('\n');
    throw error;
  }
  return '';
};

const LIMITS = { maxConcurrent: 32, timeoutMs: 1_000, deadlineMs: 5_000 };
const WEB3SIGNER = { url: 'https://signer:9000', address: `0x${'ab'.repeat(20)}` };

test('the sections of the page are complete', async () => {
  const sections = (await blocksOf('docs/lp/remote-signers.md', 'json')).map((text) =>
    parse(JSON.parse(text) as unknown),
  );
  expect(sections.flatMap((section) => Object.keys(section))).toEqual(['awsKms', 'googleKms', 'web3signer']);
  expect(sections).toMatchObject([{ awsKms: LIMITS }, { googleKms: LIMITS }, { web3signer: LIMITS }]);
});

test('options of a key service from the environment', () => {
  const aws = { awsKms: { keyId: 'alias/a' } };
  expect(
    parse(aws, {
      FIRMQUOTE__KEYS__OPERATOR__AWS_KMS__KEY_ID: 'alias/b',
      FIRMQUOTE__KEYS__OPERATOR__AWS_KMS__MAX_CONCURRENT: '8',
    }),
  ).toEqual({
    awsKms: { keyId: 'alias/b', region: null, endpoint: null, address: null, ...LIMITS, maxConcurrent: 8 },
  });
});

describe('error:', () => {
  test.each([
    ['two sources', { awsKms: { keyId: 'a' }, env: 'X', development: true }, /no such option/],
    ['an unknown option', { awsKms: { keyId: 'a', regoin: 'x' } }, /did you mean "region"/],
    [
      'a key without its version',
      { googleKms: { keyVersion: 'projects/p/cryptoKeys/k' } },
      /cryptoKeyVersions\/N/,
    ],
    ['plain HTTP', { web3signer: { ...WEB3SIGNER, url: 'http://signer:9000' } }, /must be an https:\/\/ URL/],
    [
      'plain HTTP that only looks local',
      { web3signer: { ...WEB3SIGNER, url: 'http://127.0.0.1.example' } },
      /https/,
    ],
    ['a certificate without its key', { web3signer: { ...WEB3SIGNER, certFile: 'a' } }, /belong together/],
    ['no address', { web3signer: { url: 'https://signer' } }, /web3signer\.address/],
  ])('%s', (_, section, message) => {
    expect(problems(section)).toMatch(message);
  });

  test('plain HTTP on this machine is no error', () => {
    for (const url of ['http://127.0.0.1:9000', 'http://localhost:9000', 'http://[::1]:9000'])
      expect(problems({ web3signer: { ...WEB3SIGNER, url } })).toBe('');
  });
});
