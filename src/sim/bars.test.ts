import { describe, expect, test } from 'vitest';
import { isDecline } from '../domain/decline.ts';
import { baseUnitRate, exactIn, exactOut } from '../pricing/amounts.ts';
import { price } from '../pricing/price.ts';
import { runAdversary } from './adversary.ts';
import { bars } from './bars.ts';
import { createRandom } from './random.ts';
import { drawPrices } from './exchange.ts';
import { noResult, runFirm } from './firm.ts';
import { FIRM, firmInputs } from './firm-setup.ts';
import { deviationOf, meanOf } from './sums.ts';
import { drawWorld, replayWorld } from './world.ts';

const HOURS_4 = { ...FIRM, seconds: 14_400, rfqSeconds: 20 };

describe('the firm-quote backtest', () => {
  const prices = drawPrices(
    { seconds: 600, start: 2500, sigma: 0.9, jumpsPerHour: 6, jumpBps: 30 },
    createRandom(5),
  );
  const report = bars({ paths: 24, seed: 1, events: 30_000, prices });

  test.each(report.rows.map((row) => [row.name, row] as const))('%s', (_, row) => {
    expect(row, JSON.stringify(row)).toMatchObject({ ok: true });
  });

  test('has every bar', () => {
    for (const bar of [1, 2, 3, 4, 5, 6])
      expect(report.rows.filter(({ name }) => name.startsWith(`Bar ${bar}`)).length).toBeGreaterThan(0);
    expect(report.ok).toBe(true);
  });
});

describe('the parts of the backtest', () => {
  test('each bar fails when its feature is removed from the engine', () => {
    const [skewless, symmetric] = [noResult(), noResult()];
    for (let path = 0; path < 20; path++) {
      const world = drawWorld(HOURS_4, 1, path);
      runFirm({ ...FIRM, theta: 0.5, strategy: 'full', gamma: 0 }, world, 1, skewless);
      runFirm({ ...FIRM, theta: 0.5, strategy: 'symmetric' }, world, 1, symmetric);
    }
    expect(deviationOf(skewless.profit)).toBeGreaterThan(0.45 * deviationOf(symmetric.profit));
    expect(meanOf(skewless.profit)).toBe(meanOf(symmetric.profit));
  });

  test('the adversary finds holds that end too early', () => {
    expect(runAdversary(20_000, 1, -25).unpayable).toBeGreaterThan(0);
    const honest = runAdversary(20_000, 1);
    expect(honest).toMatchObject({ unpayable: 0, shortfalls: 0 });
    expect(honest.paid).toBeGreaterThan(500);
    expect(runAdversary(5_000, 1)).toEqual(runAdversary(5_000, 1));
  });

  test("quotes equal the pricing engine's to the base unit", () => {
    for (const [lp, side] of [
      ['buy', 1],
      ['sell', -1],
    ] as const) {
      for (const q of [-0.5, 0, 0.35]) {
        const mid = { num: 10_000n, den: 1n };
        const unit = 10n ** 18n;
        const inputs = {
          ...firmInputs({ ...FIRM, strategy: 'full' }),
          side: lp === 'buy' ? ('exactInput' as const) : ('exactOutput' as const),
          amount: unit,
          lp,
          mid,
          q,
        };
        const engine = price(inputs);
        if (isDecline(engine)) throw new Error(engine.detail);
        const charges = { rate: baseUnitRate(mid, lp, 18, 6), spread: engine.spread, feeBps: 0n, gas: 0n };
        const money = lp === 'buy' ? exactIn(unit, charges) : exactOut(unit, charges);
        expect(lp === 'buy' ? engine.output : engine.input).toBe(money);
        expect(side * (10_000 - Number(money) / 1e6)).toBeCloseTo(engine.terms.D, 1);
      }
    }
  });

  test('profits of two copies equal what takers and the moving mid paid', () => {
    const world = drawWorld(HOURS_4, 3, 0);
    const [one, two] = [noResult(), noResult()];
    runFirm({ ...FIRM, theta: 0 }, world, 1, one);
    runFirm({ ...FIRM, theta: 0, engines: 2 }, world, 1, two);
    expect(two.profit.n).toBe(2);
    // Competition gives takers a better price, so at least as many trade.
    expect(two.fills.sum).toBeGreaterThanOrEqual(one.fills.sum);
  });

  test('a long recording is replayed unchanged', () => {
    const prices = Array.from({ length: 101 }, (_, at) => 2000 * Math.exp(at / 1e4));
    const { mids, sigmas } = replayWorld(prices, { seconds: 100, rfqSeconds: 20 }, 1, 0);
    expect(mids.at(-1)).toBeCloseTo(100, 9);
    expect(sigmas?.length).toBe(101);
    const short = replayWorld(prices.slice(0, 70), { seconds: 600, rfqSeconds: 20 }, 1, 0);
    for (let at = 1; at <= 600; at++)
      expect(Math.abs((short.mids[at] as number) - (short.mids[at - 1] as number))).toBeCloseTo(1, 6);
  });
});
