/**
 * Two replicas of an LP as processes: what one owes when it dies the other delivers, once; what one is told
 * both do.
 */

import { afterEach, expect, test } from 'vitest';
import { outputHash, type MandateOutput } from '../../src/domain/order.ts';
import { openForCall } from '../../src/settlement/call.ts';
import { type LpProcesses, startLpProcesses } from '../faults/support/lp-processes.ts';
import { PROGRAM } from '../support/build.ts';
import { account, type TestChain } from '../support/devnet.ts';
import { awardOf, eventually, type Trade } from '../support/lp-trades.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';

let lps: LpProcesses | undefined;
let redis: TestRedis | undefined;

afterEach(async () => {
  await lps?.stop();
  await redis?.stop();
  [lps, redis] = [undefined, undefined];
});

const NAMES = ['a', 'b'] as const;
type Name = (typeof NAMES)[number];
/** Five programs start for each of these. */
const LIMIT_MS = 300_000;

/** Both of them quote, and one of them leads. */
async function started({
  chainId,
  toChainId,
  accounts,
}: {
  chainId: number;
  toChainId: number;
  accounts: number;
}): Promise<{ lp: LpProcesses; there: TestChain; leader: Name; other: Name }> {
  redis = await startRedis();
  const lp = (lps = await startLpProcesses({
    chainId,
    toChainId,
    replicas: NAMES,
    redisUrl: redis.url,
    accounts,
    program: PROGRAM,
  }));
  await Promise.all(NAMES.map((name) => lp.part(name).start()));
  await Promise.all(NAMES.map((name) => lp.pricing(name)));
  let leader: Name | undefined;
  await eventually(async () => {
    for (const name of NAMES) if (await lp.leads(name)) leader = name;
    return leader !== undefined;
  });
  return { lp, there: lp.there as TestChain, leader: leader as Name, other: leader === 'a' ? 'b' : 'a' };
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
const open = ({ chain }: LpProcesses, accounts: number, { order, funding }: Trade) =>
  chain.send(account(accounts + 3).address, chain.chain.escrow, openForCall(order, funding));
const delivered = async ({ port }: TestChain, { id, order }: Trade) =>
  (await port.fillRecord(id, outputHash(order.outputs[0] as MandateOutput))) !== undefined;
const holdings = ({ port, usdc }: TestChain, accounts: number) =>
  Promise.all([
    port.ledgerBalance(account(accounts).address, usdc.address),
    port.tokenBalance(account(accounts + 2).address, usdc.address),
  ]);

/** The LP paid this order's output to the taker, and nothing else, however long one waits. */
async function paidOnce(
  there: TestChain,
  accounts: number,
  { output }: Trade,
  [lpHad, takerHad]: readonly bigint[],
): Promise<void> {
  await there.anvil.mine(4);
  expect(await holdings(there, accounts)).toEqual([
    (lpHad as bigint) - output,
    (takerHad as bigint) + output,
  ]);
}

test(
  'the leader dies before a due delivery: another replica leads and delivers once',
  async () => {
    const accounts = 7_400;
    const { lp, there, leader, other } = await started({ chainId: 41_091, toChainId: 41_092, accounts });
    const before = await holdings(there, accounts);
    const trade = await lp.bridge(700, leader);
    lp.venue.send({ type: 'award', ...awardOf(trade) }, leader);
    await eventually(async () =>
      ((await lp.admin(other, 'GET', '/awards')) as { awards: { orderId: string }[] }).awards.some(
        ({ orderId }) => orderId === trade.id,
      ),
    );
    await lp.part(leader).kill();
    await open(lp, accounts, trade);
    await eventually(() => lp.leads(other));
    await eventually(() => delivered(there, trade));
    // The one that died comes back: nothing is left to do.
    await lp.part(leader).start();
    await lp.pricing(leader);
    expect(await lp.leads(leader)).toBe(false);
    await paidOnce(there, accounts, trade, before);
  },
  LIMIT_MS,
);

test(
  'the leader dies with a delivery in flight: another replica leads and the delivery lands once',
  async () => {
    const accounts = 7_410;
    const { lp, there, leader, other } = await started({ chainId: 41_093, toChainId: 41_094, accounts });
    const before = await holdings(there, accounts);
    const nonce = () =>
      there.anvil.rpc<string>('eth_getTransactionCount', [lp.operator.address, 'latest']).then(Number);
    const sentBefore = await nonce();
    const trade = await lp.bridge(800, other);
    await there.anvil.rpc('evm_setIntervalMining', [0]);
    // Given to the one that did not quote it either.
    lp.venue.send({ type: 'award', ...awardOf(trade) }, leader);
    await open(lp, accounts, trade);
    await eventually(() => inPool(there, lp.operator.address));
    await lp.part(leader).kill();
    await there.anvil.rpc('evm_setIntervalMining', [1]);
    await eventually(() => lp.leads(other));
    await eventually(() => delivered(there, trade));
    await paidOnce(there, accounts, trade, before);
    expect(await nonce()).toBe(sentBefore + 1);
  },
  LIMIT_MS,
);

test(
  'a pause given to one replica stops all, also one that was down, until a resume',
  async () => {
    const { lp, leader, other } = await started({ chainId: 41_095, toChainId: 41_096, accounts: 7_420 });
    const note = (name: Name) => lp.venue.said(name)?.note ?? '';
    await lp.admin(other, 'POST', '/pause?note=enough');
    for (const name of NAMES) await eventually(() => note(name).includes('enough'));
    await expect(lp.bridge(100, leader)).rejects.toThrow('standby');
    expect(await lp.part(other).stop()).toBe(0);
    await lp.part(other).start();
    await eventually(() => note(other).includes('enough'));
    await lp.admin(leader, 'POST', '/resume');
    for (const name of NAMES) await lp.pricing(name);
    for (const name of NAMES) await lp.bridge(100, name);
  },
  LIMIT_MS,
);
