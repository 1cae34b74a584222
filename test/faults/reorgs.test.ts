/**
 * Chains that reorganise or stall. An order is filled only when final and in time, and a removed fill is made
 * again, once.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { outputHash, type MandateOutput } from '../../src/domain/order.ts';
import type { LpNode } from '../../src/lp/node/interface.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { openForCall, refundCall } from '../../src/settlement/call.ts';
import { account, type Devnet, startDevnet, type TestChain } from '../support/devnet.ts';
import { createTestLp, lpConfig, testTransactors } from '../support/lp.ts';
import { awardOf, eventually, takeQuote, willingAttesters } from '../support/lp-trades.ts';
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts';
import { request, type ScriptedVenue, startScriptedVenue } from '../support/scripted-venue.ts';

const owner = account(51);
const operator = account(52);
const taker = account(53);
const keeper = account(54);
const USDC = 1_000_000n;

let devnet: Devnet;
let here: TestChain;
let there: TestChain;
let postgres: TestPostgres;
let venue: ScriptedVenue;
let lp: LpNode;

let generation = 0;
/** The LP's wall clock, which a test may move ahead of stalled chains. */
let aheadMs = 0;
const clock: Clock = { ...systemClock, nowMs: () => Date.now() + aheadMs };

async function startLp(): Promise<LpNode> {
  generation += 1;
  const transactors = await testTransactors({ devnet, postgres, operator, owner: `lp-${generation}` });
  const node = await createTestLp({
    devnet,
    postgres,
    venueUrl: venue.url,
    operator,
    schema: 'lp_reorgs',
    config: lpConfig(devnet, owner.address, { reconcileSeconds: 1 }),
    transactors,
    proofs: willingAttesters,
    more: { clock },
  });
  await node.start();
  return node;
}

beforeAll(async () => {
  // The tests mine every block and count depth themselves.
  [devnet, postgres] = await Promise.all([
    startDevnet([41021, 41022], { depth: 4, landingMarginSeconds: 120, proofWindowSeconds: 300 }),
    startTestPostgres(),
  ]);
  [here, there] = devnet.chains as [TestChain, TestChain];
  for (const chain of devnet.chains) {
    for (const { address } of [owner, taker, operator, keeper]) await chain.fund(address);
    await chain.deposit(owner.address, chain.usdc.address, 50_000n * USDC);
    await chain.deposit(owner.address, chain.weth.address, 10n ** 18n);
    await chain.deposit(taker.address, chain.usdc.address, 50_000n * USDC);
    await chain.setOperator(owner.address, operator.address);
  }
  venue = await startScriptedVenue(devnet.chains.map(({ chain }) => chain));
  // Last, because no block is mined by itself and an LP does not quote on a stalled chain.
  for (const chain of devnet.chains) await chain.anvil.mine(5);
  lp = await startLp();
  await venue.until(({ status }) => status === 'active');
  await eventually(() => lp.inventory().every(({ onchain }) => onchain > 0n));
}, 120_000);

afterAll(async () => {
  await lp?.stop();
  await venue?.stop();
  await Promise.all([devnet?.stop(), postgres?.stop()]);
});

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
const balance = () => there.port.ledgerBalance(owner.address, there.usdc.address);
/** The LP has read the newest block of both chains. */
const looked = () =>
  eventually(async () => {
    const heads = await Promise.all(
      devnet.chains.map(
        async ({ chain, anvil }) =>
          [chain.id, BigInt(await anvil.rpc<string>('eth_blockNumber', []))] as const,
      ),
    );
    return heads.every(([id, newest]) =>
      lp.status().chains.some(({ chainId, final }) => chainId === id && final === newest - 4n),
    );
  });
const bucket = () =>
  lp.inventory().find(({ chainId, token }) => chainId === there.chain.id && token === there.usdc.address);

test('F20: an order that a reorganisation removes before it is final is not filled', async () => {
  const trade = await bridge(500n * USDC);
  const before = await balance();
  venue.send({ type: 'award', ...awardOf(trade) });
  await here.send(keeper.address, here.chain.escrow, openForCall(trade.order, trade.funding));
  await here.anvil.mine(2);
  await there.anvil.mine(1);
  await eventually(async () => (await awardNow(trade.id))?.note === 'not open at depth');
  // The previous block gave the same answer, so the LP must have read this one and had time to act on it.
  await looked();
  expect(await here.port.orderStatus(trade.id)).toBe('deposited');
  await there.anvil.mine(1);
  await looked();
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  await here.anvil.rpc('anvil_reorg', [3, []]);
  await here.anvil.mine(6);
  await there.anvil.mine(6);
  await looked();
  expect(await here.port.orderStatus(trade.id)).toBe('none');
  expect(
    await there.port.fillRecord(trade.id, outputHash(trade.order.outputs[0] as MandateOutput)),
  ).toBeUndefined();
  expect(await balance()).toBe(before);
  expect(bucket()?.committed).toBe(trade.output);
});

test('F21: a removed fill is made again, and delivers once', async () => {
  // An order of another test may still be held.
  const { pendingOut, committed } = bucket() ?? { pendingOut: 0n, committed: 0n };
  const trade = await bridge(1_000n * USDC);
  const before = await balance();
  venue.send({ type: 'award', ...awardOf(trade) });
  await here.send(keeper.address, here.chain.escrow, openForCall(trade.order, trade.funding));
  // A head on the destination wakes the LP. One fill, mined immediately, four blocks from final.
  await here.anvil.mine(4);
  await eventually(async () => (await balance()) === before - trade.output);
  await eventually(async () => (await awardNow(trade.id))?.stage === 'filled');
  expect(bucket()?.pendingOut).toBe(trade.output);
  const first = (await awardNow(trade.id))?.fill;

  await there.anvil.rpc('anvil_reorg', [1, []]);
  await there.anvil.mine(1);
  // Still held and not paid: no block contains the fill.
  await eventually(async () => (await awardNow(trade.id))?.stage === 'committed');
  expect(bucket()).toMatchObject({ pendingOut, committed: committed + trade.output });
  // Within this many blocks, or never.
  let again = false;
  for (let block = 0; !again && block < 150; block += 1) {
    await there.anvil.mine(1);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const award = await awardNow(trade.id);
    again = award?.stage === 'filled' && award.fill?.blockNumber !== first?.blockNumber;
  }
  expect(again).toBe(true);
  expect(await balance()).toBe(before - trade.output);

  await eventually(async () => {
    await Promise.all([there.anvil.mine(1), here.anvil.mine(1)]);
    return (await awardNow(trade.id))?.stage === 'finalised';
  });
  expect(await balance()).toBe(before - trade.output);
  expect(bucket()).toMatchObject({ pendingOut: 0n, drift: null, shortfall: 0n });
  // The books contain the removed fill, its reversal, and the one fill that stayed.
  await eventually(async () => (await kindsOf(trade.id)).includes('credit'));
  expect((await kindsOf(trade.id)).filter((kind) => kind !== 'gas').sort()).toEqual([
    'credit',
    'fill',
    'fill',
    'reversal',
    'sent',
  ]);
  await eventually(async () =>
    (await lp.accounts().reconcile()).every(({ difference }) => difference === 0n),
  );
});

test('F21: a fill that the replacement block contains again stands, and is claimed', async () => {
  const trade = await bridge(800n * USDC);
  const before = await balance();
  venue.send({ type: 'award', ...awardOf(trade) });
  await here.send(keeper.address, here.chain.escrow, openForCall(trade.order, trade.funding));
  await here.anvil.mine(4);
  await eventually(async () => (await awardNow(trade.id))?.stage === 'filled');
  const first = (await awardNow(trade.id))?.fill;
  const raw = await there.anvil.rpc('eth_getRawTransactionByHash', [first?.txHash]);
  const blockOf = async () =>
    (await there.anvil.rpc<{ blockHash: string }>('eth_getTransactionReceipt', [first?.txHash])).blockHash;
  const firstBlock = await blockOf();
  // Replaces the newest block by another block with the same transaction, whatever the clock says.
  await there.anvil.rpc('anvil_setCoinbase', [keeper.address]);
  await there.anvil.rpc('anvil_reorg', [1, [[raw, 0]]]);
  await there.anvil.mine(1);
  expect(await blockOf()).not.toBe(firstBlock);
  await eventually(
    async () =>
      there.port.head()?.hash ===
      (await there.anvil.rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false])).hash,
  );
  await eventually(async () => {
    await Promise.all([there.anvil.mine(1), here.anvil.mine(1)]);
    return (await awardNow(trade.id))?.stage === 'finalised';
  });
  expect(await balance()).toBe(before - trade.output);
  await eventually(async () => (await kindsOf(trade.id)).includes('credit'));
  expect((await kindsOf(trade.id)).filter((kind) => kind !== 'gas').sort()).toEqual([
    'credit',
    'fill',
    'fill',
    'reversal',
    'sent',
  ]);
  await eventually(async () =>
    (await lp.accounts().reconcile()).every(({ difference }) => difference === 0n),
  );
});

test('F21: a fill removed while no process ran is not booked after a clean restart, even if it can never be repeated', async () => {
  const others = bucket()?.committed ?? 0n;
  const trade = await bridge(700n * USDC);
  const before = await balance();
  venue.send({ type: 'award', ...awardOf(trade) });
  await here.send(keeper.address, here.chain.escrow, openForCall(trade.order, trade.funding));
  await here.anvil.mine(4);
  await eventually(async () => (await awardNow(trade.id))?.stage === 'filled');
  expect(bucket()).toMatchObject({ pendingOut: trade.output, committed: others });
  await lp.stop();
  await there.anvil.rpc('anvil_reorg', [1, []]);
  for (const chain of devnet.chains) await chain.anvil.advance(1_000);
  expect(await balance()).toBe(before);
  lp = await startLp();
  const minedUntil = (what: () => boolean | Promise<boolean>) =>
    eventually(async () => {
      await Promise.all(devnet.chains.map(({ anvil }) => anvil.mine(1)));
      return what();
    });
  await minedUntil(() => bucket()?.pendingOut === 0n);
  await minedUntil(async () => (await awardNow(trade.id))?.stage === 'failed');
  expect(await balance()).toBe(before);
  expect(bucket()).toMatchObject({ pendingOut: 0n, drift: null, shortfall: 0n });
  // No order can be delivered any more, so everything is free again.
  await minedUntil(() => bucket()?.committed === 0n);
});

test('F29: a stalled chain is not quoted and nothing late starts there; when it continues, the taker is refunded', async () => {
  // A fault before may still keep the LP in standby.
  await eventually(async () => {
    for (const chain of devnet.chains) await chain.anvil.mine(1);
    return lp.status().reasons.length === 0;
  });
  const trade = await bridge(600n * USDC);
  const takers = async () =>
    (await here.port.ledgerBalance(taker.address, here.usdc.address)) +
    (await here.port.tokenBalance(taker.address, here.usdc.address));
  const [before, paid] = [await balance(), await takers()];
  venue.send({ type: 'award', ...awardOf(trade) });
  await here.send(keeper.address, here.chain.escrow, openForCall(trade.order, trade.funding));
  await here.anvil.mine(1);
  await eventually(async () => (await awardNow(trade.id))?.note === 'not open at depth');
  const nonce = await there.port.transactionCount(operator.address, 'latest');

  // The destination stalls until the order is too late to fill; only then is it final on the origin.
  aheadMs = (trade.order.fillDeadline + 30) * 1_000 - Date.now();
  expect(aheadMs / 1_000).toBeLessThan(trade.order.expires - 60 - Date.now() / 1_000);
  await expect
    .poll(() => lp.status().reasons.filter(({ kind }) => kind === 'lag').length, { timeout: 60_000 })
    .toBe(2);
  expect(
    await venue.ask(
      request({
        from: there.chain,
        to: here.chain,
        give: there.usdc,
        take: here.weth,
        amount: 100n * USDC,
        taker: taker.address,
      }),
    ),
  ).toMatchObject({ type: 'decline', reason: 'standby' });
  await here.anvil.mine(4);
  await eventually(async () =>
    ['too late to fill', 'fill sent', 'filled'].includes((await awardNow(trade.id))?.note ?? ''),
  );
  expect([await balance(), await there.port.transactionCount(operator.address, 'latest')]).toEqual([
    before,
    nonce,
  ]);

  for (const chain of devnet.chains) await chain.anvil.advance(1_000);
  await here.send(keeper.address, here.chain.escrow, refundCall(trade.order));
  await eventually(async () => {
    await Promise.all(devnet.chains.map(({ anvil }) => anvil.mine(1)));
    return (await awardNow(trade.id))?.stage === 'failed';
  });
  expect(await balance()).toBe(before);
  expect(await takers()).toBe(paid);
});

const kindsOf = async (id: `0x${string}`) => (await lp.accounts().entries(id)).map(({ kind }) => kind);
