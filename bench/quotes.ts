/**
 * How many firm quotes one LP process gives: request in over its real WebSocket, validated, priced, doubted, reserved,
 * signed, and out again. The venue side only asks and listens; it verifies a sample afterwards. The baseline is the same
 * server with viem's signTypedData in the place of our signer.
 */

import { fork, type ChildProcess } from 'node:child_process';
import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { WebSocketServer, type WebSocket } from 'ws';
import type { AddressInfo } from 'node:net';
import { createRecovery } from '../src/adapters/secp256k1/recovery.ts';
import { commitmentDigest } from '../src/domain/commitment.ts';
import { orderId } from '../src/domain/order.ts';
import { LINK_PATH, LINK_PROTOCOL_VERSION, readFromSolver } from '../src/protocol/link.ts';
import { orderFromMessage } from '../src/protocol/wire.ts';
import { account, startDevnet, type TestChain } from '../test/support/devnet.ts';
import { startTestPostgres } from '../test/support/postgres.ts';
import { random32, request } from '../test/support/scripted-venue.ts';
import type { BenchLp } from './quotes-lp.ts';

const IN_FLIGHT = [1, 10, 50] as const;
const SECONDS = Number(process.argv.find((word) => word.startsWith('--seconds='))?.slice(10) ?? 4);
const WARM_UP_SECONDS = 2;
const owner = account(41);
const operator = account(42);
const taker = account(43);

interface Figures {
  quotesPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  cpuMicrosPerQuote: number;
  /** CPU of the whole process over wall time; above 1 when collector threads help. */
  cpuShare: number;
  declines: number;
}

interface Usage {
  user: number;
  system: number;
  live: number;
  rss: number;
}

const [devnet, postgres] = await Promise.all([startDevnet([41100], { blockTimeSeconds: 1 }), startTestPostgres({})]);
const chain = devnet.chains[0] as TestChain;
await chain.fund(owner.address, 100_000_000_000n);
await chain.deposit(owner.address, chain.usdc.address, 50_000_000_000n * 10n ** 6n);
await chain.deposit(owner.address, chain.weth.address, 50_000_000n * 10n ** 18n);
await chain.setOperator(owner.address, operator.address);
await chain.anvil.mine(2);
const databaseUrl = await postgres.server.database('bench');
const next = requests();

try {
  const ours = await measure('native');
  const stock = await measure('viem');
  report('firmquote', ours);
  report('the same server, signing with viem', stock);
  const [at10, base] = [ours.get(10) as Figures, stock.get(10) as Figures];
  console.log(
    JSON.stringify({
      bench: 'quotes',
      inFlight: 10,
      ...at10,
      baseline: { signer: 'viem signTypedData', ...base },
      ratio: round(at10.quotesPerSecond / base.quotesPerSecond),
      byInFlight: Object.fromEntries(ours),
      baselineByInFlight: Object.fromEntries(stock),
      machine: { cpu: cpus()[0]?.model.trim(), cores: cpus().length, node: process.version },
    }),
  );
} finally {
  await Promise.all([devnet.stop(), postgres.stop()]);
}

async function measure(signer: BenchLp['signer']): Promise<Map<number, Figures>> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', path: LINK_PATH, perMessageDeflate: false });
  await new Promise<void>((done) => server.once('listening', done));
  const active = connected(server);
  const options: BenchLp = { chain: chain.chain, rpcUrl: chain.anvil.url, databaseUrl, schema: `lp_${signer}`, venueUrl: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, account: owner.address, operatorKey: operator.privateKey, signer };
  const child = fork(resolve(import.meta.dirname, 'quotes-lp.ts'), [JSON.stringify(options)], { execArgv: ['--import', 'tsx'], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  try {
    const socket = await Promise.race([active, ended.then((): never => {
      throw new Error('The LP process ended before it was ready.');
    })]);
    const figures = new Map<number, Figures>();
    await drive(socket, child, 10, WARM_UP_SECONDS);
    for (const inFlight of IN_FLIGHT) figures.set(inFlight, await drive(socket, child, inFlight, SECONDS));
    return figures;
  } finally {
    if (child.connected) child.send('stop');
    await Promise.race([ended, new Promise((done) => setTimeout(done, 8_000))]);
    child.kill('SIGKILL');
    await new Promise((done) => server.close(done));
  }
}

/** The handshake, then the first `active`. */
function connected(server: WebSocketServer): Promise<WebSocket> {
  return new Promise((done) => {
    server.on('connection', (socket) => {
      const { id, slug, escrow, oracle } = chain.chain;
      socket.send(JSON.stringify({ type: 'challenge', nonce: random32(), venueId: 'bench', protocolVersion: LINK_PROTOCOL_VERSION, chains: [{ chainId: id, slug, escrow, oracle }] }));
      const listen = (data: Buffer) => {
        const read = readFromSolver(data.toString());
        if (!read.ok) throw new Error(read.detail);
        if (read.message.type === 'hello') socket.send(JSON.stringify({ type: 'welcome', sessionId: 'b', heartbeatSeconds: 30 }));
        if (read.message.type === 'resync') socket.send(JSON.stringify({ type: 'resync', awards: [] }));
        if (read.message.type !== 'status' || read.message.status !== 'active') return;
        socket.off('message', listen);
        done(socket);
      };
      socket.on('message', listen);
    });
  });
}

/** Requests ready to be sent: both sides of the book by turns, so that a position never builds up; a nonce each. */
function requests() {
  const sides = [
    request({ from: chain.chain, to: chain.chain, give: chain.weth, take: chain.usdc, amount: 10n ** 16n, taker: taker.address, relayFee: '30000000000000' }),
    request({ from: chain.chain, to: chain.chain, give: chain.usdc, take: chain.weth, amount: 25n * 10n ** 6n, taker: taker.address, relayFee: '75000' }),
  ].map((rfq) => JSON.stringify({ ...rfq, rfqId: '@ID', skeleton: { ...rfq.skeleton, nonce: '@NONCE' } }).split(/@ID|@NONCE/));
  let count = 0;
  return () => {
    count += 1;
    const [head, middle, tail] = sides[count % 2] as [string, string, string];
    return { id: String(count), frame: `${head}${count}${middle}${count}${process.hrtime.bigint()}${tail}` };
  };
}

async function drive(socket: WebSocket, child: ChildProcess, inFlight: number, seconds: number): Promise<Figures> {
  const sent = new Map<string, number>();
  const latencies: number[] = [];
  const sample: string[] = [];
  let declines = 0;
  let over = false;
  const ask = () => {
    const { id, frame } = next();
    sent.set(id, performance.now());
    socket.send(frame);
  };
  const drained = new Promise<void>((done) => {
    const listen = (data: Buffer) => {
      const text = data.toString('latin1');
      const at = text.indexOf('"rfqId":"');
      if (at === -1) return;
      const id = text.slice(at + 9, text.indexOf('"', at + 9));
      const startedMs = sent.get(id);
      if (startedMs === undefined) return;
      sent.delete(id);
      if (text.startsWith('{"type":"quote"')) {
        if (!over) latencies.push(performance.now() - startedMs);
        if (latencies.length % 997 === 0) sample.push(text);
      } else declines += 1;
      if (!over) ask();
      else if (sent.size === 0) {
        socket.off('message', listen);
        done();
      }
    };
    socket.on('message', listen);
  });
  const before = await usage(child);
  const startedMs = performance.now();
  for (let i = 0; i < inFlight; i += 1) ask();
  await new Promise((done) => setTimeout(done, seconds * 1000));
  over = true;
  const elapsed = (performance.now() - startedMs) / 1000;
  const after = await usage(child);
  await drained;
  for (const text of sample) verify(text);
  const cpuMicros = after.user + after.system - before.user - before.system;
  latencies.sort((a, b) => a - b);
  const at = (share: number) => round(latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN);
  return { quotesPerSecond: Math.round(latencies.length / elapsed), p50Ms: at(0.5), p99Ms: at(0.99), cpuMicrosPerQuote: Math.round(cpuMicros / latencies.length), cpuShare: round(cpuMicros / 1e6 / elapsed), declines };
}

/** A quote counts only if anybody could check it. */
function verify(text: string): void {
  const read = readFromSolver(text);
  if (!read.ok || read.message.type !== 'quote') throw new Error(`Not a quote: ${read.ok ? read.message.type : read.detail}`);
  const { order, quoteId, commitment } = read.message;
  const domain = { chainId: chain.chain.id, escrow: chain.chain.escrow };
  const digest = commitmentDigest(domain, { orderId: orderId(domain, orderFromMessage(order)), quoteId, lp: commitment.lp, deadline: commitment.deadline });
  if (createRecovery().recover(digest, commitment.signature) !== operator.address) throw new Error('A quote was not signed by the operator.');
}

function usage(child: ChildProcess): Promise<Usage> {
  return new Promise((done) => {
    child.once('message', (message) => done(message as Usage));
    child.send('usage');
  });
}

function report(name: string, figures: Map<number, Figures>): void {
  console.log(`\n${name}`);
  console.log('in flight   quotes/s   p50 ms   p99 ms   CPU µs/quote   CPU   declines');
  for (const [inFlight, { quotesPerSecond, p50Ms, p99Ms, cpuMicrosPerQuote, cpuShare, declines }] of figures) {
    console.log([String(inFlight).padStart(9), String(quotesPerSecond).padStart(10), p50Ms.toFixed(2).padStart(8), p99Ms.toFixed(2).padStart(8), String(cpuMicrosPerQuote).padStart(14), cpuShare.toFixed(2).padStart(5), String(declines).padStart(10)].join(' '));
  }
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
