import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isDecline } from '../domain/decline.ts';
import { check } from './check.ts';
import { ladder } from './ladder.ts';
import { DEFAULT_PARAMS } from './params.ts';
import { pluginProblems } from './plugin.ts';
import type { PriceInputs, PricingPlugin, PricingView } from './price-inputs.ts';
import { price, type Priced } from './price.ts';

const inputs: PriceInputs = {
  side: 'exactInput',
  amount: 10n ** 19n,
  platformFeeBps: 2,
  relayFee: 0n,
  lp: 'buy',
  baseDecimals: 18,
  quoteDecimals: 6,
  mid: { num: 2500n, den: 1n },
  quoteValue: 1,
  confidenceBps: 1.18608,
  sigma: 0.9,
  firmSeconds: 61,
  q: -0.25,
  ownGas: 300_000n,
  lockSeconds: 900,
  params: DEFAULT_PARAMS,
  market: { pair: 'WETH-USDC', corridor: 'base-op' },
};
const priced = (plugin?: PricingPlugin, change: Partial<PriceInputs> = {}): Priced => {
  const answer = price({ ...inputs, ...change, ...(plugin && { plugin }) });
  return isDecline(answer) ? expect.fail(`${answer.declined} ${answer.detail ?? ''}`) : answer;
};

describe('extra terms', () => {
  const flat = (bps: number): PricingPlugin => ({ name: 'flat', terms: { desk: () => bps } });
  test('a zero term changes nothing and is shown', () => {
    const answer = priced(flat(0));
    expect(answer).toEqual({ ...priced(), terms: { ...priced().terms, extra: { desk: 0 } } });
    expect(priced().terms).not.toHaveProperty('extra');
  });
  test('a term is a cost that goes through the markup and the premium', () => {
    const { terms } = priced(flat(3));
    expect(terms.D).toBeCloseTo(priced(undefined, { adverseBps: 4.5 }).terms.D, 12);
    expect(terms.c0).toBeCloseTo(priced().terms.c0 + 3, 12);
    expect(check({ ...inputs, plugin: flat(3) }, priced(flat(3)))).toEqual([]);
  });
  test('the independent check rejects a term outside the sum and an unknown term', () => {
    const answer = priced(flat(3));
    const given = { ...inputs, plugin: flat(3) };
    expect(check(given, { ...answer, terms: { ...answer.terms, extra: { desk: 2 } } })).toContain(
      'c0 is its sum',
    );
    expect(check(inputs, answer)).toContain('extra terms come from a plug-in');
  });
});

describe('a pricer', () => {
  const ten: PricingPlugin = { name: 'ten', pricer: () => ({ edge: 7, risk: 1 }) };
  test('returns parts, gas and fee; we compute the integers', () => {
    const answer = priced(ten);
    expect(answer.terms).toMatchObject({ extra: { edge: 7, risk: 1 }, conf: 0, inv: 0, x: 0, m: 0, fee: 2 });
    expect(answer.terms.gas).toBeCloseTo(0.144, 12);
    expect(answer.terms.D).toBeCloseTo(10.144, 12);
    expect(answer.spread).toBe(80_000n);
    expect(answer.output).toBe(
      (25_000_000_000n * (100_000_000n - 80_000n)) / 100_000_000n - 5_000_000n - 360_000n,
    );
    expect(check({ ...inputs, plugin: ten }, answer)).toEqual([]);
  });
  test('the price bounds apply to a pricer too', () => {
    expect(priced({ name: 'giver', pricer: () => ({ gift: -500 }) }).terms.D).toBe(
      DEFAULT_PARAMS.minSpreadBps,
    );
    expect(price({ ...inputs, plugin: { name: 'greedy', pricer: () => ({ edge: 400 }) } })).toMatchObject({
      declined: 'standby',
    });
  });
  test('exact output and ladders call the pricer for every size', () => {
    const sizes: number[] = [];
    const growing: PricingPlugin = {
      name: 'growing',
      pricer: ({ size }) => (sizes.push(size), { edge: 5 + size / 10_000 }),
    };
    const out = priced(growing, { side: 'exactOutput', amount: 24_000_000_000n });
    expect(check({ ...inputs, side: 'exactOutput', amount: 24_000_000_000n, plugin: growing }, out)).toEqual(
      [],
    );
    expect(ladder({ ...inputs, plugin: growing })).toHaveLength(4);
    expect(new Set(sizes).size).toBeGreaterThan(4);
  });
});

describe('its input', () => {
  test('the request and the market are frozen', () => {
    let seen: PricingView | undefined;
    priced({ name: 'looker', terms: { look: (view) => ((seen = view), 0) } });
    expect(seen).toMatchObject({
      pair: 'WETH-USDC',
      corridor: 'base-op',
      lp: 'buy',
      size: 25_000,
      mid: 2500,
      sigma: 0.9,
      firmSeconds: 61,
      q: -0.25,
      adverseBps: 1.5,
      fee: 2,
    });
    expect(seen?.gas).toBeCloseTo(0.144, 12);
    expect(Object.isFrozen(seen) && Object.isFrozen(seen?.params)).toBe(true);
  });
  test('a pricer that writes to its input is declined, and the configuration is unchanged', () => {
    const answer = price({
      ...inputs,
      plugin: {
        name: 'vandal',
        terms: { break: (view) => ((view.params as { maxSpreadBps: number }).maxSpreadBps = 9_999) },
      },
    });
    expect(answer).toMatchObject({ declined: 'internal' });
    expect(DEFAULT_PARAMS.maxSpreadBps).toBe(300);
  });
});

describe('an invalid answer is declined and never signed', () => {
  const nonsense: [string, unknown][] = [
    [
      'throws',
      () => {
        throw new Error('no model today');
      },
    ],
    ['NaN', () => Number.NaN],
    ['infinite', () => Number.POSITIVE_INFINITY],
    ['a text', () => '3'],
    ['a bigint', () => 3n],
    ['nothing', () => undefined],
    ['a promise', () => Promise.resolve(3)],
    ['beyond all bounds', () => 1e9],
  ];
  test.each(nonsense)('a term: %s', (_name, compute) => {
    expect(
      price({ ...inputs, plugin: { name: 'bad', terms: { desk: compute as () => number } } }),
    ).toMatchObject({ declined: 'internal', detail: expect.stringContaining('"bad"') as string });
  });
  test.each(nonsense)('a pricer: %s', (_name, compute) => {
    const pricer = () => ({ edge: (compute as () => number)() });
    expect(price({ ...inputs, plugin: { name: 'bad', pricer } })).toMatchObject({
      declined: 'internal',
      detail: expect.stringContaining('"bad"') as string,
    });
  });
  test.each([[() => ({})], [() => null], [() => 7], [() => Promise.resolve({ edge: 3 })]])(
    'a pricer without parts: %s',
    (pricer) => {
      expect(
        price({
          ...inputs,
          plugin: { name: 'bad', pricer: pricer as unknown as () => Record<string, number> },
        }),
      ).toMatchObject({ declined: 'internal' });
    },
  );
  test('any answer yields a price that passes the independent check, or a decline', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.double(), fc.double({ min: -400, max: 400 }), fc.constant('x')),
        fc.boolean(),
        (bps, whole) => {
          const plugin = (
            whole
              ? { name: 'any', pricer: () => ({ edge: bps }) }
              : { name: 'any', terms: { desk: () => bps } }
          ) as PricingPlugin;
          const answer = price({ ...inputs, plugin });
          if (!isDecline(answer)) expect(check({ ...inputs, plugin }, answer)).toEqual([]);
        },
      ),
    );
  });
});

test.each([
  [null, /must be an object/],
  [{ name: 'a' }, /either terms or a pricer/],
  [{ name: 'a', terms: {}, pricer: () => ({}) }, /either terms or a pricer/],
  [{ name: 'two words', terms: {} }, /name: must be/],
  [{ name: 'a', terms: { x: 3 } }, /terms\.x: must be a function/],
  [{ name: 'a', pricer: 'p' }, /pricer: must be a function/],
  [{ name: 'a', terms: {}, term: {} }, /term: no such part/],
])('no plug-in: %j', (value, problem) => expect(pluginProblems(value).join('; ')).toMatch(problem));
test('a plug-in', () => expect(pluginProblems({ name: 'a', terms: { desk: () => 1 } })).toEqual([]));
