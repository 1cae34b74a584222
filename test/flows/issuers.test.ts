/** Vault shares through the router: across chains, redeemed into another token, refused above the cap. */

import { createPublicClient, http, parseUnits } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import type { Hex } from '../../src/domain/hex.ts';
import type { RouterCandidate } from '../../src/protocol/api/router.ts';
import type { TestAccount, TestChain } from '../support/devnet.ts';
import { startIssuers, type TestIssuers, UNLIMITED } from '../support/issuers.ts';
import { type RouterWorld, startRouterWorld } from '../support/router.ts';
import type { Json } from '../support/venue.ts';

let w: RouterWorld;
let issuers: TestIssuers;
let usdcA: string;
let usdcB: string;
let share: string;
let dai: string;
let lp: { lp: TestAccount; operator: TestAccount };

beforeAll(async () => {
  w = await startRouterWorld(
    {
      chainIds: [31_453, 31_454],
      moreTokens: 1,
      landingMarginSeconds: 8,
      router: { maxMiddles: 3, timeoutMs: 4_000 },
      fanOut: { timeoutMs: 1_500 },
      breaker: { limit: 1_000 },
    },
    async ([, b]) => {
      issuers = await startIssuers(b);
      // A share is a token like any other, which this chain has from now on.
      Object.assign(b.port.chain, { tokens: [...b.port.chain.tokens, issuers.share] });
      return [
        issuers.venue('vault', { toleranceBps: 5, validSeconds: 60 }),
        issuers.venue('peg', { validSeconds: 60 }),
      ];
    },
  );
  [usdcA, usdcB] = [w.asset(w.a, w.a.usdc), w.asset(w.b, w.b.usdc)];
  [share, dai] = [w.asset(w.b, issuers.share), w.asset(w.b, issuers.dai)];
  // An LP that carries USDC across the corridor, and quotes nothing else.
  lp = await w.v.solver(1, (rfq, make) => {
    if (rfq.input !== usdcA || rfq.output !== usdcB) return make.decline(rfq, 'pair');
    const amount = BigInt(rfq.amount);
    return rfq.side === 'exactInput'
      ? make.quote(rfq, { output: (amount * 9_990n) / 10_000n })
      : make.quote(rfq, { input: (amount * 10_000n) / 9_990n + 1n });
  });
});
afterAll(() => w.stop());

const legsOf = ({ composite }: Json) => (composite?.['legs'] ?? []) as unknown as Json[];
const amountOf = (leg: Json | undefined, side: 'input' | 'output') =>
  leg?.[side]?.['amount'] as unknown as string;
const kindsOf = (candidate: Json) => legsOf(candidate).map(({ kind }) => kind as unknown as string);
const minimumOf = (candidate: Json) =>
  BigInt(candidate['preview']?.['outputs']?.[0]?.['minimumAmount'] as unknown as string);

async function newTaker(): Promise<TestAccount> {
  const taker = await w.taker();
  for (const { address } of [w.b.usdc, issuers.share, issuers.dai])
    await w.b.approve(taker.address, address, w.b.chain.permit2);
  return taker;
}

/** The leg that preflight names once the one before is delivered. */
async function nextLeg(candidate: Json): Promise<{ plan: Json; next: Json }> {
  const { status, text, json } = await w.preflight(candidate);
  expect(status, text).toBe(200);
  const signing = (json['nextActions'] as unknown as Json[]).find(
    ({ purpose }) => (purpose as unknown as string) === 'orderSignature',
  );
  return { plan: json, next: signing?.['details']?.['quoteResponse'] as Json };
}

async function settled(taker: TestAccount, candidate: Json, plan?: Json): Promise<Hex> {
  const orderId = await w.submit(taker, candidate, plan);
  await w.reaches(orderId, 'settled');
  return orderId;
}

test('USDC of one chain becomes a vault share on another: an LP carries it, the vault takes it', async () => {
  const taker = await newTaker();
  const [candidate] = await w.candidates({
    taker: taker.address,
    input: { asset: usdcA, amount: '1000000000' },
    output: { asset: share },
  });
  expect(kindsOf(candidate as Json)).toEqual(['rfq', 'issuer']);
  const orderId = await w.submit(taker, candidate as Json);
  await w.reaches(orderId, 'escrowed');
  await w.fill(orderId, lp);
  await w.reaches(orderId, 'settled');

  // Yield between the legs: the second is quoted again, at the price of then.
  await issuers.earn(2_000_000_000n);
  await w.seen();
  const { plan, next } = await nextLeg(candidate as Json);
  const childId = await settled(taker, next, plan);
  const got = await w.held(taker, w.b, issuers.share);
  expect(got).toBeGreaterThanOrEqual(minimumOf(next));
  const { json } = await w.v.call('GET', `/api/v1/router/orders/${childId}`, { key: w.key });
  expect(json['settledAmounts']?.[share]?.['amount']).toBe(got.toString());
});

test('the client accepts a route whose middle has other decimals than its end', async () => {
  const taker = await newTaker();
  const trusted = ({ chain, anvil }: TestChain) => ({
    rpc: createPublicClient({ transport: http(anvil.url), cacheTime: 0 }),
    escrow: chain.escrow,
    oracles: [chain.oracle],
  });
  const client = createClient({
    url: w.v.url,
    key: w.key,
    namespace: 'router',
    chains: { [w.a.chain.id]: trusted(w.a), [w.b.chain.id]: trusted(w.b) },
  });
  const request = {
    taker: taker.address,
    input: { asset: usdcA, amount: 1_000_000_000n },
    output: { asset: dai },
  };
  const [candidate] = (await client.requestQuotes(request)).quotes;
  if (candidate === undefined) throw new Error('no candidate');
  expect(kindsOf(candidate as unknown as Json)).toEqual(['rfq', 'issuer']);
  expect(await client.check(candidate, { request })).toMatchObject({ sequential: true });
  const fees = (candidate as RouterCandidate).composite?.legs[1]?.fees;
  expect(fees).toHaveLength(1);
  for (const wrong of [
    { asset: usdcA, amount: '1' },
    { asset: usdcB, amount: '1000000001' },
    { asset: dai, amount: '-1' },
  ]) {
    const spoilt = structuredClone(candidate) as RouterCandidate;
    spoilt.composite?.legs[1]?.fees?.push(wrong);
    await expect(client.check(spoilt, { request })).rejects.toMatchObject({ code: 'composite' });
  }
  // Decimals that the end of the route does not have.
  const [shown] = candidate.preview.outputs;
  if (shown) shown.decimals = 6;
  await expect(client.check(candidate, { request })).rejects.toMatchObject({ code: 'decimals' });
});

test('a share becomes another token: the vault pays USDC, the module sells for it', async () => {
  const taker = await newTaker();
  await w
    .candidates({
      taker: taker.address,
      input: { asset: usdcB, amount: '2000000000' },
      output: { asset: share },
    })
    .then(([bought]) => settled(taker, bought as Json));
  const shares = await w.held(taker, w.b, issuers.share);

  const candidates = await w.candidates({
    taker: taker.address,
    input: { asset: share, amount: shares.toString() },
    output: { asset: dai },
  });
  const route = candidates.find((candidate) => kindsOf(candidate).length === 2) as Json;
  expect(kindsOf(route)).toEqual(['issuer', 'issuer']);
  const [vault, module] = legsOf(route);
  // This vault charges nothing; the module takes its fee out of what it sells at par.
  expect(vault?.['fees']).toEqual([]);
  const fee = BigInt(((module?.['fees'] ?? []) as unknown as { amount: string }[])[0]?.amount ?? '0');
  const par = BigInt(amountOf(module, 'output')) + fee;
  expect(module?.['fees']).toEqual([{ asset: dai, amount: (par / 10_000n).toString() }]);
  expect(par % 10n ** 12n).toBe(0n);
  expect(par <= BigInt(amountOf(module, 'input')) * 10n ** 12n).toBe(true);
  await settled(taker, route);
  expect(await w.held(taker, w.b, issuers.share)).toBe(0n);

  const before = await w.held(taker, w.b, issuers.dai);
  const { plan, next } = await nextLeg(route);
  await settled(taker, next, plan);
  const got = (await w.held(taker, w.b, issuers.dai)) - before;
  expect(got).toBeGreaterThanOrEqual(minimumOf(next));
  // At par less fees: of 2,000 dollars there are more than 1,990 left.
  expect(got).toBeGreaterThan(1_990n * 10n ** 18n);
});

test('above the cap of the vault: refused with the largest amount, which then passes', async () => {
  const taker = await newTaker();
  const body = { taker: taker.address, output: { asset: share } };
  const held = await w.b.port.tokenBalance(issuers.vault.address, w.b.usdc.address);
  await issuers.limit(held + 500_000_000n, UNLIMITED);
  await w.seen();
  try {
    const refused = await w.quotes({ ...body, input: { asset: usdcB, amount: '1000000000' } });
    expect(refused.status, refused.text).toBe(200);
    const { productUnavailable } = refused.json;
    expect(productUnavailable).toMatchObject({ code: 'amount_too_large' });
    // The message writes no trailing zeros: an amount has up to six decimals, or none.
    const named = /now is ([0-9]+(?:\.[0-9]+)?) USDC/.exec(
      productUnavailable?.['message'] as unknown as string,
    );
    const most = parseUnits(named?.[1] ?? '', 6);
    expect(most).toBeGreaterThan(500_000_000n);
    const [candidate] = await w.candidates({ ...body, input: { asset: usdcB, amount: String(most) } });
    await settled(taker, candidate as Json);
    expect(await w.held(taker, w.b, issuers.share)).toBeGreaterThan(0n);
  } finally {
    await issuers.limit(UNLIMITED, UNLIMITED);
    await w.seen();
  }
});

test('somebody fills the vault first: the order fails, and the taker keeps the input', async () => {
  const taker = await newTaker();
  const [candidate] = await w.candidates({
    taker: taker.address,
    input: { asset: usdcB, amount: '1000000000' },
    output: { asset: share },
  });
  const paid = await w.held(taker, w.b, w.b.usdc);
  await issuers.limit(0n, UNLIMITED);
  await w.seen();
  try {
    const orderId = await w.submit(taker, candidate as Json);
    await w.b.anvil.advance(120);
    await w.reaches(orderId, 'failed');
    expect(await w.held(taker, w.b, w.b.usdc)).toBe(paid);
  } finally {
    await issuers.limit(UNLIMITED, UNLIMITED);
    await w.seen();
  }
});
