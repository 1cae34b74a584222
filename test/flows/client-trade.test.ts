/**
 * Whole trades with the client, in both namespaces, on real chains with a worker behind the venue: asked,
 * checked, settled, confirmed on chain, found in the history.
 */

import { createPublicClient, createWalletClient, encodeDeployData, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import {
  type Client,
  type ClientOptions,
  createClient,
  type TakeOptions,
  type TradeRequest,
  type Wallet,
} from '../../src/client/client.ts';
import type { RouterCandidate } from '../../src/protocol/api/router.ts';
import { devStubbornTokenAbi } from '../support/abi/dev-stubborn-token.ts';
import { putCode } from '../support/code.ts';
import type { TestAccount, TestChain } from '../support/devnet.ts';
import { startDex, type TestDex } from '../support/dex.ts';
import { type RouterWorld, startRouterWorld } from '../support/router.ts';
import { creationCodeOf } from '../../src/adapters/evm/deploy/creation-code.ts';

let w: RouterWorld;
let dex: TestDex;
let lp: { lp: TestAccount; operator: TestAccount };
let mining: ReturnType<typeof setInterval>;
let [usdcA, wethA, wethB, usdcB, thirdB] = ['', '', '', '', ''];

beforeAll(async () => {
  w = await startRouterWorld(
    {
      chainIds: [31_441, 31_442],
      moreTokens: 1,
      landingMarginSeconds: 30,
      router: { maxMiddles: 3, timeoutMs: 4_000 },
      fanOut: { timeoutMs: 1_500 },
      breaker: { limit: 1_000 },
    },
    async ([, b]) => {
      dex = await startDex(b);
      return [dex.venue('constant_product', { validSeconds: 60 })];
    },
  );
  [usdcA, wethA, usdcB, wethB, thirdB] = [
    w.asset(w.a, w.a.usdc),
    w.asset(w.a, w.a.weth),
    w.asset(w.b, w.b.usdc),
    w.asset(w.b, w.b.weth),
    w.asset(w.b, w.b.deployment.tokens[2] as never),
  ];
  const worth: Record<string, bigint> = {
    [usdcA]: 10n ** 12n,
    [usdcB]: 10n ** 12n,
    [wethA]: 2_500n,
    [wethB]: 2_500n,
  };
  lp = await w.v.solver(1, (rfq, make) => {
    const [from, to] = [worth[rfq.input], worth[rfq.output]];
    return from && to
      ? make.quote(rfq, { output: (BigInt(rfq.amount) * from * 9_990n) / (to * 10_000n) })
      : make.decline(rfq, 'pair');
  });
  // Time passes on these chains.
  mining = setInterval(
    () => void Promise.all([w.a, w.b].map(({ anvil }) => anvil.mine())).catch(() => {}),
    200,
  );
}, 300_000);
afterAll(async () => {
  clearInterval(mining);
  await w.stop();
});

const trusted = ({ chain, anvil }: TestChain) => ({
  rpc: createPublicClient({ transport: http(anvil.url), cacheTime: 0, pollingInterval: 50 }),
  escrow: chain.escrow,
  oracles: [chain.oracle],
});
const clientOf = (options: Partial<ClientOptions> = {}): Client =>
  createClient({
    url: w.v.url,
    key: w.key,
    chains: { [w.a.chain.id]: trusted(w.a), [w.b.chain.id]: trusted(w.b) },
    ...options,
  });
const walletOf = (who: TestAccount, chain = w.a): Wallet =>
  createWalletClient({ account: privateKeyToAccount(who.privateKey), transport: http(chain.anvil.url) });
const walletsOf = (who: TestAccount) => (chainId: number) =>
  walletOf(who, chainId === w.b.chain.id ? w.b : w.a);
const ask = (taker: TestAccount, change: Partial<TradeRequest> = {}): TradeRequest => ({
  taker: taker.address,
  input: { asset: usdcA, amount: 1_000_000_000n },
  output: { asset: wethA },
  ...change,
});

/** What the LP does when an order across chains is open; the test's hands. */
const deliver = (orderId: `0x${string}`) => w.reaches(orderId, 'escrowed').then(() => w.fill(orderId, lp));

describe('rfq', { timeout: 240_000 }, () => {
  test('one chain, by signature only; the event stream breaks once', async () => {
    const taker = await w.taker();
    let opened = 0;
    const openSocket = (url: string, headers: Record<string, string>) => {
      const socket = new WebSocket(url, { headers });
      if (opened++ === 0) socket.once('open', () => socket.terminate());
      return socket;
    };
    const before = await w.held(taker, w.a, w.a.weth);
    const events: string[] = [];
    const { checked, order, status, next } = await clientOf({ openSocket: openSocket as never }).trade({
      request: ask(taker),
      wallet: walletOf(taker),
      minOutput: 390_000_000_000_000_000n,
      onEvent: ({ type }) => events.push(type),
    });
    expect([order.id, status.status, events, next]).toEqual([
      checked.orderId,
      'settled',
      ['order.created', 'order.settled'],
      null,
    ]);
    expect((await w.held(taker, w.a, w.a.weth)) - before).toBe(checked.outputAmount);

    // The workspace sees it.
    const { trades } = clientOf({ key: await w.v.key('workspace') });
    const page = await trades.list('w1', { corridor: 'chain1-chain1', status: 'settled', limit: 1 });
    expect([page.items[0]?.orderId, page.total]).toEqual([order.id, 1]);
    expect((await trades.dossier('w1', order.id)).settlement.stages.submit?.txHash).toBeTruthy();
    let csv = '';
    for await (const piece of trades.export('w1')) csv += piece;
    expect(csv.split('\r\n').filter((line) => line.startsWith(order.id))).toHaveLength(1);
    await expect(trades.dossier('w2', order.id)).rejects.toMatchObject({
      name: 'VenueError',
      code: 'not_found',
    });
  });

  test('the wallet broadcasts; then a standing Permit2 grant is used', async () => {
    const taker = await w.taker();
    w.v.relayer.healthy = false;
    const sent = await clientOf()
      .trade({ request: ask(taker), wallet: walletOf(taker) })
      .finally(() => (w.v.relayer.healthy = true));
    expect([sent.checked.executionMode, sent.status.status]).toEqual(['walletBroadcast', 'settled']);
    const request = ask(taker, { input: { asset: wethA, amount: 10n ** 18n }, output: { asset: usdcA } });
    expect(
      (await clientOf().trade({ request, wallet: walletOf(taker), standingGrant: true })).status.status,
    ).toBe('settled');
    // The grant stands: the second of the kind sends nothing.
    const client = clientOf();
    const { quotes } = await client.requestQuotes(request);
    const checked = await client.check(quotes[0] as (typeof quotes)[number], { request });
    const plan = await client.preflight(checked);
    expect(plan.steps.map(({ kind }) => kind)).toEqual(['orderSignature']);
  });

  test('a candidate chosen by the taker instead of the best one', async () => {
    const taker = await w.taker();
    const [client, request] = [clientOf(), ask(taker)];
    const { quotes } = await client.requestQuotes(request);
    const checked = await client.check(quotes[0] as (typeof quotes)[number], { request });
    const { order, status } = await client.take(checked, { wallet: walletOf(taker) });
    expect([order.id, status.status]).toEqual([checked.orderId, 'settled']);
    await expect(clientOf().take(checked, { wallet: walletOf(taker) })).rejects.toMatchObject({
      code: 'not_checked',
    });
  });

  test('across chains: filled, proven, finalised, and confirmed on both', async () => {
    const taker = await w.taker();
    const trading = clientOf().trade({
      request: ask(taker, { output: { asset: wethB } }),
      wallet: walletOf(taker),
      onEvent: ({ type, orderId }) => void (type === 'order.created' && deliver(orderId as `0x${string}`)),
    });
    const { status, checked } = await trading;
    expect([status.status, checked.destChainId]).toEqual(['settled', w.b.chain.id]);
  });

  test('a token that changes an allowance only from or to zero, up to a uint96 (USDT, UNI)', async () => {
    await makeStubborn(w.a);
    const request = (taker: TestAccount) =>
      ask(taker, { input: { asset: wethA, amount: 10n ** 18n }, output: { asset: usdcA } });
    // An allowance of an earlier trade is left over and does not suffice.
    const leftover = async (spender: `0x${string}`) => {
      const taker = await w.taker();
      await w.a.approve(taker.address, w.a.weth.address, spender, 1_000n);
      return taker;
    };
    const byPermit2 = await leftover(w.a.chain.permit2);
    const steps: bigint[] = [];
    const client = clientOf();
    const { quotes } = await client.requestQuotes(request(byPermit2));
    const checked = await client.check(quotes[0] as (typeof quotes)[number], { request: request(byPermit2) });
    for (const step of (await client.preflight(checked)).steps)
      if (step.kind === 'transaction' && step.purpose === 'tokenApproval')
        steps.push(BigInt(`0x${step.data.slice(-64)}`));
    expect([steps.length, steps[0]]).toEqual([2, 0n]);
    expect((await client.take(checked, { wallet: walletOf(byPermit2) })).status.status).toBe('settled');

    const byEscrow = await leftover(w.a.chain.escrow);
    w.v.relayer.healthy = false;
    const sent = await clientOf()
      .trade({ request: request(byEscrow), wallet: walletOf(byEscrow) })
      .finally(() => (w.v.relayer.healthy = true));
    expect([sent.checked.executionMode, sent.status.status]).toEqual(['walletBroadcast', 'settled']);

    // Without a leftover one approval suffices.
    const fresh = await w.taker();
    expect((await clientOf().trade({ request: request(fresh), wallet: walletOf(fresh) })).status.status).toBe(
      'settled',
    );
  });
});

/** Gives WETH the code of a token with odd allowances; balances stay. */
function makeStubborn(chain: TestChain): Promise<void> {
  const { name, symbol, decimals, address } = chain.weth;
  const args = [name, symbol, decimals] as const;
  return putCode(
    chain,
    address,
    encodeDeployData({ abi: devStubbornTokenAbi, bytecode: creationCodeOf('test/DevStubbornToken'), args }),
  );
}

describe('router', { timeout: 240_000 }, () => {
  test('a pool: filled inside the settlement, at least the minimum', async () => {
    const taker = await w.taker();
    const request = ask(taker, {
      input: { asset: usdcB, amount: 1_000_000_000n },
      output: { asset: wethB },
      solvers: { include: ['uniswap-v2'] },
    });
    const before = await w.held(taker, w.b, w.b.weth);
    const { checked, status } = await clientOf({ namespace: 'router' }).trade({
      request,
      wallet: walletOf(taker, w.b),
    });
    expect([status.status, checked.commitments, checked.through !== null]).toEqual(['settled', [], true]);
    expect((await w.held(taker, w.b, w.b.weth)) - before).toBeGreaterThanOrEqual(checked.outputAmount);
    await expect(clientOf({ namespace: 'rfq' }).check(checked.candidate, { request })).rejects.toMatchObject({
      code: 'commitments',
    });
    // A pool that shows more than the escrow enforces: within what was allowed, or refused.
    const client = clientOf({ namespace: 'router' });
    const candidate = structuredClone(
      (await client.requestQuotes(request)).quotes[0] as (typeof checked)['candidate'],
    );
    for (const out of [
      candidate.preview.outputs[0],
      (candidate as RouterCandidate).composite?.legs[0]?.output,
    ])
      if (out) out.amount = ((BigInt(out.amount) * 10_050n) / 10_000n).toString();
    expect((await client.check(candidate, { request })).outputAmount).toBeLessThan(
      BigInt(candidate.preview.outputs[0]?.amount ?? '0'),
    );
    await expect(client.check(candidate, { request, maxSlippageBps: 10 })).rejects.toMatchObject({
      code: 'minimum_amount',
    });
  });

  test('an LP across the corridor, then a pool: each leg is checked before signing', async () => {
    const taker = await w.taker();
    const third = w.b.deployment.tokens[2] as NonNullable<(typeof w.b.deployment.tokens)[number]>;
    const before = await w.held(taker, w.b, third);
    const client = clientOf({ namespace: 'router' });
    const request = ask(taker, { output: { asset: thirdB } });
    const { status, checked, next, stopped } = await client.trade({
      request,
      // In units of the input of the first leg: they say nothing of the second.
      ...{ maxInput: 1_000_000_000n, maxRelayFee: 50_000_000n },
      wallet: walletsOf(taker),
      onEvent: deliverOrdersOfLp,
    });
    expect([
      checked.sequential,
      status.status,
      stopped,
      next?.status.status,
      next?.checked.sequential,
    ]).toEqual([true, 'settled', null, 'settled', false]);
    expect(next?.checked.inputAmount).toBe(checked.outputAmount);
    expect((await w.held(taker, w.b, third)) - before).toBeGreaterThanOrEqual(
      next?.checked.outputAmount ?? 10n ** 30n,
    );
    expect(await client.nextLeg(checked)).toEqual({ kind: 'done' });
  });

  test('one leg at a time: the taker signs the next one when it wants to', async () => {
    const taker = await w.taker();
    const wallet = walletsOf(taker);
    const client = clientOf({ namespace: 'router' });
    const request = ask(taker, { output: { asset: thirdB } });
    const first = await client.trade({ request, wallet, oneLeg: true, onEvent: deliverOrdersOfLp });
    expect([first.status.status, first.next, first.stopped]).toEqual([
      'settled',
      null,
      'The next leg has not been requested.',
    ]);
    const found = await client.nextLeg(first.checked);
    if (found.kind !== 'leg') throw new Error(`no next leg, but ${found.kind}`);
    expect(found.checked.inputAmount).toBe(first.checked.outputAmount);
    expect((await client.take(found.checked, { wallet })).status.status).toBe('settled');
    expect(await client.nextLeg(first.checked)).toEqual({ kind: 'done' });
  });
});

/** The test plays the LP: its orders are delivered when they are created. */
const deliverOrdersOfLp: NonNullable<TakeOptions['onEvent']> = ({ type, orderId }) => {
  if (type !== 'order.created') return;
  const id = orderId as `0x${string}`;
  void w.v.store.order(id).then(async (record) => {
    if (record?.solverIds[0] === 'lp-1') await deliver(id);
  });
};
