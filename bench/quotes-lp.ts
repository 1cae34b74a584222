/** The LP under test, a process of its own: the real node over a real chain and database, with one of two signers. */

import { privateKeyToAccount } from 'viem/accounts';
import { createChain } from '../src/adapters/evm/chain.ts';
import { createConstantFeed } from '../src/adapters/feeds/constant.ts';
import { createLpStore } from '../src/adapters/postgres/lp-store.ts';
import { migrate } from '../src/adapters/postgres/migrate.ts';
import { LP_MIGRATIONS } from '../src/adapters/postgres/migrations/lp.ts';
import { connectDatabase } from '../src/adapters/postgres/pool.ts';
import { createRecovery } from '../src/adapters/secp256k1/recovery.ts';
import { createSigner } from '../src/adapters/secp256k1/signer.ts';
import { systemClock } from '../src/adapters/system/clock.ts';
import { systemRandom } from '../src/adapters/system/random.ts';
import { createLinkClient } from '../src/adapters/ws/link-client.ts';
import { createMetrics } from '../src/adapters/prometheus/metrics.ts';
import type { Chain } from '../src/domain/chain.ts';
import { ESCROW_DOMAIN_NAME, ESCROW_DOMAIN_VERSION } from '../src/domain/escrow-domain.ts';
import type { Hex } from '../src/domain/hex.ts';
import { zLpConfig } from '../src/lp/config.ts';
import { UNLIMITED } from '../test/support/unlimited.ts';
import { createLpNode } from '../src/lp/node.ts';
import type { CommitmentSigner } from '../src/lp/quote.ts';
import type { Log } from '../src/ports/log.ts';

export interface BenchLp {
  chain: Chain;
  rpcUrl: string;
  databaseUrl: string;
  schema: string;
  venueUrl: string;
  account: string;
  operatorKey: Hex;
  signer: 'native' | 'viem';
}

const options = JSON.parse(process.argv[2] ?? '') as BenchLp;
const say = (facts: object, message: string) => console.error(message, facts);
const log: Log = { debug() {}, info() {}, warn: say, error: say, fatal: say, child: () => log };
const metrics = createMetrics();
const chain = createChain(options.chain, { rpcUrls: [options.rpcUrl], clock: systemClock, log, metrics });
await chain.start();
const db = connectDatabase({ url: options.databaseUrl, schema: options.schema, log });
await migrate(db, LP_MIGRATIONS);

/** What a stock stack does for every quote: viem builds, hashes and signs the typed data. */
const viemAccount = privateKeyToAccount(options.operatorKey);
const stock: CommitmentSigner = ({ chainId, escrow }, { orderId, quoteId, lp, deadline }) =>
  viemAccount.signTypedData({
    domain: { name: ESCROW_DOMAIN_NAME, version: ESCROW_DOMAIN_VERSION, chainId, verifyingContract: escrow },
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
  });

const node = createLpNode(
  {
    chains: [chain],
    transactors: new Map(),
    links: [createLinkClient({ clock: systemClock, log }, { name: 'bench', url: options.venueUrl, apiKey: 'fq_test_bench' })],
    feeds: [createConstantFeed({ clock: systemClock }, { prices: { ETHUSD: '2500' }, everyMs: 100 })],
    store: createLpStore(db),
    signer: createSigner(options.operatorKey),
    recovery: createRecovery(),
    random: systemRandom,
    clock: systemClock,
    log,
    metrics,
    ...(options.signer === 'viem' && { commit: stock }),
  },
  zLpConfig.parse({
    solver: { id: 'bench', name: 'Bench' },
    chains: [{ chainId: options.chain.id, account: options.account }],
    prices: { USD: { fixed: '1' }, ETH: { sources: [{ feed: 'constant', symbol: 'ETHUSD' }] } },
    assets: { USDC: { price: 'USD' }, WETH: { price: 'ETH' } },
    pairs: [{ base: 'WETH', quote: 'USDC' }],
    ...UNLIMITED,
  }),
);
await node.start();

process.on('message', (word) => {
  if (word === 'usage') process.send?.({ ...process.cpuUsage(), live: node.status().liveQuotes, rss: process.memoryUsage().rss });
  if (word === 'stop') void node.stop().then(() => db.close()).then(() => chain.close()).then(() => process.exit(0));
});
process.on('disconnect', () => process.exit(1));
