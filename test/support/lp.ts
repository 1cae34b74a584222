/**
 * An LP as its process would run it, over a real database, real chains and a real WebSocket; only its venue
 * and its prices are played.
 */

import { randomUUID } from 'node:crypto';
import { createTransactor } from '../../src/adapters/evm/transactor/transactor.ts';
import { createConstantFeed } from '../../src/adapters/feeds/constant.ts';
import { createJournalStore } from '../../src/adapters/postgres/lp/accounting-store.ts';
import { createLpStore } from '../../src/adapters/postgres/lp/lp-store.ts';
import { LP_MIGRATIONS } from '../../src/adapters/postgres/migrations/lp.ts';
import { TRANSACTION_MIGRATIONS } from '../../src/adapters/postgres/migrations/transactions.ts';
import { createTxStore } from '../../src/adapters/postgres/tx-store.ts';
import { createSharedInventory } from '../../src/adapters/redis/shared-inventory.ts';
import { createRecovery } from '../../src/adapters/secp256k1/recovery.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { systemRandom } from '../../src/adapters/system/random.ts';
import { createLinkClient } from '../../src/adapters/ws/link-client.ts';
import type { Attestations } from '../../src/ports/attestations.ts';
import { type LpConfig, zLpConfig } from '../../src/lp/config/config.ts';
import { createLpNode } from '../../src/lp/node.ts';
import type { LpNode, LpNodeDeps } from '../../src/lp/node/interface.ts';
import type { PricingPlugin } from '../../src/pricing/price-inputs.ts';
import type { Transactor } from '../../src/ports/transactor.ts';
import type { Devnet, TestAccount } from './devnet.ts';
import type { TestPostgres } from './postgres.ts';
import { asOne } from './lp-replicas.ts';
import { startRedis, type TestRedis } from './redis.ts';
import { silentLog, silentMetrics } from './silent.ts';
import { UNLIMITED } from './unlimited.ts';

/** Configures an LP that trades WETH at 2,500 USDC, on every chain of the devnet. */
export function lpConfig(devnet: Devnet, account: string, overrides: object = {}): LpConfig {
  return zLpConfig.parse({
    solver: { id: 'lp-a', name: 'Alpha' },
    chains: devnet.chains.map(({ chain }) => ({
      chainId: chain.id,
      account,
      minGas: '0.01',
      maxHeadAgeMs: 30_000,
      graceSeconds: 2,
    })),
    prices: { USD: { fixed: '1' }, ETH: { sources: [{ feed: 'constant', symbol: 'ETHUSD' }] } },
    assets: { USDC: { price: 'USD' }, WETH: { price: 'ETH' } },
    pairs: [
      { base: 'WETH', quote: 'USDC' },
      { base: 'USDC', quote: 'USDC' },
    ],
    quoting: { claimSeconds: 10 },
    ...UNLIMITED,
    ...overrides,
  });
}

/** Makes the operator's senders; `owner` names the process that holds their leases. */
export async function testTransactors({
  devnet,
  postgres,
  operator,
  owner,
}: {
  devnet: Devnet;
  postgres: TestPostgres;
  operator: TestAccount;
  owner: string;
}): Promise<Map<number, Transactor>> {
  const store = createTxStore(await postgres.database('lp_tx', TRANSACTION_MIGRATIONS));
  return new Map(
    devnet.chains.map(({ port }) => [
      port.chain.id,
      createTransactor(
        {
          chain: port,
          store,
          signer: operator.signer,
          clock: systemClock,
          log: silentLog,
          metrics: silentMetrics,
        },
        { owner, leaseMs: 1_000 },
      ),
    ]),
  );
}

/**
 * The port shows what was mined by now: an LP that starts on an older head learns of its own deposits only
 * later.
 */
async function seen({ anvil, port }: Devnet['chains'][number]): Promise<void> {
  const mined = BigInt(await anvil.rpc<string>('eth_blockNumber'));
  while ((port.head()?.number ?? -1n) < mined) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** How many replicas of each LP the flows run on: npm run test:lp-replicas says two. */
export const REPLICAS = Number(process.env['FIRMQUOTE_TEST_LP_REPLICAS'] ?? 1);
let redis: Promise<TestRedis> | undefined;

interface TestLpGiven {
  devnet: Devnet;
  postgres: TestPostgres;
  venueUrl: string;
  operator: TestAccount;
  /** The schema of this LP alone; a second node over the same schema is the same LP restarted. */
  schema: string;
  config: LpConfig;
  transactors?: ReadonlyMap<number, Transactor>;
  proofs?: Attestations;
  plugin?: PricingPlugin;
  prices?: Record<string, string>;
  /** Replaces what is made here. */
  more?: Partial<Omit<LpNodeDeps, 'signer' | 'shadow'>>;
  /** True: it runs in one process, whatever the flows run on, and takes over from all replicas. */
  alone?: boolean;
}

export async function createTestLp(given: TestLpGiven): Promise<LpNode> {
  if (REPLICAS === 1 || given.alone === true) return createNode(given);
  const { url } = await (redis ??= startRedis());
  const names = Array.from({ length: REPLICAS }, (_, at) => String.fromCharCode(97 + at));
  return asOne(await Promise.all(names.map((replica) => createReplica(given, { redisUrl: url, replica }))));
}

/** Makes one of several replicas of an LP. Its connection to the shared inventory ends with it. */
async function createReplica(
  { more = {}, transactors = new Map(), ...given }: TestLpGiven,
  { redisUrl, replica }: { redisUrl: string; replica: string },
): Promise<LpNode> {
  const inventory = createSharedInventory(
    { clock: systemClock, random: systemRandom, log: silentLog, metrics: silentMetrics },
    { url: redisUrl, name: given.schema, timeoutMs: 5_000 },
  );
  const own =
    transactors.size === 0
      ? transactors
      : await testTransactors({ ...given, owner: `${replica} ${randomUUID()}` });
  const node = await createNode({
    ...given,
    transactors: own,
    more: { ...more, shared: { inventory, replica, leadMs: 2_000 } },
  });
  return {
    ...node,
    async stop() {
      await node.stop();
      await inventory.close();
    },
  };
}

async function createNode({
  devnet,
  postgres,
  venueUrl,
  operator,
  schema,
  config,
  transactors = new Map(),
  proofs,
  plugin,
  prices = { ETHUSD: '2500' },
  more = {},
}: TestLpGiven): Promise<LpNode> {
  const db = await postgres.database(schema, LP_MIGRATIONS);
  await Promise.all(devnet.chains.map(seen));
  return createLpNode(
    {
      chains: devnet.chains.map(({ port }) => port),
      transactors,
      links: [
        createLinkClient(
          { clock: systemClock, log: silentLog },
          { name: 'scripted', url: venueUrl, apiKey: 'fq_test_solver' },
        ),
      ],
      feeds: [createConstantFeed({ clock: systemClock }, { prices, everyMs: 100 })],
      store: createLpStore(db),
      journal: createJournalStore(db),
      ...(transactors.size > 0 && {
        transactions: createTxStore(await postgres.database('lp_tx', TRANSACTION_MIGRATIONS)),
      }),
      signer: operator.signer,
      recovery: createRecovery(),
      random: systemRandom,
      clock: systemClock,
      log: silentLog,
      metrics: silentMetrics,
      ...(proofs && { proofs }),
      ...(plugin && { plugin }),
      ...more,
    },
    config,
  );
}
