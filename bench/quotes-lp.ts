/**
 * The LP under test, a process of its own: the real node over a real chain and database, with one of two
 * signers; or only its link, as the ceiling.
 */

import { constants, type NodeGCPerformanceDetail, PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as rest } from 'node:timers/promises';
import { privateKeyToAccount } from 'viem/accounts';
import { createChain } from '../src/adapters/evm/chain/chain.ts';
import { createConstantFeed } from '../src/adapters/feeds/constant.ts';
import { createJournalStore } from '../src/adapters/postgres/lp/accounting-store.ts';
import { createLpStore } from '../src/adapters/postgres/lp/lp-store.ts';
import { migrate } from '../src/adapters/postgres/migrate.ts';
import { LP_MIGRATIONS } from '../src/adapters/postgres/migrations/lp.ts';
import { connectDatabase } from '../src/adapters/postgres/pool.ts';
import { createSharedInventory } from '../src/adapters/redis/shared-inventory.ts';
import { createRecovery } from '../src/adapters/secp256k1/recovery.ts';
import { createSigner } from '../src/adapters/secp256k1/signer.ts';
import { systemClock } from '../src/adapters/system/clock.ts';
import { systemRandom } from '../src/adapters/system/random.ts';
import { createLinkClient } from '../src/adapters/ws/link-client.ts';
import { createMetrics } from '../src/adapters/prometheus/metrics.ts';
import type { Chain } from '../src/domain/chain.ts';
import { ESCROW_DOMAIN_NAME, ESCROW_DOMAIN_VERSION } from '../src/domain/escrow-domain.ts';
import type { Hex } from '../src/domain/hex.ts';
import { collectEvenly } from '../src/apps/lp/node-options.ts';
import { zLpConfig } from '../src/lp/config/config.ts';
import { createLpNode } from '../src/lp/node.ts';
import type { CommitmentSigner } from '../src/lp/quoting/quote.ts';
import type { Link } from '../src/ports/link.ts';
import type { Log } from '../src/ports/log.ts';
import { openLpFile } from './lp-file.ts';
import { LONG_MS, monotonicMs, type Turn, watchLoop } from './loop-watch.ts';

export interface BenchLp {
  chain: Chain;
  rpcUrl: string;
  databaseUrl: string;
  schema: string;
  venueUrl: string;
  operatorKey: Hex;
  /** 'echo' answers every frame with `echo` at once, with the rfq's id in the place of `@ID`. */
  signer: 'native' | 'viem' | 'echo';
  echo: string;
  /** Prices of the constant feed: symbol and USD for one. */
  feed: Record<string, string>;
  /** One of several replicas, on an inventory in this Redis. */
  shared?: { redisUrl: string; replica: string };
  /** As in an LP's file. */
  config: Record<string, unknown> & { quoting: object };
}

/**
 * What the parent may ask for: figures since the last time it asked, how many quotes are live, how often old
 * memory was collected, how long each thing that an operator asks for takes (each so often), other firm
 * times, or the end.
 */
export type BenchWord = 'usage' | 'live' | 'collections' | 'stop' | { looks: number } | { quoting: object };

/** Said when other firm times are in force. */
export type BenchDone = 'requoted';

/** How often old memory was collected. */
export type BenchCollections = number;

/** And how much of it was collections. */
export interface LongTurn extends Turn {
  collectionsMs: number;
}

/** One question and its answer, and the longest own turn meanwhile. */
export interface BenchLook {
  name: string;
  fromMs: number;
  toMs: number;
  ownMs: number;
}

export interface BenchUsage {
  userMicros: number;
  systemMicros: number;
  live: number;
  rssBytes: number;
  /** Longest turn of the loop since asked last, and those that were long. */
  loop: { lateMaxMs: number; ownMaxMs: number; long: LongTurn[] };
  gcMs: number;
  gcCount: number;
  gcLongestMs: number;
  /**
   * Wall time between a request's frame and its answer's hand-over to the socket, micros, since asked last;
   * undefined where the signer is not in this process.
   */
  path: { p50Micros: number; meanMicros: number; maxMicros: number } | undefined;
  /** CPU of one bare signature, micros: measured once, before anything else ran. */
  signatureMicros: number;
}

collectEvenly();
const options = await new Promise<BenchLp>((done) =>
  process.once('message', (message) => done(message as BenchLp)),
);
const say = (facts: object, message: string) => console.error(message, facts);
const log: Log = { debug() {}, info() {}, warn: say, error: say, fatal: say, child: () => log };

const signatureMicros = bareSignature();
const loop = watchLoop();
const loopOfLook = loop.another();
const collections = { ms: 0, count: 0, longestMs: 0, ofOldMemory: 0 };
/** Those that may be what a long turn was of, since asked last, on the clock of turns. */
let longCollections: { fromMs: number; toMs: number }[] = [];
const clockAheadMs = monotonicMs() - performance.now();
new PerformanceObserver((list) => {
  for (const { startTime, duration, detail } of list.getEntries() as unknown as {
    startTime: number;
    duration: number;
    detail: NodeGCPerformanceDetail;
  }[]) {
    if (duration > LONG_MS / 2)
      longCollections.push({ fromMs: startTime + clockAheadMs, toMs: startTime + clockAheadMs + duration });
    if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) collections.ofOldMemory += 1;
    collections.ms += duration;
    collections.count += 1;
    collections.longestMs = Math.max(collections.longestMs, duration);
  }
}).observe({ entryTypes: ['gc'] });

let paths: number[] = [];
const lp = options.signer === 'echo' ? echo() : await node();

process.on('message', (word: BenchWord) => {
  if (word === 'usage') void usage().then((answer) => process.send?.(answer));
  else if (word === 'live') process.send?.(lp.live());
  else if (word === 'collections') process.send?.(collections.ofOldMemory satisfies BenchCollections);
  else if (word === 'stop') void lp.stop().then(() => process.exit(0));
  else if ('looks' in word) void looks(word.looks).then((answer) => process.send?.(answer));
  else void lp.requote(word.quoting).then(() => process.send?.('requoted' satisfies BenchDone));
});
process.on('disconnect', () => process.exit(1));

async function usage(): Promise<BenchUsage> {
  const { user, system } = process.cpuUsage();
  const long = loop.long();
  const so: Omit<BenchUsage, 'loop'> & { loop: ReturnType<typeof loop.longest> } = {
    userMicros: user,
    systemMicros: system,
    live: lp.live(),
    rssBytes: process.memoryUsage().rss,
    loop: loop.longest(),
    gcMs: collections.ms,
    gcCount: collections.count,
    gcLongestMs: collections.longestMs,
    path: pathOf(paths),
    signatureMicros,
  };
  paths = [];
  collections.longestMs = 0;
  // A collection is told of some turns after it.
  await rest(20);
  const those = longCollections;
  longCollections = [];
  return {
    ...so,
    loop: {
      ...so.loop,
      long: long.map((turn) => ({
        ...turn,
        collectionsMs: those.reduce(
          (ms, { fromMs, toMs }) =>
            ms + Math.max(0, Math.min(toMs, turn.endMs) - Math.max(fromMs, turn.endMs - turn.lateMs)),
          0,
        ),
      })),
    },
  };
}

interface Running {
  live(): number;
  requote(quoting: object): Promise<void>;
  /** What an operator may ask of it at any time, by name. */
  looks: Record<string, () => unknown>;
  stop(): Promise<void>;
}

/** By turns, so often each, after one for nothing. */
async function looks(often: number): Promise<BenchLook[]> {
  const answers: BenchLook[] = [];
  for (const [name, look] of Object.entries(lp.looks)) {
    await look();
    for (let left = often; left > 0; left -= 1) {
      loopOfLook.longest();
      const fromMs = monotonicMs();
      await look();
      // The turn that it ended in is over when the next timer is due.
      await rest(2);
      answers.push({ name, fromMs, toMs: monotonicMs(), ownMs: loopOfLook.longest().ownMaxMs });
    }
  }
  return answers;
}

const text = (body: unknown): string =>
  JSON.stringify(body, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));

/** The link, with a clock around everything that the node does with a frame. */
function timed(link: Link): Link {
  return {
    ...link,
    start: (listener) =>
      link.start({
        ...listener,
        frame(text, waitedMs) {
          const started = performance.now();
          listener.frame(text, waitedMs);
          if (options.signer === 'native' && text.startsWith('{"type":"rfq"'))
            paths.push((performance.now() - started) * 1_000);
        },
      }),
  };
}

function pathOf(micros: number[]): BenchUsage['path'] {
  if (micros.length === 0) return undefined;
  const sorted = Float64Array.from(micros).sort();
  return {
    p50Micros: sorted[sorted.length >> 1] as number,
    meanMicros: sorted.reduce((sum, each) => sum + each, 0) / sorted.length,
    maxMicros: sorted.at(-1) as number,
  };
}

function bareSignature(): number {
  const signer = createSigner(options.operatorKey);
  const digests = Array.from({ length: 3_000 }, () => systemRandom.bytes32());
  for (const digest of digests.slice(0, 500)) signer.sign(digest);
  const before = process.cpuUsage();
  for (const digest of digests) signer.sign(digest);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / digests.length;
}

function echo(): Running {
  const link = createLinkClient(
    { clock: systemClock, log },
    { name: 'bench', url: options.venueUrl, apiKey: 'fq_test_bench' },
  );
  const [head, tail] = options.echo.split('@ID') as [string, string];
  link.start({
    opened: () => void link.send('{"type":"status","status":"active","note":null}'),
    frame(text) {
      const at = text.indexOf('"rfqId":"') + 9;
      if (at > 8) link.send(head + text.slice(at, text.indexOf('"', at)) + tail);
    },
    closed() {},
  });
  return { live: () => 0, requote: () => Promise.resolve(), looks: {}, stop: () => link.stop() };
}

async function node(): Promise<Running> {
  const metrics = createMetrics();
  const chain = createChain(options.chain, { rpcUrls: [options.rpcUrl], clock: systemClock, log, metrics });
  await chain.start();
  const db = connectDatabase({ url: options.databaseUrl, schema: options.schema, log });
  await migrate(db, LP_MIGRATIONS);
  const inventory =
    options.shared &&
    createSharedInventory(
      { clock: systemClock, random: systemRandom, log, metrics },
      { url: options.shared.redisUrl, name: options.schema, timeoutMs: 2_000 },
    );
  const lpNode = createLpNode(
    {
      chains: [chain],
      transactors: new Map(),
      links: [
        timed(
          createLinkClient(
            { clock: systemClock, log },
            { name: 'bench', url: options.venueUrl, apiKey: 'fq_test_bench' },
          ),
        ),
      ],
      feeds: [createConstantFeed({ clock: systemClock }, { prices: options.feed, everyMs: 100 })],
      store: createLpStore(db),
      journal: createJournalStore(db),
      signer: createSigner(options.operatorKey),
      recovery: createRecovery(),
      random: systemRandom,
      clock: systemClock,
      log,
      metrics,
      ...(options.signer === 'viem' && { commit: stock() }),
      ...(inventory !== undefined && {
        shared: { inventory, replica: options.shared?.replica ?? '', leadMs: 3_000 },
      }),
    },
    zLpConfig.parse(options.config),
  );
  await lpNode.start();
  const file = await openLpFile({ node: lpNode, metrics, db, log: { ...log, warn() {} } }, options);
  const running: Running = {
    live: () => lpNode.status().liveQuotes,
    async requote(quoting) {
      const answer = await lpNode.reload(
        zLpConfig.parse({ ...options.config, quoting: { ...options.config.quoting, ...quoting } }),
      );
      if ('refused' in answer) throw new Error(answer.refused.join('; '));
    },
    looks: {
      metrics: () => metrics.text(),
      status: () => text(lpNode.status()),
      inventory: () =>
        text({
          buckets: lpNode.inventory(),
          positions: lpNode.positions(),
          receivables: lpNode.receivables(),
          rebalancing: lpNode.rebalancing(),
        }),
      limits: async () => text(await lpNode.limits()),
      curves: async () => text(await lpNode.curves()),
      risk: () => text(lpNode.risk()),
      explain: async () => text(await lpNode.accounts().explain('unknown')),
      rfqs: () => text(lpNode.recorded(-1)),
      pnl: async () => text(await lpNode.accounts().profit({ by: 'pair', sinceMs: 0, limit: 1_000 })),
      reload: () => file.reload(),
    },
    stop: () => (
      file.remove(),
      lpNode
        .stop()
        .then(() => db.close())
        .then(() => chain.close())
    ),
  };
  return running;
}

/** What a stock stack does for every quote: viem builds, hashes and signs the typed data. */
function stock(): CommitmentSigner {
  const viemAccount = privateKeyToAccount(options.operatorKey);
  return ({ chainId, escrow }, { orderId, quoteId, lp: account, deadline }) =>
    viemAccount.signTypedData({
      domain: {
        name: ESCROW_DOMAIN_NAME,
        version: ESCROW_DOMAIN_VERSION,
        chainId,
        verifyingContract: escrow,
      },
      types: {
        QuoteCommitment: [
          { name: 'orderId', type: 'bytes32' },
          { name: 'quoteId', type: 'bytes32' },
          { name: 'lp', type: 'address' },
          { name: 'deadline', type: 'uint32' },
        ],
      },
      primaryType: 'QuoteCommitment',
      message: { orderId, quoteId, lp: account, deadline },
    });
}
