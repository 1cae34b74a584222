/**
 * Rebalancing as the operator of an LP sees it: what is advised, what begins by itself within the limits,
 * what waits for a command, and where the money is.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type MovingLp, startMovingLp } from '../../faults/support/moving-lp.ts';
import { patiently } from '../../faults/support/client.ts';
import { PROGRAM } from '../../support/build.ts';
import { firmquote } from '../../support/command.ts';

const WHOLE = 1_000_000n;
const limits = { mode: 'automatic', mostUsd: 30_000 };

let m: MovingLp;

beforeAll(async () => {
  m = await startMovingLp({
    chainIds: [31_695, 31_696],
    program: PROGRAM,
    owned: [90_000n, 10_000n],
    transfers: limits,
  });
}, 300_000);
afterAll(() => m?.stop());

async function rebalance(...words: string[]): Promise<string> {
  const { stdout, stderr } = await firmquote(['lp', 'rebalance', ...words, '--admin', m.lp.adminUrl]);
  return stdout + stderr;
}
const wanted = (amount: string, asset = 'USDC') => [
  ...['run', '--asset', asset, '--from', m.here.chain.slug, '--to', m.there.chain.slug],
  ...['--amount', amount, '--note', 'weekend'],
];

test('what is worth more than the limit of an automatic transfer waits for the operator', async () => {
  const said = await patiently(async () => {
    const text = await rebalance('plan');
    return text.includes('USDC') ? text : undefined;
  });
  expect(said).toMatch(
    /USDC +chain1 +chain2 +40000 +cctp, about \d+ s +0 +by hand +it is worth more than .*30000\): 40000 USDC are/,
  );
  expect(await rebalance('status')).toContain('No transfer is under way.');
  expect(await rebalance('history')).toContain('No transfer has begun yet.');
});

test('a transfer that cannot be made is refused, says why, and changes nothing', async () => {
  expect(await rebalance(...wanted('1', 'EURC'))).toContain('This LP has no EURC on chain1.');
  expect(await rebalance(...wanted('90000.000001'))).toContain('Live quotes and open orders need it.');
  expect(await rebalance(...wanted('1', 'WETH'))).toContain('No configured bridge carries this token there.');
  expect(await rebalance(...wanted('-5'))).toContain('whole tokens');
  expect(await rebalance(...wanted('0.000'))).toContain('A transfer moves more than 0 USDC.');
  expect(await rebalance(...wanted('1.0000001'))).toContain('USDC on chain1 has 6 decimals.');
  const sameChain = wanted('1').map((word) => (word === m.there.chain.slug ? m.here.chain.slug : word));
  expect(await rebalance(...sameChain)).toContain('both are chain1. Name two chains.');
  for (const [asset, amount, to] of [
    ['USDC', '0', 'chain2'],
    ['USDC', '0.0000001', 'chain2'],
    ['USDC', '1', 'chain1'],
  ])
    await expect(m.ask('/transfers', { asset, from: 'chain1', to, amount, note: 'test' })).rejects.toThrow(
      /400 .*bad_request/,
    );
  expect(await m.newest()).toBeUndefined();
  expect(await m.free()).toBe(90_000n * WHOLE);
});

test('within the limits a transfer begins by itself and brings both chains to their targets', async () => {
  expect(await m.lp.part.stop()).toBe(0);
  limits.mostUsd = 50_000;
  await m.startWhole();
  const { id } = await patiently(() => m.newest());
  expect(await m.free()).toBe(50_000n * WHOLE);
  expect(await rebalance('status')).toMatch(new RegExp(`${id} .*USDC +chain1 +chain2 +40000 `));
  expect(await m.until('deposited', { delay: false })).toBe('reached');
  const { here, there } = await m.before();
  const half = { ledger: 50_000n * WHOLE, beside: 0n };
  expect([here, there]).toEqual([half, half]);
  expect(await rebalance('history')).toMatch(new RegExp(`${id} .* 40000 +deposited`));
  expect((await m.newest())?.reason).toMatch(/^automatic: /);
  expect(await rebalance('plan')).not.toContain('USDC');
});

test('switched off with a transfer open: the log says which and what to do, and its money is not quoted', async () => {
  const { id } = await m.ask<{ id: string }>('/transfers', {
    ...{ asset: 'USDC', from: 'chain1', to: 'chain2', amount: '2500.5', note: 'test' },
  });
  expect(await m.lp.part.stop()).toBe(0);
  limits.mode = 'off';
  await m.lp.part.start();
  await patiently(async () => m.lp.part.said().includes('LP is running') || undefined);
  const told = m.lp.part
    .said()
    .split('\n')
    .filter((line) => line.includes('transfers.mode is'));
  expect(told).toHaveLength(1);
  expect(told[0]).toMatch(
    new RegExp(`transfer ${id} of 2500.5 USDC from chain1 to chain2 is open \\((planned|requested)\\)`),
  );
  expect(told[0]).toContain('Set transfers.mode to \\"by_hand\\"');
  expect(JSON.parse(told[0] ?? '')).toMatchObject({ transfer: id, bridge: 'cctp' });
  expect(await patiently(() => m.free())).toBe(47_499_500_000n);
  // As the alert LpTransferStuck sees it: nobody takes its next step.
  const metrics = await (await fetch(`${m.lp.part.opsUrl}/metrics`)).text();
  expect(metrics).toMatch(/^firmquote_lp_transfers_overdue 1$/m);
  expect(await m.lp.part.stop()).toBe(0);
  limits.mode = 'by_hand';
  await m.startWhole();
  expect(await m.until('deposited', { delay: false })).toBe('reached');
});
