/**
 * Hostile clients of HTTP doors: topic storms, invented takers, bad addresses, bombs, guesses, and requests
 * that never end.
 */

import { WebSocket } from 'ws';
import type { Chain } from '../../../src/domain/chain.ts';
import { random32 } from '../../support/scripted-venue.ts';
import type { Targets } from './hostiles.ts';
import { ask, closed, dial, each, hits, pause, PER_ROUND, plug, RETURN_MS, ROUND_MS } from './strikes.ts';

/** As in the report of a venue whose LPs were locked. */
const INVENTED_EVERY_MS = 25;
const USDC_AMOUNTS = ['20000000000', '5000000'];
const WETH_AMOUNTS = ['8000000000000000000', '2000000000000000'];
const SLOWLY_MS = 1_000;
const UNREAD = 200;

/** Subscribes and unsubscribes at full speed. */
export async function stormTopics(url: string, key: string): Promise<void> {
  const socket = dial(`${url}/api/v1/ws`, key);
  await each(ROUND_MS, closed(socket), () => {
    if (socket.readyState !== WebSocket.OPEN) return;
    for (let n = 0; n < PER_ROUND; n += 1)
      socket.send(JSON.stringify({ op: n % 2 === 0 ? 'subscribe' : 'unsubscribe', topics: ['orders'] }));
    hits('subscriptions', PER_ROUND);
  });
  await pause(RETURN_MS);
}

/** Asks for quotes, of much or of little, for takers that nobody else ever saw, and takes none. */
export async function inventTakers(url: string, { chains, takerKey }: Targets): Promise<void> {
  const [chain] = chains as [Chain];
  const asset = (symbol: string) =>
    `eip155:${chain.id}/erc20:${chain.tokens.find((token) => token.symbol === symbol)?.address}`;
  const [give, take] = Math.random() < 0.5 ? ['USDC', 'WETH'] : ['WETH', 'USDC'];
  hits('requests of takers that a workspace invented');
  const body = JSON.stringify({
    taker: `0x${random32().slice(2, 42)}`,
    input: { asset: asset(give as string), amount: any(give === 'USDC' ? USDC_AMOUNTS : WETH_AMOUNTS) },
    output: { asset: asset(take as string) },
  });
  await Promise.all([
    ask(`${url}/api/v1/rfq/quotes`, { method: 'POST', headers: jsonOf(takerKey), body }),
    pause(INVENTED_EVERY_MS),
  ]);
}

const PATHS = [
  '/openapi.json',
  '/asyncapi.json',
  '/docs',
  '/api/%zz',
  `/api/v1/rfq/orders/${'9'.repeat(4_000)}`,
];

export async function pester(url: string): Promise<void> {
  hits('HTTP requests without a key');
  await ask(`${url}${any([...PATHS, '/api/v1/solvers'])}`, {});
}

/** JSON that is costly to read, with a valid key. */
export async function bombJson(url: string, key: string): Promise<void> {
  hits('deep and wide JSON');
  const body = any([
    `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    `{"taker":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}}`,
    `[${'0,'.repeat(120_000)}0]`,
    `{${Array.from({ length: 10_000 }, (_, n) => `"k${n}":0`).join()}}`,
    `{"__proto__":{"a":1},"constructor":{"prototype":{}}}`,
  ]);
  await ask(`${url}/api/v1/rfq/quotes`, { method: 'POST', headers: jsonOf(key), body });
}

export async function bombHeaders(url: string): Promise<void> {
  hits('header bombs');
  const socket = plug(url);
  socket.resume();
  socket.write(
    any([
      `GET / HTTP/1.1\r\nHost: x\r\n${'A: b\r\n'.repeat(50_000)}\r\n`,
      `GET / HTTP/1.1\r\nHost: x\r\nA: ${'b'.repeat(1_000_000)}\r\n\r\n`,
      `GET /?${'a=b&'.repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      'EHLO there\r\n'.repeat(1_000),
    ]),
  );
  await Promise.race([closed(socket), pause(5_000)]);
  socket.destroy();
}

/** Guesses the keys of the doors to venues and LPs, as a web page on this machine could. */
export async function guess(door: string): Promise<void> {
  hits('guesses of admin keys');
  const secret = random32().slice(2);
  await ask(`${door}${any(['/admin/v1/workspaces', '/status', '/inventory', '/fills/pause'])}`, {
    method: any(['GET', 'POST']),
    headers: {
      'x-api-key': secret,
      authorization: `Bearer ${secret}`,
      ...(Math.random() < 0.5 && { host: 'evil.example' }),
      'content-type': 'application/json',
    },
  });
  await pause(ROUND_MS);
}

/** Sends headers, or a body, one byte a second. */
export async function dawdle(door: string, key: string): Promise<void> {
  hits('slow requests');
  const socket = plug(door);
  socket.resume();
  const start = `POST /api/v1/rfq/quotes HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: ${key}\r\n`;
  socket.write(
    Math.random() < 0.5
      ? start
      : `${start}Content-Type: application/json\r\nContent-Length: 10000\r\n\r\n{"taker":"`,
  );
  await each(SLOWLY_MS, closed(socket), () => void socket.write('a'));
}

/** Asks much and reads no answer. */
export async function neverRead(door: string, key: string): Promise<void> {
  hits('unread answers', UNREAD);
  const socket = plug(door);
  socket.pause();
  for (const path of ['/api/v1/rfq/pairs', '/openapi.json', '/metrics'])
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: ${key}\r\n\r\n`.repeat(UNREAD / 4));
  await Promise.race([closed(socket), pause(30_000)]);
  socket.destroy();
}

const any = <T>(of: readonly T[]): T => of[Math.floor(Math.random() * of.length)] as T;
const jsonOf = (key: string) => ({ 'x-api-key': key, 'content-type': 'application/json' });
