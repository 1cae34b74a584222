/** The LP dies with SIGKILL under trades, alone and as one of two replicas: nothing is lost or paid twice. */

import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { patiently, type Wanted } from '../faults/support/client.ts';
import { type Part, steadyPort } from '../faults/support/process.ts';
import { startRedis } from '../support/redis.ts';
import { type Day, SOLVER } from './support/day.ts';
import { createOperator, type Operator } from './support/operator.ts';
import { diceOf } from './support/seed.ts';
import { accept, type Accepted, ended, trade } from './support/trades.ts';

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** On each chain and across, some hundred milliseconds apart. */
function trading(day: Day, dice: ReturnType<typeof diceOf>): Promise<Accepted[]> {
  const { here, there } = day;
  const wanted: Wanted[] = [
    { from: here, to: there },
    { from: here },
    { from: there, to: here, take: 'usdc' },
    { from: there },
  ];
  return Promise.all(
    wanted.map(async (each, at) => {
      const usdc = 300n + BigInt(Math.floor(dice.next() * 900));
      await wait(at * 400);
      return accept(day, { ...each, usdc });
    }),
  );
}

export async function alone(day: Day): Promise<void> {
  const { operator } = day;
  const dice = diceOf(5);
  const accepted = trading(day, dice);
  await wait(Math.floor(dice.next() * 3_000));
  await day.lp.kill();
  await day.lp.start();
  // It may have signed quotes that it does not know of.
  await operator.sees(/^Not quoting\. /, /quarantine: /);
  await operator.sees(/^Quoting\. /);
  expect(await ended(await accepted)).toBeGreaterThan(0);
  await operator.until(/^All 8 balances of the accounting ledger agree/m, 'journal');
}

interface Replica {
  name: string;
  operator: Operator;
  part: Part;
}

const leads = async ({ operator }: Replica): Promise<boolean> =>
  /"leads":true/.test(await operator.until(/^\{/, 'status', '--json').catch(() => ''));

export async function replicas(day: Day): Promise<void> {
  const { operator, folder } = day;
  const dice = diceOf(6);
  const redis = await startRedis();
  day.atEnd.push(() => redis.stop());
  operator.env['REDIS_URL'] = redis.url;
  expect(await day.lp.stop()).toBe(0);
  const second = createOperator(join(folder, 'my-lp', 'lp-b.json'), operator.env);
  await copyFile(operator.file, second.file);
  const shared = (name: string) => ({ redisUrl: '${REDIS_URL}', name, timeoutMs: 2_000, leadSeconds: 2 });
  const alone = await operator.edit((config) => (config.replicas = shared('a')));
  const [ops, admin] = [await steadyPort(), await steadyPort()];
  await second.edit((config) => {
    config.replicas = shared('b');
    config.ops.port = ops;
    config.admin = { port: admin, tokenFile: join(folder, 'my-lp', 'data', 'b.token') };
  });
  const first = day.lp;
  const both: Replica[] = [
    { name: 'a', operator, part: first },
    { name: 'b', operator: second, part: day.run(`${SOLVER} b`, second.file, ops) },
  ];
  for (const { part } of both) await part.start();
  for (const each of both) await each.operator.sees(/^Quoting\. /);
  await trade(day, { from: day.here, to: day.there, usdc: 500n });

  // The leader makes the deliveries. It dies while it owes some.
  const leader = await patiently(async () => ((await leads(both[0] as Replica)) ? both[0] : both[1]));
  const other = both.find((each) => each !== leader) as Replica;
  expect(await leads(other)).toBe(false);
  const accepted = trading(day, dice);
  await wait(Math.floor(dice.next() * 3_000));
  await leader.part.kill();
  await patiently(async () => (await leads(other)) || undefined);
  expect(await ended(await accepted)).toBeGreaterThan(0);
  await leader.part.start();
  await leader.operator.sees(/^Quoting\. /);
  expect(await leads(leader)).toBe(false);
  await trade(day, { from: day.there, to: day.here, usdc: 500n });
  await other.operator.until(/^All 8 balances of the accounting ledger agree/m, 'journal');

  for (const { part } of both) expect(await part.stop()).toBe(0);
  await alone();
  day.processes.push(first);
}
