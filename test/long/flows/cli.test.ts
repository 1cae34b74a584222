/** The command line as an operator meets it: what it prints, what it refuses, and the sentence that helps. */

import { scryptSync } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hexlify, scrypt, Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_PARAMS } from '../../../src/pricing/params.ts';
import { firmquote } from '../../support/command.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
let folder = '';
beforeAll(async () => {
  // ethers' own scrypt in JavaScript takes seconds a call.
  scrypt.register(async (password, salt, N, r, p, length) =>
    hexlify(scryptSync(password, salt, length, { N, r, p, maxmem: 256 * N * r })),
  );
  folder = await mkdtemp(join(tmpdir(), 'fq-cli-'));
  // Run as root, the database belongs to another user, who has to get in; otherwise its files would go
  // elsewhere.
  await chmod(folder, 0o755);
});
afterAll(async () => {
  // Other files share this process; the keystore's own test compares with ethers' scrypt.
  scrypt.register(scrypt._);
  await rm(folder, { recursive: true, force: true });
});

test('the help names every command under what somebody wants to do', async () => {
  const { status, stdout } = await firmquote(['--help']);
  expect(status).toBe(0);
  expect(stdout.indexOf('Look at it:')).toBeLessThan(stdout.indexOf('Run:'));
  for (const words of [/^ {2}demo +\S/m, /^ {2}doctor +\S/m, /^Examples:$/m]) expect(stdout).toMatch(words);
  expect(stdout).not.toContain('Commands:');
});

test('a shell completes commands and options', async () => {
  const script = await firmquote(['complete', 'bash']);
  expect([script.status, script.stdout]).toEqual([0, expect.stringContaining('complete -F')]);
  const { stdout } = await firmquote(['complete', '--', 'lp', 'wit']);
  expect(stdout).toMatch(/^withdraw\t/m);
  expect((await firmquote(['complete', '--', 'demo', '--qu'])).stdout).toMatch(/^--quiet-market\t/m);
});

describe('config check', () => {
  test('prints the effective configuration, environment included', async () => {
    const { status, stdout } = await firmquote(['config', 'check', 'config/venue.example.json'], {
      FIRMQUOTE__FAN_OUT__TIMEOUT_MS: '250',
    });
    expect(status).toBe(0);
    expect(stdout).toContain('fanOut.timeoutMs = 250  (environment)');
    expect(stdout).toContain('config/venue.example.json is a valid configuration of venue.');
  });

  test('prints the value in force of every pricing parameter of a pair that sets none', async () => {
    const file = join(folder, 'bare.json');
    const example = JSON.parse(await readFile(join(ROOT, 'config', 'lp.example.json'), 'utf8')) as {
      lp: { pairs: object[] };
    };
    const bare = example.lp.pairs.map((pair) => ({ ...pair, params: {} }));
    await writeFile(file, JSON.stringify({ ...example, lp: { ...example.lp, pairs: bare } }));
    const { status, stdout } = await firmquote(['config', 'check', file]);
    expect(status).toBe(0);
    const lines = stdout.split('\n');
    for (const index of bare.keys())
      for (const [name, value] of Object.entries(DEFAULT_PARAMS))
        expect(lines).toContain(`lp.pairs.${index}.params.${name} = ${JSON.stringify(value)}  (default)`);
  });

  test('error: every mistake with its path and a suggestion', async () => {
    const file = join(folder, 'bad.json');
    const example = JSON.parse(await readFile(join(ROOT, 'config', 'lp.example.json'), 'utf8')) as {
      lp: object;
    };
    await writeFile(file, JSON.stringify({ ...example, opps: {}, lp: { ...example.lp, quotting: {} } }));
    const { status, stderr } = await firmquote(['config', 'check', file]);
    expect(status).toBe(1);
    expect(stderr).toContain('opps: no such option; did you mean "ops"?');
    expect(stderr).toContain('lp.quotting: no such option; did you mean "quoting"?');
    expect(stderr).not.toMatch(/\bat .*\.ts:/);
  });
});

test.each(['config check', 'start'])('error: %s names a trusted proxy that is no address', async (how) => {
  const file = join(folder, 'proxy.json');
  const example = JSON.parse(await readFile(join(ROOT, 'config', 'venue.example.json'), 'utf8')) as {
    http: object;
  };
  await writeFile(
    file,
    JSON.stringify({ ...example, http: { ...example.http, trustProxy: ['10.0.0.0/8', '10.0.0.0/99'] } }),
  );
  const { status, stderr } = await firmquote(
    how === 'start' ? ['venue', '-c', file] : ['config', 'check', file],
  );
  expect([status, stderr]).toEqual([
    1,
    expect.stringContaining('http.trustProxy.1: must be an IP address, or a network such as 10.0.0.0/8'),
  ]);
  expect(stderr).not.toMatch(/\bat .*\.ts:/);
});

test('keystore: new and address, readable by ethers', async () => {
  const file = join(folder, 'keys', 'operator.json');
  const made = await firmquote(['keystore', 'new', file, '--password-env', 'PASSWORD'], {
    PASSWORD: 'long enough',
  });
  expect(made.status).toBe(0);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const shown = await firmquote(['keystore', 'address', file]);
  expect(shown.stdout).toBe(made.stdout);
  const wallet = await Wallet.fromEncryptedJson(await readFile(file, 'utf8'), 'long enough');
  expect(`${wallet.address.toLowerCase()}\n`).toBe(made.stdout);
  const again = await firmquote(['keystore', 'new', file, '--password-env', 'PASSWORD'], {
    PASSWORD: 'long enough',
  });
  expect([again.status, again.stderr]).toEqual([1, expect.stringContaining('never overwritten')]);
});

test('keystore: a new password replaces the old one for the same key', async () => {
  const file = join(folder, 'keys', 'again.json');
  const made = await firmquote(['keystore', 'new', file, '--password-env', 'PASSWORD'], {
    PASSWORD: 'the first one',
  });
  const wrong = await firmquote(
    ['keystore', 'change-password', file, '--old-password-env', 'OLD', '--password-env', 'NEW'],
    { OLD: 'not that one', NEW: 'the second one' },
  );
  expect([wrong.status, wrong.stderr]).toEqual([
    1,
    expect.stringContaining('does not open with this password'),
  ]);
  const changed = await firmquote(
    ['keystore', 'change-password', file, '--old-password-env', 'OLD', '--password-env', 'NEW'],
    { OLD: 'the first one', NEW: 'the second one' },
  );
  expect([changed.status, changed.stdout]).toEqual([0, made.stdout]);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(
    `${(await Wallet.fromEncryptedJson(await readFile(file, 'utf8'), 'the second one')).address.toLowerCase()}\n`,
  ).toBe(made.stdout);
  // Four times scrypt at full strength.
}, 180_000);

test('keys: issue, list and revoke on the embedded database', async () => {
  const example = JSON.parse(await readFile(join(ROOT, 'config', 'venue.example.json'), 'utf8')) as {
    database: object;
  };
  const config = join(folder, 'venue.json');
  await writeFile(
    config,
    JSON.stringify({ ...example, database: { ...example.database, embeddedDir: join(folder, 'data') } }),
  );
  const issued = await firmquote([
    'keys',
    'issue',
    '-c',
    config,
    '--kind',
    'service',
    '--workspace',
    'main',
    '--label',
    'first',
  ]);
  expect([issued.status, issued.stdout]).toEqual([0, expect.stringMatching(/^fq_test_[A-Za-z0-9_-]{43}\n$/)]);
  const id = /Key (key_[0-9a-f]+)/.exec(issued.stderr)?.[1] ?? '';
  const listed = await firmquote(['keys', 'list', '-c', config]);
  expect(listed.stdout).toMatch(
    new RegExp(`^key .*\n${id}  fq_test_.{8}…  service  main +-  .*  live   first\n$`),
  );
  expect(listed.stdout).not.toContain(issued.stdout.trim());
  expect((await firmquote(['keys', 'revoke', id, '-c', config])).stdout).toBe(`${id} is revoked.\n`);
  expect((await firmquote(['keys', 'revoke', id, '-c', config])).stderr).toContain('There is no live key');
  const unknown = await firmquote([
    'keys',
    'issue',
    '-c',
    config,
    '--kind',
    'service',
    '--workspace',
    'nobody',
  ]);
  expect([unknown.status, unknown.stderr]).toEqual([
    1,
    expect.stringContaining('There is no workspace "nobody"'),
  ]);
});
