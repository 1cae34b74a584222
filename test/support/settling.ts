/**
 * Orders accepted and settled for real, without a door before them: chains, a database with the venue's whole
 * schema, and workers over it.
 */

import { createTransactor, type TransactorOptions } from '../../src/adapters/evm/transactor/transactor.ts';
import { createPostgresBus } from '../../src/adapters/postgres/bus.ts';
import type { Database } from '../../src/adapters/postgres/pool.ts';
import { createTxStore } from '../../src/adapters/postgres/tx-store.ts';
import { createVenueStore } from '../../src/adapters/postgres/venue/venue-store.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { VENUE_SCHEMA, VENUE_TABLES } from '../../src/apps/venue/schema.ts';
import type { FinalityStep } from '../../src/domain/chain.ts';
import type { Hex } from '../../src/domain/hex.ts';
import type { ChainPort } from '../../src/ports/chain.ts';
import type { Log } from '../../src/ports/log.ts';
import type { NewOrder } from '../../src/ports/stores/store.ts';
import type { VenueStore } from '../../src/ports/stores/venue-store.ts';
import type { TxStore } from '../../src/ports/stores/tx-store.ts';
import { fillCall } from '../../src/settlement/call.ts';
import { foldFacts, type OrderStage } from '../../src/settlement/lifecycle.ts';
import { createOrderAdvancer } from '../../src/venue/orders/advance/advancer.ts';
import { account, type Devnet, startDevnet, type TestAccount, type TestChain } from './devnet.ts';
import { willingAttesters } from './lp-trades.ts';
import { startTestPostgres, type TestPostgres } from './postgres.ts';
import { silentLog, silentMetrics } from './silent.ts';
import { makeTrade, type TradeTerms } from './trade.ts';

export interface Settling {
  postgres: TestPostgres;
  devnet: Devnet;
  here: TestChain;
  there: TestChain;
  db: Database;
  store: VenueStore;
  lps: readonly TestAccount[];
  /** A worker of its own, over these connections where they are not the common ones. */
  worker(over?: {
    db?: Database;
    store?: VenueStore;
    transactions?: TxStore;
    chains?: ReadonlyMap<number, ChainPort>;
    relayer?: TestAccount;
    log?: Log;
    sender?: Partial<TransactorOptions>;
  }): Promise<Worker>;
  taker(): Promise<TestAccount>;
  /** Signs, funds and accepts an order that no worker has read yet; of a new taker where none is named. */
  accept(terms?: Partial<TradeTerms>, change?: Partial<NewOrder>, into?: VenueStore): Promise<NewOrder>;
  /** Fills as the LP of a cross-chain order would, once it is escrowed. */
  fill(trade: NewOrder): Promise<void>;
  stageOf(trade: NewOrder, from?: VenueStore): Promise<OrderStage | undefined>;
  /** Mines until every one of these is there. */
  reach(stage: OrderStage, trades: readonly NewOrder[], from?: VenueStore): Promise<void>;
  mine(blocks?: number): Promise<void>;
  stop(): Promise<void>;
}

export interface Worker {
  relayer: TestAccount;
  stop(): Promise<void>;
}

let serial = 0;

export async function startSettling(
  ids: readonly [number, number],
  options: { postgres?: TestPostgres; finality?: readonly FinalityStep[] } = {},
): Promise<Settling> {
  const [postgres, devnet] = await Promise.all([
    options.postgres ?? startTestPostgres(),
    startDevnet(ids, { landingMarginSeconds: 60, proofWindowSeconds: 300, finality: options.finality ?? [] }),
  ]);
  const [here, there] = devnet.chains as [TestChain, TestChain];
  const db = await postgres.database(VENUE_SCHEMA, VENUE_TABLES);
  const store = createVenueStore(db);
  const lps = [account(20_001), account(20_002)];
  const running = new Set<Worker>();
  for (const lp of lps) {
    for (const chain of devnet.chains) {
      await chain.fund(lp.address);
      await chain.deposit(lp.address, chain.weth.address, 10n ** 21n);
    }
  }
  await store.putWorkspace({
    id: 'test',
    name: 'Test',
    platformFeeBps: 2,
    eligibleSolvers: null,
    limits: { openQuotes: null, openNotionalUsd: null },
    travelRuleThresholdUsd: null,
  });
  for (const id of ['lp-0', 'lp-1'])
    await store.putSolver({ id, name: id, kind: 'lp', corridors: null, disabled: false });
  const ports = new Map<number, ChainPort>(devnet.chains.map(({ chain, port }) => [chain.id, port]));

  const settling: Settling = {
    postgres,
    devnet,
    here,
    there,
    db,
    store,
    lps,
    async worker(over = {}) {
      const relayer = over.relayer ?? account(21_000 + (serial += 1));
      if (!over.relayer) for (const chain of devnet.chains) await chain.fund(relayer.address, 0n);
      const on = over.db ?? db;
      const transactions = over.transactions ?? createTxStore(on);
      const log = over.log ?? silentLog;
      const chains = over.chains ?? ports;
      const transactors = new Map(
        [...chains].map(([id, chain]) => [
          id,
          createTransactor(
            {
              chain,
              store: transactions,
              signer: relayer.signer,
              clock: systemClock,
              log,
              metrics: silentMetrics,
            },
            { owner: `settling-${(serial += 1)}`, leaseMs: 1_000, bumpAfterBlocks: 1_000, ...over.sender },
          ),
        ]),
      );
      for (const transactor of transactors.values()) await transactor.start();
      const bus = createPostgresBus(on, log);
      const advancer = createOrderAdvancer(
        {
          store: over.store ?? (over.db ? createVenueStore(over.db) : store),
          chains,
          transactors,
          routeVenues: [],
          attestations: willingAttesters,
          queue: { wake: async () => {}, process: async () => {}, close: async () => {} },
          bus,
          clock: systemClock,
          log,
          metrics: silentMetrics,
        },
        { owner: `settling-${(serial += 1)}`, leaseMs: 1_500, sweepMs: 200, graceMs: 0 },
      );
      await advancer.start();
      const worker: Worker = {
        relayer,
        async stop() {
          if (!running.delete(worker)) return;
          await advancer.stop();
          await Promise.all([...transactors.values()].map((transactor) => transactor.stop()));
          await bus.close();
        },
      };
      running.add(worker);
      return worker;
    },
    async taker() {
      const taker = account(22_000 + (serial += 1));
      await here.fund(taker.address);
      return taker;
    },
    async accept(terms = {}, change = {}, into = store) {
      const taker = terms.taker ?? (await settling.taker());
      const latest = await here.port.block(BigInt(await here.anvil.rpc<Hex>('eth_blockNumber')));
      const trade = {
        ...makeTrade({
          origin: here,
          lps: [{ account: lps[0] as TestAccount }],
          validForSeconds: 120,
          now: latest?.timestamp ?? 0,
          ...terms,
          taker,
        }),
        ...change,
      };
      const accepted = await into.accept(trade, JSON.stringify({ id: trade.orderId }), {
        workspaceId: trade.workspaceId,
        namespace: trade.namespace,
        mode: trade.mode,
        key: trade.orderId,
        bodySha256: trade.orderId,
      });
      if (accepted.kind !== 'accepted') throw new Error(`not accepted: ${accepted.kind}`);
      return trade;
    },
    async fill({ orderId, order, commitments }) {
      for (const [index, output] of order.outputs.entries()) {
        const lp = commitments[index]?.lp as Hex;
        await there.send(lp, there.chain.escrow, fillCall(orderId, output, order.fillDeadline, lp));
      }
    },
    async stageOf(trade, from = store) {
      const record = await from.order(trade.orderId);
      return (
        record &&
        foldFacts(
          record.order,
          record.facts.map(({ fact }) => fact),
        ).stage
      );
    },
    async reach(stage, trades, from = store) {
      for (const trade of trades) {
        for (
          let is = await settling.stageOf(trade, from);
          is !== stage;
          is = await settling.stageOf(trade, from)
        ) {
          if (is === 'settled' || is === 'failed' || is === 'refunded')
            throw new Error(`${trade.orderId} should be ${stage} and is ${is}`);
          await settling.mine();
          await new Promise((done) => setTimeout(done, 40));
        }
      }
    },
    async mine(blocks = 1) {
      for (const chain of devnet.chains) await chain.anvil.mine(blocks);
    },
    async stop() {
      for (const worker of running) await worker.stop();
      await devnet.stop();
      if (!options.postgres) await postgres.stop();
    },
  };
  return settling;
}
