/** A client with valid HTTP of absurd size or number: it is refused, and the next client is answered. */

import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestVenue, type TestVenue } from '../support/venue.ts';

let v: TestVenue;
let key: string;

beforeAll(async () => {
  v = await startTestVenue({
    chainIds: [31_463],
    rates: { perIpPerSecond: 0.001, burst: 1_000_000 } as never,
  });
  key = await v.key('service');
});
afterAll(() => v.stop());

function say(text: string): Promise<string[]> {
  return new Promise((resolve) => {
    const socket = connect(v.http.port, '127.0.0.1');
    let heard = '';
    socket.on('data', (data) => (heard += data.toString('latin1')));
    socket.on('error', () => {});
    socket.on('close', () =>
      resolve([...heard.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status ?? '')),
    );
    socket.write(text, 'latin1');
  });
}

const PAIRS = 'GET /api/v1/rfq/pairs';
const CLOSE = 'Connection: close\r\n\r\n';
const POST = 'POST /api/v1/rfq/quotes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';

test.each([
  ['3,000 headers', () => `${PAIRS} HTTP/1.1\r\nHost: x\r\n${'A: b\r\n'.repeat(3_000)}${CLOSE}`, /^4/],
  ['3,000 query parameters', () => `${PAIRS}?${'a=b&'.repeat(3_000)} HTTP/1.1\r\nHost: x\r\n${CLOSE}`, /^4/],
  ['HTTP/1.0 without Host', () => `${PAIRS} HTTP/1.0\r\n\r\n`, /^4/],
  [
    'a chunk extension of 1 MB',
    () =>
      `${POST}X-API-Key: ${key}\r\nTransfer-Encoding: chunked\r\n\r\n2;${'x'.repeat(1_000_000)}\r\n{}\r\n`,
    /^4/,
  ],
])('%s: refused', async (_, text, status) => {
  expect((await say(text()))[0] ?? '400').toMatch(status);
  expect((await v.call('GET', '/api/v1/rfq/pairs', { key })).status).toBe(200);
});

test('5,000 pipelined requests use up the budget of their address only', async () => {
  const one = `GET /nothing HTTP/1.1\r\nHost: x\r\n`;
  const statuses = await say(`${`${one}\r\n`.repeat(4_999)}${one}${CLOSE}`);
  expect(statuses).toHaveLength(5_000);
  expect([statuses[0], statuses.at(-1)]).toEqual(['404', '429']);
});
