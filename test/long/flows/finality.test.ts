/**
 * What a large order waits for: more blocks, or the block that nodes call final. The chain's depth is enough
 * for small ones. anvil calls the block 64 below its newest one `finalized`.
 */

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createChain, type EvmChain } from '../../../src/adapters/evm/chain/chain.ts';
import { systemClock } from '../../../src/adapters/system/clock.ts';
import { createAttester } from '../../../src/attester/attester.ts';
import { fillAttestation } from '../../../src/domain/attestation.ts';
import { assetId } from '../../../src/domain/asset.ts';
import {
  crossLandingSeconds,
  type FinalityStep,
  finalityStep,
  secondsToFinalUp,
} from '../../../src/domain/chain.ts';
import { addressToBytes32, type Hex } from '../../../src/domain/hex.ts';
import type { Attestations } from '../../../src/ports/attestations.ts';
import type { ChainPort } from '../../../src/ports/chain.ts';
import type { LpNode } from '../../../src/lp/node/interface.ts';
import { openForCall } from '../../../src/settlement/call.ts';
import { type RpcProxy, startRpcProxy } from '../../faults/support/rpc-proxy.ts';
import { account, ATTESTERS, type Devnet, startDevnet, type TestChain } from '../../support/devnet.ts';
import { createTestLp, lpConfig, testTransactors } from '../../support/lp.ts';
import { awardOf, eventually, takeQuote, willingAttesters } from '../../support/lp-trades.ts';
import { startTestPostgres, type TestPostgres } from '../../support/postgres.ts';
import { puppetFeed } from '../../support/puppet-feed.ts';
import { request, type ScriptedVenue, startScriptedVenue } from '../../support/scripted-venue.ts';
import { type Settling, startSettling } from '../../support/settling.ts';
import { silentLog, silentMetrics } from '../../support/silent.ts';
import { type Json, startTestVenue, type TestVenue } from '../../support/venue.ts';

const USDC = 1_000_000n;
const FINALITY: readonly FinalityStep[] = [
  { aboveUsd: 2_000, depth: 6 },
  { aboveUsd: 20_000, tag: 'finalized', seconds: 15 },
];
const FINALIZED = 64n;

const heightOf = async ({ anvil }: TestChain): Promise<bigint> =>
  BigInt(await anvil.rpc<Hex>('eth_blockNumber'));

/** Until the port has seen it. */
async function mined(chain: TestChain, blocks: number): Promise<bigint> {
  const { anvil, port } = chain;
  await anvil.mine(blocks);
  const height = await heightOf(chain);
  await expect.poll(() => port.head()?.number ?? 0n).toBeGreaterThanOrEqual(height);
  return height;
}

const NO_TAG = { do: 'reject', code: -32_602, message: 'invalid block tag' } as const;
const isFinalized = ([tag]: readonly unknown[]): boolean => tag === 'finalized';

/** The same chain by these endpoints, started. */
async function openChain({ chain }: TestChain, ...rpcUrls: string[]): Promise<EvmChain> {
  const port = createChain(chain, {
    rpcUrls,
    clock: systemClock,
    log: silentLog,
    metrics: silentMetrics,
    maxClockSkewMs: 1e12,
  });
  await port.start();
  return port;
}

describe('the steps', () => {
  const chain = {
    ...{ depth: 3, blockTimeMs: 2_000, landingMarginSeconds: 30 },
    finality: [
      { aboveUsd: 100, depth: 10 },
      { aboveUsd: 1_000, tag: 'safe' as const, seconds: 120 },
    ],
  };

  test.each([
    [99.99, undefined, 6, 30],
    [100, { aboveUsd: 100, depth: 10 }, 20, 44],
    [1_000, { aboveUsd: 1_000, tag: 'safe', seconds: 120 }, 120, 144],
    [undefined, { aboveUsd: 1_000, tag: 'safe', seconds: 120 }, 120, 144],
  ])('%s USD', (value, step, seconds, landing) => {
    expect(finalityStep(chain, value)).toEqual(step);
    expect([secondsToFinalUp(chain, value), crossLandingSeconds(chain, value)]).toEqual([seconds, landing]);
  });

  test('no larger order is final sooner, and an unknown value counts as the largest', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e6, noNaN: true }),
        fc.double({ min: 0, max: 1e6, noNaN: true }),
        (x, y) => {
          const [small, large] = x < y ? [x, y] : [y, x];
          expect(secondsToFinalUp(chain, small)).toBeLessThanOrEqual(secondsToFinalUp(chain, large));
          expect(secondsToFinalUp(chain, large)).toBeLessThanOrEqual(secondsToFinalUp(chain, undefined));
          expect(crossLandingSeconds(chain, small)).toBeGreaterThanOrEqual(chain.landingMarginSeconds);
        },
      ),
    );
  });
});

describe('a chain and its attester', () => {
  let devnet: Devnet;
  let c: TestChain;
  let proxy: RpcProxy;
  let two: EvmChain;

  beforeAll(async () => {
    devnet = await startDevnet([31_701], { finality: FINALITY });
    c = devnet.chains[0] as TestChain;
    proxy = await startRpcProxy(c.anvil.url);
    two = await openChain(c, c.anvil.url, proxy.url);
  });
  afterAll(async () => {
    await two.close();
    await Promise.all([proxy.stop(), devnet.stop()]);
  });

  test('the newest final block depends on the value', async () => {
    const height = await mined(c, 100);
    expect([1_999, 2_000, 19_999].map((value) => c.port.finalNumber(value))).toEqual([
      height - 1n,
      height - 6n,
      height - 6n,
    ]);
    for (const value of [20_000, undefined])
      await expect
        .poll(async () => {
          await c.anvil.mine(1);
          const final = c.port.finalNumber(value) ?? 0n;
          // The tag is read with a head, at most once a second.
          return final >= height - FINALIZED && final <= (await heightOf(c)) - FINALIZED;
        })
        .toBe(true);
  });

  test('one of two endpoints that calls its newest block final is not believed', async () => {
    proxy.fault(
      'eth_getBlockByNumber',
      { do: 'lie', answer: (honest) => ({ ...(honest as object), number: '0xffffff' }) },
      isFinalized,
    );
    const before = proxy.faulted('eth_getBlockByNumber');
    // It lies twice, so that the first lie has been weighed.
    await expect
      .poll(async () => {
        await c.anvil.mine(1);
        return proxy.faulted('eth_getBlockByNumber') - before;
      })
      .toBeGreaterThan(1);
    expect(two.finalNumber(undefined)).toBeLessThanOrEqual((await heightOf(c)) - FINALIZED);
    proxy.heal();
  });

  test('a node without the tag: large orders wait, small ones do not, and an attester says why it is not ready', async () => {
    proxy.fault('eth_getBlockByNumber', NO_TAG, isFinalized);
    const alone = await openChain(c, proxy.url);
    expect(alone.finalNumber(20_000)).toBeUndefined();
    expect(alone.finalNumber(10)).toBe((alone.head()?.number ?? 0n) - 1n);
    const attester = createAttester({
      chains: new Map([[c.chain.id, alone]]),
      signer: ATTESTERS[0].signer,
      clock: systemClock,
      log: silentLog,
      metrics: silentMetrics,
    });
    await attester.start();
    expect(attester.ready()).toEqual(['chain1: no node names the final block that fills wait for']);
    await attester.stop();
    await alone.close();
    proxy.heal();
  });
});

describe('an LP', () => {
  const [owner, operator, taker, keeper] = [account(8_401), account(8_402), account(8_403), account(8_404)];
  let devnet: Devnet;
  let [from, to]: [TestChain, TestChain] = [] as never;
  let postgres: TestPostgres;
  let venue: ScriptedVenue;
  let lp: LpNode;
  let proxy: RpcProxy;
  let byProxy: EvmChain;
  let generation = 0;
  const dollar = puppetFeed('dollar', { USDUSD: 1 });
  /** Attesters sign while this is true. */
  let willing = true;
  const proofs: Attestations = {
    signatures: async (...asked) => (willing ? willingAttesters.signatures(...asked) : []),
    listSignatures: async (...asked) =>
      (willing && (await willingAttesters.listSignatures?.(...asked))) || [],
  };

  /** With the origin behind the proxy, read for the first time. */
  async function startLp(): Promise<void> {
    byProxy = await openChain(from, proxy.url);
    const seen: Devnet = { ...devnet, chains: [{ ...from, port: byProxy }, to] };
    lp = await createTestLp({
      devnet: seen,
      postgres,
      venueUrl: venue.url,
      operator,
      schema: 'lp_finality',
      config: lpConfig(devnet, owner.address, {
        quoting: { validitySeconds: 5, claimSeconds: 10, fillMarginSeconds: 1 },
        prices: {
          USD: { sources: [{ feed: 'dollar', symbol: 'USDUSD' }], maxAgeMs: 1_000 },
          ETH: { fixed: '2500' },
        },
        reconcileSeconds: 1,
      }),
      more: { feeds: [dollar] },
      transactors: await testTransactors({
        devnet: seen,
        postgres,
        operator,
        owner: `lp-finality-${(generation += 1)}`,
      }),
      proofs,
    });
    await lp.start();
  }

  beforeAll(async () => {
    [devnet, postgres] = await Promise.all([
      startDevnet([31_711, 31_712], {
        finality: FINALITY,
        landingMarginSeconds: 100,
        proofWindowSeconds: 600,
      }),
      startTestPostgres(),
    ]);
    [from, to] = devnet.chains as [TestChain, TestChain];
    for (const chain of devnet.chains) {
      for (const { address } of [owner, taker, operator, keeper]) await chain.fund(address);
      await chain.deposit(owner.address, chain.usdc.address, 200_000n * USDC);
      await chain.deposit(taker.address, chain.usdc.address, 200_000n * USDC);
      await chain.setOperator(owner.address, operator.address);
      // The escrow is as old as on a real chain.
      await chain.anvil.mine(70);
    }
    venue = await startScriptedVenue(devnet.chains.map(({ chain }) => chain));
    proxy = await startRpcProxy(from.anvil.url);
    await startLp();
    await venue.until(({ status }) => status === 'active');
  }, 120_000);
  afterAll(async () => {
    await lp?.stop();
    await byProxy?.close();
    await venue?.stop();
    await proxy?.stop();
    await Promise.all([devnet?.stop(), postgres?.stop()]);
  });

  const asks = (amount: bigint) =>
    request({
      ...{ from: from.chain, to: to.chain, give: from.usdc, take: to.usdc },
      ...{ amount: amount * USDC, taker: taker.address },
    });
  /** Holds expire by the clocks of both chains. The tag is read with a head, at most once a second. */
  async function blockByBlock(): Promise<void> {
    await Promise.all([from.anvil.mine(1), to.anvil.mine(1)]);
    await new Promise((done) => setTimeout(done, 1_100));
  }
  const awardFor = async (id: Hex) => (await lp.awards()).find(({ orderId }) => orderId === id);

  test.each([
    ['1,000 USD: at depth', 1_000n, 1, 1],
    ['5,000 USD: six blocks', 5_000n, 4, 6],
    ['30,000 USD: finalized', 30_000n, 20, 70],
  ])('fills an order of %s', async (_, amount, tooFew, enough) => {
    const trade = await takeQuote(devnet, venue, taker, asks(amount));
    venue.send({ type: 'award', ...awardOf(trade) });
    await eventually(async () => (await awardFor(trade.id))?.stage === 'committed');
    await from.send(keeper.address, from.chain.escrow, openForCall(trade.order, trade.funding));
    const paid = await to.port.ledgerBalance(owner.address, to.usdc.address);
    if (amount > 1_000n) {
      await mined(from, tooFew);
      await to.anvil.mine(1);
      await eventually(async () => (await awardFor(trade.id))?.note === 'not open at depth');
      expect(await to.port.ledgerBalance(owner.address, to.usdc.address)).toBe(paid);
    }
    await mined(from, enough);
    await eventually(async () => {
      await Promise.all([from.anvil.mine(1), to.anvil.mine(1)]);
      await new Promise((done) => setTimeout(done, 200));
      return (await to.port.ledgerBalance(owner.address, to.usdc.address)) === paid - trade.output;
    });
  });

  test('fills a small order at depth, although its price has gone since the award', async () => {
    const trade = await takeQuote(devnet, venue, taker, asks(1_000n));
    venue.send({ type: 'award', ...awardOf(trade) });
    await eventually(async () => (await awardFor(trade.id))?.stage === 'committed');
    dollar.say('USDUSD', undefined);
    await eventually(async () => (await venue.ask(asks(1_000n))).type === 'decline');
    await from.send(keeper.address, from.chain.escrow, openForCall(trade.order, trade.funding));
    const height = await mined(from, 2);
    await eventually(async () => ['filled', 'finalised'].includes((await awardFor(trade.id))?.stage ?? ''));
    // Nothing else moves this chain: the final block of a large order is still far below.
    expect((await heightOf(from)) - height).toBeLessThan(FINALIZED);
    dollar.say('USDUSD', 1);
    await eventually(async () => {
      await to.anvil.mine(1);
      return (await venue.ask(asks(1_000n))).type === 'quote';
    });
  });

  test('declines what the venue leaves too little time to fill', async () => {
    const rfq = asks(30_000n);
    const declined = await venue.ask({ ...rfq, skeleton: { ...rfq.skeleton, landingMarginSeconds: 12 } });
    expect(declined).toMatchObject({ type: 'decline', reason: 'size_above_max' });
    const small = asks(1_000n);
    expect(
      await venue.ask({ ...small, skeleton: { ...small.skeleton, landingMarginSeconds: 12 } }),
    ).toMatchObject({ type: 'quote' });
  });

  test('declines a large order while the final blocks of its chain are far behind', async () => {
    expect(await venue.ask(asks(30_000n))).toMatchObject({ type: 'quote' });
    proxy.fault(
      'eth_getBlockByNumber',
      { do: 'lie', answer: (honest) => ({ ...(honest as object), number: '0x1' }) },
      isFinalized,
    );
    // More blocks than the venue leaves seconds for, and as many on the other chain, whose clock frees holds.
    await Promise.all([mined(from, 100), mined(to, 100)]);
    await eventually(async () => {
      await blockByBlock();
      const answer = await venue.ask(asks(30_000n));
      return answer.type === 'decline' && answer.reason === 'size_above_max';
    });
    expect(await venue.ask(asks(1_000n))).toMatchObject({ type: 'quote' });
    proxy.heal();
  });

  test('claims what it has delivered, although after its restart no node names a final block', async () => {
    await eventually(async () => {
      await blockByBlock();
      return (await venue.ask(asks(30_000n))).type === 'quote';
    });
    willing = false;
    const trade = await takeQuote(devnet, venue, taker, asks(30_000n));
    venue.send({ type: 'award', ...awardOf(trade) });
    await eventually(async () => (await awardFor(trade.id))?.stage === 'committed');
    await from.send(keeper.address, from.chain.escrow, openForCall(trade.order, trade.funding));
    await mined(from, 70);
    await eventually(async () => {
      await Promise.all([from.anvil.mine(1), to.anvil.mine(1)]);
      return (await awardFor(trade.id))?.stage === 'filled';
    });
    await lp.stop();
    await byProxy.close();
    proxy.fault('eth_getBlockByNumber', NO_TAG, isFinalized);
    willing = true;
    await startLp();
    expect(byProxy.finalNumber(30_000)).toBeUndefined();
    await eventually(async () => {
      await Promise.all([from.anvil.mine(1), to.anvil.mine(1)]);
      return (await awardFor(trade.id))?.stage === 'finalised';
    });
    expect(await venue.ask(asks(30_000n))).toMatchObject({ type: 'decline' });
    proxy.heal();
  });
});

describe('a venue', () => {
  let s: Settling;
  let v: TestVenue;

  beforeAll(async () => {
    [s, v] = await Promise.all([
      startSettling([31_721, 31_722], { finality: FINALITY }),
      startTestVenue({ chainIds: [31_731, 31_732], finality: FINALITY }),
    ]);
  }, 120_000);
  afterAll(() => Promise.all([s?.stop(), v?.stop()]));

  test('shows a large order as settled only when it is final for its value', async () => {
    const worker = await s.worker();
    const [small, large] = [await s.accept({}, { amountUsd: 10 }), await s.accept({}, { amountUsd: 30_000 })];
    await s.reach('settled', [small]);
    await mined(s.here, 10);
    await new Promise((done) => setTimeout(done, 600));
    expect(await s.stageOf(large)).toBe('awaiting_escrow');
    await mined(s.here, 64);
    await s.reach('settled', [large]);
    await worker.stop();
  });

  test('goes by depth where no node names the final block: no accepted order is left alone', async () => {
    const proxy = await startRpcProxy(s.here.anvil.url);
    proxy.fault('eth_getBlockByNumber', NO_TAG, isFinalized);
    const port = await openChain(s.here, proxy.url);
    const chains = new Map<number, ChainPort>([
      [s.here.chain.id, port],
      [s.there.chain.id, s.there.port],
    ]);
    const worker = await s.worker({ chains });
    const large = await s.accept({}, { amountUsd: 30_000 });
    await s.reach('settled', [large]);
    await worker.stop();
    await port.close();
    await proxy.stop();
  });

  test('opens an order whose value is not known any more: its window was fixed with its quote', async () => {
    const slow = await startSettling([31_741, 31_742], {
      finality: [{ aboveUsd: 20_000, tag: 'finalized', seconds: 400 }],
    });
    // The escrow is as old as on a real chain.
    for (const chain of slow.devnet.chains) await mined(chain, 70);
    await slow.worker();
    const order = await slow.accept({ dest: slow.there }, { amountUsd: null });
    await eventually(async () => {
      // The worker opens what it has seen funded at depth.
      await slow.mine();
      await new Promise((done) => setTimeout(done, 500));
      return (await slow.here.port.orderStatus(order.orderId)) === 'deposited';
    });
    await slow.stop();
  });

  test('gives a large order across chains the time that its finality takes', async () => {
    const key = await v.key('service');
    const [from, to] = v.devnet.chains as [TestChain, TestChain];
    await v.solver(1, (rfq, make) => make.quote(rfq, { output: (BigInt(rfq.amount) * 99n) / 100n }));
    const taker = account(8_451);
    const marginOf = async (amount: bigint, dest: TestChain) => {
      const { json, text } = await v.call('POST', '/api/v1/rfq/quotes', {
        key,
        body: {
          taker: taker.address,
          input: {
            asset: assetId({ chainId: from.chain.id, token: from.usdc.address }),
            amount: (amount * USDC).toString(),
          },
          output: {
            asset: assetId({
              chainId: dest.chain.id,
              token: dest === from ? dest.weth.address : dest.usdc.address,
            }),
          },
        },
      });
      const candidate = json['quotes']?.[0] as Json;
      expect(candidate, text).toBeDefined();
      const { fillDeadline } = candidate['order']['payload']['message'] as unknown as {
        fillDeadline: number;
      };
      const preflight = await v.call('POST', '/api/v1/rfq/orders/preflight', {
        key,
        body: { quoteResponse: candidate },
      });
      expect(preflight.status, preflight.text).toBe(200);
      return Number(fillDeadline) - (candidate['validUntil'] as number);
    };
    const { landingMarginSeconds } = from.chain;
    expect(await marginOf(1_000n, to)).toBe(landingMarginSeconds);
    expect(await marginOf(30_000n, to)).toBe(landingMarginSeconds + 15 - 1);
    expect(await marginOf(30_000n, from)).toBe(landingMarginSeconds);
  });

  test('an attester signs no fill before it is final for the largest order', async () => {
    const attester = createAttester({
      chains: new Map(s.devnet.chains.map(({ chain, port }) => [chain.id, port])),
      signer: ATTESTERS[0].signer,
      clock: systemClock,
      log: silentLog,
      metrics: silentMetrics,
    });
    await attester.start();
    const order = await s.accept({ dest: s.there });
    await s.fill(order);
    const height = await mined(s.there, 10);
    const [event] = await s.there.port.orderEvents(order.orderId, 0);
    if (event?.kind !== 'filled') throw new Error('not filled');
    const asked = {
      ...fillAttestation({
        solver: addressToBytes32(s.lps[0]?.address ?? '0x'),
        orderId: order.orderId,
        timestamp: event.timestamp,
        output: event.output,
      }),
      ...{ chainId: s.here.chain.id, oracle: s.here.chain.oracle, orderId: order.orderId },
    };
    expect(await attester.attest(asked)).toMatchObject({ kind: 'not_final' });
    expect(height).toBeGreaterThan(event.blockNumber + 6n);
    await mined(s.there, 70);
    await expect
      .poll(async () => {
        await s.there.anvil.mine(1);
        return (await attester.attest(asked)).kind;
      })
      .toBe('signed');
    await attester.stop();
  });
});
