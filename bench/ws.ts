/**
 * Measures the event stream with many clients: 2,000 idle connections, 20 that get 200 events a second, each
 * event an accepted order; then 500 readers that stop reading, until the venue has closed them all. Clients
 * run in a process of their own.
 *
 * npm run bench -- ws [--seconds=10] [--idle=2000] [--slow=500]
 */

import { fork } from 'node:child_process';
import type { Socket } from 'node:net';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import { createMetrics } from '../src/adapters/prometheus/metrics.ts';
import { EVENTS_PATH } from '../src/protocol/api/events.ts';
import { account } from '../test/support/devnet.ts';
import { makeTrade } from '../test/support/trade.ts';
import { startTestVenue } from '../test/support/venue.ts';
import { cpuPer, cpuUsed, showCpu } from './cpu.ts';
import { at, table } from './load.ts';

const number = (name: string, otherwise: number) =>
  Number(process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3) ?? otherwise);
const [SECONDS, IDLE, SLOW] = [number('seconds', 10), number('idle', 2_000), number('slow', 500)];
const ACTIVE = 20;
const RATE = 200;

type Word =
  | { open: { url: string; idleKeys: string[]; activeKeys: string[] } }
  | { slow: { url: string; keys: string[] } }
  | 'count'
  | 'reset';
interface Counted {
  events: number;
  p50Ms: number;
  p99Ms: number;
  open: number;
}

if (process.send) clients();
else await measure();

async function measure(): Promise<void> {
  const metrics = createMetrics();
  const v = await startTestVenue({
    metrics,
    http: { maxSocketsPerAddress: 10_000 },
    rates: { readsPerSecond: 1e6, perIpPerSecond: 1e6 },
    sockets: { maxPerKey: 10_000, maxTotalBufferedBytes: 64 * 1024 * 1024 },
  });
  await v.workspace('w2');
  const child = fork(fileURLToPath(import.meta.url), process.argv.slice(2), { execArgv: process.execArgv });
  const say = <T>(word: Word) =>
    new Promise<T>((resolve) => {
      child.once('message', (answer) => resolve(answer as T));
      child.send(word);
    });
  const [taker, lp] = [account(2_000), account(2_002)];
  let rss = 0;
  const watching = setInterval(() => (rss = Math.max(rss, process.memoryUsage().rss)), 50);
  const idleKeys = [await v.key('service', { workspaceId: 'w2' })];
  const activeKeys = [await v.key('service')];
  const connectedMs = performance.now();
  await say({
    open: {
      url: v.url,
      idleKeys: Array.from({ length: IDLE }, () => idleKeys[0] as string),
      activeKeys: Array.from({ length: ACTIVE }, () => activeKeys[0] as string),
    },
  });
  const connectSeconds = Math.round((performance.now() - connectedMs) / 100) / 10;

  /** Orders accepted on schedule, whether or not the last ones are back. */
  async function accept(seconds: number, over: () => boolean = () => false): Promise<number> {
    const pending: Promise<unknown>[] = [];
    const started = performance.now();
    const total = Math.round(seconds * RATE);
    let n = 0;
    while (n < total && !over()) {
      const due = Math.min(total, Math.ceil(((performance.now() - started) / 1_000) * RATE));
      for (; n < due; n++) {
        const order = {
          ...makeTrade({
            origin: v.chain,
            taker,
            lps: [{ account: lp }],
            inputAmount: 1_000_000n,
            outputAmount: 10n ** 15n,
            validForSeconds: 600,
          }),
          workspaceId: 'w1',
          mode: 'test' as const,
          createdAtMs: Date.now(),
        };
        pending.push(v.store.accept(order, '{}', null));
      }
      await new Promise((done) => setTimeout(done, 2));
    }
    await Promise.all(pending);
    return n;
  }
  const settle = () => new Promise((done) => setTimeout(done, 1_000));

  await accept(1);
  await settle();
  await say('reset');
  rss = 0;
  const before = cpuUsed();
  const startedMs = performance.now();
  const accepted = await accept(SECONDS);
  const tookSeconds = (performance.now() - startedMs) / 1_000;
  await settle();
  const crowd = await say<Counted>('count');
  const cpu = cpuPer(accepted, before, cpuUsed());
  const crowdRss = rss;

  await say({ slow: { url: v.url, keys: Array.from({ length: SLOW }, () => activeKeys[0] as string) } });
  await say('reset');
  rss = 0;
  const dropped = async () =>
    Number(/stream_dropped_total\{why="slow"\} (\d+)/.exec(await metrics.text())?.[1] ?? 0);
  let gone = 0;
  const slowStartedMs = performance.now();
  const counting = setInterval(() => void dropped().then((count) => (gone = count)), 200);
  await accept(180, () => gone >= SLOW);
  clearInterval(counting);
  const slowSeconds = Math.round((performance.now() - slowStartedMs) / 100) / 10;
  await settle();
  const after = await say<Counted>('count');
  clearInterval(watching);
  child.kill();
  await v.stop();

  const mb = (bytes: number) => Math.round(bytes / 1e6);
  const eventsPerSecond = Math.round((accepted / tookSeconds) * 10) / 10;
  console.log(
    table(
      ['', 'events/s', 'frames', 'p50 ms', 'p99 ms', 'still open', 'venue RSS MB', 'CPU us per event'],
      [
        [
          `${IDLE} idle, ${ACTIVE} reading`,
          eventsPerSecond,
          crowd.events,
          crowd.p50Ms,
          crowd.p99Ms,
          crowd.open,
          mb(crowdRss),
          showCpu(cpu),
        ],
        [`and ${SLOW} that do not read`, '', after.events, after.p50Ms, after.p99Ms, after.open, mb(rss), ''],
        ['gate', 200, '', '', '< 250', IDLE, '< 512', ''],
      ],
    ),
  );
  console.log(
    `connected in ${connectSeconds} s; ${gone} of ${SLOW} slow readers closed after ${slowSeconds} s`,
  );
  console.log(
    JSON.stringify({
      bench: 'ws',
      eventsPerSecond,
      p50Ms: crowd.p50Ms,
      p99Ms: crowd.p99Ms,
      idle: IDLE,
      reading: ACTIVE,
      open: crowd.open,
      rssMb: mb(crowdRss),
      cpu,
      slow: {
        readers: SLOW,
        closed: gone,
        seconds: slowSeconds,
        p99Ms: after.p99Ms,
        open: after.open,
        rssMb: mb(rss),
      },
      machine: { cpus: cpus().length, model: cpus()[0]?.model, node: process.version },
    }),
  );
}

function clients(): void {
  let delays: number[] = [];
  const open = new Set<WebSocket>();

  function connect(url: string, key: string, hear?: (text: string) => void): Promise<WebSocket> {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(url.replace('http', 'ws') + EVENTS_PATH, {
        headers: { 'X-API-Key': key },
        perMessageDeflate: false,
      });
      socket.on('open', () => socket.send(JSON.stringify({ op: 'subscribe', topics: ['orders'] })));
      socket.on('message', (data: Buffer) => {
        const text = data.toString();
        if (text.startsWith('{"op":"subscribed"')) {
          open.add(socket);
          resolve(socket);
        } else hear?.(text);
      });
      socket.on('close', () => open.delete(socket));
      socket.on('error', reject);
    });
  }

  /** A few at a time, as many clients would come. */
  async function connectAll(
    url: string,
    keys: string[],
    hear?: (text: string) => void,
  ): Promise<WebSocket[]> {
    const all: WebSocket[] = [];
    for (let from = 0; from < keys.length; from += 50)
      all.push(...(await Promise.all(keys.slice(from, from + 50).map((key) => connect(url, key, hear)))));
    return all;
  }

  async function answer(word: Word): Promise<Counted | 'ready'> {
    if (word === 'reset') delays = [];
    if (word === 'count') {
      const sorted = [...delays].sort((a, b) => a - b);
      return { events: sorted.length, p50Ms: at(sorted, 0.5), p99Ms: at(sorted, 0.99), open: open.size };
    }
    if (typeof word === 'object' && 'open' in word) {
      await connectAll(word.open.url, word.open.idleKeys);
      await connectAll(word.open.url, word.open.activeKeys, (text) => {
        const occurredAt = /"occurredAt":"([^"]+)"/.exec(text)?.[1];
        if (occurredAt) delays.push(Date.now() - Date.parse(occurredAt));
      });
    }
    if (typeof word === 'object' && 'slow' in word) {
      for (const socket of await connectAll(word.slow.url, word.slow.keys))
        (socket as unknown as { _socket: Socket })._socket.pause();
    }
    return 'ready';
  }

  process.on('message', (word) => void answer(word as Word).then((answered) => process.send?.(answered)));
}
