/** A venue that demands a bond takes no quote of an LP whose bond or operator's limit is too small. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { assetId } from '../../src/domain/asset.ts';
import type { Address } from '../../src/domain/hex.ts';
import { postBondCall, requestTakeBackCall } from '../../src/settlement/bond-call.ts';
import { limitOperatorCall } from '../../src/settlement/call.ts';
import { account, type TestChain } from '../support/devnet.ts';
import { type Json, startTestVenue, type TestVenue } from '../support/venue.ts';

const WETH_OUT = 400_000_000_000_000_000n;
const ONE = 10n ** 18n;

let v: TestVenue;
let origin: TestChain;
let dest: TestChain;
let key: string;
let lp: Awaited<ReturnType<TestVenue['solver']>>;

beforeAll(async () => {
  v = await startTestVenue({
    chainIds: [31_431, 31_432],
    minBond: { WETH: '1' },
    // A limit that changes between two quotes opens no breaker here.
    breaker: { limit: 1_000 },
  });
  [origin, dest] = v.devnet.chains as [TestChain, TestChain];
  key = await v.key('service');
  lp = await v.solver(1, (rfq, make) => make.quote(rfq, { output: WETH_OUT }));
  await origin.fund(lp.lp.address, 10n);
});
afterAll(() => v.stop());

const quotes = async (from = origin.usdc.address, to = origin.weth.address, there = origin) => {
  const { json } = await v.call('POST', '/api/v1/rfq/quotes', {
    key,
    body: {
      taker: account(1).address,
      input: { asset: assetId({ chainId: origin.chain.id, token: from }), amount: '1000000000' },
      output: { asset: assetId({ chainId: there.chain.id, token: to }) },
    },
  });
  return (json as Json)['quotes'] as unknown[];
};
const byOwner = (to: Address, data: `0x${string}`) => origin.send(lp.lp.address, to, data);

test('an LP without the bond is not shown; one with it is', async () => {
  expect(await quotes()).toEqual([]);
  const { quoteBond } = origin.deployment;
  await origin.approve(lp.lp.address, origin.weth.address, quoteBond, ONE);
  await byOwner(quoteBond, postBondCall(lp.lp.address, origin.weth.address, ONE));
  await expect.poll(() => quotes()).toHaveLength(1);
});

test('across chains the demand is for the token of the input, where a claim would be paid', async () => {
  // USDC is not demanded.
  expect(await quotes(origin.usdc.address, dest.weth.address, dest)).toHaveLength(1);
});

test('a bond that is about to leave does not count', async () => {
  const { quoteBond } = origin.deployment;
  await byOwner(quoteBond, requestTakeBackCall(origin.weth.address, 1n));
  await expect.poll(() => quotes()).toEqual([]);
  await byOwner(quoteBond, requestTakeBackCall(origin.weth.address, 0n));
  await expect.poll(() => quotes()).toHaveLength(1);
});

test('a quote beyond what the operator may spend is not shown', async () => {
  const limit = (most: bigint) =>
    byOwner(origin.chain.escrow, limitOperatorCall(lp.operator.address, origin.weth.address, most, 3_600));
  await limit(WETH_OUT - 1n);
  await expect.poll(() => quotes()).toEqual([]);
  await limit(100n * WETH_OUT);
  await expect.poll(() => quotes()).toHaveLength(1);
});

test('its welcome tells an LP what is demanded', async () => {
  const { minBond } = await lp.next('welcome');
  expect(minBond).toEqual(
    [origin, dest].map(({ chain, weth }) => ({
      chainId: chain.id,
      token: weth.address,
      amount: ONE.toString(),
    })),
  );
});
