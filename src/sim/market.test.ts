import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { simulatedMaker, simulatedMarket } from '../../test/support/simulated.ts';
import { barChart, lineChart, ticksOf } from './chart.ts';
import { createRandom } from './random.ts';
import { drawPrices, realised } from './exchange.ts';
import { createMaker } from './maker/maker.ts';
import type { MakerPair, MakerQuote, SimRoute } from './maker/setup.ts';
import { runMarket } from './market.ts';
import { pageOf } from './page.ts';

const path = (seconds: number, sigma: number, seed: number, jumpsPerHour = 1, start = 2500) =>
  drawPrices({ seconds, start, sigma, jumpsPerHour, jumpBps: 30 }, createRandom(seed));

describe('a simulated market', () => {
  test('conserves every token to the base unit', () => {
    fc.assert(
      fc.property(
        fc.record({
          seed: fc.nat(1e6),
          sigma: fc.double({ min: 0.1, max: 4, noNaN: true }),
          theta: fc.double({ min: 0, max: 1, noNaN: true }),
          rfqSeconds: fc.double({ min: 0.3, max: 5, noNaN: true }),
          chains: fc.integer({ min: 1, max: 2 }),
          pairs: fc.integer({ min: 1, max: 2 }),
          copies: fc.integer({ min: 0, max: 2 }),
          risk: fc.boolean(),
        }),
        ({ seed, sigma, theta, rfqSeconds, chains, pairs, copies, risk }) => {
          const one = simulatedMaker(
            risk ? {} : { risk: null },
            chains === 1 ? [1] : [1, 2],
            pairs === 1 ? ['WETH'] : ['WETH', 'WBTC'],
          );
          const setup = simulatedMarket(
            [path(150, sigma, seed), path(150, sigma, seed + 1, 1, 60_000)].slice(0, pairs),
            [one, ...Array.from({ length: copies }, (_, at) => ({ ...one, name: `copy ${at}` }))],
            { seed },
          );
          // Every sample compares the total money with the start and throws on any difference.
          const result = runMarket({ ...setup, takers: { ...setup.takers, theta, rfqSeconds } });
          for (const { before, after } of result.money) expect(after).toBe(before);
          // Every LP answers every request, and spread, pick-off and position sum to the profit.
          for (const { name: _, mostHeldUsd: _held, pairs: parts, ...all } of result.makers) {
            for (const { requests, quoted, declines, fills } of [all, ...parts]) {
              expect(quoted + Object.values(declines).reduce((sum, times) => sum + times, 0)).toBe(requests);
              expect(fills).toBeLessThanOrEqual(quoted);
            }
            // Counts and money of the pairs sum to those of the LP.
            for (const figure of ['requests', 'quoted', 'fills', 'exercised'] as const)
              expect(parts.reduce((sum, part) => sum + part[figure], 0)).toBe(all[figure]);
            for (const figure of ['volumeUsd', 'spreadUsd', 'pickOffUsd', 'pnlUsd'] as const)
              expect(parts.reduce((sum, part) => sum + part[figure], 0)).toBeCloseTo(all[figure], 4);
          }
        },
      ),
      { numRuns: 12, seed: 1 },
    );
  });

  test('the same seed gives the same result, another seed another result', () => {
    const run = (seed: number) =>
      JSON.stringify(runMarket(simulatedMarket([path(200, 0.9, seed)], [simulatedMaker()], { seed })));
    expect(run(4)).toBe(run(4));
    expect(run(4)).not.toBe(run(5));
  });

  test('option holders cost much with long tenors and little with short ones', () => {
    const pickOff = (validitySeconds: number) => {
      const maker = simulatedMaker({
        risk: null,
        quoting: { validitySeconds, pointsSeconds: [], maxValiditySeconds: 120, clockSkewSeconds: 1 },
      });
      const setup = simulatedMarket([path(1_500, 2, 3, 20)], [maker]);
      return runMarket({ ...setup, takers: { ...setup.takers, theta: 0.5 } }).makers[0]?.pickOffUsd as number;
    };
    expect(pickOff(60)).toBeLessThan(10 * Math.min(pickOff(5), -1));
  });

  test('risk controls decline and are named', () => {
    // One side is taken again and again: the burst control trips and the caps hold.
    const calm = path(400, 0.3, 1, 0);
    const setup = simulatedMarket([calm], [simulatedMaker({ limits: { perTaker: { count: 2 } } })]);
    const { declines } = runMarket({
      ...setup,
      takers: { ...setup.takers, alpha: -20, rfqSeconds: 0.3, takers: 3 },
    }).makers[0] as { declines: Record<string, number> };
    expect(declines['burst']).toBeGreaterThan(0);
    expect(declines['limit_taker']).toBeGreaterThan(0);
    const jumps = [
      ...path(60, 0.3, 2, 0),
      ...path(30, 0.3, 3, 0).map((price) => price * 1.02),
      ...path(60, 0.3, 4, 0),
    ];
    expect(
      runMarket(simulatedMarket([jumps], [simulatedMaker()])).makers[0]?.declines['vol_spike'],
    ).toBeGreaterThan(0);
    const holders = simulatedMarket([path(1_200, 1, 4, 6)], [simulatedMaker()]);
    expect(
      runMarket({ ...holders, takers: { ...holders.takers, theta: 1, rfqSeconds: 3 } }).makers[0]?.declines[
        'free_option'
      ],
    ).toBeGreaterThan(0);
  });

  test('another pair leaves the prices, requests and answers of the first one as they are', () => {
    const first = path(400, 0.9, 5);
    // Without controls and limits that pairs share, and with more capital than any flow uses.
    const rich = (bases: readonly ('WETH' | 'WBTC')[]) => {
      const maker = simulatedMaker({ risk: null }, [1], bases);
      return { ...maker, buckets: maker.buckets.map((each) => ({ ...each, start: each.start * 1000n })) };
    };
    const alone = runMarket(simulatedMarket([first], [rich(['WETH'])])).makers[0]?.pairs[0];
    const both = runMarket(simulatedMarket([first, path(400, 0.9, 6, 1, 60_000)], [rich(['WETH', 'WBTC'])]))
      .makers[0];
    expect(both?.pairs[0]).toEqual(alone);
    expect(both?.pairs[1]?.fills).toBeGreaterThan(0);
  });

  test('pairs compete for the same inventory of the quote asset', () => {
    const poor = (bases: readonly ('WETH' | 'WBTC')[]) => {
      const maker = simulatedMaker({ risk: null }, [1], bases);
      return {
        ...maker,
        buckets: maker.buckets.map((each) =>
          each.asset === 'USDC' ? { ...each, start: 60_000n * 10n ** 6n } : each,
        ),
      };
    };
    const paths = [path(400, 0.9, 5), path(400, 0.9, 6, 1, 60_000)];
    const alone = runMarket(simulatedMarket(paths.slice(0, 1), [poor(['WETH'])])).makers[0]?.pairs[0];
    const shared = runMarket(simulatedMarket(paths, [poor(['WETH', 'WBTC'])])).makers[0]?.pairs[0];
    expect(shared?.requests).toBe(alone?.requests);
    expect(shared?.declines['no_inventory'] ?? 0).toBeGreaterThan(alone?.declines['no_inventory'] ?? 0);
  });

  test('the controls of one pair do not stop another, those of the LP stop all', () => {
    const jump = [60, 30, 60].flatMap((seconds, at) =>
      path(seconds, 0.3, at + 2, 0).map((price) => (at === 1 ? 1.02 : 1) * price),
    );
    const run = (paths: readonly number[][]) =>
      runMarket(simulatedMarket(paths, [simulatedMaker({}, [1], ['WETH', 'WBTC'])])).makers[0]?.pairs.map(
        ({ declines }) => declines,
      ) as Record<string, number>[];
    const btc = path(jump.length - 1, 0.3, 4, 0, 60_000);
    const [eth, other] = run([jump, btc]);
    expect(eth?.['vol_spike']).toBeGreaterThan(0);
    expect(other?.['vol_spike']).toBeUndefined();
    // A crash of one pair ends quoting in both: the drawdown is that of the whole LP.
    const crash = btc.map((price, at) => (at < 60 ? price : price * 0.7) / 24);
    const [fell, unmoved] = run([crash, btc]);
    expect(fell?.['kill_switch']).toBeGreaterThan(0);
    expect(unmoved?.['kill_switch']).toBeGreaterThan(0);
  });

  test('drawn prices have the requested volatility, and pairs the requested correlation', () => {
    expect(realised(path(50_000, 0.9, 1, 0)) / 0.9).toBeCloseTo(1, 1.5);
    const factor = createRandom(1, 4);
    const draws = Array.from({ length: 50_001 }, () => factor.normal());
    const moves = (share: number, seed: number, sigma: number) => {
      const setup = { seconds: 50_000, start: 2500, sigma, jumpsPerHour: 0, jumpBps: 30 };
      const prices = drawPrices(setup, createRandom(seed), { share, draws });
      expect(realised(prices) / sigma).toBeCloseTo(1, 1.5);
      return prices.slice(1).map((price, at) => Math.log(price / (prices[at] as number)));
    };
    for (const share of [0, 0.6, 1]) {
      const [a, b] = [moves(share, 2, 0.9), moves(share, 3, 0.5)];
      const product = (x: readonly number[], y: readonly number[]) =>
        x.reduce((sum, move, at) => sum + move * (y[at] as number), 0);
      expect(product(a, b) / Math.sqrt(product(a, a) * product(b, b))).toBeCloseTo(share, 1.5);
    }
  });
});

describe('a maker', () => {
  const [pair] = simulatedMaker().pairs as [MakerPair];
  const [route] = pair.routes as [SimRoute];

  test('quotes a better price for shorter tenors, and holds the largest amount', () => {
    const maker = createMaker(simulatedMaker());
    maker.see([2500], 1_000_000_000_000);
    const offers = maker.ask(
      {
        id: 'a',
        taker: 't',
        route,
        side: 'exactInput',
        amount: 10n ** 18n,
        platformFeeBps: 2,
        minValidSeconds: 0,
      },
      1_000_000_000_000,
    ) as readonly MakerQuote[];
    expect(offers.map(({ validUntil }) => validUntil - 1_000_000_000)).toEqual([5, 10]);
    const [short, long] = offers.map(({ priced }) => priced.output) as [bigint, bigint];
    expect(short).toBeGreaterThan(long);
    expect(maker.ledger.bucket(route.output.chainId, route.output.token)?.held).toBe(short);
  });

  test('declines tenors longer than its maximum and amounts it cannot pay', () => {
    const maker = createMaker(simulatedMaker());
    maker.see([2500], 1_000_000_000_000);
    const request = {
      id: 'a',
      taker: 't',
      route,
      side: 'exactInput' as const,
      amount: 10n ** 18n,
      platformFeeBps: 2,
      minValidSeconds: 0,
    };
    expect(maker.ask({ ...request, minValidSeconds: 61 }, 1_000_000_000_000)).toMatchObject({
      declined: 'validity',
    });
    expect(
      maker.ask({ ...request, side: 'exactOutput', amount: 260_000n * 10n ** 6n }, 1_000_000_000_000),
    ).toHaveProperty('declined');
  });
});

describe('the page', () => {
  test('is one file that loads nothing and escapes all text', () => {
    const chart = lineChart({
      title: '<script>alert(1)</script>',
      unit: 'bps',
      minutes: [0, 1, 2],
      lines: [
        { name: 'a"b', values: [1, null, 3] },
        { name: 'c', values: [2, 2, 2] },
      ],
      level: 0,
    });
    const page = pageOf({
      title: 'T & T',
      facts: ['<b>'],
      tables: [{ title: 'x', head: ['h'], rows: [['<i>']] }],
      charts: [chart, barChart({ title: 'none', unit: '', bars: [] })],
    });
    expect(page).not.toMatch(/https?:|<script|src=|@import|url\(|<b><|<i></);
    expect(page).toContain('T &#38; T');
    expect(page).not.toContain('NaN');
  });

  test('axes have round steps that cover the values', () => {
    expect(ticksOf(0, 10)).toEqual([0, 2, 4, 6, 8, 10]);
    expect(ticksOf(-37, 112)).toEqual([-50, 0, 50, 100, 150]);
    expect(ticksOf(0.00012, 0.00031)[0]).toBeLessThanOrEqual(0.00012);
  });
});
