/** Starts an LP in a process of its own and plays the venue for it: the handshake, then one open socket. */

import { fork } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { extname, resolve } from 'node:path';
import { type WebSocket, WebSocketServer } from 'ws';
import { createRecovery } from '../src/adapters/secp256k1/recovery.ts';
import type { Chain, TokenInfo } from '../src/domain/chain.ts';
import { signedPart } from '../src/domain/commitment.ts';
import type { Address } from '../src/domain/hex.ts';
import { orderId } from '../src/domain/order.ts';
import { LINK_PATH, LINK_PROTOCOL_VERSION, readFromSolver } from '../src/protocol/link/link.ts';
import { orderFromMessage } from '../src/protocol/wire.ts';
import type { TestChain } from '../test/support/devnet.ts';
import { random32, request } from '../test/support/scripted-venue.ts';
import type { QuoteRequest } from './quote-caller.ts';
import type { BenchLp, BenchMemory, BenchUsage, BenchWord } from './quotes-lp.ts';

export interface LpProcess {
  /** The venue's end of the link; requests go in here and quotes come out. */
  socket: WebSocket;
  usage(): Promise<BenchUsage>;
  memory(): Promise<BenchMemory>;
  /** Profiles the LP during this work, if `--profile=FILE` is among the arguments. */
  profiled<T>(work: () => Promise<T>): Promise<T>;
  /** Returns once the LP quotes with these options of its `quoting` section. */
  requote(quoting: object): Promise<void>;
  stop(): Promise<void>;
}

const PING = Buffer.from('{"type":"ping"}');

export async function startLpProcess(options: Omit<BenchLp, 'venueUrl'>): Promise<LpProcess> {
  const server = new WebSocketServer({
    port: 0,
    host: '127.0.0.1',
    path: LINK_PATH,
    perMessageDeflate: false,
  });
  await new Promise<void>((done) => server.once('listening', done));
  const active = new Promise<WebSocket>((done) =>
    server.on('connection', (socket) => shakeHands(socket, options, () => done(socket))),
  );
  const child = fork(
    resolve(import.meta.dirname, `quotes-lp${extname(import.meta.filename)}`),
    process.argv.slice(2),
    { execArgv: process.execArgv, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
  );
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  child.send({
    ...options,
    venueUrl: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
  } satisfies BenchLp);
  const ask = <T>(word: BenchWord) =>
    new Promise<T>((done) => {
      child.once('message', (message) => done(message as T));
      child.send(word);
    });
  const socket = await Promise.race([
    active,
    ended.then((): never => {
      throw new Error('The LP process ended before it was ready; its log is above.');
    }),
  ]);
  return {
    socket,
    usage: () => ask<BenchUsage>('usage'),
    memory: () => ask<BenchMemory>('memory'),
    async profiled(work) {
      await ask('profile');
      const result = await work();
      await ask('profiled');
      return result;
    },
    requote: (quoting) => ask({ quoting }),
    async stop() {
      if (child.connected) child.send('stop');
      await Promise.race([ended, new Promise((done) => setTimeout(done, 8_000))]);
      child.kill('SIGKILL');
      await new Promise((done) => server.close(done));
    },
  };
}

/** Answers pings, and calls back at the LP's first status `active`. */
function shakeHands(socket: WebSocket, { chain }: Pick<BenchLp, 'chain'>, ready: () => void): void {
  const { id, slug, escrow, oracle } = chain;
  const send = (message: object) => socket.send(JSON.stringify(message));
  socket.on('message', (data: Buffer) => {
    if (data.equals(PING)) send({ type: 'pong' });
  });
  send({
    type: 'challenge',
    nonce: random32(),
    venueId: 'bench',
    protocolVersion: LINK_PROTOCOL_VERSION,
    chains: [{ chainId: id, slug, escrow, oracle }],
  });
  const listen = (data: Buffer) => {
    const read = readFromSolver(data.toString());
    if (!read.ok) throw new Error(read.detail);
    const { message } = read;
    if (message.type === 'hello') send({ type: 'welcome', sessionId: 'b', heartbeatSeconds: 30 });
    if (message.type === 'resync') send({ type: 'resync', awards: [] });
    if (message.type !== 'status' || message.status !== 'active') return;
    socket.off('message', listen);
    ready();
  };
  socket.on('message', listen);
}

/** Configures one LP with one pair, WETH and USDC, at fixed prices. */
export const onePairConfig = (chainId: number, account: string) => ({
  feed: { WETHUSD: '2500' },
  config: {
    solver: { id: 'bench', name: 'Bench' },
    chains: [{ chainId, account, gasPrice: 'WETH' }],
    prices: { USDC: { fixed: '1' }, WETH: { sources: [{ feed: 'constant', symbol: 'WETHUSD' }] } },
    assets: { USDC: { price: 'USDC' }, WETH: { price: 'WETH' } },
    pairs: [{ base: 'WETH', quote: 'USDC' }],
    quoting: { pointsSeconds: [] },
  },
});

/**
 * Makes requests of about 25 USD, each side in turn so that no position builds up, each with its own nonce
 * and the next of so many takers.
 */
export function createRequests(
  { chain, usdc, weth }: TestChain,
  { takers, landingMarginSeconds }: { takers: number; landingMarginSeconds: number },
): (deadlineMs?: number) => QuoteRequest {
  let asked = 0;
  const usd = ({ symbol }: TokenInfo) => (symbol === 'WETH' ? 2_500n : 1n);
  return (deadlineMs = 60_000) => {
    asked += 1;
    const [give, take] = asked % 2 === 0 ? [usdc, weth] : [weth, usdc];
    const amount = (25n * 10n ** BigInt(give.decimals)) / usd(give);
    const made = request({
      from: chain,
      to: chain,
      give,
      take,
      amount,
      taker: `0x${(0xfa000000 + (asked % takers)).toString(16).padStart(40, '0')}`,
      relayFee: (amount / 300n).toString(),
      deadlineMs,
    });
    made.skeleton.landingMarginSeconds = landingMarginSeconds;
    return { id: made.rfqId, frame: JSON.stringify(made) };
  };
}

/** The value below which this share of the sorted values lies. */
export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

/** A quote counts only when its signature is the operator's. Returns the steps of its Merkle proof. */
export function verifyQuote(text: string, chain: Chain, operator: Address): number {
  const read = readFromSolver(text);
  if (!read.ok || read.message.type !== 'quote')
    throw new Error(`Not a quote: ${read.ok ? read.message.type : read.detail}`);
  const { order, quoteId, commitment } = read.message;
  const { lp, deadline, signature } = commitment;
  const domain = { chainId: chain.id, escrow: chain.escrow };
  const id = orderId(domain, orderFromMessage(order));
  const signed = signedPart(domain, { orderId: id, quoteId, lp, deadline }, signature);
  if (createRecovery().recover(signed.digest, signed.signature) !== operator)
    throw new Error('A quote was not signed by the operator.');
  return (signature.length - signed.signature.length) / 64;
}
