import { describe, expect, test } from 'vitest';
import { createDailyFlow, createRebalancer, type RebalancePlace } from './rebalance.ts';

const HOUR = 3_600;
const rule = { startQ: 0.6, stopQ: 0.2, cooldownSeconds: HOUR };

/** Equal parts of what there is; takers drain 5,000 a day of each, at 10 bps to bring some. */
function places(amounts: Record<string, bigint>, change: Partial<RebalancePlace> = {}): RebalancePlace[] {
  const all = Object.values(amounts).reduce((sum, amount) => sum + amount, 0n);
  const target = all / BigInt(Object.keys(amounts).length);
  return Object.entries(amounts).map(([chain, available]) => {
    const q = Number(available - target) / Number(target);
    const ramp = Math.min(Math.max((-q - 0.2) / 0.8, 0), 1);
    return {
      chain,
      available,
      target,
      q,
      costBps: 10,
      chargeBps: 10 * ramp,
      drainedPerDay: 5_000n,
      ...change,
    };
  });
}

describe('two chains', () => {
  test('advises the distance to the target once it is far off and a day of charges exceeds the cost of the move', () => {
    const rebalancer = createRebalancer(rule);
    expect(rebalancer.advise('USDC', places({ base: 1_600n, arc: 400n }), 0)).toEqual([]);
    // q 0.7: 700 to move cost 1, five thousand a day at 6.25 bps bring 4.
    expect(rebalancer.advise('USDC', places({ base: 1_700n, arc: 300n }), 1)).toEqual([
      { asset: 'USDC', from: 'base', to: 'arc', amount: 700n, cost: 1n, charges: 4n },
    ]);
  });

  test('advises nothing while no taker drains the chain, unless moving is free', () => {
    const rebalancer = createRebalancer(rule);
    expect(rebalancer.advise('USDC', places({ base: 2_000n, arc: 0n }, { drainedPerDay: 0n }), 0)).toEqual(
      [],
    );
    expect(rebalancer.advise('USDC', places({ base: 2_000n, arc: 0n }, { drainedPerDay: 900n }), 0)).toEqual(
      [],
    );
    expect(
      rebalancer.advise('USDC', places({ base: 2_000n, arc: 0n }, { drainedPerDay: 1_100n }), 0),
    ).toMatchObject([{ amount: 1_000n, cost: 1n, charges: 2n }]);
    expect(
      rebalancer.advise(
        'DAI',
        places({ base: 2_000n, arc: 0n }, { drainedPerDay: 0n, costBps: 0, chargeBps: 0 }),
        0,
      ),
    ).toMatchObject([{ amount: 1_000n, cost: 0n }]);
  });

  test('advice lasts until the imbalance is nearly gone, followed by a pause', () => {
    const rebalancer = createRebalancer(rule);
    const at = (arc: bigint, now: number) =>
      rebalancer.advise('USDC', places({ base: 2_000n - arc, arc }), now);
    expect(at(300n, 0)).toHaveLength(1);
    expect(at(500n, 10)).toMatchObject([{ amount: 500n }]);
    expect(at(790n, 20)).toMatchObject([{ amount: 210n }]);
    expect(at(810n, 30)).toEqual([]);
    // Between stop and start nothing begins; and after a new start the pair still rests.
    expect(at(500n, 40)).toEqual([]);
    expect(at(300n, 50)).toEqual([]);
    expect(at(300n, 30 + HOUR - 1)).toEqual([]);
    expect(at(300n, 30 + HOUR)).toHaveLength(1);
  });

  test('does not ask again for a withdrawal in transit', () => {
    const rebalancer = createRebalancer(rule);
    expect(rebalancer.advise('USDC', places({ base: 1_700n, arc: 300n }), 0)).toMatchObject([
      { amount: 700n },
    ]);
    rebalancer.left('USDC', 'base', 5);
    expect(rebalancer.advise('USDC', places({ base: 1_000n, arc: 300n }), 6)).toEqual([]);
    expect(rebalancer.advise('USDC', places({ base: 1_000n, arc: 1_000n }), 600)).toEqual([]);
    // Another asset has nothing to do with it.
    rebalancer.left('DAI', 'base', 7);
    expect(rebalancer.advise('DAI', places({ base: 1_700n, arc: 300n }), 8)).toHaveLength(1);
  });
});

test('several chains: the largest surplus fills the largest deficit, within the balance', () => {
  const rebalancer = createRebalancer(rule);
  const advice = rebalancer.advise('USDC', places({ a: 2_500n, b: 1_300n, c: 150n, d: 50n }), 0);
  expect(advice.map(({ from, to, amount }) => [from, to, amount])).toEqual([
    ['a', 'd', 950n],
    ['a', 'c', 550n],
    ['b', 'c', 300n],
  ]);
});

test("a day's flow decays: a steady rate is reported as it is, and without flow it goes to zero", () => {
  const flow = createDailyFlow();
  for (let hour = 0; hour < 24 * 20; hour++) flow.add('x', 100n, hour * HOUR);
  expect(Number(flow.perDay('x', 24 * 20 * HOUR))).toBeGreaterThan(2_300);
  expect(Number(flow.perDay('x', 24 * 20 * HOUR))).toBeLessThan(2_500);
  expect(flow.perDay('x', 24 * 40 * HOUR)).toBe(0n);
  expect(flow.perDay('never seen', 0)).toBe(0n);
});
