/**
 * Two replicas of an LP as processes. When one dies, the other makes its deliveries, once. A command to one
 * applies to both.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { outputHash, type MandateOutput } from '../../src/domain/order.ts';
import { openForCall } from '../../src/settlement/call.ts';
import { type LpProcesses, startLpProcesses } from './support/lp-processes.ts';
import { PROGRAM } from '../support/build.ts';
import { account, type TestChain } from '../support/devnet.ts';
import { awardOf, eventually, type Trade } from '../support/lp-trades.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';

const NAMES = ['a', 'b'] as const;
type Name = (typeof NAMES)[number];
const ACCOUNTS = 7_400;

let redis: TestRedis;
let lp: LpProcesses;
let there: TestChain;

beforeAll(async () => {
  redis = await startRedis();
  lp = await startLpProcesses({
    chainId: 41_091,
    toChainId: 41_092,
    replicas: NAMES,
    redisUrl: redis.url,
    accounts: ACCOUNTS,
    program: PROGRAM,
  });
  there = lp.there as TestChain;
  await Promise.all(NAMES.map((name) => lp.part(name).start()));
}, 300_000);
afterAll(async () => {
  await lp?.stop();
  await redis?.stop();
});

/** Both replicas quote, and one of them leads. */
async function roles(): Promise<{ leader: Name; other: Name }> {
  await Promise.all(NAMES.map((name) => lp.pricing(name)));
  let leader: Name | undefined;
  await eventually(async () => {
    for (const name of NAMES) if (await lp.leads(name)) leader = name;
    return leader !== undefined;
  });
  return { leader: leader as Name, other: leader === 'a' ? 'b' : 'a' };
}

const inPool = async ({ anvil }: TestChain, from: string) => {
  const { pending } = await anvil.rpc<{ pending: Record<string, Record<string, unknown>> }>(
    'txpool_content',
    [],
  );
  return Object.entries(pending).some(
    ([sender, transactions]) =>
      sender.toLowerCase() === from.toLowerCase() && Object.keys(transactions).length > 0,
  );
};
const open = ({ order, funding }: Trade) =>
  lp.chain.send(account(ACCOUNTS + 3).address, lp.chain.chain.escrow, openForCall(order, funding));
const delivered = async ({ id, order }: Trade) =>
  (await there.port.fillRecord(id, outputHash(order.outputs[0] as MandateOutput))) !== undefined;
const holdings = () =>
  Promise.all([
    there.port.ledgerBalance(account(ACCOUNTS).address, there.usdc.address),
    there.port.tokenBalance(account(ACCOUNTS + 2).address, there.usdc.address),
  ]);

/** The LP paid this order's output to the taker exactly once, and nothing else. */
async function paidOnce({ output }: Trade, [lpHad, takerHad]: readonly bigint[]): Promise<void> {
  await there.anvil.mine(4);
  expect(await holdings()).toEqual([(lpHad as bigint) - output, (takerHad as bigint) + output]);
}

test('the leader dies before a due delivery: another replica leads and delivers once', async () => {
  const { leader, other } = await roles();
  const before = await holdings();
  const trade = await lp.bridge(700, leader);
  lp.venue.send({ type: 'award', ...awardOf(trade) }, leader);
  await eventually(async () =>
    ((await lp.admin(other, 'GET', '/awards')) as { awards: { orderId: string }[] }).awards.some(
      ({ orderId }) => orderId === trade.id,
    ),
  );
  await lp.part(leader).kill();
  await open(trade);
  await eventually(() => lp.leads(other));
  await eventually(() => delivered(trade));
  // The dead replica comes back and finds nothing left to do.
  await lp.part(leader).start();
  await lp.pricing(leader);
  expect(await lp.leads(leader)).toBe(false);
  await paidOnce(trade, before);
}, 300_000);

test('the leader dies with a delivery in flight: another replica leads and the delivery lands once', async () => {
  const { leader, other } = await roles();
  const before = await holdings();
  const nonce = () =>
    there.anvil.rpc<string>('eth_getTransactionCount', [lp.operator.address, 'latest']).then(Number);
  const sentBefore = await nonce();
  const trade = await lp.bridge(800, other);
  await there.anvil.rpc('evm_setIntervalMining', [0]);
  // The award goes to the replica that did not quote.
  lp.venue.send({ type: 'award', ...awardOf(trade) }, leader);
  await open(trade);
  await eventually(() => inPool(there, lp.operator.address));
  await lp.part(leader).kill();
  await there.anvil.rpc('evm_setIntervalMining', [1]);
  await eventually(() => lp.leads(other));
  await eventually(() => delivered(trade));
  await paidOnce(trade, before);
  expect(await nonce()).toBe(sentBefore + 1);
  await lp.part(leader).start();
}, 300_000);

test('a pause given to one replica stops all, also one that was down, until a resume', async () => {
  const { leader, other } = await roles();
  const note = (name: Name) => lp.venue.said(name)?.note ?? '';
  // Venues learn that the operator paused, and only the operator why.
  const isPaused = async (name: Name) =>
    note(name).includes('by its operator') &&
    JSON.stringify(await lp.admin(name, 'GET', '/status')).includes('enough');
  await lp.admin(other, 'POST', '/pause?note=enough');
  for (const name of NAMES) await eventually(() => isPaused(name));
  await expect(lp.bridge(100, leader)).rejects.toThrow('standby');
  expect(await lp.part(other).stop()).toBe(0);
  await lp.part(other).start();
  await eventually(() => isPaused(other));
  await lp.admin(leader, 'POST', '/resume');
  for (const name of NAMES) await lp.pricing(name);
  for (const name of NAMES) await lp.bridge(100, name);
}, 300_000);

test('a pair paused at one replica is paused at all, also one that restarts, until any resumes it', async () => {
  const { leader, other } = await roles();
  // One that restarts does not answer yet.
  const status = (name: Name) => lp.admin(name, 'GET', '/status').catch(() => ({}));
  const paused = async (name: Name) =>
    JSON.stringify(await status(name)).includes('USDC-USDC is paused: odd fills');
  await lp.admin(other, 'POST', '/pause?pair=USDC-USDC&note=odd%20fills');
  for (const name of NAMES) await eventually(() => paused(name));
  for (const name of NAMES) await expect(lp.bridge(100, name)).rejects.toThrow('standby');
  await lp.part(other).kill();
  await lp.part(other).start();
  await eventually(() => paused(other));
  await lp.admin(leader, 'POST', '/resume?pair=USDC-USDC');
  for (const name of NAMES) await eventually(async () => !(await paused(name)));
  for (const name of NAMES) await lp.pricing(name);
  for (const name of NAMES) await lp.bridge(100, name);
  // A whole resume ends it as well.
  await lp.admin(leader, 'POST', '/pause?pair=USDC-USDC&note=odd%20fills');
  for (const name of NAMES) await eventually(() => paused(name));
  await lp.admin(other, 'POST', '/resume');
  for (const name of NAMES) await eventually(async () => !(await paused(name)));
}, 300_000);

test('a signal set at one replica moves the quotes of all, over restarts, until one clears it', async () => {
  const { leader, other } = await roles();
  const widths = async (name: Name) =>
    ((await lp.admin(name, 'GET', '/v1/signals')) as { signals: { widthBps: number }[] }).signals.map(
      ({ widthBps }) => widthBps,
    );
  const wish = { pair: 'USDC-USDC', widthBps: 30, ttlSeconds: 600 };
  const { output: before } = await lp.bridge(100, leader);
  await lp.admin(other, 'POST', '/v1/signals', wish);
  for (const name of NAMES) await eventually(async () => (await widths(name)).join() === '30');
  const { output: during } = await lp.bridge(100, leader);
  expect(during).toBeLessThan(before - before / 500n);
  await lp.part(leader).kill();
  await lp.part(leader).start();
  await lp.pricing(leader);
  expect(await widths(leader)).toEqual([30]);
  // Replaced at one replica and cleared at the other.
  await lp.admin(leader, 'POST', '/v1/signals', { ...wish, widthBps: 20 });
  await eventually(async () => (await widths(other)).join() === '20');
  await lp.admin(other, 'DELETE', '/v1/signals/USDC-USDC');
  for (const name of NAMES) await eventually(async () => (await widths(name)).length === 0);
  const { output: after } = await lp.bridge(100, leader);
  expect(after).toBeGreaterThan(during);
}, 300_000);
