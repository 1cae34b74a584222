import { describe, expect, test } from 'vitest';
import type * as z from 'zod';
import worked from '../../../../docs/examples/worked-example.json' with { type: 'json' };
import { isDecline } from '../../../domain/decline.ts';
import { DEFAULT_PARAMS } from '../../../pricing/params.ts';
import { price, type Priced } from '../../../pricing/price.ts';
import type { PriceInputs } from '../../../pricing/price-inputs.ts';
import { readPriceInputs, type zPriceInputs } from './price-inputs.ts';

/** Fails to compile when a field of the model cannot be set from a file. */
type Missing = Exclude<keyof PriceInputs, keyof z.infer<typeof zPriceInputs> | 'plugin'>;
const none: Record<Missing, never> = {};

const read = (change: object = {}) => readPriceInputs({ ...worked, ...change }, 'inputs.json');
const inputs = (change: object = {}): PriceInputs => {
  const answer = read(change);
  return isDecline(answer) ? expect.fail(answer.detail) : answer.inputs;
};
const priced = (change: object = {}): Priced => {
  const answer = price(inputs(change));
  return isDecline(answer) ? expect.fail(answer.detail) : answer;
};
const params = (change: object) => ({ params: { ...worked.params, ...change } });
const sixth = (values: object[]) => values.map((change) => priced(change).terms.D.toFixed(6));

test('the worked example, exactly', () => {
  expect(none).toEqual({});
  expect(priced().output).toBe(24_973_895_500n);
  expect(priced().terms.D.toFixed(9)).toBe('10.441719995');
  expect(worked.params).toEqual(
    Object.fromEntries(Object.entries(DEFAULT_PARAMS).filter(([name]) => name !== 'gasBufferBps')),
  );
});

test('every sweep of the model, from a file', () => {
  expect(sixth([{ firmSeconds: 6 }, { firmSeconds: 61 }, { firmSeconds: 121 }])).toEqual([
    '10.189906',
    '10.441720',
    '10.719161',
  ]);
  expect(sixth([{ q: -1 }, { q: -0.25 }, { q: 0 }, { q: 0.5 }])).toEqual([
    '5.730094',
    '10.441720',
    '12.702749',
    '18.225358',
  ]);
  expect(sixth([params({ omega: 0 }), params({ omega: 0.25 }), params({ omega: 1 })])).toEqual([
    '10.186165',
    '10.441720',
    '11.146390',
  ]);
});

test('a signal of the operator, as POST /signals takes it', () => {
  const signal = { skewBps: 1, fairValueShiftBps: 3, widthBps: 2 };
  expect(priced({ signal }).terms).toMatchObject({ signalSkew: -1, signalShift: -3, signalWidth: 2 });
  expect(priced({ signal: {} }).output).toBe(priced().output);
  expect(() => read({ signal: { widthBps: -1 } })).toThrow('signal.widthBps');
  expect(() => read({ signal: { skew: 1 } })).toThrow('signal.skew: no such option');
});

test('a mid with its confidence replaces sources, and ownGas replaces gas', () => {
  const { sources: _, aggregate: __, gas: ___, ...rest } = worked;
  const answer = readPriceInputs(
    { ...rest, mid: '2500', confidenceBps: 1.18608, ownGas: '300000', params: { gasBufferBps: 12_000 } },
    'inputs.json',
  );
  if (isDecline(answer)) throw new Error('declined');
  const quote = price(answer.inputs);
  expect(isDecline(quote) ? undefined : quote.output).toBe(24_973_895_500n);
});

test('the other direction and exact output', () => {
  expect(priced({ side: 'exactOutput', amount: '24973895500' }).input).toBe(10n ** 19n);
  expect(priced({ lp: 'sell', amount: '25000000000', gas: '0.000144', q: 0.25 }).output).toBe(
    9_989_558_200_000_000_000n,
  );
});

test('declines when the sources give no mid', () => {
  expect(read({ sources: [{ name: 'a', price: '2500' }] })).toMatchObject({
    declined: 'stale_price',
    detail: expect.stringMatching(/^1 of 2 sources fresh; a said 2500 /) as string,
  });
});

describe('error: names the path and the problem', () => {
  test.each([
    [{ sigmma: 1 }, /sigmma: no such option; did you mean "sigma"\?/],
    [params({ gama: 1 }), /params\.gama: no such option; did you mean "gamma"\?/],
    [params({ beta: 0 }), /params\.beta: /],
    [{ sigma: '0.9' }, /sigma: .*expected number/],
    [{ sigma: -1 }, /sigma: /],
    [{ amount: 1e19 }, /amount: must be text/],
    [{ amount: '1e19' }, /amount: must be base units/],
    [{ amount: '-1' }, /amount: must be base units/],
    [{ gas: '.36' }, /gas: must be a decimal/],
    [{ lp: 'hold' }, /lp: /],
    [{ mid: '2500' }, /sources: give either sources, or mid/],
    [{ sources: undefined }, /sources: give either sources, or mid/],
    [{ confidenceBps: 1 }, /confidenceBps: follows from sources/],
    [{ ownGas: '1' }, /gas: give either gas, or ownGas/],
    [params({ gasBufferBps: 12_000 }), /gas: is what is charged/],
    [{ sources: [{ name: 'a', bid: '2', ask: '1' }] }, /a has no price/],
    [{ sources: [{ name: 'a', price: '2', bid: '1' }] }, /sources\.0: give either price, or bid and ask/],
  ])('%j', (change, problem) => {
    expect(() => read(change)).toThrow(problem);
    expect(() => read(change)).toThrow(/inputs\.json cannot be used/);
  });
});
