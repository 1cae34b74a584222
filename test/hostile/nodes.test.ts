/** A chain's node that hangs up early, lies about the head or sends what is costly to read. */

import { ETHER } from '../../src/domain/chain.ts';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { createChain } from '../../src/adapters/evm/chain/chain.ts';
import { createRpc, type ChainRpc } from '../../src/adapters/evm/rpc/rpc.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { createMetrics } from '../../src/adapters/prometheus/metrics.ts';
import type { Address } from '../../src/domain/hex.ts';
import { unready } from '../../src/venue/ready.ts';
import { recordEscapes } from '../support/escapes.ts';
import { silentLog } from '../support/silent.ts';

interface Call {
  id: number;
  method: string;
  params: [unknown, ...unknown[]];
}

const NOBODY = `0x${'11'.repeat(20)}` as Address;
const escapes = recordEscapes();
const closers: (() => unknown)[] = [];
const atEnd = <T>(thing: T, close: () => unknown): T => (closers.push(close), thing);
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
afterAll(() => escapes.stop());

async function listen(server: Server): Promise<string> {
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  atEnd(server, () => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
const rpcTo = (url: string, timeoutMs = 2_000): ChainRpc => {
  const rpc = createRpc([url], { timeoutMs });
  return atEnd(rpc, () => rpc.close());
};
const failed = (answer: Promise<unknown>) =>
  answer.then(
    () => 'answered',
    (error: Error) => error.message,
  );
const soon = (ms: number) => new Promise((done) => setTimeout(done, ms));

test.each([
  ['answers 413 and resets', (socket: Socket) => (socket.write(REFUSAL), socket.resetAndDestroy())],
  ['answers 413 and closes', (socket: Socket) => (socket.end(REFUSAL), socket.destroySoon())],
  [
    'resets after its answer',
    (socket: Socket) => (socket.write(REFUSAL), setTimeout(() => socket.resetAndDestroy(), 3)),
  ],
  ['hangs up without an answer', (socket: Socket) => socket.destroy()],
  ['is no HTTP server', (socket: Socket) => (socket.write('\0garbage\r\n\r\n'), socket.resetAndDestroy())],
])('a node that %s while it is asked: the calls fail and nothing escapes', async (_, hangUp) => {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => hangUp(socket));
  });
  const address = await listen(server);
  for (const scheme of ['http', 'https', 'ws', 'wss']) {
    const rpc = rpcTo(`${scheme}://${address}/`, 300);
    for (let round = 0; round < 2; round += 1) {
      const large = Array.from({ length: 4 }, () => failed(rpc.request('eth_call', ['x'.repeat(900_000)])));
      expect(new Set(await Promise.all(large))).not.toContain('answered');
    }
  }
  await soon(50);
  expect(escapes.seen).toEqual([]);
});
const REFUSAL = 'HTTP/1.1 413 Payload Too Large\r\ncontent-length: 0\r\n\r\n';

/** Answers `eth_getBlockByNumber` as the test says. */
async function node() {
  let latest = (): unknown => block(100n);
  const bodies: number[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      bodies.push(body.length);
      const asked = JSON.parse(body) as Call | Call[];
      const answers = [asked]
        .flat()
        .map(({ id, method, params: [first] }) => ({
          jsonrpc: '2.0',
          id,
          result:
            method === 'eth_chainId'
              ? '0x1'
              : method !== 'eth_getBlockByNumber'
                ? []
                : first === 'latest'
                  ? latest()
                  : block(BigInt(first as string)),
        }));
      response.end(JSON.stringify(Array.isArray(asked) ? answers : answers[0]));
    });
  });
  atEnd(server, () => server.closeAllConnections());
  return {
    url: `http://${await listen(server)}`,
    bodies,
    say: (next: () => unknown) => void (latest = next),
  };
}
const startedMs = Date.now();
let warpMs = 0;
const clock = {
  ...systemClock,
  nowMs: () => systemClock.nowMs() + warpMs,
  monotonicMs: () => systemClock.monotonicMs() + warpMs,
};
/** Block 100 was mined when the test began; ten blocks a second. */
const honest = () => block(100n + BigInt(Math.floor((clock.nowMs() - startedMs) / 100)));
function block(number: bigint, timestamp = Math.floor((startedMs + Number(number - 100n) * 100) / 1_000)) {
  const hash = `0x${number.toString(16).padStart(64, '0')}`;
  const parentHash = `0x${(number - 1n).toString(16).padStart(64, '0')}`;
  return {
    number: `0x${number.toString(16)}`,
    hash,
    parentHash,
    timestamp: `0x${Math.max(0, timestamp).toString(16)}`,
    baseFeePerGas: '0x1',
  };
}
async function chainOn(url: string) {
  const metrics = createMetrics();
  const description = {
    ...{ id: 1, slug: 'lied', sandbox: false, escrow: NOBODY, oracle: NOBODY, permit2: NOBODY, depth: 2 },
    ...{ blockTimeMs: 100, native: ETHER, tokens: [], landingMarginSeconds: 30, proofWindowSeconds: 60 },
  };
  const chain = createChain(description, { rpcUrls: [url], clock, log: silentLog, metrics });
  await chain.start();
  const doubts = async () =>
    Number(/^firmquote_chain_heads_doubted_total\{.*\} (\d+)/m.exec(await metrics.text())?.[1] ?? 0);
  return { chain: atEnd(chain, () => chain.close()), doubts };
}

test.each([
  ['number 2^200', () => block(2n ** 200n)],
  ['number ten million ahead', () => block(10_000_100n, Math.floor(Date.now() / 1_000))],
  ['time a day ahead', () => block(101n, Math.floor(Date.now() / 1_000) + 86_400)],
  ['number that is none', () => ({ ...block(101n), number: {} })],
  ['time that is none', () => ({ ...block(5_000n), timestamp: 'soon' })],
])('the only node lies about the head for a while, %s: the chain goes on', async (_, lie) => {
  const liar = await node();
  liar.say(honest);
  const { chain } = await chainOn(liar.url);
  const before = chain.head()?.number ?? 0n;
  liar.say(lie);
  await soon(700);
  expect((chain.head()?.number ?? 0n) - before).toBeLessThan(100n);
  liar.say(honest);
  await expect.poll(() => chain.head()?.number ?? 0n, { timeout: 5_000 }).toBeGreaterThan(before + 8n);
  expect(chain.head()?.timestamp).toBeLessThan(clock.nowMs() / 1_000 + 1);
});

test('a first head that is a lie is replaced by an honest one', async () => {
  const liar = await node();
  liar.say(() => block(10n ** 9n, Math.floor(clock.nowMs() / 1_000)));
  const { chain } = await chainOn(liar.url);
  expect(chain.head()?.number).toBe(10n ** 9n);
  const endless = failed(chain.events(0n, 10n ** 9n));
  liar.say(honest);
  await expect.poll(() => chain.head()?.number ?? 0n, { timeout: 5_000 }).toBeLessThan(10n ** 6n);
  expect(await endless).toContain('taken back');
});

test('a leap that persists for a minute is believed, and is taken back within the next', async () => {
  const liar = await node();
  liar.say(honest);
  const { chain, doubts } = await chainOn(liar.url);
  liar.say(() => block(10n ** 7n, Math.floor(clock.nowMs() / 1_000)));
  await expect.poll(doubts).toBe(1);
  expect(chain.head()?.number).toBeLessThan(10n ** 6n);
  const ready = () => unready({ store: { ping: async () => {} }, chains: new Map([[1, chain]]), clock });
  expect(await ready()).toEqual([]);
  warpMs += 30_000;
  expect(await ready()).toEqual(['the newest block of lied is old']);
  warpMs += 31_000;
  await expect.poll(() => chain.head()?.number, { timeout: 5_000 }).toBe(10n ** 7n);
  liar.say(honest);
  await expect.poll(() => chain.head()?.number ?? 0n, { timeout: 5_000 }).toBeLessThan(10n ** 6n);
});

test('a large number of calls is split, so that no request is larger than a node accepts', async () => {
  const honestNode = await node();
  const rpc = rpcTo(honestNode.url);
  await Promise.all(Array.from({ length: 400 }, () => rpc.request('eth_call', ['x'.repeat(20_000)])));
  expect(honestNode.bodies.length).toBeGreaterThan(7);
  expect(Math.max(...honestNode.bodies)).toBeLessThanOrEqual(1_100_000);
});

test('a node that answers everything with too much is not asked again and again', async () => {
  let asked = 0;
  const megabyte = 'x'.repeat(2 ** 20);
  const server = createServer((request, response) => {
    asked += 1;
    request.resume();
    const more = () => void (response.destroyed || response.write(megabyte, () => setImmediate(more)));
    more();
  });
  const rpc = rpcTo(`http://${await listen(server)}`, 5_000);
  atEnd(server, () => server.closeAllConnections());
  await Promise.all(Array.from({ length: 100 }, () => failed(rpc.request('eth_call', []))));
  expect(asked).toBeLessThanOrEqual(40);
});

const BOMBS = {
  deep: `{"id":1,"result":${'['.repeat(200_000)}${']'.repeat(200_000)}}`,
  wide: `{"id":1,"result":[${'{},'.repeat(2_000_000)}{}]}`,
  'deep in a string that is none': `{"id":1,"a":"\\\\","result":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}}`,
};
test.each(Object.entries(BOMBS))('an answer that is %s is not parsed', async (_, body) => {
  const server = createServer((_request, response) => response.end(body));
  const rpc = createRpc([`http://${await listen(server)}`]);
  atEnd(rpc, () => rpc.close());
  atEnd(server, () => server.closeAllConnections());
  const parse = JSON.parse;
  const parsed: number[] = [];
  JSON.parse = (text: string) => (parsed.push(text.length), parse(text) as unknown);
  try {
    expect(await failed(rpc.request('eth_call', []))).toContain('No answer to eth_call');
  } finally {
    JSON.parse = parse;
  }
  expect(parsed.filter((length) => length === body.length)).toEqual([]);
});

let sockets: WebSocketServer;
let accepts = true;
let dials = 0;
beforeAll(async () => {
  sockets = new WebSocketServer({
    ...{ port: 0, host: '127.0.0.1' },
    verifyClient: (_info: unknown, answer: (ok: boolean, code?: number) => void) => {
      dials += 1;
      answer(accepts, 503);
    },
  });
  await new Promise((done) => sockets.once('listening', done));
});
afterAll(() => sockets.close());

/** An RPC client of a node that answers each call with these frames. */
async function answering(frames: (call: Call) => readonly (string | Buffer)[]): Promise<ChainRpc> {
  const join = (socket: WebSocket) =>
    void socket.on('message', (data: Buffer) => {
      for (const frame of frames(JSON.parse(data.toString()) as Call)) socket.send(frame);
    });
  sockets.on('connection', join);
  atEnd(join, () => sockets.off('connection', join));
  return rpcTo(`ws://127.0.0.1:${(sockets.address() as AddressInfo).port}/KEY`, 500);
}

test.each([
  ['no JSON', ['{', '', 'null', '[null]', '7', '"x"']],
  [
    'subscriptions that nobody made',
    ['{"method":"eth_subscription"}', '{"method":"eth_subscription","params":7}'],
  ],
  ['answers to nobody', ['{"id":{},"result":1}', '{"id":"__proto__","error":{}}', '[[]]']],
  ['binary', [Buffer.from('{"id":1,"result":"0x2"}')]],
  ['JSON too deep', [BOMBS.deep]],
])('a WebSocket node that sends %s is dialled again and heard again', async (_, frames) => {
  let hostile = true;
  const rpc = await answering(({ id }) => (hostile ? frames : [JSON.stringify({ id, result: '0x1' })]));
  expect(await failed(rpc.request('eth_chainId', []))).toContain('No answer to eth_chainId');
  hostile = false;
  await expect.poll(() => rpc.request('eth_chainId', []).catch(() => 0), { timeout: 5_000 }).toBe('0x1');
  expect(escapes.seen).toEqual([]);
});

test('a WebSocket node that refuses connections for a while is used again', async () => {
  const rpc = await answering(({ id, method }) =>
    method === 'eth_subscribe' ? [] : [JSON.stringify({ id, result: '0x1' })],
  );
  await expect.poll(() => rpc.request('eth_chainId', []).catch(() => 0), { timeout: 5_000 }).toBe('0x1');
  // It does not answer a subscription, which delays nothing.
  expect(await rpc.subscribeHeads(() => {})).toBeUndefined();
  accepts = false;
  dials = 0;
  for (const socket of sockets.clients) socket.terminate();
  await expect.poll(() => dials, { timeout: 5_000 }).toBeGreaterThan(2);
  accepts = true;
  await expect.poll(() => rpc.request('eth_chainId', []).catch(() => 0), { timeout: 5_000 }).toBe('0x1');
});

/** As a node says that there is a new block. */
const NEW_HEAD = '{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"0x1","result":{}}}';
const answerHonestly = ({ id, method, params: [tag] }: Call) => {
  const known: Record<string, () => unknown> = {
    eth_chainId: () => '0x1',
    eth_subscribe: () => '0x1',
    eth_getBlockByNumber: () => (tag === 'latest' ? honest() : block(BigInt(tag as string))),
  };
  return JSON.stringify({ id, result: known[method]?.() ?? [] });
};

test('a node that announces 100,000 heads at once is disconnected, dialled again and heard again', async () => {
  let heads = 0;
  const rpc = await answering((call) => [answerHonestly(call)]);
  await expect.poll(() => rpc.request('eth_chainId', []).catch(() => 0), { timeout: 5_000 }).toBe('0x1');
  await rpc.subscribeHeads(() => (heads += 1));
  dials = 0;
  for (const socket of sockets.clients) for (let n = 0; n < 100_000; n += 1) socket.send(NEW_HEAD);
  await expect.poll(() => dials, { timeout: 5_000 }).toBeGreaterThan(0);
  expect(heads).toBeLessThan(10_000);
  await expect.poll(() => rpc.request('eth_chainId', []).catch(() => 0), { timeout: 5_000 }).toBe('0x1');
});

test('a node that announces heads all the time is asked no more often than one that is polled', async () => {
  let asked = 0;
  const join = (socket: WebSocket) =>
    void socket.on('message', (data: Buffer) => {
      const call = JSON.parse(data.toString()) as Call;
      if (call.params[0] === 'latest') asked += 1;
      socket.send(answerHonestly(call));
    });
  sockets.on('connection', join);
  atEnd(join, () => sockets.off('connection', join));
  await chainOn(`ws://127.0.0.1:${(sockets.address() as AddressInfo).port}/KEY`);
  asked = 0;
  const fromMs = performance.now();
  for (let n = 0; n < 200; n += 1) {
    for (const socket of sockets.clients) socket.send(NEW_HEAD);
    await soon(3);
  }
  // The shortest pause between two polls, whatever is announced.
  expect(asked).toBeLessThanOrEqual((performance.now() - fromMs) / 40 + 5);
});
