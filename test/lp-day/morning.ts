/**
 * Morning: the owner and the operator create an LP for this venue with `lp init`, type what it tells them to
 * type, start it, and takers trade with it.
 */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { steadyPort } from '../faults/support/process.ts';
import type { ConfigFile } from './support/operator.ts';
import { type Day, SOLVER } from './support/day.ts';
import { diceOf } from './support/seed.ts';
import { accept, settled } from './support/trades.ts';

export async function init(day: Day): Promise<void> {
  const { operator, here, there, folder, owner, world } = day;
  const ownerFile = join(folder, 'owner.json');
  const made = await operator.type(
    ...['keystore', 'new', ownerFile, '--import-env', 'OWNER_KEY', '--password-env', 'OWNER_PASSWORD'],
  );
  expect(made).toMatchObject({ status: 0, stdout: `${owner.address}\n` });

  const answers = join(folder, 'answers.json');
  const chain = (of: typeof here, name: string) => ({
    rpcUrl: `\${${name}}`,
    tokens: [of.usdc.address, of.weth.address],
  });
  await writeFile(
    answers,
    JSON.stringify({
      venue: { url: world.venueUrl().replace('http', 'ws'), keyEnv: 'VENUE_KEY' },
      solver: { id: SOLVER, name: 'Mine & Co' },
      account: owner.address,
      operator: { passwordEnv: 'OPERATOR_PASSWORD' },
      chains: { chain1: chain(here, 'CHAIN1_RPC_URL'), chain2: chain(there, 'CHAIN2_RPC_URL') },
      attesters: world.attesterUrls,
      feeds: day.feeds,
      port: await steadyPort(),
      databaseUrl: '${LP_DATABASE_URL}',
    }),
  );
  const dir = join(folder, 'my-lp');
  const done = await operator.type('lp', 'init', '--answers', answers, '--yes', '--dir', dir);
  expect(done, done.stderr).toMatchObject({ status: 0 });
  expect(done.stdout).toMatch(/✓ the venue faults accepts the key; chains: chain1, chain2/);
  expect(done.stdout).not.toContain('WARNING');
  const key = /The operator is (0x[0-9a-f]{40})\./.exec(done.stdout)?.[1] as `0x${string}`;
  day.keys.push(key);

  // The rest is on the screen: commands for the owner, and gas for the operator.
  const todo = done.stdout.split('Before the LP can quote:\n')[1]?.split('\n\n')[0]?.split('\n') ?? [];
  const commands = todo.map((line) => line.trim()).filter((line) => line.startsWith('firmquote '));
  expect(commands).toHaveLength(4);
  expect(done.stdout).toContain('AMOUNT: the most that the operator may spend of that token');
  for (const command of commands) {
    const limited = command
      .replace('USDC=AMOUNT/1h', 'USDC=150000/1h')
      .replace('WETH=AMOUNT/1h', 'WETH=60/1h');
    await asOwner(day, limited.replace('OWNER_KEYSTORE', ownerFile));
  }
  expect(todo.filter((line) => line.includes(`send ${key} some native currency`))).toHaveLength(2);
  for (const of of [here, there]) await of.fund(key, 0n);
  const deposit = (slug: string, token: string, amount: string) =>
    asOwner(
      day,
      `firmquote lp deposit --config ${operator.file} --chain ${slug} --token ${token} --amount ${amount} --owner ${ownerFile}`,
    );
  await Promise.all(
    ['chain1', 'chain2'].map(async (slug) => {
      await deposit(slug, 'USDC', '149000');
      await deposit(slug, 'WETH', '60');
    }),
  );
}

export async function asOwner({ operator }: Day, command: string): Promise<void> {
  const done = await operator.type(...command.split(' ').slice(1), '--owner-password-env', 'OWNER_PASSWORD');
  expect(done, command).toMatchObject({ status: 0, stderr: '' });
}

/** What this operator wants other than `lp init` proposes, so that a day passes in minutes. */
const ownNumbers = ({ lp }: ConfigFile): void => {
  for (const chain of lp.chains) Object.assign(chain, { graceSeconds: 2, maxHeadAgeMs: 15_000 });
  // An LP that was killed, or restored from a backup, signs nothing until its longest quote has expired:
  // with the defaults of 60 s and 180 s that is four minutes.
  Object.assign(lp.quoting, { maxValiditySeconds: 12, maxLandingMarginSeconds: 8 });
  lp.lease = { aheadSeconds: 4 };
  lp.reconcileSeconds = 2;
  // Four fills in ten seconds would freeze the pair, and takers here do not rest.
  lp.risk = { burst: { fills: 100, deltaUsd: 10_000_000 }, standbyAfterSeconds: 2 };
};

export async function start(day: Day): Promise<void> {
  const { operator, here, there } = day;
  let ops = 0;
  await operator.edit((config) => {
    ownNumbers(config);
    ops = config.ops.port;
  });
  const checked = await operator.type('config', 'check', operator.file);
  expect(checked).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(
      /lp\.quoting\.maxLandingMarginSeconds = 8\n[\s\S]*is a valid configuration of lp\./,
    ),
  });
  expect(checked.stdout + checked.stderr).not.toContain('WARNING');
  await day.run(SOLVER, operator.file, ops).start();
  await operator.sees(/^Quoting\. /, /faults +connected/);

  const dice = diceOf(1);
  const usdc = () => 500n + BigInt(Math.floor(dice.next() * 1_500));
  const trades = [
    await accept(day, { from: here, usdc: usdc() }),
    await accept(day, { from: here, to: there, usdc: usdc() }),
    await accept(day, { from: there, to: here, usdc: usdc() }),
    await accept(day, { from: there, weth: 10n ** 17n * BigInt(1 + Math.floor(dice.next() * 9)) }),
    await accept(day, { from: here, to: there, usdc: usdc(), take: 'usdc' }),
  ];
  await settled(trades);
  const { awards } = await operator.json<{ awards: { orderId: string }[] }>('awards');
  expect(awards.map(({ orderId }) => orderId).toSorted()).toEqual(trades.map(({ id }) => id).toSorted());
  await operator.until(/^All 6 balances of the accounting ledger agree/m, 'journal');
}
