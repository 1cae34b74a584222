import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { simulatedMaker, simulatedMarket } from '../../test/support/simulated.ts';
import { barChart, lineChart, ticksOf } from './chart.ts';
import { createRandom } from './random.ts';
import { drawPrices, realised } from './exchange.ts';
import { createMaker, type MakerQuote, type SimRoute } from './maker.ts';
import { runMarket } from './market.ts';
import { pageOf } from './page.ts';

const path = (seconds: number, sigma: number, seed: number, jumpsPerHour = 1) =>
  drawPrices({ seconds, start: 2500, sigma, jumpsPerHour, jumpBps: 30 }, createRandom(seed));

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
          copies: fc.integer({ min: 0, max: 2 }),
          risk: fc.boolean(),
        }),
        ({ seed, sigma, theta, rfqSeconds, chains, copies, risk }) => {
          const one = simulatedMaker(risk ? {} : { risk: null }, chains === 1 ? [1] : [1, 2]);
          const setup = simulatedMarket(
            path(150, sigma, seed),
            [one, ...Array.from({ length: copies }, (_, at) => ({ ...one, name: `copy ${at}` }))],
            { seed },
          );
          // Every sample compares the total money with the start and throws on any difference.
          const result = runMarket({ ...setup, takers: { ...setup.takers, theta, rfqSeconds } });
          for (const { before, after } of result.money) expect(after).toBe(before);
          // Every LP answers every request, and spread, pick-off and position sum to the profit.
          for (const { requests, quoted, declines, fills } of result.makers) {
            expect(quoted + Object.values(declines).reduce((sum, times) => sum + times, 0)).toBe(requests);
            expect(fills).toBeLessThanOrEqual(quoted);
          }
        },
      ),
      { numRuns: 12, seed: 1 },
    );
  });

  test('the same seed gives the same result, another seed another result', () => {
    const run = (seed: number) =>
      JSON.stringify(runMarket(simulatedMarket(path(200, 0.9, seed), [simulatedMaker()], { seed })));
    expect(run(4)).toBe(run(4));
    expect(run(4)).not.toBe(run(5));
  });

  test('option holders cost much with long tenors and little with short ones', () => {
    const pickOff = (validitySeconds: number) => {
      const maker = simulatedMaker({
        risk: null,
        quoting: { validitySeconds, pointsSeconds: [], maxValiditySeconds: 120, clockSkewSeconds: 1 },
      });
      const setup = simulatedMarket(path(1_500, 2, 3, 20), [maker]);
      return runMarket({ ...setup, takers: { ...setup.takers, theta: 0.5 } }).makers[0]?.pickOffUsd as number;
    };
    expect(pickOff(60)).toBeLessThan(10 * Math.min(pickOff(5), -1));
  });

  test('risk controls decline and are named', () => {
    // One side is taken again and again: the burst control trips and the caps hold.
    const calm = path(400, 0.3, 1, 0);
    const setup = simulatedMarket(calm, [simulatedMaker({ limits: { perTaker: { count: 2 } } })]);
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
      runMarket(simulatedMarket(jumps, [simulatedMaker()])).makers[0]?.declines['vol_spike'],
    ).toBeGreaterThan(0);
    const holders = simulatedMarket(path(1_200, 1, 4, 6), [simulatedMaker()]);
    expect(
      runMarket({ ...holders, takers: { ...holders.takers, theta: 1, rfqSeconds: 3 } }).makers[0]?.declines[
        'free_option'
      ],
    ).toBeGreaterThan(0);
  });

  test('drawn prices have the requested volatility', () => {
    expect(realised(path(50_000, 0.9, 1, 0)) / 0.9).toBeCloseTo(1, 1.5);
  });
});

describe('a maker', () => {
  const [route] = simulatedMaker().routes as [SimRoute];

  test('quotes a better price for shorter tenors, and holds the largest amount', () => {
    const maker = createMaker(simulatedMaker());
    maker.see(2500, 1_000_000_000_000);
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
    maker.see(2500, 1_000_000_000_000);
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
