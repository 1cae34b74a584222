/**
 * An LP that dies with quotes signed, alone or beside others: whoever takes everything it ever signed is
 * paid.
 */

import { afterEach, expect, test } from 'vitest';
import { random32, request } from '../support/scripted-venue.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { eventually, type Trade } from '../support/lp-trades.ts';
import { account } from '../support/devnet.ts';
import { ALONE, type LpProcesses, startLpProcesses } from './support/lp-processes.ts';
import { diceOf } from './seed.ts';

let world: LpProcesses | undefined;
let redis: TestRedis | undefined;

afterEach(async () => {
  await world?.stop();
  await redis?.stop();
  [world, redis] = [undefined, undefined];
});

/** More than a book is ever left with that was asked for all it has: what fits came in since. */
const FRESH = 8_000;

const isTrade = (answer: Awaited<ReturnType<LpProcesses['ask']>>): answer is Trade => 'id' in answer;

/** So much more to quote, and the first trade that it allows: to be taken with the others. */
async function refill(lps: LpProcesses, replica: string): Promise<Trade> {
  await lps.deposit(20n);
  return insist(lps, FRESH, replica);
}

/** Asks until there is a quote: one replica sees a deposit before the other does. */
async function insist(lps: LpProcesses, usdc: number, replica: string): Promise<Trade> {
  for (;;) {
    const answer = await lps.ask(usdc, replica);
    if (isTrade(answer)) return answer;
    await new Promise((done) => setTimeout(done, 50));
  }
}

async function some(
  lps: LpProcesses,
  count: number,
  sizes: () => number,
  replica: (at: number) => string,
): Promise<Trade[]> {
  const trades: Trade[] = [];
  for (let at = 0; at < count; at++) trades.push(await insist(lps, sizes(), replica(at)));
  return trades;
}

test('F41: a killed LP signs nothing until each of its live quotes has expired; a clean stop keeps every hold and needs no wait', async () => {
  const dice = diceOf('F41');
  const sizes = () => 1_000 + Math.floor(dice.next() * 4_000);
  const lp = (world = await startLpProcesses({ chainId: 31_641, replicas: [ALONE], accounts: 4_100 }));
  const part = lp.part(ALONE);
  const only = () => ALONE;
  const newest = () => lp.venue.statuses.at(-1);
  const again = async () => {
    lp.venue.statuses.length = 0;
    await part.start();
    await eventually(() => newest() !== undefined);
  };
  await part.start();
  await lp.pricing(ALONE);

  // A clean stop with quotes alive: the next process knows them, and quotes what they leave.
  const before = await some(lp, 2 + Math.floor(dice.next() * 4), sizes, only);
  expect(await part.stop()).toBe(0);
  await again();
  await eventually(() => newest()?.status === 'active');
  expect(
    lp.venue.statuses.map(({ note }) => note ?? '').filter((note) => note.includes('quarantine')),
  ).toEqual([]);
  await lp.takeAll([...before, ...(await lp.exhaust([ALONE], sizes))]);

  // Killed, with a question in its hands.
  const signed = [await refill(lp, ALONE), ...(await some(lp, 2 + Math.floor(dice.next() * 4), sizes, only))];
  lp.venue.send({
    ...request({
      from: lp.chain.chain,
      to: lp.chain.chain,
      give: lp.chain.usdc,
      take: lp.chain.weth,
      amount: 1_000_000_000n,
      taker: account(4_102).address,
    }),
    rfqId: random32().slice(2, 34),
  });
  await part.kill();
  await again();
  expect(newest()).toMatchObject({ status: 'standby', note: expect.stringMatching(/^quarantine:/) });
  for (let asked = 0; asked < 5; asked++)
    expect(await lp.ask(sizes(), ALONE)).toMatchObject({ declined: 'standby' });
  await lp.takeAll(signed.slice(0, 2));
  expect(await lp.ask(sizes(), ALONE)).toMatchObject({ declined: 'standby' });
  await lp.takeAll(signed.slice(2));
  await lp.chain.anvil.advance(600);
  await eventually(() => newest()?.status === 'active');
  await lp.takeAll(await lp.exhaust([ALONE], sizes));
});

test('F42: of two replicas with shared inventory one is frozen and one killed, and Redis is emptied: no unit is promised twice', async () => {
  const dice = diceOf('F42');
  const sizes = () => 1_000 + Math.floor(dice.next() * 4_000);
  redis = await startRedis();
  const lp = (world = await startLpProcesses({
    chainId: 31_642,
    replicas: ['a', 'b'],
    redisUrl: redis.url,
    accounts: 4_200,
  }));
  const names = ['a', 'b'] as const;
  await lp.part('a').start();
  await lp.part('b').start();
  for (const name of names) await lp.pricing(name);

  // One is frozen, perhaps the one that leads, with quotes signed and a question in its hands.
  const frozen = dice.pick(names);
  const other = frozen === 'a' ? 'b' : 'a';
  const signed = await some(lp, 3 + Math.floor(dice.next() * 3), sizes, (at) => names[at % 2] as string);
  const question = request({
    from: lp.chain.chain,
    to: lp.chain.chain,
    give: lp.chain.usdc,
    take: lp.chain.weth,
    amount: 1_500_000_000n,
    taker: account(4_202).address,
  });
  lp.venue.send(question, frozen);
  const late = lp.venue.answerTo(question.rfqId);
  lp.part(frozen).freeze();
  const survivor = await lp.exhaust([other], sizes);
  expect(survivor.length).toBeGreaterThan(0);
  await lp.takeAll([...signed, ...survivor]);

  // It comes back with an old view, and signs no more than there is.
  const fresh = await refill(lp, other);
  lp.part(frozen).thaw();
  const back = await late;
  const answers = back.type === 'quote' ? [fresh, await lp.trade(back)] : [fresh];
  await insist(lp, 100, frozen);
  await lp.takeAll([...answers, ...(await lp.exhaust(names, sizes))]);

  // Killed and started again: what it had signed is not forgotten, and nobody waits for it.
  const killed = dice.pick(names);
  const remembered = [await refill(lp, killed)];
  remembered.push(...(await some(lp, 4, sizes, (at) => names[at % 2] as string)));
  await lp.part(killed).kill();
  const meanwhile = await some(lp, 1, sizes, () => (killed === 'a' ? 'b' : 'a'));
  await eventually(() => lp.venue.said(killed) === undefined);
  await lp.part(killed).start();
  await lp.pricing(killed);
  await lp.takeAll([...remembered, ...meanwhile, ...(await lp.exhaust(names, sizes))]);

  // Redis forgets: nobody signs until whatever was signed has lapsed.
  const alive = [await refill(lp, 'a'), ...(await some(lp, 4, sizes, (at) => names[at % 2] as string))];
  redis.flush();
  for (const name of names) {
    for (let asked = 0; asked < 3; asked++)
      expect(await lp.ask(sizes(), name)).toMatchObject({ declined: 'standby' });
    await eventually(() => lp.venue.said(name)?.note?.startsWith('quarantine:') === true);
    expect(await lp.ask(sizes(), name)).toMatchObject({ declined: 'standby' });
  }
  await lp.takeAll(alive);
  await lp.chain.anvil.advance(600);
  for (const name of names) await lp.pricing(name);
  await lp.takeAll(await lp.exhaust(names, sizes));
});
