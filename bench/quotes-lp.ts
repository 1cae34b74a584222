/**
 * The LP under test, in a process of its own: the real node on a real chain and database, over a WebSocket.
 */

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { privateKeyToAccount } from 'viem/accounts';
import { createChain } from '../src/adapters/evm/chain/chain.ts';
import { createConstantFeed } from '../src/adapters/feeds/constant.ts';
import { createJournalStore } from '../src/adapters/postgres/lp/accounting-store.ts';
import { createLpStore } from '../src/adapters/postgres/lp/lp-store.ts';
import { migrate } from '../src/adapters/postgres/migrate.ts';
import { LP_MIGRATIONS } from '../src/adapters/postgres/migrations/lp.ts';
import { connectDatabase } from '../src/adapters/postgres/pool.ts';
import { createMetrics } from '../src/adapters/prometheus/metrics.ts';
import { createSharedInventory } from '../src/adapters/redis/shared-inventory.ts';
import { createRecovery } from '../src/adapters/secp256k1/recovery.ts';
import { createSigner } from '../src/adapters/secp256k1/signer.ts';
import { createAwsKms } from '../src/adapters/signer/aws-kms.ts';
import { openRemoteSigner } from '../src/adapters/signer/remote-signer.ts';
import { systemClock } from '../src/adapters/system/clock.ts';
import { systemRandom } from '../src/adapters/system/random.ts';
import { createLinkClient } from '../src/adapters/ws/link-client.ts';
import type { Chain } from '../src/domain/chain.ts';
import { ESCROW_DOMAIN_NAME, ESCROW_DOMAIN_VERSION } from '../src/domain/escrow-domain.ts';
import type { Hex } from '../src/domain/hex.ts';
import { zLpConfig } from '../src/lp/config/config.ts';
import { createLpNode } from '../src/lp/node.ts';
import { type CommitmentSigner, createCommitmentSigner } from '../src/lp/commitment-signer.ts';
import type { Log } from '../src/ports/log.ts';
import type { Signer } from '../src/ports/signer.ts';
import { AWS_KEY } from '../test/support/key-services/aws-kms.ts';
import { heapInUse } from './heap.ts';
import { profiled } from './load.ts';

export interface BenchLp {
  chain: Chain;
  rpcUrl: string;
  databaseUrl: string;
  schema: string;
  venueUrl: string;
  operatorKey: Hex;
  /**
   * 'viem' signs each quote with viem's signTypedData instead of firmquote's signer. A key service signs each
   * quote by itself, or trees of those that wait for it.
   */
  signer: 'native' | 'viem' | { awsKms: string; maxConcurrent: number; trees: boolean };
  /** USD for one of each symbol, for the constant feed. */
  feed: Record<string, string>;
  /** Set for one of several replicas on an inventory in this Redis. */
  shared?: { redisUrl: string; replica: string };
  /** The parts of an LP's configuration file. */
  config: Record<string, unknown> & { quoting: object };
}

/**
 * The parent's command: figures since it last asked, memory after a collection, start or end of a profile,
 * another quoting configuration, or the end.
 */
export type BenchWord = 'usage' | 'memory' | 'profile' | 'profiled' | 'stop' | { quoting: object };

export interface BenchUsage {
  /** The CPU of the whole process since its start: user and system time, all threads. */
  cpuMicros: number;
  liveQuotes: number;
  rssBytes: number;
  /** Delay of the event loop since asked last. */
  loopP99Ms: number;
  loopMaxMs: number;
}

export interface BenchMemory {
  liveQuotes: number;
  heapBytes: number;
  rssBytes: number;
}

const options = await new Promise<BenchLp>((done) =>
  process.once('message', (message) => done(message as BenchLp)),
);
const print = (facts: object, message: string) => console.error(message, facts);
const log: Log = { debug() {}, info() {}, warn: print, error: print, fatal: print, child: () => log };
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();

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
const signer = await openSigner();
const commitments =
  options.signer === 'viem'
    ? viemSigner()
    : typeof options.signer === 'object' && !options.signer.trees
      ? createCommitmentSigner(signer)
      : undefined;
const node = createLpNode(
  {
    chains: [chain],
    transactors: new Map(),
    links: [
      createLinkClient(
        { clock: systemClock, log },
        { name: 'bench', url: options.venueUrl, apiKey: 'fq_test_bench' },
      ),
    ],
    feeds: [createConstantFeed({ clock: systemClock }, { prices: options.feed, everyMs: 100 })],
    store: createLpStore(db),
    journal: createJournalStore(db),
    signer,
    recovery: createRecovery(),
    random: systemRandom,
    clock: systemClock,
    log,
    metrics,
    ...(commitments !== undefined && { commitments }),
    ...(inventory !== undefined && {
      shared: { inventory, replica: options.shared?.replica ?? '', leadMs: 3_000 },
    }),
  },
  zLpConfig.parse(options.config),
);
await node.start();

let endProfile = () => {};
process.on('message', (word: BenchWord) => {
  if (word === 'usage') process.send?.(usage());
  else if (word === 'memory') process.send?.(memory());
  else if (word === 'profile') startProfile();
  else if (word === 'profiled') endProfile();
  else if (word === 'stop') void stop();
  else void requote(word.quoting);
});
process.on('disconnect', () => process.exit(1));

function usage(): BenchUsage {
  const { user, system } = process.cpuUsage();
  const figures: BenchUsage = {
    cpuMicros: user + system,
    liveQuotes: node.status().liveQuotes,
    rssBytes: process.memoryUsage().rss,
    loopP99Ms: delay.percentile(99) / 1e6,
    loopMaxMs: delay.max / 1e6,
  };
  delay.reset();
  return figures;
}

function memory(): BenchMemory {
  const heapBytes = heapInUse();
  return { heapBytes, liveQuotes: node.status().liveQuotes, rssBytes: process.memoryUsage().rss };
}

/** Writes its file, if `--profile` names one, when it ends. */
function startProfile(): void {
  const ended = new Promise<void>((done) => (endProfile = done));
  void profiled(() => {
    process.send?.('profiling');
    return ended;
  }).then(() => process.send?.('profiled'));
}

async function requote(quoting: object): Promise<void> {
  const answer = await node.reload(
    zLpConfig.parse({ ...options.config, quoting: { ...options.config.quoting, ...quoting } }),
  );
  if ('refused' in answer) throw new Error(answer.refused.join('; '));
  process.send?.('requoted');
}

async function stop(): Promise<void> {
  await node.stop();
  await db.close();
  await chain.close();
  process.exit(0);
}

async function openSigner(): Promise<Signer> {
  if (typeof options.signer === 'string') return createSigner(options.operatorKey);
  const { awsKms, maxConcurrent } = options.signer;
  return openRemoteSigner(
    await createAwsKms({ keyId: AWS_KEY, region: null, endpoint: awsKms, maxConcurrent }),
    { clock: systemClock, log, metrics, recovery: createRecovery() },
    { address: null, maxConcurrent, timeoutMs: 5_000, deadlineMs: 10_000 },
  );
}

/** Signs like a server without a signer of its own: viem encodes, hashes and signs the typed data. */
function viemSigner(): CommitmentSigner {
  const operator = privateKeyToAccount(options.operatorKey);
  return {
    signCommitment: ({ chainId, escrow }, { orderId, quoteId, lp, deadline }) =>
      operator.signTypedData({
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
        message: { orderId, quoteId, lp, deadline },
      }),
  };
}
