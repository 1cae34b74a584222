import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { simulatedMaker, simulatedMarket } from '../../test/support/simulated.ts';
import { drawPrices } from './exchange.ts';
import { createHedger, type HedgeSetup } from './hedge.ts';
import { runMarket } from './market.ts';
import { createRandom } from './random.ts';

const FREE: HedgeSetup = { bandUsd: 0, halfSpreadBps: 0, feeBps: 0, delaySeconds: 0 };
const eth = (tokens: number) => BigInt(Math.round(tokens * 1e6)) * 10n ** 12n;

describe('a hedge', () => {
  test('sells what exceeds the band, and pays half-spread and fee', () => {
    // 10 ETH at 2000; 4 ETH may stay open. Sold: 6 ETH at 1998 = 11,988, less 0.1 % fee.
    const hedger = createHedger({ bandUsd: 8_000, halfSpreadBps: 10, feeBps: 10, delaySeconds: 0 });
    hedger.step(0, eth(10), 2_000);
    expect(hedger.position).toBe(eth(-6));
    expect(hedger.tally()).toEqual({ orders: 1, volumeUsd: 11_988, halfSpreadUsd: 12, feeUsd: 11.988 });
    expect(hedger.pnlUsd(2_000)).toBeCloseTo(-23.988, 9);
    hedger.step(1, eth(10), 2_000);
    expect(hedger.tally().orders).toBe(1);
    // The position turns: from -6 it buys back to the other edge, 4 ETH short of flat.
    hedger.step(2, eth(-10), 2_000);
    expect(hedger.position).toBe(eth(6));
  });

  test('trades at the price after the delay, and does not order twice while it waits', () => {
    const hedger = createHedger({ ...FREE, delaySeconds: 3 });
    for (const [second, mid] of [2_000, 2_010, 2_020].entries()) hedger.step(second, eth(1), mid);
    expect(hedger.position).toBe(0n);
    hedger.step(3, eth(1), 1_900);
    expect(hedger.position).toBe(eth(-1));
    expect(hedger.pnlUsd(1_900)).toBeCloseTo(0, 9);
    expect(hedger.pnlUsd(2_000)).toBeCloseTo(-100, 9);
  });

  test('loses exactly its costs while the price stands still', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -1e9, max: 1e9 }), { minLength: 1, maxLength: 40 }),
        fc.record({
          bandUsd: fc.constantFrom(0, 1_000, 50_000),
          halfSpreadBps: fc.constantFrom(0, 1, 7.5),
          feeBps: fc.constantFrom(0, 0.5, 5),
          delaySeconds: fc.integer({ min: 0, max: 5 }),
        }),
        (changes, setup) => {
          const hedger = createHedger(setup);
          for (const [second, change] of changes.entries()) hedger.step(second, eth(change / 1e6), 2_500);
          for (let second = 0; second < 6; second++)
            hedger.step(changes.length + second, eth((changes.at(-1) as number) / 1e6), 2_500);
          const { halfSpreadUsd, feeUsd, volumeUsd } = hedger.tally();
          expect(hedger.pnlUsd(2_500)).toBeCloseTo(-halfSpreadUsd - feeUsd, 6);
          expect(feeUsd).toBeCloseTo((volumeUsd * setup.feeBps) / 1e4, 6);
          expect(halfSpreadUsd).toBeGreaterThanOrEqual(0);
          // What is left open is inside the band.
          const open = Math.abs((changes.at(-1) as number) / 1e6 + Number(hedger.position) / 1e18) * 2_500;
          expect(open).toBeLessThanOrEqual(setup.bandUsd + 1e-3);
        },
      ),
    );
  });
});

describe('a hedged LP in a market', () => {
  const prices = drawPrices(
    { seconds: 900, start: 2500, sigma: 2, jumpsPerHour: 10, jumpBps: 30 },
    createRandom(3),
  );
  const hedged = (hedge: HedgeSetup) =>
    runMarket({ ...simulatedMarket([prices], [simulatedMaker()]), hedge });

  test('answers and fills as the hedge-less one', () => {
    const {
      hedge: _,
      series,
      ...result
    } = hedged({ bandUsd: 20_000, halfSpreadBps: 1, feeBps: 2, delaySeconds: 1 });
    const { series: plain, ...alone } = runMarket(simulatedMarket([prices], [simulatedMaker()]));
    expect(result).toEqual(alone);
    expect(series.map(({ hedged: _hedged, ...sample }) => sample)).toEqual(plain);
  });

  test('carries no risk when trading is free and immediate: its profit is what each fill was worth', () => {
    const { makers, series } = hedged(FREE);
    const [maker] = makers;
    const earned = (maker?.spreadUsd ?? 0) + (maker?.pickOffUsd ?? 0);
    expect(series.at(-1)?.hedged?.pnlUsd).toBeCloseTo(earned, 2);
    expect(Math.abs((maker?.pnlUsd ?? 0) - earned)).toBeGreaterThan(1);
    for (const { hedged: sample } of series)
      expect(Math.abs(sample?.openUsd ?? Number.NaN)).toBeLessThan(0.01);
  });

  test('hedges each of several pairs at its own price', () => {
    const [eth, btc] = [prices, prices.map((price) => 24 * price)];
    const { makers, series, hedge } = runMarket({
      ...simulatedMarket([eth, btc], [simulatedMaker({}, [1], ['WETH', 'WBTC'])]),
      hedge: FREE,
    });
    const earned = (makers[0]?.spreadUsd ?? 0) + (makers[0]?.pickOffUsd ?? 0);
    expect(series.at(-1)?.hedged?.pnlUsd).toBeCloseTo(earned, 2);
    expect(hedge?.volumeUsd).toBeGreaterThan(0);
    for (const { hedged: sample } of series)
      expect(sample?.openUsd).toBeLessThan(Math.max(0.01, 0.001 * (sample?.aloneUsd ?? 0)));
  });

  test('leaves more open with a wider band, and pays less', () => {
    const costs = { halfSpreadBps: 2, feeBps: 5, delaySeconds: 2 };
    const [narrow, wide] = [hedged({ bandUsd: 1_000, ...costs }), hedged({ bandUsd: 60_000, ...costs })];
    expect(narrow.hedge?.feeUsd).toBeGreaterThan(wide.hedge?.feeUsd as number);
    const open = ({ series }: ReturnType<typeof hedged>) =>
      series.reduce((sum, { hedged: sample }) => sum + Math.abs(sample?.openUsd ?? 0), 0);
    expect(open(narrow)).toBeLessThan(open(wide));
  });
});
