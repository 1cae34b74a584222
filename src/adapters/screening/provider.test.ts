/**
 * A screening service that is slow, broken, hostile or gone, and what the venue makes of its silence. Its
 * HTTP is real; only its answers are played.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { silentLog, silentMetrics } from '../../../test/support/silent.ts';
import type { Address } from '../../domain/hex.ts';
import { createOutbound, isPrivate, OutboundRefused } from '../outbound/request.ts';
import { systemClock } from '../system/clock.ts';
import { createProvider, type ProviderOptions } from './provider.ts';

const BAD: Address = `0x${'ba'.repeat(20)}`;
const GOOD: Address = `0x${'60'.repeat(20)}`;

type Play = (request: IncomingMessage, response: ServerResponse) => void;
const honest: Play = (request, response) =>
  response.end(
    JSON.stringify({
      identifications: request.url?.includes(BAD) ? [{ category: 'sanctions' }] : [],
      list: { edition: 7 },
    }),
  );
let play = honest;
let asked: string[] = [];
let url: string;
const server = createServer((request, response) => {
  asked.push(request.url ?? '');
  play(request, response);
});
const outbound = createOutbound({ allowHosts: ['127.0.0.1'], allowPrivate: true });

beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/address/{address}`;
});
afterEach(() => {
  play = honest;
  asked = [];
});
afterAll(async () => {
  outbound.close();
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

const provider = (change: Partial<ProviderOptions> = {}) =>
  createProvider(
    { outbound, clock: systemClock, log: silentLog, metrics: silentMetrics },
    {
      name: 'acme',
      url,
      headers: { 'x-token': 't' },
      denied: { path: 'identifications', when: 'nonEmpty' },
      versionPath: 'list.edition',
      timeoutMs: 5_000,
      attempts: 2,
      deadlineMs: 10_000,
      cacheTtlMs: 60_000,
      maxCached: 100,
      onFailure: 'closed',
      ...change,
    },
  );

describe('answers', () => {
  test('caches an answer; two simultaneous questions are one request', async () => {
    const acme = provider();
    const [first, second] = await Promise.all([acme.screen(BAD), acme.screen(BAD)]);
    expect(first).toMatchObject({ provider: 'acme', decision: 'denied', reason: 'listed', listVersion: '7' });
    expect(second).toBe(first);
    expect(await acme.screen(BAD)).toBe(first);
    expect(await acme.screen(GOOD)).toMatchObject({ decision: 'allowed', reason: 'not_listed' });
    expect(asked).toEqual([`/v1/address/${BAD}`, `/v1/address/${GOOD}`]);
  });

  test('the cache is limited in time and number', async () => {
    const forgetful = provider({ cacheTtlMs: 0 });
    await forgetful.screen(GOOD);
    await forgetful.screen(GOOD);
    const small = provider({ maxCached: 1 });
    await small.screen(GOOD);
    await small.screen(BAD);
    await small.screen(GOOD);
    expect(asked).toHaveLength(5);
  });

  test('a verdict depends on the value', async () => {
    play = (_, response) => response.end('{"result":{"risk":"severe"}}');
    expect(
      await provider({ denied: { path: 'result.risk', when: { equals: 'severe' } } }).screen(GOOD),
    ).toMatchObject({ decision: 'denied' });
    expect(
      await provider({ denied: { path: 'result.risk', when: { equals: 'low' } } }).screen(GOOD),
    ).toMatchObject({ decision: 'allowed', listVersion: null });
  });
});

describe('no answer', () => {
  const silences: [string, Play][] = [
    ['status 500', (_, response) => response.writeHead(500).end('{"identifications":[]}')],
    [
      'a redirect',
      (_, response) => response.writeHead(302, { location: url.replace('{address}', GOOD) }).end(),
    ],
    ['no JSON', (_, response) => response.end('<html>')],
    ['a verdict that is missing', (_, response) => response.end('{}')],
    ['a verdict of another type', (_, response) => response.end('{"identifications":"none"}')],
    ['a broken connection', (_, response) => response.destroy()],
    [
      'half an answer',
      (_, response) => {
        response.writeHead(200, { 'content-length': 500 });
        response.write('{"identifications":');
        setTimeout(() => response.destroy(), 5);
      },
    ],
    [
      'an endless answer',
      (_, response) => {
        response.write('[');
        const more = setInterval(() => response.write('"x",'.repeat(20_000)), 1);
        response.on('close', () => clearInterval(more));
      },
    ],
    ['no answer at all', () => {}],
  ];
  test.each(silences)('closed: %s is no yes', async (_, how) => {
    play = how;
    expect(await provider({ timeoutMs: 300 }).screen(GOOD)).toMatchObject({
      decision: 'unknown',
      reason: 'unavailable',
    });
    expect(asked.length).toBeGreaterThanOrEqual(1);
  });

  test('fail open: lets the address through, records it, and caches nothing', async () => {
    play = silences[0]?.[1] as Play;
    const open = provider({ onFailure: 'open' });
    expect(await open.screen(BAD)).toMatchObject({
      decision: 'allowed',
      reason: 'unavailable_let_through',
      listVersion: null,
    });
    play = honest;
    expect(await open.screen(BAD)).toMatchObject({ decision: 'denied' });
  });

  test('retries within one deadline', async () => {
    let broken = 1;
    play = (request, response) => (broken-- > 0 ? response.destroy() : honest(request, response));
    expect(await provider().screen(GOOD)).toMatchObject({ decision: 'allowed' });
    expect(asked).toHaveLength(2);
    play = () => {};
    await provider({ attempts: 5, timeoutMs: 60_000, deadlineMs: 100 }).screen(GOOD);
    expect(asked).toHaveLength(3);
  });
});

describe('A45: the address that is asked', () => {
  const strict = createOutbound({
    allowHosts: ['screening.example', '127.0.0.1', '::1', 'localhost', '169.254.169.254'],
    allowPrivate: false,
  });
  afterAll(() => strict.close());

  test.each([
    ['a host that is not listed', 'https://elsewhere.example/'],
    ['plain http', 'http://screening.example/'],
    ['another scheme', 'file:///etc/passwd'],
    ['a user name', 'https://a:b@screening.example/'],
    ['loopback', 'https://127.0.0.1/'],
    ['loopback, other spelling', 'https://0x7f.1/'],
    ['loopback, IPv6', 'https://[::1]/'],
    ['the cloud’s metadata', 'https://169.254.169.254/latest/meta-data'],
    ['no URL', 'screening.example'],
  ])('A45: refused before anything is sent: %s', (_, address) =>
    expect(() => strict.check(address)).toThrow(OutboundRefused),
  );

  test('A45: a listed name that resolves into our own network is refused', async () => {
    await expect(
      strict.request({
        url: `https://localhost:${(server.address() as AddressInfo).port}/`,
        method: 'GET',
        timeoutMs: 2_000,
        maxBytes: 100,
      }),
    ).rejects.toThrow('private address');
    expect(asked).toEqual([]);
  });

  test('no error contains the URL', async () => {
    const error = await outbound
      .request({
        url: 'http://127.0.0.1:1/secret-path?key=abc',
        method: 'GET',
        timeoutMs: 2_000,
        maxBytes: 100,
      })
      .catch((caught: Error) => caught);
    expect(String(error)).not.toMatch(/secret-path|abc/);
  });

  test.each([
    '10.1.2.3',
    '172.31.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    'fe80::1',
    'fd00::1',
    '::',
    '::ffff:10.0.0.1',
    '64:ff9b::a00:1',
  ])('%s is private', (address) => expect(isPrivate(address)).toBe(true));
  test.each(['1.1.1.1', '172.32.0.1', '2606:4700::1111'])('%s is public', (address) =>
    expect(isPrivate(address)).toBe(false),
  );
});
