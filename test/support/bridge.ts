/** A bridge venue with a float on test chains, as the venue's processes make it. */

import { randomUUID } from 'node:crypto';
import { createFloatDelivery } from '../../src/adapters/bridges/venue/deliver.ts';
import { bridgeRefill, fixedRefill } from '../../src/adapters/bridges/venue/refill.ts';
import { type BridgeVenueOptions, createBridgeVenue } from '../../src/adapters/bridges/venue/venue.ts';
import { createTransactor } from '../../src/adapters/evm/transactor/transactor.ts';
import { createPostgresBus } from '../../src/adapters/postgres/bus.ts';
import type { Database } from '../../src/adapters/postgres/pool.ts';
import { createTxStore } from '../../src/adapters/postgres/tx-store.ts';
import { createFloatStore } from '../../src/adapters/postgres/venue/float-store.ts';
import { createVenueStore } from '../../src/adapters/postgres/venue/venue-store.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import type { Bridge } from '../../src/ports/bridge.ts';
import type { ChainPort } from '../../src/ports/chain.ts';
import type { RouteVenue } from '../../src/ports/route-venue.ts';
import type { Transactor } from '../../src/ports/transactor.ts';
import { createPrices } from '../../src/venue/market/prices.ts';
import type { TestAccount, TestChain } from './devnet.ts';
import { referenceAt } from './reference.ts';
import { silentLog, silentMetrics } from './silent.ts';

export interface BridgeSpec {
  /** Holds the float and fills from it, unless there is an `operator`. */
  account: TestAccount;
  operator?: TestAccount;
  chains: readonly TestChain[];
  db: Database;
  options?: Partial<BridgeVenueOptions>;
  /** The bridges whose estimates set the refill costs. Default: a fixed cost. */
  refillBy?: readonly Bridge[];
  seen?: (port: ChainPort) => ChainPort;
}

export interface TestBridge {
  venue: RouteVenue;
  transactors: ReadonlyMap<number, Transactor>;
  /** Sums of what it has been told to have filled. */
  fills: string[];
  stop(): Promise<void>;
}

/** Carries USDC between all chains. One process of the venue: API and worker. */
export async function startTestBridge({
  account,
  operator = account,
  chains,
  db,
  options = {},
  refillBy,
  seen = (port) => port,
}: BridgeSpec): Promise<TestBridge> {
  const id = options.id ?? 'test-bridge';
  const ports = new Map(chains.map(({ port }) => [port.chain.id, seen(port)]));
  const bus = createPostgresBus(db, silentLog);
  const shared = { store: createTxStore(db), clock: systemClock, log: silentLog, metrics: silentMetrics };
  const transactors = new Map(
    chains.map(({ port }) => [
      port.chain.id,
      createTransactor(
        { chain: port, signer: operator.signer, ...shared },
        { owner: randomUUID(), leaseMs: 2_000, bumpAfterBlocks: 50 },
      ),
    ]),
  );
  for (const transactor of transactors.values()) await transactor.start();
  const fills: string[] = [];
  const delivery = createFloatDelivery(
    {
      chains: ports,
      transactors,
      bus,
      orders: createVenueStore(db),
      log: silentLog,
      onFill: (_, output) => fills.push(`${output.chainId} ${output.amount}`),
    },
    { venueId: id, account: account.address },
  );
  const unsubscribe = await delivery.start();
  const prices = createPrices(referenceAt({ USD: '1', ETH: '2500' }));
  const { tokenForNativeUp } = prices;
  const venue = createBridgeVenue(
    {
      chains: ports,
      floats: createFloatStore(db),
      prices,
      refill: refillBy
        ? bridgeRefill({ bridges: refillBy, account: account.address, tokenForNativeUp, clock: systemClock })
        : fixedRefill({ costBps: 1, seconds: 60 }),
      deliver: delivery.deliver,
    },
    {
      id,
      name: 'Test bridge',
      account: account.address,
      operator: operator.address,
      assets: [
        {
          on: chains.map(({ chain, usdc }) => ({
            chainId: chain.id,
            token: usdc.address,
            keep: 0n,
            low: null,
            lot: 10_000_000_000n,
            least: 1_000_000n,
            most: null,
          })),
        },
      ],
      capitalBpsPerDay: 5,
      marginBps: 2,
      validSeconds: 40,
      maxValidSeconds: 300,
      limits: { timeoutMs: 5_000, maxInFlight: 100 },
      ...options,
    },
  );
  return {
    venue,
    transactors,
    fills,
    async stop() {
      await unsubscribe();
      for (const transactor of transactors.values()) await transactor.stop();
      await bus.close();
    },
  };
}

/** Into the float, under a block more than makes it final. */
export async function fillFloat(chain: TestChain, owner: TestAccount, amount: bigint): Promise<void> {
  await chain.deposit(owner.address, chain.usdc.address, amount);
  for (let mined = 0; mined <= chain.chain.depth; mined += 1) await chain.anvil.rpc('evm_mine', []);
}
