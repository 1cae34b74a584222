/**
 * What follows a promise: trades that settle on one chain or across two, restarts of every kind, and books
 * that agree with the chain throughout.
 */

import { encodeFunctionData, erc20Abi } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LP_MIGRATIONS } from '../../src/adapters/postgres/migrations/lp.ts';
import { createBrake } from '../../src/apps/lp/brake.ts';
import type { Hex } from '../../src/domain/hex.ts';
import { orderId, type StandardOrder } from '../../src/domain/order.ts';
import type { LpNode } from '../../src/lp/node/interface.ts';
import type { Rfq } from '../../src/protocol/link/link.ts';
import { orderFromMessage } from '../../src/protocol/wire.ts';
import { openForCall, requestWithdrawalCall, settleCall } from '../../src/settlement/call.ts';
import { invalidateNonceCall } from '../support/escrow.ts';
import { permit2LockDigest } from '../../src/settlement/funding.ts';
import { account, type Devnet, startDevnet, type TestChain } from '../support/devnet.ts';
import { createTestLp, lpConfig, testTransactors } from '../support/lp.ts';
import { awardOf, eventually, takeQuote, type Trade, willingAttesters } from '../support/lp-trades.ts';
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts';
import { request, type ScriptedVenue, startScriptedVenue } from '../support/scripted-venue.ts';

const owner = account(31);
const operator = account(32);
const taker = account(33);
const keeper = account(34);
const sponsor = account(35);
const successor = account(36);
const USDC = 1_000_000n;
const WETH = 10n ** 18n;

let devnet: Devnet;
let here: TestChain;
let there: TestChain;
let postgres: TestPostgres;
let venue: ScriptedVenue;
let lp: LpNode;
let generation = 0;
/** Its fills wait while this is held. */
const brake = createBrake();

/** `alone`: in one process even where the LP runs in several. `key`: the operator from now on. */
async function startLp({ alone = false, key = operator } = {}): Promise<LpNode> {
  generation += 1;
  const senders = await testTransactors({ devnet, postgres, operator: key, owner: `lp-${generation}` });
  const transactors = new Map([...senders].map(([chainId, sender]) => [chainId, brake.on(sender)]));
  const config = lpConfig(devnet, owner.address, {
    quoting: { validitySeconds: 5, claimSeconds: 10, fillMarginSeconds: 1 },
    lease: { aheadSeconds: 4 },
    reconcileSeconds: 1,
  });
  const node = await createTestLp({
    devnet,
    postgres,
    venueUrl: venue.url,
    operator: key,
    schema: 'lp_settles',
    config,
    transactors,
    proofs: willingAttesters,
    alone,
  });
  await node.start();
  return node;
}

beforeAll(async () => {
  [devnet, postgres] = await Promise.all([
    startDevnet([41011, 41012], { landingMarginSeconds: 10, proofWindowSeconds: 60 }),
    startTestPostgres(),
  ]);
  [here, there] = devnet.chains as [TestChain, TestChain];
  await Promise.all(
    devnet.chains.map(async (chain) => {
      for (const { address } of [owner, taker, operator, keeper, sponsor]) await chain.fund(address);
      await chain.deposit(owner.address, chain.usdc.address, 50_000n * USDC);
      await chain.deposit(owner.address, chain.weth.address, 20n * WETH);
      await chain.deposit(taker.address, chain.usdc.address, 100_000n * USDC);
      await chain.setOperator(owner.address, operator.address);
      await chain.anvil.mine(2);
      // Setting up needs no clock; from here on there is one.
      await chain.anvil.rpc('evm_setIntervalMining', [1]);
    }),
  );
  venue = await startScriptedVenue(devnet.chains.map(({ chain }) => chain));
  lp = await startLp();
  await venue.until(({ status }) => status === 'active');
  // It starts from the block it knows to be final; the deposits reach it as they sink that deep.
  await eventually(async () =>
    devnet.chains.every((chain) => bucket(chain, 'usdc').free > 0n && bucket(chain, 'weth').free > 0n),
  );
}, 120_000);

afterAll(async () => {
  await lp?.stop();
  await venue?.stop();
  await Promise.all([devnet?.stop(), postgres?.stop()]);
});

const quote = (rfq: Rfq) => takeQuote(devnet, venue, taker, rfq);
const buy = (from: TestChain, to: TestChain, amount: bigint) =>
  request({ from: from.chain, to: to.chain, give: from.usdc, take: to.weth, amount, taker: taker.address });
const bridge = (amount: bigint) =>
  request({
    from: here.chain,
    to: there.chain,
    give: here.usdc,
    take: there.usdc,
    amount,
    taker: taker.address,
  });
const sponsorApproves = () =>
  here.send(
    sponsor.address,
    here.usdc.address,
    encodeFunctionData({
      abi: erc20Abi,
      functionName: 'approve',
      args: [here.chain.permit2, 2n ** 256n - 1n],
    }),
  );
/** Funding of an order by the sponsor's permit. */
const sponsorPays = (order: StandardOrder): Hex => {
  const { id, escrow, permit2 } = here.chain;
  const digest = permit2LockDigest({ chainId: id, escrow }, permit2, order, BigInt(order.fillDeadline));
  return `0x00${sponsor.sign(digest).slice(2)}`;
};
const settle = ({ message, order, funding }: Trade, chain: TestChain) =>
  chain.send(
    keeper.address,
    chain.chain.escrow,
    settleCall(order, funding, message.quoteId, [message.commitment]),
  );

const bucket = (chain: TestChain, symbol: 'usdc' | 'weth') => {
  const found = lp
    .inventory()
    .find(({ chainId, token }) => chainId === chain.chain.id && token === chain[symbol].address);
  if (found === undefined) throw new Error('no such bucket');
  return found;
};

/** The books agree with the chain when nothing is under way. */
async function booksAgree(): Promise<void> {
  for (const chain of devnet.chains) {
    for (const symbol of ['usdc', 'weth'] as const) {
      await eventually(async () => {
        const { onchain, pendingOut, committed, receivable } = bucket(chain, symbol);
        return (
          pendingOut + committed + receivable === 0n &&
          onchain === (await chain.port.ledgerBalance(owner.address, chain[symbol].address))
        );
      });
      expect(bucket(chain, symbol)).toMatchObject({ shortfall: 0n, drift: null });
    }
  }
}

const stageOf = async (id: Hex) => (await lp.awards()).find(({ orderId: one }) => one === id)?.stage;

test('one chain: awarded, settled, and booked when final', async () => {
  const before = [bucket(here, 'usdc').onchain, bucket(here, 'weth').onchain] as const;
  const trade = await quote(buy(here, here, 2_500n * USDC));
  const output = trade.order.outputs[0]?.amount ?? 0n;
  venue.send({ type: 'award', ...awardOf(trade) });
  await eventually(async () => (await stageOf(trade.id)) === 'committed');
  expect(bucket(here, 'weth').committed).toBe(output);
  await settle(trade, here);
  await eventually(async () => (await stageOf(trade.id)) === 'finalised');
  const fee = (2_500n * USDC * 2n) / 10_000n;
  expect([bucket(here, 'usdc').onchain, bucket(here, 'weth').onchain]).toEqual([
    before[0] + 2_500n * USDC - fee,
    before[1] - output,
  ]);
  await booksAgree();
});

test('one chain, without a message from the venue: chain events are enough', async () => {
  const before = bucket(here, 'weth').onchain;
  const trade = await quote(buy(here, here, 1_000n * USDC));
  await settle(trade, here);
  await eventually(() => bucket(here, 'weth').onchain === before - (trade.order.outputs[0]?.amount ?? 0n));
  await booksAgree();
});

test('a final use of a nonce elsewhere releases the other holds under it before they expire', async () => {
  const [first, held] = [buy(here, here, 1_000n * USDC), bucket(here, 'weth').held];
  const winner = await quote(first);
  const loser = await quote({ ...buy(here, here, 3_000n * USDC), skeleton: first.skeleton });
  // One nonce, one hold: the larger of the two.
  expect(bucket(here, 'weth').held).toBe(held + (loser.order.outputs[0]?.amount ?? 0n));
  await settle(winner, here);
  await eventually(() => bucket(here, 'weth').held <= held);
  await booksAgree();
});

test('a taker that takes every live quote is paid for each on the chain', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => quote(buy(here, here, 3_500n * USDC)).catch(() => undefined)),
  );
  const trades = answers.filter((answer) => answer !== undefined);
  // Enough was asked for that the last ones were refused: the rest is everything there is.
  expect(trades.length).toBeGreaterThan(5);
  expect(trades.length).toBeLessThan(20);
  await Promise.all(trades.map((trade) => settle(trade, here)));
  for (const { id } of trades) expect(await here.port.orderStatus(id)).toBe('claimed');
  await booksAgree();
  await here.deposit(owner.address, here.weth.address, 20n * WETH);
  await booksAgree();
});

test('across chains: filled only when open at depth, then proven, claimed and credited', async () => {
  const [paid, earned] = [bucket(there, 'usdc').onchain, bucket(here, 'usdc').onchain];
  const trade = await quote(bridge(4_000n * USDC));
  const output = trade.order.outputs[0]?.amount ?? 0n;
  venue.send({ type: 'award', ...awardOf(trade) });
  await eventually(async () => (await stageOf(trade.id)) === 'committed');
  await here.anvil.mine(3);
  expect(await there.port.ledgerBalance(owner.address, there.usdc.address)).toBe(paid);
  await here.send(keeper.address, here.chain.escrow, openForCall(trade.order, trade.funding));
  await eventually(() => bucket(there, 'usdc').onchain === paid - output);
  await eventually(async () => (await stageOf(trade.id)) === 'finalised');
  const fee = (4_000n * USDC * 2n) / 10_000n;
  expect(bucket(here, 'usdc').onchain).toBe(earned + 4_000n * USDC - fee);
  expect(4_000n * USDC - fee).toBeGreaterThan(output);
  expect(venue.fills.some(({ orderId: id, stage }) => id === trade.id && stage === 'filled')).toBe(true);
  await booksAgree();
});

test('orders across chains that are filled together share one proof, and each is paid', async () => {
  const trades: Trade[] = [];
  for (let n = 0; n < 5; n += 1) trades.push(await quote(bridge(BigInt(500 + n) * USDC)));
  for (const trade of trades) venue.send({ type: 'award', ...awardOf(trade) });
  await Promise.all(
    trades.map(({ order, funding }) =>
      here.send(keeper.address, here.chain.escrow, openForCall(order, funding)),
    ),
  );
  await eventually(async () =>
    (await Promise.all(trades.map(({ id }) => stageOf(id)))).every((stage) => stage === 'finalised'),
  );
  const claims = await Promise.all(
    trades.map(async ({ id }) =>
      (await here.port.orderEvents(id, 0)).flatMap(({ kind, txHash }) =>
        kind === 'finalised' ? [txHash] : [],
      ),
    ),
  );
  expect(claims.every((hashes) => hashes.length === 1)).toBe(true);
  expect(new Set(claims.flat()).size).toBeLessThan(trades.length);
  await booksAgree();
});

test('nobody opens a quote for its user: the nonce is used with it, and all other quotes of it end', async () => {
  await sponsorApproves();
  const trade = await quote(bridge(700n * USDC));
  const { order, funding } = trade;
  const sponsored = openForCall(order, sponsorPays(order), sponsor.address);
  await expect(here.send(keeper.address, here.chain.escrow, sponsored)).rejects.toThrow();
  expect(await here.port.orderStatus(trade.id)).toBe('none');
  venue.send({ type: 'award', ...awardOf(trade) });
  await eventually(async () => (await stageOf(trade.id)) === 'committed');
  await here.send(keeper.address, here.chain.escrow, openForCall(order, funding));
  expect(await here.port.isNonceUsed(order.user, order.nonce)).toBe(true);
  await eventually(async () => (await stageOf(trade.id)) === 'finalised');
  await booksAgree();
});

test('a sponsor that opens a plain order under another user’s nonce leaves it unused: the holds stay and are paid', async () => {
  const { chain } = here;
  await sponsorApproves();
  const owned = bucket(here, 'usdc').onchain;
  const promise = await quote(buy(here, here, 900n * USDC));
  const lure = bridge(500n * USDC);
  const { order } = await quote({
    ...lure,
    skeleton: { ...lure.skeleton, nonce: promise.order.nonce.toString() },
  });
  // Nobody's promise, only under the same nonce.
  const bait = { ...order, outputs: order.outputs.map((output) => ({ ...output, context: '0x' as const })) };
  await here.send(keeper.address, chain.escrow, openForCall(bait, sponsorPays(bait), sponsor.address));
  await here.deposit(owner.address, here.usdc.address, USDC);
  await eventually(() => bucket(here, 'usdc').onchain === owned + USDC);
  expect(bucket(here, 'weth').held).toBeGreaterThanOrEqual(promise.output);
  await settle(promise, here);
  expect(await here.port.orderStatus(promise.id)).toBe('claimed');
  await booksAgree();
});

test('an award without a quote of this LP does not bind it', async () => {
  const trade = await quote(bridge(100n * USDC));
  const forged = { ...awardOf(trade), order: { ...trade.message.order, nonce: '77' } };
  const id = orderId({ chainId: here.chain.id, escrow: here.chain.escrow }, orderFromMessage(forged.order));
  venue.send({ type: 'award', ...forged, orderId: id });
  // Its answer comes first: had the forged one counted, it would be there by the time this one is.
  venue.send({ type: 'award', ...awardOf(trade) });
  await eventually(async () => (await stageOf(trade.id)) === 'committed');
  expect(await stageOf(id)).toBeUndefined();
});

test('deposits and withdrawal requests of the owner count, requests immediately', async () => {
  const before = bucket(there, 'weth');
  await there.deposit(owner.address, there.weth.address, 3n * WETH);
  await eventually(() => bucket(there, 'weth').onchain === before.onchain + 3n * WETH);
  await there.send(owner.address, there.chain.escrow, requestWithdrawalCall(there.weth.address, 5n * WETH));
  await eventually(() => bucket(there, 'weth').withdrawing === 5n * WETH);
  expect(bucket(there, 'weth')).toMatchObject({ free: before.free - 2n * WETH, drift: null });
  await there.send(owner.address, there.chain.escrow, requestWithdrawalCall(there.weth.address, 0n));
  await eventually(() => bucket(there, 'weth').withdrawing === 0n);
});

test('after a clean stop every hold is kept and quoting resumes immediately', async () => {
  await quote(buy(here, here, 1_500n * USDC));
  expect(await lp.curves()).toContainEqual(
    expect.objectContaining({
      pair: 'WETH-USDC',
      corridor: 'chain1-chain1',
      size: '1000-10000',
      configured: { alpha: -2, beta: 0.25 },
      inUse: false,
    }),
  );
  await lp.stop();
  // What was taken so far taught the win-rate curve, and that is written down too.
  const [learned] = await (
    await postgres.database('lp_settles', LP_MIGRATIONS)
  ).query<{ curves: { curves: Record<string, { fit: { won: number } }> } }>(
    'select curves from lp_calibration',
  );
  expect(learned?.curves.curves['WETH-USDC|chain1-chain1|1']?.fit.won).toBeGreaterThan(2);
  lp = await startLp();
  expect(bucket(here, 'weth').held).toBeGreaterThan(0n);
  expect(lp.status().reasons.map(({ kind }) => kind)).not.toContain('quarantine');
  await venue.until(({ status }) => status === 'active');
  expect(await venue.ask(buy(here, here, 100n * USDC))).toMatchObject({ type: 'quote' });
});

test('a nonce used after a restart releases the holds made before it', async () => {
  const trade = await quote(buy(here, here, 1_500n * USDC));
  await lp.stop();
  lp = await startLp();
  const { held } = bucket(here, 'weth');
  expect(held).toBeGreaterThanOrEqual(trade.output);
  await here.send(taker.address, here.chain.escrow, invalidateNonceCall(trade.order.nonce));
  await eventually(() => bucket(here, 'weth').held <= held - trade.output);
  // Its own time is not over yet.
  const { timestamp } = here.port.head() ?? expect.fail();
  expect(timestamp).toBeLessThanOrEqual(trade.order.fillDeadline);
});

test('after a crash nothing is signed until every lost quote has expired, and those taken meanwhile are honoured', async () => {
  const crossed = await quote(bridge(2_000n * USDC));
  const later = await quote(bridge(1_500n * USDC));
  const local = await quote(buy(here, here, 700n * USDC));
  // The first process is not stopped: it simply no longer owns the store, as after a kill -9 with a slow
  // death.
  const zombie = lp;
  const [paid, weth] = [bucket(there, 'usdc').onchain, bucket(here, 'weth').onchain];
  venue.awards = [awardOf(crossed), awardOf(later)];
  await here.send(keeper.address, here.chain.escrow, openForCall(crossed.order, crossed.funding));
  lp = await startLp({ alone: true });
  expect(lp.status()).toMatchObject({ status: 'standby' });
  expect(lp.status().reasons.map(({ kind }) => kind)).toContain('quarantine');
  // Nor does a stop while it waits make its inventory complete.
  await lp.stop();
  lp = await startLp({ alone: true });
  expect(lp.status().reasons.map(({ kind }) => kind)).toContain('quarantine');
  // Opened only now, so that the first process cannot have stored it: the second fills it, once the first has
  // given back the sender.
  await here.send(keeper.address, here.chain.escrow, openForCall(later.order, later.funding));
  await settle(local, here);
  await eventually(() => bucket(here, 'weth').onchain === weth - (local.order.outputs[0]?.amount ?? 0n));
  for (const { id } of [crossed, later]) await eventually(async () => (await stageOf(id)) === 'finalised');
  expect(bucket(there, 'usdc').onchain).toBe(paid - crossed.output - later.output);
  for (const chain of devnet.chains) await chain.anvil.advance(60);
  await eventually(() => lp.status().status === 'active');
  expect(zombie.status().reasons.map(({ kind }) => kind)).toContain('lost');
  await zombie.stop();
  await booksAgree();
  // What the journal missed between the two lives it read from the chains: it agrees with ledger and escrow
  // to the unit.
  await eventually(async () => {
    const all = await lp.accounts().reconcile();
    return (
      all.length === 4 &&
      all.every(
        ({ journal, chainSays, ledger }) => ledger !== null && journal === chainSays && journal === ledger,
      )
    );
  });
});

test('an operator that is revoked on two chains and allowed again on one signs nothing', async () => {
  const why = () => lp.status().reasons.find(({ kind }) => kind === 'operator')?.note;
  await here.setOperator(owner.address, operator.address, false);
  await eventually(() => why() === `the operator key was revoked on ${here.chain.slug}`);
  await there.setOperator(owner.address, operator.address, false);
  await here.setOperator(owner.address, operator.address);
  await eventually(() => why() === `the operator key was revoked on ${there.chain.slug}`);
  expect(lp.status().status).toBe('standby');
  await there.setOperator(owner.address, operator.address);
  await eventually(() => lp.status().status === 'active');
});

test('after a crash and a rotation, an award signed with the old key is ours while that key may sign', async () => {
  for (const chain of devnet.chains) {
    await chain.fund(successor.address, 0n);
    await chain.setOperator(owner.address, successor.address);
  }
  const kept = await quote(bridge(900n * USDC));
  const revoked = await quote(buy(there, there, 800n * USDC));
  await there.setOperator(owner.address, operator.address, false);
  const zombie = lp;
  // The one that nobody can execute must not bind inventory; it comes first.
  venue.awards = [awardOf(revoked), awardOf(kept)];
  lp = await startLp({ alone: true, key: successor });
  await eventually(async () => (await stageOf(kept.id)) !== undefined);
  expect(await stageOf(revoked.id)).toBeUndefined();
  await here.send(keeper.address, here.chain.escrow, openForCall(kept.order, kept.funding));
  await eventually(async () => (await stageOf(kept.id)) === 'finalised');
  await zombie.stop();
});
