/** A pair, a chain or all of the LP is paused, and comes back; a drain loses no order. */

import { expect } from 'vitest';
import { patiently } from '../faults/support/client.ts';
import type { Day } from './support/day.ts';
import { accept, type Accepted, offer, settled, trade } from './support/trades.ts';

export async function parts(day: Day): Promise<void> {
  const { operator, here, there } = day;
  await operator.ok('pause', '--pair', 'WETH-USDC', '--note', 'a look at ether');
  await operator.sees(/^Quoting 1 of 2 pairs\./, /WETH-USDC is not quoted: .*a look at ether/);
  for (const from of [here, there]) expect(await offer(day, { from, usdc: 500n })).toBeUndefined();
  await trade(day, { from: here, to: there, usdc: 500n, take: 'usdc' });
  await operator.ok('resume', '--pair', 'WETH-USDC');
  await operator.sees(/^Quoting\. /);
  await trade(day, { from: there, usdc: 500n });

  await operator.ok('pause', '--chain', 'chain2');
  await operator.sees(/^Quoting 1 of 2 pairs\./, /USDC-USDC is not quoted: .*chain2/);
  await trade(day, { from: here, usdc: 500n });
  for (const [from, to] of [
    [there, there],
    [here, there],
    [there, here],
  ])
    expect(await offer(day, { from, to, usdc: 500n } as { usdc: bigint })).toBeUndefined();
  await operator.ok('resume', '--chain', 'chain2');
  await operator.sees(/^Quoting\. /);
  await trade(day, { from: here, to: there, usdc: 500n });
}

export async function drain(day: Day): Promise<void> {
  const { operator, here, there, takers } = day;
  // What is open when the drain begins: orders across chains, and a quote that nobody has accepted yet.
  const open = [
    await accept(day, { from: here, to: there, usdc: 900n }),
    await accept(day, { from: there, to: here, usdc: 800n, take: 'usdc' }),
  ];
  const late = takers[day.orders.length % takers.length] as (typeof takers)[number];
  const signed = await late.prepare({ from: here, to: there, usdc: 700n, firmSeconds: 11 });
  const drained = operator.ok('drain', '--note', 'an upgrade');
  await patiently(async () =>
    (await offer(day, { from: here, usdc: 500n })) === undefined ? true : undefined,
  );
  const id = await late.insist(signed, 'day-drain');
  expect(id, 'a quote of before the drain').toBeDefined();
  day.orders.push(id as string);
  open.push({ id: id as string, taker: late } satisfies Accepted);
  expect(await drained).toMatch(/Drained after \d+ s: no live quotes, no open orders/);
  await settled(open);

  // The pause survives the upgrade.
  await operator.sees(/^Not quoting\. 0 live quotes, 0 open orders/, /Paused by .* at .*: an upgrade/);
  expect(await day.lp.stop()).toBe(0);
  await day.lp.start();
  await operator.sees(/^Not quoting\. /, /Paused by .*an upgrade/);
  expect(await offer(day, { from: here, usdc: 500n })).toBeUndefined();
  await operator.ok('resume');
  await operator.sees(/^Quoting\. /);
  await trade(day, { from: there, to: here, usdc: 600n });
}
