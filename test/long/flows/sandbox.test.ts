/**
 * Sandbox scenarios: a test key forces each outcome by its amount, on a real venue, worker and chains. A live
 * key cannot.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assetId } from '../../../src/domain/asset.ts';
import type { Hex } from '../../../src/domain/hex.ts';
import { postBondCall, setBondTermsCall } from '../../../src/settlement/bond-call.ts';
import { bondedTaker } from '../../support/bonded-taker.ts';
import { account, type TestAccount, type TestChain } from '../../support/devnet.ts';
import { type RouterWorld, startRouterWorld } from '../../support/router.ts';
import { signPlan } from '../../support/taker.ts';
import { type Answer, type Json, startTestVenue, type TestVenue } from '../../support/venue.ts';

const sandbox = { scenarios: true, unfilled: ['no-fill'], faded: ['fades'] };
/** 2,500 USDC a WETH. */
const price = (amount: string) => (BigInt(amount) * 10n ** 12n) / 2_500n;

let world: RouterWorld;
let v: TestVenue;
let here: TestChain;
let there: TestChain;
let fades: Awaited<ReturnType<TestVenue['solver']>>;
let taker: TestAccount;

beforeAll(async () => {
  world = await startRouterWorld({ chainIds: [31_461, 31_462], sandbox }, async () => []);
  ({ v, a: here, b: there } = world);
  const answer: Parameters<TestVenue['solver']>[1] = (rfq, make) =>
    make.quote(rfq, { output: price(rfq.amount) }, { validSeconds: 5 });
  await v.solver(71, answer);
  await v.solver(72, answer, { id: 'no-fill' });
  fades = await v.solver(73, answer, { id: 'fades' });
  taker = await world.taker();
}, 120_000);
afterAll(() => world?.stop());

const ask = (amount: bigint, to = here, namespace = 'rfq', key = world.key): Promise<Answer> =>
  v.call('POST', `/api/v1/${namespace}/quotes`, {
    key,
    body: {
      taker: taker.address,
      input: { asset: assetId({ chainId: here.chain.id, token: here.usdc.address }), amount: `${amount}` },
      output: { asset: assetId({ chainId: to.chain.id, token: to.weth.address }) },
    },
  });
const quotesOf = ({ json }: Answer) => json['quotes'] as unknown as Json[];
const solversOf = (answer: Answer) => quotesOf(answer).map((quote) => quote['solverId'] as unknown as string);

async function submit(candidate: Json, who = taker): Promise<Answer> {
  const plan = await v.call('POST', '/api/v1/rfq/orders/preflight', {
    key: world.key,
    body: { quoteResponse: candidate },
  });
  const body = await signPlan(who, candidate, plan.json);
  return v.call('POST', '/api/v1/rfq/orders', { key: world.key, body });
}

async function order(amount: bigint, to = here): Promise<Hex> {
  const answer = await ask(amount, to);
  const [candidate] = quotesOf(answer);
  if (!candidate) throw new Error(answer.text);
  const placed = await submit(candidate);
  expect(placed.status, placed.text).toBe(200);
  return placed.json['id'] as unknown as Hex;
}

/** Both chains, past the deadlines of an order. */
async function later(seconds: number): Promise<void> {
  for (const { anvil } of v.devnet.chains) {
    await anvil.rpc('evm_increaseTime', [seconds]);
    await anvil.mine(2);
  }
}

test('an ordinary amount has no scenario, and never asks the LPs that fail on purpose', async () => {
  for (const to of [here, there]) {
    const answer = await ask(5_000_000_100n, to);
    expect(solversOf(answer)).toEqual(['lp-71']);
    expect(JSON.stringify(quotesOf(answer)[0]?.['warnings'])).not.toContain('Sandbox');
    // The router asks the same solvers.
    const routed = await ask(5_000_000_103n, to, 'router');
    expect(solversOf(routed)).toEqual(['lp-71']);
    expect(routed.text).not.toContain('Sandbox');
  }
});

test('101: no quotes', async () => {
  const { status, json } = await ask(5_000_000_101n);
  expect([status, json['quotes']]).toEqual([200, []]);
  expect(json['productUnavailable']).toMatchObject({ code: 'no_quotes' });
  expect(json['productUnavailable']?.['message']).toContain('Sandbox scenario 101');
});

test('103: the fill never comes, and the escrow refunds the taker', async () => {
  const answer = await ask(5_000_000_103n, there);
  expect(solversOf(answer)).toEqual(['no-fill']);
  expect(quotesOf(answer)[0]?.['warnings']).toContainEqual({
    code: 2_103,
    message: expect.stringContaining('Sandbox scenario 103') as string,
  });
  const before = await world.held(taker, here, here.usdc);
  const id = await order(5_000_000_103n, there);
  await world.reaches(id, 'escrowed');
  expect(await world.held(taker, here, here.usdc)).toBe(before - 5_000_000_103n);
  await later(1_000);
  await world.reaches(id, 'refunded');
  expect(await world.held(taker, here, here.usdc)).toBe(before);
  const { json } = await v.call('GET', `/api/v1/rfq/orders/${id}`, { key: world.key });
  expect(json).toMatchObject({ status: 'failed', failure: { code: 'expired_unfilled' } });
}, 120_000);

test('104: the LP fades, and its bond pays the taker', async () => {
  const bond = here.deployment.quoteBond;
  await here.fund(fades.lp.address, 10_000n);
  await here.approve(fades.lp.address, here.usdc.address, bond, 1_000_000_000n);
  await here.send(fades.lp.address, bond, postBondCall(fades.lp.address, here.usdc.address, 1_000_000_000n));
  await here.send(fades.lp.address, bond, setBondTermsCall({ fillWindowSeconds: 1, wallets: true }));
  const input = {
    asset: assetId({ chainId: here.chain.id, token: here.usdc.address }),
    amount: 5_000_000_104n,
  };
  const output = { asset: assetId({ chainId: there.chain.id, token: there.weth.address }) };
  // Its first taker is account 7,500.
  const { client, wallet, check, held } = await bondedTaker(v, here, world.key, {}, { input, output });
  const checked = await check({ bond: 'required' });
  expect(checked.candidate.solverId).toBe('fades');
  const before = await held(here.usdc.address);
  const placed = await submit(checked.candidate as unknown as Json, account(7_500));
  const id = placed.json['id'] as unknown as Hex;
  const signature = await client.sign(checked, wallet);
  await world.reaches(id, 'escrowed');
  await later(1_000);
  await world.reaches(id, 'refunded');
  const [claimed] = await client.claim(checked, signature, wallet);
  expect(claimed?.paid).toEqual([{ token: here.usdc.address, amount: input.amount / 200n }]);
  expect(await held(here.usdc.address)).toBe(before + input.amount / 200n);
}, 120_000);

test('105: the chain refuses the settlement, and the taker keeps its money', async () => {
  const before = await world.held(taker, here, here.usdc);
  const id = await order(5_000_000_105n);
  // Long enough for the worker to try.
  for (let blocks = 0; blocks < 10; blocks += 1) {
    await here.anvil.mine();
    await new Promise((done) => setTimeout(done, 100));
  }
  await later(100);
  await world.reaches(id, 'failed');
  expect(await world.held(taker, here, here.usdc)).toBe(before);
  const { json } = await v.call('GET', `/api/v1/rfq/orders/${id}`, { key: world.key });
  expect(json).toMatchObject({ status: 'failed', failure: { code: 'settlement_reverted' } });
}, 120_000);

test('106: the request is rate limited', async () => {
  const { status, json, headers } = await ask(5_000_000_106n);
  expect([status, json['error']?.['code'], headers.get('retry-after')]).toEqual([429, 'rate_limited', '1']);
  expect((await ask(5_000_000_100n)).status).toBe(200);
});

test('107: the answer is slow, and holds', async () => {
  const ended: string[] = [];
  const slow = ask(5_000_000_107n).finally(() => ended.push('slow'));
  for (let n = 0; n < 3; n += 1) await ask(5_000_000_100n).finally(() => ended.push('ordinary'));
  const answer = await slow;
  expect(ended).toEqual(['ordinary', 'ordinary', 'ordinary', 'slow']);
  expect((await submit(quotesOf(answer)[0] as Json)).status).toBe(200);
});

test('103 and 104 need two chains, 105 one; the answer says so', async () => {
  for (const [amount, to] of [
    [103n, here],
    [104n, here],
    [105n, there],
  ] as const) {
    const { json } = await ask(5_000_000_000n + amount, to);
    expect(json['productUnavailable']?.['message']).toMatch(/Sandbox scenario 10[345]: it needs/);
  }
});

test('102: the quote has expired when it comes, and the ordinary check refuses it', async () => {
  const mining = setInterval(() => void here.anvil.mine(1), 500);
  const answer = await ask(5_000_000_102n);
  clearInterval(mining);
  const candidate = quotesOf(answer)[0] as Json;
  const body = { quoteResponse: candidate, signature: `0x${'11'.repeat(65)}` };
  const { status, json } = await v.call('POST', '/api/v1/rfq/orders', { key: world.key, body });
  expect([status, json['detail']?.[0]?.['type']]).toEqual([422, 'quote_expired']);
}, 60_000);

describe('never', () => {
  test('for a live key: the same amounts are ordinary', async () => {
    const live = await startTestVenue({
      chainIds: [31_471],
      sandbox: { ...sandbox, unfilled: [], faded: [] },
      seen: (port) => ({ ...port, chain: { ...port.chain, sandbox: false } }),
    });
    const [chain] = live.devnet.chains as [TestChain];
    const apiKey = await live.key('solver', { mode: 'live', solverId: 'lp-1' });
    await live.solver(1, (rfq, make) => make.quote(rfq, { output: price(rfq.amount) }), { apiKey });
    const key = await live.key('service', { mode: 'live' });
    for (let digits = 100n; digits <= 108n; digits += 1n) {
      const { status, json, text } = await live.call('POST', '/api/v1/rfq/quotes', {
        key,
        body: {
          taker: taker.address,
          input: {
            asset: assetId({ chainId: chain.chain.id, token: chain.usdc.address }),
            amount: `${5_000_000_000n + digits}`,
          },
          output: { asset: assetId({ chainId: chain.chain.id, token: chain.weth.address }) },
        },
      });
      expect([status, (json['quotes'] as unknown as Json[]).length], text).toEqual([200, 1]);
      expect(text).not.toContain('Sandbox');
    }
    await live.stop();
  }, 120_000);
});
