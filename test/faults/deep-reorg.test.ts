/**
 * A chain that takes back what was final: said aloud, left alone, nothing rewritten; and what goes on once
 * somebody has looked.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { createChain, type EvmChain } from '../../src/adapters/evm/chain/chain.ts';
import { createTransactor } from '../../src/adapters/evm/transactor/transactor.ts';
import { createTxStore } from '../../src/adapters/postgres/tx-store.ts';
import { createMetrics } from '../../src/adapters/prometheus/metrics.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { auditVenue } from '../../src/apps/audit/audit.ts';
import { assetId } from '../../src/domain/asset.ts';
import { foldFacts } from '../../src/settlement/lifecycle.ts';
import type { Hex } from '../../src/domain/hex.ts';
import type { ChainPort } from '../../src/ports/chain.ts';
import type { Log } from '../../src/ports/log.ts';
import type { NewOrder } from '../../src/ports/stores/store.ts';
import { createOrderAdvancer } from '../../src/venue/orders/advance/advancer.ts';
import { account, type TestAccount } from '../support/devnet.ts';
import { silentLog, silentMetrics } from '../support/silent.ts';
import { makeTrade } from '../support/trade.ts';
import { startTestVenue, type TestVenue, until } from '../support/venue.ts';
import { diceOf } from './seed.ts';

const relayer = account(900);
const owner = account(901);
const operator = account(902);
const taker = account(903);
const fatal: string[] = [];
const log: Log = { ...silentLog, fatal: (_, message) => void fatal.push(message), child: () => log };
const metrics = createMetrics();
let venue: TestVenue;
/** As the programs see it. */
let port: EvmChain;

beforeAll(async () => {
  let real: ChainPort | undefined;
  venue = await startTestVenue({
    chainIds: [41_221],
    seen: (plain) => {
      real = plain;
      return new Proxy(plain, { get: (_, name) => Reflect.get(port ?? plain, name) as unknown });
    },
  });
  expect(real).toBeDefined();
  for (const { address } of [relayer, owner, operator, taker]) await venue.chain.fund(address);
  await venue.chain.deposit(owner.address, venue.chain.weth.address, 10n ** 21n);
  await venue.chain.setOperator(owner.address, operator.address);
  port = await open();
}, 180_000);
afterAll(async () => {
  await port?.close();
  await venue?.stop();
});

async function open(): Promise<EvmChain> {
  const opened = createChain(venue.chain.chain, {
    rpcUrls: [venue.chain.anvil.url],
    clock: systemClock,
    log,
    metrics,
    maxClockSkewMs: 1e12,
  });
  await opened.start();
  return opened;
}

const chains = (): Map<number, ChainPort> => new Map([[port.chain.id, port]]);

/** The venue's worker with its relayer, as a process has them. */
async function startWorker(owns: string): Promise<{ stop(): Promise<void> }> {
  const transactor = createTransactor(
    {
      chain: port,
      store: createTxStore(venue.db),
      signer: relayer.signer,
      clock: systemClock,
      log: silentLog,
      metrics: silentMetrics,
    },
    { owner: owns, leaseMs: 2_000, bumpAfterBlocks: 1_000 },
  );
  await transactor.start();
  const advancer = createOrderAdvancer(
    {
      store: venue.store,
      bus: venue.bus,
      chains: chains(),
      transactors: new Map([[port.chain.id, transactor]]),
      routeVenues: [],
      attestations: { signatures: async () => undefined },
      queue: { wake: async () => {}, process: async () => {}, close: async () => {} },
      clock: systemClock,
      log: silentLog,
      metrics: silentMetrics,
    },
    { owner: owns, sweepMs: 200, leaseMs: 2_000 },
  );
  await advancer.start();
  return {
    async stop() {
      await advancer.stop();
      await transactor.stop();
    },
  };
}

async function accepted(by: TestAccount): Promise<NewOrder> {
  const head = await venue.chain.anvil.rpc<{ timestamp: Hex }>('eth_getBlockByNumber', ['latest', false]);
  const order = makeTrade({
    origin: venue.chain,
    taker: by,
    lps: [{ account: owner, operator }],
    inputAmount: 1_000_000n,
    outputAmount: 10n ** 15n,
    validForSeconds: 600,
    now: Number(head.timestamp),
  });
  expect(await venue.store.accept(order, '{}', null)).toMatchObject({ kind: 'accepted' });
  return order;
}

async function stageOf({ orderId }: NewOrder): Promise<string> {
  const record = await venue.store.order(orderId);
  return record
    ? foldFacts(
        record.order,
        record.facts.map(({ fact }) => fact),
      ).stage
    : 'none';
}

/** Blocks come one by one until it is so. */
async function settles(order: NewOrder): Promise<void> {
  await until(async () => {
    await venue.chain.anvil.mine();
    await new Promise((resolve) => setTimeout(resolve, 50));
    return (await stageOf(order)) === 'settled';
  });
}

const quotes = async () => {
  const asset = (token: { address: Hex }) => assetId({ chainId: venue.chain.chain.id, token: token.address });
  const key = await venue.key('service');
  const { json } = await venue.call('POST', '/api/v1/rfq/quotes', {
    key,
    body: {
      taker: taker.address,
      input: { asset: asset(venue.chain.usdc), amount: '1000000' },
      output: { asset: asset(venue.chain.weth) },
    },
  });
  return String(json['productUnavailable']?.['message']);
};

test('F22: a reorganisation deeper than the finality depth raises an alarm, stops that chain, and rewrites no fact', async () => {
  let worker = await startWorker('first');
  const settled = await accepted(taker);
  await settles(settled);
  const deep =
    (await venue.store.order(settled.orderId))?.facts.flatMap(({ fact }) =>
      'evidence' in fact ? [fact.evidence.blockNumber] : [],
    )[0] ?? 0n;
  const height = async () => BigInt(await venue.chain.anvil.rpc<Hex>('eth_blockNumber'));
  const more = diceOf('F22').pick([3, 4, 6]);
  await venue.chain.anvil.mine(more);
  await until(async () => (port.head()?.number ?? 0n) >= (await height()));
  await venue.chain.anvil.rpc('anvil_reorg', [Number((await height()) - deep) + 1, []]);
  await venue.chain.anvil.mine(2);
  await expect.poll(() => port.healthIssue()?.kind, { timeout: 60_000 }).toBe('reorg');
  expect(fatal).toEqual([expect.stringContaining('firmquote audit')]);
  expect(await metrics.text()).toMatch(/firmquote_chain_doubt\{[^}]*kind="reorg"[^}]*\} 1/);

  // Nothing is quoted and nothing is done there, however often somebody looks; what was said stays said.
  expect(await quotes()).toContain('took back blocks that were final');
  expect(await venue.venue.ready()).toEqual(
    expect.arrayContaining([expect.stringContaining('was final and is gone')]),
  );
  const head = port.head()?.number;
  const later = await accepted(taker);
  for (let block = 0; block < 10; block += 1) {
    await venue.chain.anvil.mine();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(await stageOf(settled)).toBe('settled');
  // Not even sent for.
  expect((await venue.store.order(later.orderId))?.facts.map(({ fact }) => fact.kind)).toEqual(['accepted']);
  expect(port.head()?.number).toBe(head);

  // Whoever asks what is affected is told.
  const report = await auditVenue(
    {
      db: venue.db,
      chains: [venue.chain.port],
      startBlock: () => 0,
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    },
    { sinceMs: 0, patienceMs: 0 },
  );
  expect(
    JSON.stringify(report.differences, (_, value: unknown) =>
      typeof value === 'bigint' ? value.toString() : value,
    ),
  ).toContain(settled.orderId);

  // A process that is started anew takes the chain as it is: what was taken back is sent again, byte for
  // byte, and new orders go on.
  await worker.stop();
  await port.close();
  port = await open();
  worker = await startWorker('second');
  await settles(later);
  await until(async () => {
    await venue.chain.anvil.mine();
    return (await venue.chain.port.orderStatus(settled.orderId)) === 'claimed';
  });
  expect(await stageOf(settled)).toBe('settled');
  await worker.stop();
});
