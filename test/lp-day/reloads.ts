/**
 * Configurations that contradict themselves: each is refused with both values named, and what was in force
 * stays in force. A good one shows its effect before it applies.
 */

import { expect } from 'vitest';
import { patiently } from '../faults/support/client.ts';
import type { ConfigFile } from './support/operator.ts';
import type { Day } from './support/day.ts';
import { costBps, offer, trade } from './support/trades.ts';

/** Each with what the refusal must name. */
const BAD: readonly [string, (config: ConfigFile) => void, RegExp][] = [
  [
    'a minimum above the maximum',
    ({ lp }) => Object.assign(lp.pairs[0].params, { minSize: 500, maxSize: 100 }),
    /minSize.*500.*maxSize.*100/,
  ],
  [
    'a negative spread',
    ({ lp }) => (lp.pairs[0].params.minSpreadBps = -1),
    /minSpreadBps.*(?:>=|at least|-1)/,
  ],
  [
    'the same pair twice',
    ({ lp }) => lp.pairs.push(structuredClone(lp.pairs[0])),
    /pairs\.2.*WETH-USDC.*pairs\.0/,
  ],
  ['more sources than there are', ({ lp }) => (lp.prices.ETH.minSources = 5), /minSources.*5.*names 3/],
  [
    'quotes that live longer than the maximum',
    ({ lp }) => (lp.quoting.validitySeconds = 30),
    /validitySeconds.*30.*maxValiditySeconds = 12/,
  ],
  [
    'a limit of an hour above that of a day',
    ({ lp }) => (lp.risk.drawdown = { hourBps: 200, dayBps: 100 }),
    /hourBps.*200.*dayBps = 100/,
  ],
  [
    'a soft band outside the hard band',
    ({ lp }) => Object.assign(lp.assets.WETH, { softBand: '10', hardBand: '5' }),
    /softBand.*10.*hardBand = 5/,
  ],
  [
    'a buffer of a token that is not there',
    ({ lp }) => (lp.chains[0].buffers = { USDT: '5' }),
    /buffers\.USDT.*chain1.*USDC, WETH/,
  ],
  ['another account', ({ lp }) => (lp.chains[0].account = `0x${'9'.repeat(40)}`), /account/],
];

export async function bad(day: Day): Promise<void> {
  const { operator, lp } = day;
  for (const [name, change, both] of BAD) {
    const undo = await operator.edit(change);
    const refused = await operator.lp('reload');
    expect([name, refused.status, refused.stderr]).toEqual([name, 1, expect.stringMatching(both)]);
    expect(refused.stderr, name).toContain('Nothing changed');
    await undo();
  }
  const { length } = BAD;
  const audit = await operator.ok('audit', '--limit', '50');
  expect(audit.match(/reload_refused {2}by/g)?.length ?? 0).toBeGreaterThanOrEqual(length);
  // By a signal nobody reads the answer, but the audit log has it.
  const undo = await operator.edit(BAD[0]?.[1] ?? (() => {}));
  process.kill(lp.pid(), 'SIGHUP');
  await operator.until(/reload_refused {2}by SIGHUP .*minSize/, 'audit');
  await undo();
  expect(await operator.ok('reload', '--dry-run')).toContain('equals the running configuration');
  await operator.sees(/^Quoting\. /);
  await trade(day, { usdc: 500n });
}

const WIDE_BPS = 25;

export async function good(day: Day): Promise<void> {
  const { operator, here } = day;
  const cost = async () =>
    costBps(
      await patiently(
        () => offer(day, { from: here, usdc: 1_000n }),
        () => 'no quote',
      ),
    );
  const before = await cost();
  expect(before).toBeLessThan(WIDE_BPS);
  const undo = await operator.edit(({ lp }) => (lp.pairs[0].params.minSpreadBps = WIDE_BPS));
  const shown = await operator.ok('reload', '--dry-run');
  expect(shown).toContain(`lp.pairs.WETH-USDC.params.minSpreadBps: 1 → ${WIDE_BPS}`);
  const [, quotes, , wider] = /^WETH-USDC +(\d+) +([\d.]+) +([\d.]+) /m.exec(shown)?.map(Number) ?? [];
  expect([quotes, wider], shown).toEqual([expect.any(Number), expect.any(Number)]);
  expect(quotes).toBeGreaterThan(3);
  expect(wider).toBeGreaterThanOrEqual(WIDE_BPS);
  // It was only shown.
  expect(await cost()).toBeLessThan(WIDE_BPS);
  expect(await operator.ok('reload')).toContain('Applied from the next request on');
  expect(await cost()).toBeGreaterThanOrEqual(WIDE_BPS);
  await undo();
  expect(await operator.ok('reload')).toContain(`minSpreadBps: ${WIDE_BPS} → 1`);
  expect(await cost()).toBeLessThan(WIDE_BPS);
  await trade(day, { weth: 2n * 10n ** 17n });
}
