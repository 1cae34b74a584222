/**
 * Measures what sharing its inventory costs an LP: quotes per second and latency of one process alone, of one
 * replica on Redis, and of two, each with ten requests open. Next to them, in the same run, a PING of the
 * same Redis and the same hold made there without an LP.
 *
 * npm run bench -- lp-replicas [--seconds=3]
 */

import { cpus } from 'node:os';
import { Redis } from 'ioredis';
import { createSharedInventory } from '../src/adapters/redis/shared-inventory.ts';
import { systemClock } from '../src/adapters/system/clock.ts';
import { systemRandom } from '../src/adapters/system/random.ts';
import { account, startDevnet, type TestChain } from '../test/support/devnet.ts';
import { startTestPostgres } from '../test/support/postgres.ts';
import { startRedis } from '../test/support/redis.ts';
import { random32, request } from '../test/support/scripted-venue.ts';
import { silentLog, silentMetrics } from '../test/support/silent.ts';
import { type LpProcess, onePairConfig, startLpProcess } from './lp-process.ts';

interface Figures {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** The CPU of all LP processes together. */
  cpuMicrosPerQuote?: number;
}

const SECONDS = Number(process.argv.find((word) => word.startsWith('--seconds='))?.slice(10) ?? 3);
const WARM_UP_SECONDS = 2;
const IN_FLIGHT = 10;
const [owner, operator] = [account(41), account(42)];
const [devnet, postgres, redis] = await Promise.all([
  startDevnet([51_003], { blockTimeSeconds: 1 }),
  startTestPostgres(),
  startRedis(),
]);
const chain = devnet.chains[0] as TestChain;
let asked = 0;

try {
  await chain.fund(owner.address, 10_000_000_000n);
  for (const { address, decimals } of [chain.usdc, chain.weth])
    await chain.deposit(owner.address, address, 1_000_000_000n * 10n ** BigInt(decimals));
  await chain.setOperator(owner.address, operator.address);
  await chain.anvil.mine(3);
  const databaseUrl = await postgres.server.database('bench');
  const roundTrip = await bare();
  const promise = await promises();
  const alone = await withLps(databaseUrl, 'alone', [undefined]);
  const one = await withLps(databaseUrl, 'one', ['a']);
  const two = await withLps(databaseUrl, 'two', ['a', 'b']);
  console.table({
    'one process, no Redis': alone,
    'one replica': one,
    'two replicas': two,
    'a hold in Redis, no LP': promise,
    PING: roundTrip,
  });
  console.log(
    JSON.stringify({
      bench: 'lp-replicas',
      inFlight: IN_FLIGHT,
      alone,
      one,
      two,
      promise,
      roundTrip,
      machine: { cpu: cpus()[0]?.model.trim(), cores: cpus().length, node: process.version },
    }),
  );
} finally {
  await Promise.all([devnet.stop(), postgres.stop(), redis.stop()]);
}

/** Keeps ten calls of `work` running. */
async function measure(work: () => Promise<void>): Promise<Figures> {
  const latencies: number[] = [];
  const endsMs = performance.now() + SECONDS * 1_000;
  const startedMs = performance.now();
  const worker = async () => {
    while (performance.now() < endsMs) {
      const beganMs = performance.now();
      await work();
      latencies.push(performance.now() - beganMs);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  return figuresOf(latencies, (performance.now() - startedMs) / 1_000);
}

function figuresOf(latencies: number[], seconds: number): Figures {
  latencies.sort((a, b) => a - b);
  const at = (share: number) =>
    Math.round((latencies[Math.floor(latencies.length * share)] ?? Number.NaN) * 1_000) / 1_000;
  return { perSecond: Math.round(latencies.length / seconds), p50Ms: at(0.5), p99Ms: at(0.99) };
}

async function bare(): Promise<Figures> {
  const client = new Redis(redis.url);
  try {
    return await measure(async () => void (await client.ping()));
  } finally {
    client.disconnect();
  }
}

async function promises(): Promise<Figures> {
  const shared = createSharedInventory(
    { clock: systemClock, random: systemRandom, log: silentLog, metrics: silentMetrics },
    { url: redis.url, name: 'bare', timeoutMs: 2_000 },
  );
  while (shared.state().state === 'unreachable') await new Promise((done) => setTimeout(done, 10));
  await shared.join('1', new Map());
  await shared.report({
    chainId: 1,
    block: 1n,
    time: 0,
    rooms: [{ bucket: '1:t', room: 10n ** 27n }],
    kept: [],
    unknownOrders: [],
    ended: [],
    used: [],
  });
  let made = 0;
  try {
    return await measure(async () => {
      made += 1;
      const caps = [
        { key: 'count total', amount: 1n, most: 10n ** 9n },
        { key: 'gapLoss total', amount: 1_000_000n, most: 10n ** 18n },
      ];
      await shared.reserve({
        group: `1:0xtaker:${made}`,
        clockChainId: 1,
        promises: [{ orderId: random32(), bucket: '1:t', amount: 10n ** 16n, endsAt: 1_000, caps }],
      });
    });
  } finally {
    await shared.close();
  }
}

async function withLps(
  databaseUrl: string,
  schema: string,
  replicas: readonly (string | undefined)[],
): Promise<Figures> {
  const lps = await Promise.all(replicas.map((replica) => startLp(databaseUrl, schema, replica)));
  try {
    await drive(lps, WARM_UP_SECONDS);
    return await drive(lps, SECONDS);
  } finally {
    await Promise.all(lps.map((lp) => lp.stop()));
  }
}

const startLp = (databaseUrl: string, schema: string, replica: string | undefined): Promise<LpProcess> =>
  startLpProcess({
    ...onePairConfig(chain.chain.id, owner.address),
    chain: chain.chain,
    rpcUrl: chain.anvil.url,
    databaseUrl,
    schema: `lp_${schema}`,
    operatorKey: operator.privateKey,
    signer: 'native',
    ...(replica !== undefined && { shared: { redisUrl: redis.url, replica } }),
  });

/** Keeps ten requests open at each LP. */
async function drive(lps: readonly LpProcess[], seconds: number): Promise<Figures> {
  const latencies: number[] = [];
  let over = false;
  const before = await cpuOf(lps);
  const startedMs = performance.now();
  const drained = Promise.all(
    lps.map(
      ({ socket }) =>
        new Promise<void>((done) => {
          const sent = new Map<string, number>();
          const ask = () => {
            const { rfqId, frame } = rfq();
            sent.set(rfqId, performance.now());
            socket.send(frame);
          };
          const listen = (data: Buffer) => {
            const text = data.toString('latin1');
            const at = text.indexOf('"rfqId":"');
            const id = at === -1 ? '' : text.slice(at + 9, text.indexOf('"', at + 9));
            const askedMs = sent.get(id);
            if (askedMs === undefined) return;
            if (!text.startsWith('{"type":"quote"')) throw new Error(`Not a quote: ${text}`);
            sent.delete(id);
            if (!over) {
              latencies.push(performance.now() - askedMs);
              return ask();
            }
            if (sent.size > 0) return;
            socket.off('message', listen);
            done();
          };
          socket.on('message', listen);
          for (let open = 0; open < IN_FLIGHT; open++) ask();
        }),
    ),
  );
  await new Promise((done) => setTimeout(done, seconds * 1_000));
  over = true;
  const elapsed = (performance.now() - startedMs) / 1_000;
  const cpuMicros = (await cpuOf(lps)) - before;
  await drained;
  return { ...figuresOf(latencies, elapsed), cpuMicrosPerQuote: Math.round(cpuMicros / latencies.length) };
}

/** Makes a request: each side in turn, with its own nonce and one of many takers. */
function rfq(): { rfqId: string; frame: string } {
  asked += 1;
  const [give, take] = asked % 2 === 0 ? [chain.usdc, chain.weth] : [chain.weth, chain.usdc];
  const taker = `0x${(0xfa000000 + (asked % 60_000)).toString(16).padStart(40, '0')}` as const;
  const made = request({
    from: chain.chain,
    to: chain.chain,
    give,
    take,
    amount: give === chain.usdc ? 25_000_000n : 10n ** 16n,
    taker,
    relayFee: '0',
    deadlineMs: 60_000,
  });
  return { rfqId: made.rfqId, frame: JSON.stringify(made) };
}

async function cpuOf(lps: readonly LpProcess[]): Promise<number> {
  const all = await Promise.all(lps.map((lp) => lp.usage()));
  return all.reduce((sum, { cpuMicros }) => sum + cpuMicros, 0);
}
