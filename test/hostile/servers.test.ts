/** Attesters, screening, travel-rule and price servers that never end, hang, redirect or answer nonsense. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { createAttestationClient } from '../../src/adapters/attestations/client.ts';
import { BINANCE } from '../../src/adapters/feeds/binance.ts';
import { COINBASE } from '../../src/adapters/feeds/coinbase.ts';
import type { Format } from '../../src/adapters/feeds/format.ts';
import { KRAKEN } from '../../src/adapters/feeds/kraken.ts';
import { createHttpFeed } from '../../src/adapters/feeds/http.ts';
import { createSocketFeed } from '../../src/adapters/feeds/socket.ts';
import { createOutbound } from '../../src/adapters/outbound/request.ts';
import { createProvider } from '../../src/adapters/screening/provider.ts';
import { createRecovery } from '../../src/adapters/secp256k1/recovery.ts';
import { systemClock as clock } from '../../src/adapters/system/clock.ts';
import { createHttpTransmitter } from '../../src/adapters/travel-rule/http.ts';
import { createLinkClient } from '../../src/adapters/ws/link-client.ts';
import type { Address, Bytes32 } from '../../src/domain/hex.ts';
import type { ChainPort } from '../../src/ports/chain.ts';
import { createPriceSources } from '../../src/lp/market/price-sources.ts';
import type { Feed, FeedTrouble } from '../../src/ports/feed.ts';
import type { Link } from '../../src/ports/link.ts';
import { recordEscapes } from '../support/escapes.ts';
import { silentLog as log, silentMetrics as metrics } from '../support/silent.ts';

const TIMEOUT_MS = 300;
const ACCOUNT: Address = `0x${'11'.repeat(20)}`;
const HASH: Bytes32 = `0x${'22'.repeat(32)}`;
const escapes = recordEscapes();
afterAll(() => escapes.stop());

type Play = (response: ServerResponse, request: IncomingMessage) => unknown;
let play: Play;
let url = '';
/** Answers that no client has given up yet. */
let open = 0;
const paths = new Set<string>();
const sockets = new Set<Socket>();
const server = createServer((request, response) => {
  request.resume();
  open += 1;
  paths.add(request.url ?? '');
  response.on('close', () => (open -= 1));
  play(response, request);
});
server.on('connection', (socket: Socket) => {
  sockets.add(socket);
  socket.on('error', () => {}).on('close', () => sockets.delete(socket));
});
const outbound = createOutbound({ allowHosts: ['127.0.0.1'], allowPrivate: true });
beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  for (const socket of sockets) socket.destroy();
});
afterAll(async () => {
  outbound.close();
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

/** Each asks once, and says what it made of the answer. */
const CLIENTS: Record<string, () => Promise<unknown>> = {
  attester: () => {
    const committee = async () => ({ threshold: 1, signers: [ACCOUNT] });
    const chains = new Map([[1, { chain: { id: 1, slug: 'base' }, committee } as unknown as ChainPort]]);
    const client = createAttestationClient(
      { chains, recovery: createRecovery(), clock, log, metrics },
      { urls: [url], timeoutMs: TIMEOUT_MS },
    );
    const attestation = { remoteChainId: 2n, application: HASH, payloadHash: HASH };
    return client.signatures(attestation, { chainId: 1, oracle: ACCOUNT });
  },
  screening: () =>
    createProvider(
      { outbound, clock, log, metrics },
      {
        ...{ name: 'acme', url: `${url}/{address}`, headers: {}, versionPath: 'version', attempts: 2 },
        ...{ denied: { path: 'hits', when: 'nonEmpty' }, cacheTtlMs: 1_000, maxCached: 10 },
        ...{ timeoutMs: TIMEOUT_MS, deadlineMs: 2 * TIMEOUT_MS, onFailure: 'closed' },
      },
    )
      .screen(ACCOUNT)
      .then(({ decision }) => (decision === 'unknown' ? undefined : decision)),
  'travel rule': () =>
    createHttpTransmitter({ outbound }, { url, headers: {}, timeoutMs: TIMEOUT_MS })
      .transmit('x'.repeat(2_000_000), 'key')
      .then(
        ({ reference }) => reference ?? undefined,
        () => undefined,
      ),
  price: () =>
    new Promise((done) => {
      const feed = createHttpFeed(
        { clock, backoff: () => 60_000 },
        { url, symbols: ['A'], source: 's', bid: 'bid', ask: 'ask', time: 'at', timeoutMs: TIMEOUT_MS },
      );
      const end = (verdict: unknown) => (feed.stop(), done(verdict));
      feed.start({ quote: end, trouble: ({ kind }) => kind !== 'connected' && end(undefined) });
    }),
};

const every = (ms: number, response: ServerResponse, text: string) => {
  const timer = setInterval(() => response.write(text), ms);
  response.on('close', () => clearInterval(timer));
};
const say =
  (status: number, body: string, headers: Record<string, string> = {}): Play =>
  (response) => {
    response.writeHead(status, headers).end(body);
  };
const DEEP = `${'['.repeat(1_500)}${']'.repeat(1_500)}`;

const PLAYS: Record<string, Play> = {
  'an endless body': (response) => every(1, response, ' '.repeat(100_000)),
  'an endless body of an error': (response) => every(1, response.writeHead(500), 'x'.repeat(100_000)),
  'a slow body': (response) => every(20, response, ' '),
  'headers and then nothing': (response) => response.writeHead(200).flushHeaders(),
  'an error and then nothing': (response) => response.writeHead(503).flushHeaders(),
  nothing: () => {},
  'half a body': (response) => {
    response.writeHead(200, { 'content-length': '100' }).write('{');
    setTimeout(() => response.destroy(), 10);
  },
  'another protocol': (response) =>
    response.socket?.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
  'endless hints': (response) => {
    const timer = setInterval(() => response.socket?.write('HTTP/1.1 102 Processing\r\n\r\n'), 2);
    response.socket?.on('close', () => clearInterval(timer));
  },
  'endless headers': (response) => {
    response.socket?.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => response.socket?.write(`x-a: ${'a'.repeat(10_000)}\r\n`), 1);
    response.socket?.on('close', () => clearInterval(timer));
  },
  'an early refusal': (response) => {
    response.socket?.write('HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n');
    response.socket?.resetAndDestroy();
  },
  'a redirect': say(302, '', { location: '/elsewhere' }),
  null: say(200, 'null'),
  'a number': say(200, '7'),
  'deep JSON': say(200, DEEP),
  'wrong types': say(
    200,
    '{"kind":"signed","signer":7,"signature":{},"hits":"none","bid":{},"ask":[],"reference":[]}',
  ),
  'a signature of nobody': say(
    200,
    JSON.stringify({ kind: 'signed', signer: ACCOUNT, signature: '0x', hits: null }),
  ),
  'a key of every object': say(200, '{"__proto__":{"hits":[],"bid":"1","ask":"2","at":1}}'),
};

test.each(Object.entries(PLAYS))(
  'a server that answers %s: no verdict, nothing open, no escape',
  async (_, part) => {
    play = part;
    const verdicts = await Promise.all(Object.values(CLIENTS).map((client) => client()));
    expect(verdicts).toEqual(verdicts.map(() => undefined));
    await expect.poll(() => open, { timeout: 5_000 }).toBe(0);
    expect([...paths]).not.toContain('/elsewhere');
    expect(escapes.seen).toEqual([]);
  },
);

const HANGS: Record<string, (socket: Socket) => unknown> = {
  'a refusal and a reset': (socket) => (socket.write('HTTP/1.1 413 No\r\n\r\n'), socket.resetAndDestroy()),
  'a redirect': (socket) => socket.end('HTTP/1.1 302 No\r\nlocation: ws://127.0.0.1:1/\r\n\r\n'),
  'a wrong key': (socket) =>
    socket.write(
      'HTTP/1.1 101 X\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: x\r\n\r\n',
    ),
  garbage: (socket) => socket.end('\0\u0001\r\n\r\n'),
  'a body without end': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    const timer = setInterval(() => socket.write('x'.repeat(10_000)), 1);
    socket.on('close', () => clearInterval(timer));
  },
};

test.each(Object.entries(HANGS))(
  'a WebSocket server that answers %s: clients dial again',
  async (_, hang) => {
    let dials = 0;
    const connections = new Set<Socket>();
    const raw = createTcpServer((socket) => {
      connections.add(socket);
      socket.on('error', () => {}).on('close', () => connections.delete(socket));
      socket.once('data', () => {
        dials += 1;
        hang(socket);
      });
    });
    await new Promise<void>((done) => raw.listen(0, '127.0.0.1', done));
    const address = `ws://127.0.0.1:${(raw.address() as AddressInfo).port}`;
    const feed = feedOf(address);
    const link = linkTo(address);
    await expect.poll(() => dials, { timeout: 5_000 }).toBeGreaterThan(6);
    feed.stop();
    await link.stop();
    await expect.poll(() => connections.size, { timeout: 5_000 }).toBe(0);
    raw.close();
    expect(escapes.seen).toEqual([]);
  },
);

const FRAMES: Record<string, (socket: WebSocket) => unknown> = {
  'no JSON': (socket) => ['{', '', 'null', '[]', '7', DEEP].forEach((text) => socket.send(text)),
  binary: (socket) => socket.send(Buffer.alloc(100)),
  'a frame that is too long': (socket) => socket.send('x'.repeat(5_000_000)),
  'an invalid frame': (socket) => wireOf(socket).write(Buffer.from([0xff, 0xff, 0xff, 0xff])),
  'text that is not UTF-8': (socket) => wireOf(socket).write(Buffer.from([0x81, 0x02, 0xff, 0xfe])),
  'half a frame and a reset': (socket) => {
    wireOf(socket).write(Buffer.from([0x81, 0x7e, 0x10, 0x00, 0x41]));
    setTimeout(() => wireOf(socket).resetAndDestroy(), 5);
  },
  'many pings': (socket) => Array.from({ length: 5_000 }, () => socket.ping('x'.repeat(100))),
};
const wireOf = (socket: WebSocket): Socket => (socket as unknown as { _socket: Socket })._socket;

test.each(Object.entries(FRAMES))('a WebSocket server that sends %s: nothing escapes', async (_, frames) => {
  const wss = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await new Promise((done) => wss.once('listening', done));
  let closes = 0;
  wss.on('connection', (socket) => {
    socket.on('error', () => {}).on('close', () => (closes += 1));
    frames(socket);
    setTimeout(() => socket.terminate(), 100);
  });
  const address = `ws://127.0.0.1:${(wss.address() as AddressInfo).port}`;
  const feed = feedOf(address);
  const link = linkTo(address);
  await expect.poll(() => closes, { timeout: 5_000 }).toBeGreaterThan(3);
  feed.stop();
  await link.stop();
  wss.close();
  expect(escapes.seen).toEqual([]);
});

const TICKERS: [string, Format, (symbol: string, n: number) => object][] = [
  ['Binance', BINANCE, (s, u) => ({ u, s, b: '1', a: '2', B: '1', A: '1' })],
  [
    'Kraken',
    KRAKEN,
    (symbol) => ({ channel: 'ticker', data: [{ symbol, bid: '1', ask: '2', bid_qty: '1', ask_qty: '1' }] }),
  ],
  [
    'Coinbase',
    COINBASE,
    (product_id, sequence) => ({ type: 'ticker', product_id, sequence, best_bid: '1', best_ask: '2' }),
  ],
  ['Coinbase heartbeats', COINBASE, (product_id, n) => ({ type: 'heartbeat', product_id, last_trade_id: n })],
];

test.each(TICKERS)(
  '%s sends 100,000 frames at once, for symbols that nobody asked for: disconnected, and none remembered',
  async (_, format, frame) => {
    const wss = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await new Promise((done) => wss.once('listening', done));
    wss.on('connection', (socket) => {
      socket.on('error', () => {});
      for (let n = 0; n < 100_000; n += 1) socket.send(JSON.stringify(frame(`INVENTED-${n}`, n)));
    });
    const troubles: FeedTrouble[] = [];
    const feed = createSocketFeed(
      { clock, backoff: () => 60_000 },
      {
        format,
        url: `ws://127.0.0.1:${(wss.address() as AddressInfo).port}`,
        symbols: ['ETHUSDT'],
        source: 's',
      },
    );
    feed.start({ quote: () => expect.unreachable(), trouble: (trouble) => troubles.push(trouble) });
    const ends = () =>
      troubles.flatMap((trouble) => (trouble.kind === 'disconnected' ? [trouble.detail] : []));
    await expect.poll(ends, { timeout: 10_000 }).toEqual(['too many frames']);
    const refusals = troubles.filter(({ kind }) => kind === 'refused');
    expect(new Set(refusals.map((trouble) => 'why' in trouble && trouble.why))).toEqual(
      new Set(['unknown_symbol']),
    );
    feed.stop();
    wss.close();
    for (const socket of wss.clients) socket.terminate();
  },
);

test('a price server that refuses symbols without end fills no log', async () => {
  let lines = 0;
  const feed: Feed = {
    source: 's',
    start: ({ trouble }) => {
      for (let n = 0; n < 10_000; n += 1) trouble?.({ kind: 'rejected', symbol: `${n}`, detail: 'no' });
    },
    stop: () => {},
  };
  const prices = createPriceSources(
    {
      ...{ sequencers: new Map(), slug: String, clock, metrics },
      log: { ...log, error: () => (lines += 1) } as never,
    },
    { prices: {}, assets: {}, pairs: [] },
    [feed],
  );
  prices.start();
  expect(lines).toBeLessThan(100);
});

function feedOf(address: string): Feed {
  const feed = createSocketFeed(
    { clock, backoff: () => 50 },
    { format: BINANCE, url: address, symbols: ['ETHUSDT'], source: 's', silentMs: 500 },
  );
  feed.start({ quote: () => expect.unreachable() });
  return feed;
}

function linkTo(address: string): Link {
  const link = createLinkClient({ clock, log }, { name: 'v', url: address, apiKey: 'k', jitter: () => 0 });
  link.start({ opened() {}, frame() {}, closed() {} });
  return link;
}
