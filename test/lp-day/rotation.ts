/** The operator's key is rotated while orders are open. The gas of both keys is in the books. */

import { join } from 'node:path';
import { expect } from 'vitest';
import { asOwner } from './morning.ts';
import type { Day } from './support/day.ts';
import { bookRows, closing, spent } from './support/gas.ts';
import { accept, delivered, settled, trade } from './support/trades.ts';

export async function rotation(day: Day): Promise<void> {
  const { operator, folder, here, there } = day;
  const owner = join(folder, 'owner.json');
  const keystore = join(folder, 'my-lp', 'secrets', 'operator-2.json');
  await trade(day, { from: here, to: there, usdc: 500n });
  const made = await operator.type('keystore', 'new', keystore, '--password-env', 'OPERATOR_PASSWORD');
  expect(made).toMatchObject({ status: 0, stderr: '' });
  const [old, key] = [day.keys.at(-1) as string, made.stdout.trim() as `0x${string}`];
  await Promise.all([here, there].map((chain) => chain.fund(key, 0n)));
  await asOwner(
    day,
    `firmquote lp operator set ${key} --limit USDC=50000/1h --limit WETH=50/1h --config ${operator.file} --owner ${owner}`,
  );
  day.keys.push(key);

  const during = [
    await accept(day, { from: here, to: there, usdc: 1_200n }),
    await accept(day, { from: there, to: here, usdc: 1_100n, take: 'usdc' }),
  ];
  // The old key delivers them, and whichever key is there proves and claims.
  await delivered(during);
  await operator.edit(({ keys }) => (keys.operator.keystore = keystore));
  expect(await day.lp.stop()).toBe(0);
  await day.lp.start();
  await operator.sees(/^Quoting\. /);
  await settled(during);
  await trade(day, { from: here, to: there, usdc: 900n });
  await trade(day, { from: there, to: here, usdc: 900n });

  // Its last transactions are final, so the owner takes the old key's right away.
  await asOwner(day, `firmquote lp operator revoke ${old} --config ${operator.file} --owner ${owner}`);
  await trade(day, { from: there, usdc: 400n });
  const said = await operator.until(/^All 8 balances of the accounting ledger agree/m, 'journal');
  for (const each of day.keys) expect(said).toContain(`gas of ${each}`);
  const rows = await bookRows(day);
  for (const chain of [here, there])
    expect(closing(rows, chain.chain.slug, ({ account }) => account === 'expense:gas')).toBe(
      await spent(chain, day.keys),
    );
}
