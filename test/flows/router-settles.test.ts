/**
 * What the router quotes, taken: pools settle through the escrow or cost nothing, bridges deliver or the
 * input comes back, whoever pays the gas.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { secondsToFinalUp } from '../../src/domain/chain.ts';
import type { Address, Hex } from '../../src/domain/hex.ts';
import type { RouteVenue } from '../../src/ports/route-venue.ts';
import { fillFloat, startTestBridge, type TestBridge } from '../support/bridge.ts';
import { account, type TestAccount } from '../support/devnet.ts';
import { startDex, type TestDex } from '../support/dex.ts';
import { type RouterWorld, startRouterWorld } from '../support/router.ts';
import { type Json, until } from '../support/venue.ts';

let w: RouterWorld;
let dex: TestDex;
let usdc: string;
let weth: string;
let honestBridge: TestBridge;
let bridge: RouteVenue;
let bridgeWorks = true;
const bridgeAccount = account(9_900);

beforeAll(async () => {
  w = await startRouterWorld(
    {
      chainIds: [31_425, 31_426],
      moreTokens: 1,
      landingMarginSeconds: 8,
      finality: [{ aboveUsd: 20_000, depth: 40 }],
      router: { maxMiddles: 0, timeoutMs: 3_000 },
    },
    async ([a, b], db) => {
      dex = await startDex(a);
      for (const chain of [a, b]) await chain.fund(bridgeAccount.address);
      await fillFloat(b, bridgeAccount, 50_000_000_000n);
      const options = { validSeconds: 30 };
      honestBridge = await startTestBridge({ account: bridgeAccount, chains: [a, b], db, options });
      const honest = honestBridge.venue;
      bridge = {
        ...honest,
        deliver: async (delivery) =>
          bridgeWorks ? honest.deliver?.(delivery) : Promise.reject(new Error('the bridge is down')),
      };
      return [
        dex.venue('constant_product', { validSeconds: 30 }),
        dex.venue('concentrated', { toleranceBps: 30, validSeconds: 30 }),
        bridge,
      ];
    },
  );
  [usdc, weth] = [w.asset(w.a, w.a.usdc), w.asset(w.a, w.a.weth)];
});
afterAll(async () => {
  await honestBridge.stop();
  await w.stop();
});

const ask = (taker: TestAccount, via: string, change: object = {}) => ({
  taker: taker.address,
  input: { asset: usdc, amount: '1000000000' },
  output: { asset: weth },
  solvers: { include: [via] },
  ...change,
});
const best = async (body: object) => (await w.candidates(body))[0] as Json;
const shown = (candidate: Json, side: 'inputs' | 'outputs', field = 'amount') =>
  BigInt(candidate['preview']?.[side]?.[0]?.[field] as unknown as string);
const status = async (orderId: Hex) =>
  (await w.v.call('GET', `/api/v1/router/orders/${orderId}`, { key: w.key })).json;

test.each(['uniswap-v2', 'uniswap-v3'])(
  '%s: settles in one transaction, at least the floor, and what the relayer is paid covers its gas',
  async (via) => {
    await w.seen();
    const taker = await w.taker();
    const candidate = await best(ask(taker, via));
    const [paid, got] = [await w.held(taker, w.a, w.a.usdc), await w.held(taker, w.a, w.a.weth)];
    const orderId = await w.submit(taker, candidate);
    const { progress } = await w.reaches(orderId, 'settled');
    expect(paid - (await w.held(taker, w.a, w.a.usdc))).toBe(shown(candidate, 'inputs'));
    const arrived = (await w.held(taker, w.a, w.a.weth)) - got;
    expect(arrived).toBeGreaterThanOrEqual(shown(candidate, 'outputs', 'minimumAmount'));
    // Nothing moved in between, so the pool gave what it had said, and all of it went to the taker.
    expect(arrived).toBe(shown(candidate, 'outputs'));
    expect(await status(orderId)).toMatchObject({
      status: 'settled',
      txHash: progress.finalised?.txHash,
      settledAmounts: { [weth]: { amount: arrived.toString(), receiver: taker.address } },
    });

    // History says the same, and that nothing slipped.
    const { json } = await w.v.call('GET', `/api/v1/workspaces/w1/trades/${orderId}`, {
      key: await w.v.key('workspace'),
    });
    expect(json).toMatchObject({
      orderKind: 'route_dex',
      trade: { slippageBps: 0, route: { output: { rawAmount: arrived.toString() } } },
    });

    const receipt = await w.a.port.receipt(progress.finalised?.txHash as Hex);
    const context = candidate['order']?.['payload']?.['message']?.['outputs']?.[0]?.[
      'context'
    ] as unknown as string;
    const relayFee = BigInt(`0x${context.slice(-32)}`);
    // 2,500 USD for one ETH, one for one USDC.
    const cost = ((receipt?.gasUsed ?? 0n) * (receipt?.effectiveGasPrice ?? 0n) * 2_500n) / 10n ** 12n;
    expect(relayFee).toBeGreaterThanOrEqual(cost);
    expect(receipt?.gasUsed).toBeGreaterThan(100_000n);
  },
);

test('the pool moves away: retried until the deadline, failed with a reason, the taker paid nothing', async () => {
  const taker = await w.taker();
  const candidate = await best(ask(taker, 'uniswap-v2', { input: { asset: usdc, amount: '2000000000' } }));
  const paid = await w.held(taker, w.a, w.a.usdc);
  // A heap of USDC in the pair: it gives less for more of it.
  await dex.trade(0, w.a.usdc.address, 300_000_000_000n);
  const orderId = await w.submit(taker, candidate);
  const record = await until(() => w.v.store.order(orderId));
  await new Promise((done) => setTimeout(done, 500));
  expect((await status(orderId))['status']).toBe('pending');
  await w.a.anvil.advance(record.order.fillDeadline + 2 - (w.a.port.head()?.timestamp ?? 0));
  const { progress } = await w.reaches(orderId, 'failed');
  expect(progress.failure?.code).toBe('settlement_reverted');
  expect(progress.sent).toEqual([]);
  expect(await status(orderId)).toMatchObject({
    status: 'failed',
    failure: { code: 'settlement_reverted', refundTxHash: null, refundableFrom: null },
  });
  expect(await w.held(taker, w.a, w.a.usdc)).toBe(paid);
  expect(await w.a.port.isNonceUsed(taker.address, record.order.nonce)).toBe(false);
  await dex.trade(0, w.a.weth.address, 120n * 10n ** 18n);
  await w.seen();
});

test('the pool returns in time: the same order settles', async () => {
  const taker = await w.taker();
  const candidate = await best(
    ask(taker, 'uniswap-v3', { output: { asset: w.asset(w.a, w.a.deployment.tokens[2] as never) } }),
  );
  const third = w.a.deployment.tokens[2]?.address as Address;
  const pool = dex.listed.findIndex(({ tokens, fee }) => fee !== null && tokens.includes(third));
  await dex.trade(pool, w.a.weth.address, 40n * 10n ** 18n);
  const orderId = await w.submit(taker, candidate);
  await new Promise((done) => setTimeout(done, 400));
  expect((await status(orderId))['status']).toBe('pending');
  await dex.trade(pool, third, 100_000n * 10n ** 18n);
  await w.reaches(orderId, 'settled');
  await w.seen();
});

test('walletBroadcast: the taker sends the prepared settlement', async () => {
  w.v.relayer.healthy = false;
  try {
    const taker = await w.taker();
    const candidate = await best(ask(taker, 'uniswap-v2'));
    expect(candidate).toMatchObject({ executionMode: 'walletBroadcast' });
    expect(BigInt(candidate['gas']?.['native'] as unknown as string)).toBeGreaterThan(0n);
    await w.a.approve(taker.address, w.a.usdc.address, w.a.chain.escrow);
    const plan = (await w.preflight(candidate)).json;
    const broadcast = (plan['nextActions'] as unknown as Json[]).find(
      ({ purpose }) => (purpose as string) === 'settlementBroadcast',
    ) as Json;
    const orderId = await w.submit(taker, candidate, plan);
    expect((await status(orderId))['status']).toBe('pending');
    const got = await w.held(taker, w.a, w.a.weth);
    await w.a.send(
      taker.address,
      broadcast['tx']?.['to'] as unknown as Address,
      broadcast['tx']?.['data'] as unknown as Hex,
    );
    await w.reaches(orderId, 'settled');
    expect((await w.held(taker, w.a, w.a.weth)) - got).toBe(shown(candidate, 'outputs'));
  } finally {
    w.v.relayer.healthy = true;
  }
});

test('a bridge: opened, delivered from its own account, proven, and paid like an LP', async () => {
  const taker = await w.taker();
  const target = w.asset(w.b, w.b.usdc);
  const candidate = await best(ask(taker, 'test-bridge', { output: { asset: target } }));
  expect(candidate).toMatchObject({
    routingPath: 'direct',
    composite: { executionModel: 'atomic', legs: [{ kind: 'bridge', solverId: 'test-bridge' }] },
  });
  const got = await w.held(taker, w.b, w.b.usdc);
  expect(candidate['warnings']).toContainEqual({
    code: 1009,
    message: expect.stringMatching(
      /^Leg 0 \(bridge, test-bridge\) has a fixed amount, but .* is refunded from /,
    ),
  });
  const credit = await w.a.port.ledgerBalance(bridgeAccount.address, w.a.usdc.address);
  const orderId = await w.submit(taker, candidate);
  await w.reaches(orderId, 'settled');
  expect((await w.held(taker, w.b, w.b.usdc)) - got).toBe(shown(candidate, 'outputs'));
  expect(await w.a.port.ledgerBalance(bridgeAccount.address, w.a.usdc.address)).toBeGreaterThan(credit);
});

test('a bridge: an order of a value that is final later has that much longer to be filled', async () => {
  const taker = await w.taker();
  const secondsFor = async (whole: bigint) => {
    const candidate = await best({
      ...ask(taker, 'test-bridge', { output: { asset: w.asset(w.b, w.b.usdc) } }),
      input: { asset: usdc, amount: (whole * 1_000_000n).toString() },
    });
    const fillDeadline = candidate['order']?.['payload']?.['message']?.['fillDeadline'];
    return Number(fillDeadline) - Number(candidate['validUntil']);
  };
  const { chain } = w.a;
  expect(await secondsFor(1_000n)).toBe(chain.landingMarginSeconds);
  const longer = secondsToFinalUp(chain, 25_000) - secondsToFinalUp(chain, 1_000);
  expect(longer).toBeGreaterThan(0);
  expect(await secondsFor(25_000n)).toBe(chain.landingMarginSeconds + longer);
});

test('a bridge that is down: asked again, then the input is refunded', async () => {
  bridgeWorks = false;
  const taker = await w.taker();
  const candidate = await best(ask(taker, 'test-bridge', { output: { asset: w.asset(w.b, w.b.usdc) } }));
  const paid = await w.held(taker, w.a, w.a.usdc);
  const orderId = await w.submit(taker, candidate);
  const { order } = await w.reaches(orderId, 'escrowed');
  expect(paid - (await w.held(taker, w.a, w.a.usdc))).toBe(shown(candidate, 'inputs'));
  for (const chain of [w.b, w.a])
    await chain.anvil.advance(Math.max(0, order.expires + 2 - (chain.port.head()?.timestamp ?? 0)));
  const { progress } = await w.reaches(orderId, 'refunded');
  expect(progress.failure?.code).toBe('expired_unfilled');
  expect(await w.held(taker, w.a, w.a.usdc)).toBe(paid);
});
