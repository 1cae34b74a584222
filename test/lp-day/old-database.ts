/**
 * The LP's database is lost: the LP starts on a backup of noon. It knows nothing of what was traded since,
 * and compares with the chains before it signs.
 */

import { join } from 'node:path';
import { expect } from 'vitest';
import { patiently } from '../faults/support/client.ts';
import type { Day } from './support/day.ts';
import { accept, delivered, offer, settled, trade } from './support/trades.ts';

const fileOf = ({ folder }: Day) => join(folder, 'noon.backup');

export async function noon(day: Day): Promise<void> {
  const { operator } = day;
  const done = await operator.type('backup', fileOf(day), '--lp', operator.file);
  expect(done).toMatchObject({ status: 0, stdout: expect.stringContaining('rows of "lp" were written') });
}

export async function restored(day: Day): Promise<void> {
  const { operator, here, there, world } = day;
  await day.lp.start();
  await operator.sees(/^Quoting\. /);
  // Delivered by the process that knows of it, and claimed, it may be, by the one that does not.
  const owed = await accept(day, { from: here, to: there, usdc: 1_300n });
  await delivered([owed]);
  await day.lp.kill();

  const database = await world.postgres.database('lp_mine_again');
  operator.env['LP_DATABASE_URL'] = database;
  day.databases.push(database);
  const done = await operator.type('restore', fileOf(day), '--lp', operator.file);
  expect(done).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/rows of "lp" were restored[\s\S]*signs nothing for \d+ s on every chain/),
  });
  await day.lp.start();
  await operator.sees(/^Not quoting\. /, /(?:starting|quarantine): /);
  expect(await offer(day, { from: here, usdc: 500n })).toBeUndefined();
  await operator.sees(/^Quoting\. /);
  await settled([owed]);
  await trade(day, { from: here, to: there, usdc: 700n });
  await trade(day, { from: there, weth: 10n ** 17n });

  // Every token agrees by itself. What the other database spent on gas is for the operator to book.
  await patiently(async () => {
    const { reconciled } = await books(day);
    return reconciled.every(({ difference }) => difference === '0') || undefined;
  });
  const { gas } = await books(day);
  const off = gas.filter(({ difference }) => difference !== '0');
  expect(off.map(({ operator: key }) => key)).toEqual(off.map(() => day.keys.at(-1)));
  for (const { chain, operator: key, difference } of off) {
    const booked = await operator.lp(
      ...['journal', '--adjust', inTokens(BigInt(difference)), '--chain', chain, '--token', 'native'],
      ...['--operator', key, '--note', 'gas that the lost database knew of'],
    );
    // Its status is 1 while another balance still differs.
    expect(booked.stderr).toBe('');
  }
  await operator.until(/^All 8 balances of the accounting ledger agree/m, 'journal');
}

interface Books {
  reconciled: { difference: string | null }[];
  gas: { chain: string; operator: string; difference: string }[];
}

/** The verdict may be that some differ. */
const books = async ({ operator }: Day): Promise<Books> =>
  JSON.parse((await operator.lp('journal', '--json')).stdout) as Books;

const inTokens = (wei: bigint): string => {
  const digits = (wei < 0n ? -wei : wei).toString().padStart(19, '0');
  return `${wei < 0n ? '-' : ''}${digits.slice(0, -18)}.${digits.slice(-18)}`;
};
