/** A client that asks for what costs it nothing: every answer counts against the limit of its address. */

import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHttp } from '../../src/adapters/http/server.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { silentLog } from '../support/silent.ts';
import { type Replica, startTestVenue, type TestVenue } from '../support/venue.ts';

/** Requests that an address may send; refilled too slowly to matter. */
const BUDGET = 30;
const TIGHT = { perIpPerSecond: 0.001, burst: BUDGET * 1_000 };

let v: TestVenue;
let door: Replica;

beforeAll(async () => {
  v = await startTestVenue({ chainIds: [31_461] });
});
afterAll(() => v.stop());

/** Sends exactly these bytes on a connection that stays half open until the venue ends it. */
function say(text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port: Number(new URL(door.url).port), host: '127.0.0.1', allowHalfOpen: true });
    let heard = '';
    socket.on('data', (data) => (heard += data.toString('latin1')));
    socket.on('error', () => {});
    let more: NodeJS.Timeout | undefined;
    socket.on('end', () => (more = setInterval(() => socket.write('more\r\n'), 100)));
    socket.on('close', () => {
      clearInterval(more);
      resolve(heard);
    });
    socket.write(text, 'latin1');
  });
}
const statuses = (heard: string) => [...heard.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
const request = (line: string, headers = '') => `${line} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;

describe('whatever is asked, beyond its budget an address is refused', () => {
  test.each([
    ['a path that cannot be decoded', request('GET /api/%zz'), '404'],
    ['an over-long parameter', request(`GET /api/v1/rfq/orders/${'x'.repeat(5_000)}`), '404'],
    ['an unknown path', request('GET /nothing'), '404'],
    ['an unknown method', request('PROPFIND /api/v1/solvers'), '405'],
    ['an expectation', request('GET /nothing', 'Expect: riches\r\n'), '404'],
  ])('%s', async (_, one, status) => {
    door = await v.replica({ rates: { ...TIGHT } as never });
    const last = one.replace(/\r\n$/, 'Connection: close\r\n\r\n');
    const heard = await say(`${one.repeat(2 * BUDGET - 1)}${last}`);
    expect(statuses(heard)).toEqual([
      ...Array.from({ length: BUDGET }, () => status),
      ...Array.from({ length: BUDGET }, () => '429'),
    ]);
    expect(heard.match(/nosniff/g)).toHaveLength(2 * BUDGET);
    await door.stop();
  });

  test('text that is not HTTP, and upgrades, one a connection', async () => {
    for (const [text, status] of [
      ['EHLO there\r\n\r\n', '400'],
      [request('GET /nothing', 'Connection: Upgrade\r\nUpgrade: websocket\r\n'), '404'],
    ] as const) {
      door = await v.replica({ rates: { ...TIGHT } as never });
      const heard = await Promise.all(Array.from({ length: 2 * BUDGET }, () => say(text)));
      expect(heard.filter((one) => statuses(one)[0] === status)).toHaveLength(BUDGET);
      await door.stop();
    }
  });
});

test('behind a balancer named by its network, requests and sockets count for the address it forwards', async () => {
  const balanced = await startHttp(
    {
      ...{ routes: v.venue.routes, socketRoutes: v.venue.socketRoutes, clock: systemClock, log: silentLog },
      gate: { ...v.venue.gate, limitByAddress: (ip) => void counted.push(ip) },
    },
    { port: 0, trustProxy: ['127.0.0.0/8', '10.0.0.0/8'] },
  );
  const counted: string[] = [];
  door = { ...(await v.replica()), url: balanced.url };
  for (const headers of ['', 'Upgrade: websocket\r\nConnection: Upgrade\r\n'])
    await say(request('GET /nothing', `X-Forwarded-For: 9.9.9.9, 203.0.113.7, 10.1.2.3\r\n${headers}`));
  expect(counted).toEqual(['203.0.113.7', '203.0.113.7']);
  // Another port, another address of the same /64, or a mapped spelling is no other client.
  counted.length = 0;
  for (const forwarded of [
    '198.51.100.9:40001',
    '198.51.100.9:40002, 10.1.2.3:55000',
    '::ffff:198.51.100.9',
    '[2001:db8:1:2::9]:40001',
    '2001:db8:1:2:ffff::1',
  ])
    await say(request('GET /nothing', `X-Forwarded-For: ${forwarded}\r\nConnection: close\r\n`));
  expect(counted).toEqual([
    '198.51.100.9',
    '198.51.100.9',
    '198.51.100.9',
    '2001:db8:1:2::/64',
    '2001:db8:1:2::/64',
  ]);
  await balanced.close();
  await door.stop();
});

describe('public documents', () => {
  const headOf = (heard: string, name: string) => new RegExp(`^${name}: (.*)\r$`, 'im').exec(heard)?.[1];
  const ask = (path: string, headers = '') => say(request(`GET ${path}`, `${headers}Connection: close\r\n`));

  test.each(['/openapi.json', '/asyncapi.json', '/docs'])(
    '%s is compressed, cached and revalidated',
    async (path) => {
      door = await v.replica();
      const plain = await ask(path);
      for (const encoding of ['br', 'gzip']) {
        const small = await ask(path, `Accept-Encoding: ${encoding}\r\n`);
        expect(headOf(small, 'content-encoding')).toBe(encoding);
        expect(headOf(small, 'etag')).toBe(headOf(plain, 'etag'));
        expect(small.length).toBeLessThan(plain.length / 3);
      }
      expect(headOf(await ask(path, 'Accept-Encoding: br;q=0\r\n'), 'content-encoding')).toBeUndefined();
      const again = await ask(path, `If-None-Match: ${headOf(plain, 'etag')}\r\n`);
      expect([statuses(again), again.length < 1_500]).toEqual([['304'], true]);
      await door.stop();
    },
  );

  test('a large one costs as much as many requests', async () => {
    door = await v.replica({ rates: { ...TIGHT } as never });
    const answers = [];
    for (let n = 0; n < 4; n++) answers.push(...statuses(await ask('/openapi.json')));
    expect(answers).toEqual(['200', '429', '429', '429']);
    await door.stop();
  });
});
