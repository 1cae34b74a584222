/**
 * The attackers of `npm run soak -- --hostile`. Each strikes as fast as its socket takes it, and comes back
 * when it is disconnected.
 */

import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import type { Chain, TokenInfo } from '../../src/domain/chain.ts';
import { LINK_PATH, LINK_PROTOCOL_VERSION } from '../../src/protocol/link/link.ts';
import { account } from '../support/devnet.ts';
import { random32, request } from '../support/scripted-venue.ts';
import { type ScriptedSolver, startSolver } from '../support/solver.ts';
import { answerAside } from './aside.ts';
import type { Targets } from './hostile.ts';

/** Takers and solvers come from an address of their own: a venue limits each address. */
const FROM = '127.0.0.2';
const ROUND_MS = 20;
/** 5,000 a second and socket: what one peer sends without effort. */
const PER_ROUND = 100;
/** A socket that is not drained takes nothing more. */
const MOST_BUFFERED_BYTES = 256 * 1024;
const RETURN_MS = 500;
const INVENTED_TAKERS_PER_ROUND = 1;
const HTTP_UNDER_WAY = 16;

const struck: Record<string, number> = {};
const hits = (kind: string, n = 1) => (struck[kind] = (struck[kind] ?? 0) + n);
const lpSockets = new Set<WebSocket>();
const open = new Set<WebSocket>();
let attacking = false;
let flooders: ScriptedSolver[] = [];

answerAside({
  venue: (chains: readonly Chain[]) => startVenue(chains),
  attack(targets: Targets) {
    attacking = true;
    floodLps(targets.chains);
    for (const url of targets.venueUrls) {
      void keepAt(() => floodVenue(url, targets));
      void keepAt(() => announceAccounts(url, targets));
      void keepAt(() => stormTopics(url, targets.takerKey));
      for (let n = 0; n < HTTP_UNDER_WAY; n += 1) void keepAt(() => pesterHttp(url));
    }
  },
  leave() {
    attacking = false;
    for (const socket of open) socket.terminate();
    return Promise.all(flooders.map((flooder) => flooder.stop()));
  },
  counts: () => struck,
});

async function keepAt(strike: () => Promise<unknown>): Promise<void> {
  while (attacking) {
    await strike().catch(() => pause(RETURN_MS));
  }
}

/* A venue, to the LPs: the handshake, then tiny frames and requests of invented takers. */

async function startVenue(chains: readonly Chain[]): Promise<string> {
  const server = new WebSocketServer({
    port: 0,
    host: '127.0.0.1',
    path: LINK_PATH,
    perMessageDeflate: false,
  });
  await new Promise<void>((done) => server.once('listening', done));
  server.on('connection', (socket) => {
    lpSockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => lpSockets.delete(socket));
    const send = (message: object) => socket.send(JSON.stringify(message));
    send({
      type: 'challenge',
      nonce: random32(),
      venueId: 'hostile',
      protocolVersion: LINK_PROTOCOL_VERSION,
      chains: chains.map(({ id, slug, escrow, oracle }) => ({ chainId: id, slug, escrow, oracle })),
    });
    socket.on('message', (data: Buffer) => {
      const { type } = JSON.parse(data.toString()) as { type: string };
      if (type === 'hello') send({ type: 'welcome', sessionId: 'h', heartbeatSeconds: 5 });
      if (type === 'ping') send({ type: 'pong' });
      if (type === 'resync') send({ type: 'resync', awards: [] });
    });
  });
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function floodLps(chains: readonly Chain[]): void {
  const round = setInterval(() => {
    if (!attacking) return clearInterval(round);
    for (const socket of lpSockets) {
      if (socket.bufferedAmount > MOST_BUFFERED_BYTES) continue;
      for (let n = 0; n < PER_ROUND; n += 1) socket.send('{"type":"ping"}');
      for (let n = 0; n < INVENTED_TAKERS_PER_ROUND; n += 1)
        socket.send(JSON.stringify(inventedRequest(chains)));
      hits('frames to LPs', PER_ROUND);
      hits('requests of invented takers', INVENTED_TAKERS_PER_ROUND);
    }
  }, ROUND_MS);
}

function inventedRequest(chains: readonly Chain[]): object {
  const [chain] = chains as [Chain];
  const token = (symbol: string) => chain.tokens.find((each) => each.symbol === symbol) as TokenInfo;
  return request({
    from: chain,
    to: chain,
    give: token('USDC'),
    take: token('WETH'),
    amount: 20_000_000_000n,
    taker: `0x${random32().slice(2, 42)}`,
  });
}

/* Solvers, to a venue */

/** Asks for resync and toggles its status as fast as it can. */
async function floodVenue(url: string, { chains, flooder }: Targets): Promise<void> {
  const solver = await startSolver(url, {
    id: flooder.id,
    apiKey: flooder.apiKey,
    lp: account(flooder.account).address,
    operator: account(flooder.operator),
    chains,
    corridors: chains.map(({ slug }) => `${slug}-${slug}`),
    answer: () => undefined,
  });
  flooders = [...flooders, solver];
  let active = false;
  const round = setInterval(() => {
    for (let n = 0; n < PER_ROUND / 2; n += 1) {
      solver.say('{"type":"resync"}');
      active = !active;
      solver.say(JSON.stringify({ type: 'status', status: active ? 'active' : 'standby', note: `${n}` }));
    }
    hits('frames to venues', PER_ROUND);
  }, ROUND_MS);
  await solver.closed;
  clearInterval(round);
  flooders = flooders.filter((each) => each !== solver);
  await pause(RETURN_MS);
}

/** Connects, announces many accounts that nobody onboarded, and hangs up. */
async function announceAccounts(url: string, { chains, announcer }: Targets): Promise<void> {
  const socket = dial(`${url}${LINK_PATH}`, announcer.apiKey);
  socket.on('message', (data: Buffer) => {
    if ((JSON.parse(data.toString()) as { type: string }).type !== 'challenge') return;
    const accounts = Array.from({ length: 64 }, (_, n) => ({
      chainId: chains[n % chains.length]?.id,
      account: `0x${random32().slice(2, 42)}`,
      operator: `0x${random32().slice(2, 42)}`,
      signature: `0x${'11'.repeat(65)}`,
    }));
    const { id } = announcer;
    socket.send(
      JSON.stringify({
        type: 'hello',
        solverId: id,
        kind: 'lp',
        name: id,
        accounts,
        corridors: [],
        maxInFlight: 10,
        protocolVersion: LINK_PROTOCOL_VERSION,
      }),
    );
    hits('hellos with 64 accounts');
  });
  await closed(socket);
  await pause(ROUND_MS);
}

/* Takers, to a venue */

/** Subscribes and unsubscribes at full speed. */
async function stormTopics(url: string, key: string): Promise<void> {
  const socket = dial(`${url}/api/v1/ws`, key);
  socket.on('open', () => {
    const round = setInterval(() => {
      if (socket.readyState !== WebSocket.OPEN) return clearInterval(round);
      for (let n = 0; n < PER_ROUND; n += 1)
        socket.send(JSON.stringify({ op: n % 2 === 0 ? 'subscribe' : 'unsubscribe', topics: ['orders'] }));
      hits('subscriptions', PER_ROUND);
    }, ROUND_MS);
  });
  await closed(socket);
  await pause(RETURN_MS);
}

const PATHS = ['/openapi.json', '/api/%zz', `/api/v1/rfq/orders/${'9'.repeat(4_000)}`, '/api/v1/solvers'];

function pesterHttp(url: string): Promise<void> {
  hits('HTTP requests without a key');
  const path = PATHS[Math.floor(Math.random() * PATHS.length)] as string;
  return new Promise((resolve, reject) => {
    const asked = httpRequest(`${url}${path}`, { localAddress: FROM }, (response) => {
      response.resume();
      response.on('end', resolve);
      response.on('error', reject);
    });
    asked.on('error', reject);
    asked.end();
  });
}

function dial(url: string, key: string): WebSocket {
  const socket = new WebSocket(url.replace('http', 'ws'), {
    headers: { 'X-API-Key': key },
    localAddress: FROM,
    handshakeTimeout: 5_000,
  });
  open.add(socket);
  socket.on('error', () => {});
  socket.on('close', () => open.delete(socket));
  return socket;
}

const closed = (socket: WebSocket) => new Promise<void>((resolve) => socket.on('close', () => resolve()));
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
