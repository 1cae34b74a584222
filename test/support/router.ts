/**
 * Starts a venue and a worker, both with route venues. Tests ask for quotes over HTTP and follow them on real
 * chains to their end.
 */

import { createTransactor } from '../../src/adapters/evm/transactor/transactor.ts';
import type { Database } from '../../src/adapters/postgres/pool.ts';
import { createTxStore } from '../../src/adapters/postgres/tx-store.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { assetId } from '../../src/domain/asset.ts';
import { attestationDigest } from '../../src/domain/attestation.ts';
import type { TokenInfo } from '../../src/domain/chain.ts';
import type { Hex } from '../../src/domain/hex.ts';
import { outputHash } from '../../src/domain/order.ts';
import type { RouteVenue } from '../../src/ports/route-venue.ts';
import type { OrderRecord } from '../../src/ports/stores/store.ts';
import type { Transactor } from '../../src/ports/transactor.ts';
import { fillCall } from '../../src/settlement/call.ts';
import { foldFacts, type Progress } from '../../src/settlement/lifecycle.ts';
import { createOrderAdvancer } from '../../src/venue/orders/advance/advancer.ts';
import { account, ATTESTERS, type TestAccount, type TestChain } from './devnet.ts';
import { silentLog, silentMetrics } from './silent.ts';
import { signPlan } from './taker.ts';
import { type Answer, type Json, startTestVenue, type Surroundings, type TestVenue, until } from './venue.ts';
import type { VenueOptions } from '../../src/venue/options.ts';

export interface RouterWorld {
  v: TestVenue;
  a: TestChain;
  b: TestChain;
  key: string;
  asset(chain: TestChain, token: TokenInfo): string;
  /** Makes a taker with money on every chain. */
  taker(): Promise<TestAccount>;
  quotes(body: object): Promise<Answer>;
  /** Candidates of a request that has some. */
  candidates(body: object): Promise<Json[]>;
  preflight(candidate: Json, body?: object): Promise<Answer>;
  /** Makes preflight, signatures and submission; the answer must be 200. Returns the order id. */
  submit(taker: TestAccount, candidate: Json, plan?: Json): Promise<Hex>;
  /** Mines until the order is there. */
  reaches(orderId: Hex, ...stages: Progress['stage'][]): Promise<OrderRecord & { progress: Progress }>;
  /** Fills an open order as an LP does. */
  fill(orderId: Hex, lp: { lp: TestAccount; operator: TestAccount }): Promise<void>;
  held(owner: TestAccount, chain: TestChain, token: TokenInfo): Promise<bigint>;
  relayer: TestAccount;
  /**
   * Pools are priced at the newest block that the venue has seen: waits until that is the newest there is.
   */
  seen(): Promise<void>;
  transactors: ReadonlyMap<number, Transactor>;
  stop(): Promise<void>;
}

let accounts = 9_000;

export async function startRouterWorld(
  options: Partial<VenueOptions> & Omit<Surroundings, 'routeVenues'>,
  routeVenues: (chains: readonly [TestChain, TestChain], db: Database) => Promise<RouteVenue[]>,
): Promise<RouterWorld> {
  let made: RouteVenue[] = [];
  const v = await startTestVenue({
    ...options,
    async routeVenues(chains, db) {
      made = await routeVenues([chains[0] as TestChain, (chains[1] ?? chains[0]) as TestChain], db);
      return made;
    },
  });
  const [a, b = a] = v.devnet.chains as [TestChain, TestChain?];
  const key = await v.key('service');
  const relayer = account(accounts++);
  const ports = new Map(v.devnet.chains.map(({ chain, port }) => [chain.id, port]));
  const txStore = createTxStore(v.db);
  const shared = { clock: systemClock, log: silentLog, metrics: silentMetrics };
  const transactors = new Map(
    await Promise.all(
      v.devnet.chains.map(async ({ chain, port, fund }) => {
        await fund(relayer.address, 0n);
        const transactor = createTransactor(
          { chain: port, store: txStore, signer: relayer.signer, ...shared },
          { owner: `worker-${accounts}`, leaseMs: 2_000, bumpAfterBlocks: 50 },
        );
        await transactor.start();
        return [chain.id, transactor] as const;
      }),
    ),
  );
  const advancer = createOrderAdvancer(
    {
      store: v.store,
      chains: ports,
      transactors,
      routeVenues: made,
      // Two of the three attesters, who sign without checking, because these tests are not about them.
      attestations: {
        signatures: async (attestation, oracle) =>
          [...ATTESTERS.slice(0, 2)]
            .sort((x, y) => (x.address < y.address ? -1 : 1))
            .map(({ sign }) =>
              sign(
                attestationDigest(
                  oracle.chainId ? { chainId: oracle.chainId, oracle: oracle.oracle } : oracle,
                  attestation,
                ),
              ),
            ),
      },
      queue: { wake: async () => {}, process: async () => {}, close: async () => {} },
      bus: v.bus,
      ...shared,
    },
    { owner: `worker-${accounts}`, leaseMs: 2_000, sweepMs: 150, graceMs: 0 },
  );
  await advancer.start();

  const post = (path: string, body: unknown) => v.call('POST', `/api/v1/router/${path}`, { key, body });
  async function seen(): Promise<void> {
    for (const { anvil, port } of v.devnet.chains) {
      const newest = BigInt(await anvil.rpc<Hex>('eth_blockNumber'));
      await until(() => (port.head()?.number ?? -1n) >= newest);
    }
  }
  await seen();
  const world: RouterWorld = {
    v,
    a,
    b,
    key,
    relayer,
    seen,
    transactors,
    asset: ({ chain }, token) => assetId({ chainId: chain.id, token: token.address }),
    async taker() {
      const taker = account(accounts++);
      for (const chain of v.devnet.chains) await chain.fund(taker.address, 100_000n);
      return taker;
    },
    quotes: (body) => post('quotes', body),
    async candidates(body) {
      const answer = await post('quotes', body);
      if (answer.status !== 200 || answer.json['productUnavailable'])
        throw new Error(`no candidates: ${answer.text}`);
      return answer.json['quotes'] as unknown as Json[];
    },
    preflight: (candidate, body = {}) => post('orders/preflight', { quoteResponse: candidate, ...body }),
    async submit(taker, candidate, plan) {
      const wanted = plan ?? (await until(async () => (await world.preflight(candidate)).json));
      const submitted = await post('orders', await signPlan(taker, candidate, wanted));
      if (submitted.status !== 200) throw new Error(`not submitted: ${submitted.text}`);
      return submitted.json['id'] as unknown as Hex;
    },
    async reaches(orderId, ...stages) {
      for (;;) {
        const record = await v.store.order(orderId);
        const progress =
          record &&
          foldFacts(
            record.order,
            record.facts.map(({ fact }) => fact),
          );
        if (record && progress && stages.includes(progress.stage)) return { ...record, progress };
        if (progress?.final)
          throw new Error(
            `wanted ${stages.join(' or ')}, is ${progress.stage}: ${progress.failure?.message ?? ''}`,
          );
        for (const chain of v.devnet.chains) await chain.anvil.mine();
        await new Promise((done) => setTimeout(done, 40));
      }
    },
    async fill(orderId, { lp, operator }) {
      const record = await until(() => v.store.order(orderId));
      for (const output of record.order.outputs) {
        const chain = v.devnet.chains.find(({ chain: { id } }) => BigInt(id) === output.chainId) as TestChain;
        if (await chain.port.fillRecord(orderId, outputHash(output))) continue;
        await chain.fund(operator.address, 0n);
        await chain.send(
          operator.address,
          chain.chain.escrow,
          fillCall(orderId, output, record.order.fillDeadline, lp.address),
        );
      }
    },
    held: (owner, chain, token) => chain.port.tokenBalance(owner.address, token.address),
    async stop() {
      await advancer.stop();
      await Promise.all([...transactors.values()].map((transactor) => transactor.stop()));
      await v.stop();
    },
  };
  return world;
}
