/**
 * Three endpoints per chain, one of which is faulty. Decisions follow the real chain, and sent transactions
 * arrive.
 */

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createChain, type EvmChain } from '../../src/adapters/evm/chain/chain.ts';
import { createPostgresBus } from '../../src/adapters/postgres/bus.ts';
import { VENUE_MIGRATIONS } from '../../src/adapters/postgres/migrations/venue.ts';
import { createVenueStore } from '../../src/adapters/postgres/venue/venue-store.ts';
import { createMetrics } from '../../src/adapters/prometheus/metrics.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { createAttester, type RunningAttester } from '../../src/attester/attester.ts';
import { fillAttestation, fillPayloadHash, fillRecordOf } from '../../src/domain/attestation.ts';
import { addressToBytes32, type Bytes32, type Hex } from '../../src/domain/hex.ts';
import { keccakHex } from '../../src/domain/keccak.ts';
import { type MandateOutput, outputHash } from '../../src/domain/order.ts';
import type { LpNode } from '../../src/lp/node/interface.ts';
import type { Block } from '../../src/ports/chain.ts';
import type { Transactor } from '../../src/ports/transactor.ts';
import { openForCall } from '../../src/settlement/call.ts';
import { createOrderAdvancer } from '../../src/venue/orders/advance/advancer.ts';
import { account, ATTESTERS, type Devnet, startDevnet, type TestChain } from '../support/devnet.ts';
import { createTestLp, lpConfig, testTransactors } from '../support/lp.ts';
import { awardOf, takeQuote, willingAttesters } from '../support/lp-trades.ts';
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts';
import { request, type ScriptedVenue, startScriptedVenue } from '../support/scripted-venue.ts';
import { silentLog, silentMetrics } from '../support/silent.ts';
import { makeTrade } from '../support/trade.ts';
import { until } from '../support/venue.ts';
import { diceOf } from './seed.ts';
import { addLog, forgedLog, lieAbout } from './support/lies.ts';
import { type RpcFault, type RpcProxy, startRpcProxy } from './support/rpc-proxy.ts';

const owner = account(51);
const operator = account(52);
const taker = account(53);
const keeper = account(54);
const USDC = 1_000_000n;
const CLAIMABLE: Hex = `0x${'0'.repeat(63)}1`;
/** What must not happen does not happen within this many blocks. */
const MOST_BLOCKS = 120;

interface Place extends TestChain {
  /** As the programs see it: through three nodes. */
  port: EvmChain;
  nodes: readonly [RpcProxy, RpcProxy, RpcProxy];
}

const metrics = createMetrics();
let devnet: Devnet;
let seen: Devnet;
let here: Place;
let there: Place;
let postgres: TestPostgres;
let venue: ScriptedVenue;
let transactors: Map<number, Transactor>;
let attester: RunningAttester;
let lp: LpNode;

beforeAll(async () => {
  [devnet, postgres] = await Promise.all([
    startDevnet([41_121, 41_122], { depth: 2, landingMarginSeconds: 120, proofWindowSeconds: 900 }),
    startTestPostgres(),
  ]);
  const places = await Promise.all(devnet.chains.map(placeOf));
  seen = { chains: places, stop: devnet.stop };
  [here, there] = places as [Place, Place];
  for (const chain of devnet.chains) {
    for (const { address } of [owner, taker, operator, keeper]) await chain.fund(address);
    await chain.deposit(owner.address, chain.usdc.address, 50_000n * USDC);
    await chain.deposit(taker.address, chain.usdc.address, 50_000n * USDC);
    await chain.setOperator(owner.address, operator.address);
    await chain.anvil.mine(5);
  }
  venue = await startScriptedVenue(devnet.chains.map(({ chain }) => chain));
  transactors = await testTransactors({ devnet: seen, postgres, operator, owner: 'lp' });
  const config = lpConfig(devnet, owner.address, {
    reconcileSeconds: 1,
    chains: devnet.chains.map(({ chain }) => ({
      chainId: chain.id,
      account: owner.address,
      minGas: '0.01',
      maxHeadAgeMs: 3_600_000,
      graceSeconds: 2,
    })),
  });
  attester = createAttester({
    chains: ports(),
    signer: ATTESTERS[0].signer,
    clock: systemClock,
    log: silentLog,
    metrics: silentMetrics,
  });
  await attester.start();
  lp = await createTestLp({
    devnet: seen,
    postgres,
    venueUrl: venue.url,
    operator,
    schema: 'lp_endpoints',
    config,
    transactors,
    proofs: willingAttesters,
  });
  await lp.start();
  await venue.until(({ status }) => status === 'active');
  await until(() =>
    lp
      .inventory()
      .filter(({ asset }) => asset === 'USDC')
      .every(({ onchain }) => onchain > 0n),
  );
}, 180_000);

afterEach(async () => {
  for (const { nodes, port } of [here, there]) {
    for (const node of nodes) node.heal();
    for (const index of nodes.keys())
      await expect.poll(() => isBelieved(port, index), { timeout: 60_000 }).toBe(true);
  }
});

afterAll(async () => {
  await lp?.stop();
  await attester?.stop();
  await venue?.stop();
  await Promise.all(
    [here, there].flatMap(({ port, nodes }) => [port.close(), ...nodes.map((node) => node.stop())]),
  );
  await Promise.all([devnet?.stop(), postgres?.stop()]);
});

async function placeOf(chain: TestChain): Promise<Place> {
  const nodes = (await Promise.all([0, 1, 2].map(() => startRpcProxy(chain.anvil.url)))) as [
    RpcProxy,
    RpcProxy,
    RpcProxy,
  ];
  const port = createChain(chain.chain, {
    rpcUrls: nodes.map(({ url }) => url),
    clock: systemClock,
    log: silentLog,
    metrics,
    tryMs: 4_000,
    timeoutMs: 4_000,
    maxLagBlocks: 3,
    readmitAfterMs: 500,
    maxClockSkewMs: 1e12,
    quorum: { aboveUsd: 100, agree: 2 },
  });
  await port.start();
  return { ...chain, port, nodes };
}

const ports = () => new Map(seen.chains.map(({ chain, port }) => [chain.id, port]));
const metric = async (name: string, ...labels: string[]) =>
  Number(
    (await metrics.text())
      .split('\n')
      .find((line) => line.startsWith(`${name}{`) && labels.every((label) => line.includes(label)))
      ?.split(' ')
      .at(-1) ?? 0,
  );
const isBelieved = async ({ chain }: Pick<EvmChain, 'chain'>, endpoint: number) =>
  (await metric('firmquote_chain_endpoint_in_service', `chain="${chain.slug}"`, `endpoint="${endpoint}"`)) ===
  1;
const ejections = ({ chain }: TestChain, endpoint: number, fault: string) =>
  metric(
    'firmquote_chain_endpoint_ejections_total',
    `chain="${chain.slug}"`,
    `endpoint="${endpoint}"`,
    `fault="${fault}"`,
  );
const bridge = (amount: bigint) =>
  takeQuote(
    devnet,
    venue,
    taker,
    request({
      from: here.chain,
      to: there.chain,
      give: here.usdc,
      take: there.usdc,
      amount,
      taker: taker.address,
    }),
  );
const awardNow = async (id: string) => (await lp.awards()).find(({ orderId }) => orderId === id);
const balance = () =>
  there.anvil
    .rpc<Hex>('eth_call', [
      {
        to: there.chain.escrow,
        data: `0xf7888aec${owner.address.slice(2).padStart(64, '0')}${there.usdc.address.slice(2).padStart(64, '0')}`,
      },
      'latest',
    ])
    .then(BigInt);
const newest = async ({ anvil }: TestChain): Promise<Block> => {
  const { number, hash, timestamp } = await anvil.rpc<{ number: Hex; hash: Hex; timestamp: Hex }>(
    'eth_getBlockByNumber',
    ['latest', false],
  );
  return { number: BigInt(number), hash, timestamp: Number(timestamp) };
};

/**
 * Mines one block on each chain, as soon as every process has read the last one, until the condition holds.
 * Returns false after more blocks than any test here needs.
 */
async function minedUntil(what: () => Promise<boolean>): Promise<boolean> {
  for (let block = 0; block < MOST_BLOCKS; block += 1) {
    if (await what()) return true;
    await Promise.all([here.anvil.mine(), there.anvil.mine()]);
    await Promise.all(
      [here, there].map(async (place) =>
        until(async () => (place.port.head()?.number ?? 0n) >= (await newest(place)).number),
      ),
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

async function opened(amount: bigint) {
  const trade = await bridge(amount);
  venue.send({ type: 'award', ...awardOf(trade) });
  await here.send(keeper.address, here.chain.escrow, openForCall(trade.order, trade.funding));
  return trade;
}

/** Sends from the operator's account and waits until every node has received the bytes. */
async function sent(key: string): Promise<Hex> {
  const transactor = transactors.get(there.chain.id) as Transactor;
  const before = there.nodes.map((node) => node.calls('eth_sendRawTransaction'));
  // Approves nothing, so it has no effect. On a busy machine the lease may have lapsed briefly.
  const submit = () =>
    transactor.submit({
      key,
      to: there.usdc.address,
      data: `0x095ea7b3${keeper.address.slice(2).padStart(64, '0')}${'0'.repeat(64)}`,
      gas: 100_000n,
    });
  await until(() =>
    submit().then(
      () => true,
      () => false,
    ),
  );
  await until(() =>
    there.nodes.every((node, index) => node.calls('eth_sendRawTransaction') > (before[index] ?? 0)),
  );
  const [hash] = (await transactor.status(key))?.hashes ?? [];
  return hash as Hex;
}
const stateOf = async (key: string) => (await transactors.get(there.chain.id)?.status(key))?.state;
const countOf = () =>
  there.anvil.rpc<Hex>('eth_getTransactionCount', [operator.address, 'latest']).then(Number);
/** The next block includes nothing of ours, and the one after does. */
async function passedOver(): Promise<void> {
  await there.anvil.rpc('anvil_setNextBlockBaseFeePerGas', ['0x2540be400']);
  const { number } = await newest(there);
  await there.anvil.mine();
  await until(() => (there.port.head()?.number ?? 0n) > number);
  await there.anvil.rpc('anvil_setNextBlockBaseFeePerGas', ['0x1']);
}

test('F16: a lost answer and "already known" both count as sent: one transaction, one nonce', async () => {
  await there.anvil.rpc('evm_setAutomine', [false]);
  try {
    const lost: RpcFault = { do: 'swallow', how: diceOf('F16').pick(['hang_up', 'silence']) };
    for (const [key, fault, outcome] of [
      ['lost', lost, 'indeterminate'],
      ['known', { do: 'duplicate' } as RpcFault, 'sent'],
    ] as const) {
      const outcomes = () =>
        metric('firmquote_chain_sends_total', `chain="${there.chain.slug}"`, `outcome="${outcome}"`);
      const [before, said] = [await countOf(), await outcomes()];
      const lifts = there.nodes.map((node) => node.fault('eth_sendRawTransaction', fault));
      const hash = await sent(`f16-${key}`);
      await until(async () => (await there.anvil.rpc('eth_getTransactionByHash', [hash])) !== null);
      await until(async () => (await outcomes()) > said);
      // A block without our bytes: a caller that believed in a refusal would now send another transaction at
      // this nonce.
      await passedOver();
      for (const lift of lifts) lift();
      expect(await minedUntil(async () => (await stateOf(`f16-${key}`)) !== 'pending')).toBe(true);
      expect(await transactors.get(there.chain.id)?.status(`f16-${key}`)).toMatchObject({
        state: 'mined',
        receipt: { status: 'success' },
      });
      expect(await countOf()).toBe(before + 1);
    }
  } finally {
    await there.anvil.rpc('evm_setAutomine', [true]);
  }
});

test('F17: bytes that one node withholds reach the chain through the others, and bytes that every pool dropped are sent again', async () => {
  const silent = diceOf('F17').pick(there.nodes.slice(1));
  silent.fault('eth_sendRawTransaction', { do: 'drop', answer: ([raw]) => keccakHex(raw as Hex) });
  there.nodes[0].fault('eth_sendRawTransaction', { do: 'drop', answer: ([raw]) => keccakHex(raw as Hex) });
  await sent('f17-kept');
  expect(await minedUntil(async () => (await stateOf('f17-kept')) === 'mined')).toBe(true);
  for (const node of there.nodes) node.heal();

  await there.anvil.rpc('evm_setAutomine', [false]);
  const hash = await sent('f17-evicted');
  await until(async () => (await there.anvil.rpc('eth_getTransactionByHash', [hash])) !== null);
  await there.anvil.rpc('anvil_dropTransaction', [hash]);
  await there.anvil.rpc('evm_setAutomine', [true]);
  expect(await minedUntil(async () => (await stateOf('f17-evicted')) === 'mined')).toBe(true);
});

test('F18: a node that goes back or lags is excluded, the head never decreases, and due steps are taken', async () => {
  const heads: bigint[] = [];
  const unfollow = here.port.onHead(({ number }) => heads.push(number));
  await minedUntil(async () => heads.length > 2);
  const [first, second] = here.nodes;
  const before = await balance();
  const trade = await bridge(500n * USDC);
  venue.send({ type: 'award', ...awardOf(trade) });
  // It reported the newest block, and then goes back: one block, as another node of the same provider would,
  // and then more.
  const asked = async () => {
    const told = first.calls('eth_getBlockByNumber');
    await until(() => first.calls('eth_getBlockByNumber') > told + 4);
  };
  await here.anvil.mine(8);
  await asked();
  const slightly = first.fault('*', { do: 'stale', at: (await newest(here)).number - 1n });
  await asked();
  expect(await isBelieved(here.port, 0)).toBe(true);
  slightly();
  const back = first.fault('*', { do: 'stale', at: (await newest(here)).number - 8n });
  await expect.poll(() => ejections(here, 0, 'backwards'), { timeout: 60_000 }).toBeGreaterThan(0);
  await here.send(keeper.address, here.chain.escrow, openForCall(trade.order, trade.funding));
  expect(await here.port.orderStatus(trade.id)).toBe('deposited');
  expect(await minedUntil(async () => (await awardNow(trade.id))?.stage === 'filled')).toBe(true);
  expect(await balance()).toBe(before - trade.output);
  back();
  await expect.poll(() => isBelieved(here.port, 0), { timeout: 60_000 }).toBe(true);

  second.fault('*', { do: 'stale', at: (await newest(here)).number });
  await here.anvil.mine(5);
  await expect.poll(() => ejections(here, 1, 'lagging'), { timeout: 60_000 }).toBeGreaterThan(0);
  unfollow();
  expect(heads).toEqual([...heads].sort((a, b) => Number(a - b)));
});

test('F19: with one node that returns no logs and no receipts, the fill is still found, attested and claimed', async () => {
  const [first] = there.nodes;
  const before = await balance();
  first.fault('eth_getLogs', { do: 'drop_logs' });
  first.fault('eth_getTransactionReceipt', { do: 'null' });
  const trade = await opened(700n * USDC);
  expect(await minedUntil(async () => (await awardNow(trade.id))?.stage === 'finalised')).toBe(true);
  expect(await balance()).toBe(before - trade.output);
  expect(first.faulted('eth_getLogs')).toBeGreaterThan(0);
  expect(await transactors.get(there.chain.id)?.status(`${trade.id}-fill`)).toMatchObject({ state: 'mined' });
  // The process that did not receive the fill is told where it is.
  const output = trade.order.outputs[0] as MandateOutput;
  const { timestamp } = (await awardNow(trade.id))?.fill ?? { timestamp: 0 };
  const attestation = fillAttestation({
    solver: addressToBytes32(owner.address),
    orderId: trade.id,
    timestamp,
    output,
  });
  expect(
    await attester.attest({
      ...attestation,
      chainId: here.chain.id,
      oracle: here.chain.oracle,
      orderId: trade.id,
    }),
  ).toMatchObject({ kind: 'signed' });
});

test('F23: one lying node causes no fill, no signature and no final stage', async () => {
  const liar = diceOf('F23').pick([0, 1]);
  // Below the value the first endpoint decides, which here is the liar.
  for (let index = 0; index < liar; index += 1)
    here.nodes[index]?.fault('*', { do: 'swallow', how: 'hang_up' });
  for (let index = 0; index < liar; index += 1)
    await expect.poll(() => isBelieved(here.port, index), { timeout: 60_000 }).toBe(false);
  const before = await balance();
  const trade = await bridge(900n * USDC);
  here.nodes[liar]?.fault('eth_call', lieAbout(here.chain.escrow, 'orderStatus', trade.id, CLAIMABLE));
  venue.send({ type: 'award', ...awardOf(trade) });
  const disagreements = () =>
    metric('firmquote_chain_quorum_disagreements_total', `chain="${here.chain.slug}"`);
  const filled = async () =>
    BigInt(
      await there.anvil.rpc<Hex>('eth_call', [
        { to: there.chain.escrow, data: fillRecordCall(trade.id, trade.order.outputs[0] as MandateOutput) },
        'latest',
      ]),
    ) !== 0n;
  expect(await minedUntil(async () => (await disagreements()) > 0 || (await filled()))).toBe(true);
  expect([await filled(), await balance()]).toEqual([false, before]);
  here.nodes.forEach((node) => node.heal());

  // The attester is shown a fill that never happened, in a log and in the escrow's record.
  const { hash, number, timestamp } = await newest(there);
  const output = trade.order.outputs[0] as MandateOutput;
  const forged = { solver: addressToBytes32(keeper.address), orderId: trade.id, timestamp, output };
  there.nodes[0].fault(
    'eth_getLogs',
    addLog(
      forgedLog(there.chain.escrow, { hash, number }, 'OutputFilled', trade.id, [
        forged.solver,
        timestamp,
        output,
        output.amount,
      ]),
    ),
  );
  there.nodes[0].fault(
    'eth_call',
    lieAbout(there.chain.escrow, 'fillRecord', trade.id, fillRecordOf(forged)),
  );
  await there.anvil.mine(4);
  await until(async () => (there.port.head()?.number ?? 0n) >= (await newest(there)).number);
  const request = {
    ...fillAttestation(forged),
    payloadHash: fillPayloadHash(forged),
    chainId: here.chain.id,
    oracle: here.chain.oracle,
    orderId: trade.id,
  };
  expect((await attester.attest(request)).kind).toBe('unknown');
  expect(await ejections(there, 0, 'contradicting')).toBeGreaterThan(0);
  there.nodes.forEach((node) => node.heal());
  for (const { port, nodes } of [here, there])
    for (const index of nodes.keys())
      await expect.poll(() => isBelieved(port, index), { timeout: 60_000 }).toBe(true);

  // The venue's worker is shown the same for one of its own orders: status open, and a log.
  const db = await postgres.database('venue', VENUE_MIGRATIONS);
  const [store, bus] = [createVenueStore(db), createPostgresBus(db, silentLog)];
  const order = {
    ...makeTrade({
      origin: here,
      dest: there,
      taker,
      lps: [{ account: owner, operator }],
      now: (await newest(here)).timestamp,
    }),
    amountUsd: 2_500,
  };
  expect(await store.accept(order, '{}', null)).toMatchObject({ kind: 'accepted' });
  const block = await newest(here);
  here.nodes[0].fault('eth_call', lieAbout(here.chain.escrow, 'orderStatus', order.orderId, CLAIMABLE));
  here.nodes[0].fault(
    'eth_getLogs',
    addLog(forgedLog(here.chain.escrow, block, 'Open', order.orderId, [order.order])),
  );
  await here.anvil.mine(4);
  const worker = createOrderAdvancer(
    {
      store,
      bus,
      chains: ports(),
      transactors: new Map(),
      routeVenues: [],
      attestations: { signatures: async () => undefined },
      queue: { wake: async () => {}, process: async () => {}, close: async () => {} },
      clock: systemClock,
      log: silentLog,
      metrics: silentMetrics,
    },
    { owner: 'worker', sweepMs: 200, leaseMs: 2_000 },
  );
  const told = await disagreements();
  await worker.start();
  const facts = async () => (await store.order(order.orderId))?.facts.map(({ fact }) => fact.kind);
  expect(
    await minedUntil(
      async () => (await disagreements()) > told || (await facts())?.includes('opened') === true,
    ),
  ).toBe(true);
  await worker.stop();
  await bus.close();
  expect(await facts()).toEqual(['accepted']);
});

const fillRecordCall = (orderId: Bytes32, output: MandateOutput): Hex =>
  `0x${RECORD}${orderId.slice(2)}${outputHash(output).slice(2)}`;
const RECORD = keccakHex(`0x${Buffer.from('fillRecord(bytes32,bytes32)').toString('hex')}`).slice(2, 10);
