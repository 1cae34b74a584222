import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isDecline } from '../domain/decline.ts';
import { check } from './check.ts';
import { ladder } from './ladder.ts';
import { aggregate, observe } from './mid.ts';
import { DEFAULT_PARAMS } from './params.ts';
import { price, type Priced } from './price.ts';
import type { PriceInputs } from './price-inputs.ts';

const source = (name: string, text: string, atMs = 10_000) => {
  const seen = observe({ source: name, bid: text, ask: text, receivedMs: atMs });
  if (seen === undefined) throw new Error(`bad text ${text}`);
  return seen;
};

const mid = aggregate(
  [
    source('a', '2500.00'),
    source('b', '2499.80'),
    source('c', '2500.20'),
    source('far', '2620'),
    source('old', '2400', 1_000),
  ],
  10_000,
);
if (isDecline(mid)) throw new Error('no mid');

/** Taker sells 10 WETH for USDC, as in the model's worked example. */
const example: PriceInputs = {
  side: 'exactInput',
  amount: 10n ** 19n,
  platformFeeBps: 2,
  relayFee: 0n,
  lp: 'buy',
  baseDecimals: 18,
  quoteDecimals: 6,
  mid: mid.price,
  quoteValue: 1,
  confidenceBps: mid.confidenceBps,
  sigma: 0.9,
  firmSeconds: 61,
  q: -0.25,
  ownGas: 300_000n,
  lockSeconds: 900,
  params: DEFAULT_PARAMS,
};

const priced = (change: Partial<PriceInputs> = {}): Priced => {
  const answer = price({ ...example, ...change });
  if (isDecline(answer)) throw new Error(`declined: ${answer.declined} ${answer.detail ?? ''}`);
  return answer;
};
const D = (change: Partial<PriceInputs> = {}) => priced(change).terms.D;
const params = (change: Partial<typeof DEFAULT_PARAMS>) => ({ params: { ...DEFAULT_PARAMS, ...change } });

test.each(['0.0000000072', '0.000000219', '0.000000000000123456789'])(
  'a coin of %s dollars costs its price: the taker is never paid more than that, and not noticeably less',
  (text) => {
    const tiny = aggregate([source('a', text), source('b', text)], 10_000);
    if (isDecline(tiny)) throw new Error('no mid');
    // 25,000 dollars of it.
    const amount = (25_000n * 10n ** 18n * tiny.price.den) / tiny.price.num;
    const change = { mid: tiny.price, confidenceBps: tiny.confidenceBps, amount };
    const { output, terms, notional } = priced(change);
    const kept = 25_000_000_000n - output;
    expect(Number(kept) / 2_500_000).toBeCloseTo(terms.D, 1);
    expect(kept).toBeGreaterThan(0n);
    expect(Number(notional) / 1e6).toBeCloseTo(25_000, 3);
    expect(check({ ...example, ...change }, priced(change))).toEqual([]);
  },
);

describe('worked example', () => {
  test('terms, to the digits printed', () => {
    const { terms } = priced();
    const digits = (value: number) => value.toFixed(9);
    expect(Object.fromEntries(Object.entries(terms).map(([name, value]) => [name, digits(value)]))).toEqual({
      conf: '1.003779504',
      adv: '1.500000000',
      inv: '-2.477180903',
      impact: '1.665524723',
      capital: '0.034246575',
      rebal: '0.000000000',
      gas: '0.144000000',
      c0: '1.870369899',
      fee: '2.000000000',
      x: '0.398880980',
      optionCost: '1.595523918',
      jumpCost: '0.179456509',
      deviation: '12.517111575',
      m: '6.172469116',
      D: '10.441719995',
      winProbability: '0.351961116',
    });
  });

  test('amounts, to the last base unit', () => {
    const { terms: _terms, ...amounts } = priced();
    expect(amounts).toMatchInlineSnapshot(`
      {
        "amountBeforeFees": 24999640000n,
        "feeAmount": 5000000n,
        "gasAmount": 360000n,
        "gross": 25000000000n,
        "input": 10000000000000000000n,
        "lpSpreadBps": 8,
        "notional": 25000000000n,
        "output": 24973895500n,
        "platformFeeBps": 2,
        "received": 9998000000000000000n,
        "relayAmount": 0n,
        "spread": 82978n,
        "spreadAmount": 20744500n,
      }
    `);
  });

  test('exact output is the inverse: one wei less output costs one unit less', () => {
    const answer = priced({ side: 'exactOutput', amount: 24_973_895_500n });
    expect(answer.input).toBe(10n ** 19n);
    expect(answer.spread).toBe(82978n);
    expect(priced({ amount: 10n ** 19n - 1n }).output).toBe(24_973_895_499n);
  });

  test('sweeps', () => {
    const sixth = (values: number[]) => values.map((value) => value.toFixed(6));
    expect(sixth([6, 61, 121].map((firmSeconds) => D({ firmSeconds })))).toEqual([
      '10.189906',
      '10.441720',
      '10.719161',
    ]);
    expect(sixth([-1, -0.25, 0, 0.5].map((q) => D({ q })))).toEqual([
      '5.730094',
      '10.441720',
      '12.702749',
      '18.225358',
    ]);
    expect(sixth([0, 0.25, 1].map((omega) => D(params({ omega }))))).toEqual([
      '10.186165',
      '10.441720',
      '11.146390',
    ]);
  });
});

describe('properties of the spread', () => {
  const rises = (...values: number[]) =>
    values.every((value, at) => at === 0 || value > (values[at - 1] as number));
  test('rises with T, q on the side that adds, omega, confidence, adverse selection and rebalancing', () => {
    expect(rises(D({ firmSeconds: 5 }), D({ firmSeconds: 60 }), D({ firmSeconds: 600 }))).toBe(true);
    expect(rises(D({ q: -0.5 }), D({ q: 0 }), D({ q: 0.5 }))).toBe(true);
    expect(rises(...[0.5, 0, -0.5].map((q) => D({ q, ...sold })))).toBe(true);
    expect(rises(...[0, 0.5, 1, 3].map((omega) => D(params({ omega }))))).toBe(true);
    expect(rises(D({ confidenceBps: 0 }), D({ confidenceBps: 5 }), D({ confidenceBps: 15 }))).toBe(true);
    expect(rises(D({ adverseBps: 0 }), D({ adverseBps: 5 }))).toBe(true);
    expect(rises(D({ rebalanceBps: -2 }), D({ rebalanceBps: 0 }), D({ rebalanceBps: 5 }))).toBe(true);
  });
  test('rises with sigma when the skew is no rebate, and with size when gas is constant', () => {
    expect(rises(...[0.3, 0.9, 2].map((sigma) => D({ sigma, q: 0 })))).toBe(true);
    expect(rises(...[1n, 4n, 10n, 60n].map((weth) => D({ amount: weth * 10n ** 18n, ownGas: 0n })))).toBe(
      true,
    );
  });
  test('does not depend on the tenor when omega is zero', () =>
    expect(D({ firmSeconds: 5, ...params({ omega: 0 }) })).toBe(
      D({ firmSeconds: 900, ...params({ omega: 0 }) }),
    ));
  test('skew passes through the markup only in part, or fully where configured', () => {
    const moves = (change: Partial<PriceInputs>) => D({ ...change, q: 0.25 }) - D({ ...change, q: 0.24 });
    const full = moves(params({ omega: 0, invPassThrough: true }));
    expect(full).toBeCloseTo(0.13211631, 6);
    expect(moves(params({ omega: 0 }))).toBeLessThan(full);
  });
  test('D(c) rises with slope 1 / (1 + W), between 0 and 1', () => {
    for (const adverseBps of [0, 1.5, 8, 20]) {
      const [low, high] = [
        priced({ adverseBps, ...params({ omega: 0 }) }),
        priced({ adverseBps: adverseBps + 1e-4, ...params({ omega: 0 }) }),
      ] as const;
      const w = low.terms.m * DEFAULT_PARAMS.beta - 1;
      expect((high.terms.D - low.terms.D) / 1e-4).toBeCloseTo(1 / (1 + w), 4);
      expect(1 / (1 + w)).toBeGreaterThan(0);
      expect(1 / (1 + w)).toBeLessThan(1);
    }
  });
  test('impact is the larger of the square-root law and the hedge book at the priced size', () => {
    const hedgeBook = [
      { price: 2499.5, size: 5 },
      { price: 2497.5, size: 5 },
    ];
    expect(priced({ hedgeBook }).terms.impact).toBeCloseTo(6, 9);
    expect(priced({ hedgeBook, amount: 10n ** 18n }).terms.impact).toBeCloseTo(2, 9);
    expect(priced({ walkedImpactBps: 7 }).terms.impact).toBe(7);
    expect(priced({ walkedImpactBps: 0.1 }).terms.impact).toBe(priced().terms.impact);
  });
  test('a slice of a split pays for the risk that another LP fails and our slice stays locked', () => {
    const { capital } = priced({ splitHoldSeconds: 9_000, ...params({ coFailureRate: 0.1 }) }).terms;
    expect(capital).toBeCloseTo(2 * priced().terms.capital, 12);
  });
  test('exploration noise changes the price in full, except for its effect on the premium, and is reported', () => {
    const { terms } = priced({ exploreBps: 1 });
    expect(terms.explore).toBe(1);
    expect(priced({ exploreBps: 1, ...params({ omega: 0 }) }).terms.D).toBeCloseTo(
      D(params({ omega: 0 })) + 1,
      12,
    );
    expect(terms.D - D()).toBeGreaterThan(0.9);
    expect(check({ ...example, exploreBps: 1 }, priced({ exploreBps: 1 }))).toEqual([]);
    expect(check(example, priced({ exploreBps: 1 }))).not.toEqual([]);
  });
  test('no rebate beyond the mid unless configured', () => {
    const home = {
      q: -1,
      adverseBps: 0,
      confidenceBps: 0,
      platformFeeBps: 0,
      ownGas: 0n,
      amount: 10n ** 18n,
      lockSeconds: 0,
    };
    const eager = { minEdgeBps: 0, beta: 2, alpha: -1, omega: 0, impactFactor: 0 };
    const kept = priced({ ...home, ...params(eager) });
    expect(kept.terms.D).toBe(DEFAULT_PARAMS.minSpreadBps);
    expect(kept.output).toBeLessThan(kept.gross);
    const paid = { ...example, ...home, ...params({ ...eager, minSpreadBps: -50 }) };
    const rebate = price(paid);
    if (isDecline(rebate)) throw new Error('declined');
    expect(rebate.terms.D).toBeLessThan(0);
    expect(rebate.output).toBeGreaterThan(rebate.gross);
    expect(check(paid, rebate)).toEqual([]);
    expect(check({ ...paid, params: { ...paid.params, minSpreadBps: 0 } }, rebate)).not.toEqual([]);
    const out = price({ ...paid, side: 'exactOutput', amount: rebate.output });
    expect(isDecline(out) ? undefined : out.input).toBe(10n ** 18n);
  });
  test('never below the minimum spread, whatever the rebate', () => {
    const answer = priced({ q: -50, ...params({ minSpreadBps: 3, halfBand: 1_000_000 }) });
    expect(answer.terms.D).toBeGreaterThanOrEqual(3);
    expect(
      priced({
        q: -1,
        adverseBps: 0,
        confidenceBps: 0,
        platformFeeBps: 0,
        ...params({ minEdgeBps: 0, beta: 2, minSpreadBps: 3 }),
      }).terms.D,
    ).toBe(3);
  });
});

/** The other way round: the taker brings USDC, the LP pays WETH. */
const sold: Partial<PriceInputs> = { lp: 'sell', amount: 25_000_000_000n, ownGas: 120_000_000_000_000n };

describe('both directions, relay fee', () => {
  test('selling: the mirror image at mid, with gas in WETH', () => {
    const answer = priced({ ...sold, q: 0.25 });
    expect(answer.terms.D).toBeCloseTo(D(), 9);
    expect(answer.gross).toBe(10n ** 19n);
    expect(answer.gasAmount).toBe(144_000_000_000_000n);
    expect(answer.output).toBe(9_989_558_200_000_000_000n);
  });
  test('the relay fee is charged exactly, without buffer, and is not paid to the LP', () => {
    const relayFee = 10n ** 14n;
    const answer = priced({ ownGas: 0n, relayFee });
    expect(answer.relayAmount).toBe(250_000n);
    expect(answer.gasAmount).toBe(0n);
    expect(answer.received).toBe(10n ** 19n - 2n * 10n ** 15n - relayFee);
    expect(answer.terms.gas).toBeCloseTo(0.1, 12);
  });
  test('a broken peg pays no inventory rebate, and the independent check agrees', () => {
    const eager = { q: -1, rebalanceBps: -3 };
    expect(priced(eager).terms).toMatchObject({ inv: expect.closeTo(-12.385905, 5) as number, rebal: -3 });
    const answer = priced({ ...eager, noRebates: true });
    expect(answer.terms).toMatchObject({ inv: 0, rebal: 0 });
    expect(check({ ...example, ...eager, noRebates: true }, answer)).toEqual([]);
    expect(check({ ...example, ...eager }, answer)).not.toEqual([]);
    expect(check({ ...example, ...eager, noRebates: true }, priced(eager))).not.toEqual([]);
    // What a position costs is charged as ever.
    expect(D({ q: 1, noRebates: true })).toBe(D({ q: 1 }));
  });
  test('a depegged quote token changes the size, not the price', () => {
    const answer = priced({ quoteValue: 0.9 });
    expect(answer.gross).toBe(25_000_000_000n);
    expect(answer.notional).toBe(22_500_000_000n);
  });
});

describe('declines', () => {
  const declined = (change: Partial<PriceInputs>) => {
    const answer = price({ ...example, ...change });
    if (!isDecline(answer)) throw new Error('priced');
    return answer;
  };
  test('size below gas: the smallest passing size is reported, and passes', () => {
    for (const side of ['exactInput', 'exactOutput'] as const) {
      const answer = declined({ side, amount: 1n });
      expect(answer.declined).toBe('size_below_min');
      expect(isDecline(price({ ...example, side, amount: answer.minAmount ?? 0n }))).toBe(false);
    }
  });
  test('size above max: the largest passing size is reported, to the unit for an exact input', () => {
    const answer = declined({ amount: 101n * 10n ** 18n });
    expect(answer).toMatchObject({ declined: 'size_above_max' });
    expect(answer.maxAmount).toBe(100n * 10n ** 18n + 399_999_999n);
    expect(isDecline(price({ ...example, amount: answer.maxAmount ?? 0n }))).toBe(false);
    expect(isDecline(price({ ...example, amount: (answer.maxAmount ?? 0n) + 1n }))).toBe(true);
  });
  test('size above max, exact output', () => {
    const answer = declined({ side: 'exactOutput', amount: 260_000_000_000n });
    expect(answer.declined).toBe('size_above_max');
    expect(answer.maxAmount).toBeGreaterThan(249_000_000_000n);
    expect(isDecline(price({ ...example, side: 'exactOutput', amount: answer.maxAmount ?? 0n }))).toBe(false);
    expect(
      isDecline(
        price({ ...example, side: 'exactOutput', amount: ((answer.maxAmount ?? 0n) * 10_001n) / 10_000n }),
      ),
    ).toBe(true);
  });
  test('no inventory: the reported size can be served to the last unit', () => {
    for (const side of ['exactInput', 'exactOutput'] as const) {
      const freeOutput = 9_000_000_001n;
      const answer = declined({
        side,
        amount: side === 'exactInput' ? 10n ** 19n : 20_000_000_000n,
        freeOutput,
      });
      expect(answer.declined).toBe('no_inventory');
      const served = price({ ...example, side, amount: answer.maxAmount ?? 0n, freeOutput });
      expect(isDecline(served) ? 0n : served.output).toBe(freeOutput);
    }
  });
  test.each([
    ['no price', { mid: { num: 0n, den: 1n } }, 'stale_price'],
    ['sources disagree', { confidenceBps: 21 }, 'stale_price'],
    ['already over', { firmSeconds: 0 }, 'validity'],
    ['not a number', { sigma: Number.NaN }, 'internal'],
    ['fee of a half', { platformFeeBps: 5_001 }, 'internal'],
    ['no amount', { amount: 0n }, 'size_below_min'],
  ] as const)('%s', (_name, change, reason) => expect(declined(change).declined).toBe(reason));
  test.each([
    ['spread out of bounds for any size', params({ maxSpreadBps: 4 })],
    ['a least size above the largest', params({ minSize: 500, maxSize: 400 })],
  ] as const)('our own settings have a code of their own: %s', (_name, change) =>
    expect(declined(change)).toMatchObject({ declined: 'standby', code: 'settings' }),
  );

  describe('hard bands limit what comes in and what goes out', () => {
    const [ETH, USDC] = [10n ** 18n, 10n ** 6n];
    test.each([
      ['in', { input: 4n * ETH }, 4n * ETH],
      ['nothing in', { input: 0n }, 0n],
      ['nothing out', { output: 0n }, 0n],
      ['the tighter of the two', { input: 4n * ETH, output: 2_000n * USDC }, undefined],
    ] as const)('%s', (_name, room, most) => {
      const answer = declined({ room });
      expect(answer).toMatchObject({ declined: 'limit', control: 'band' });
      if (most !== undefined) expect(answer.maxAmount).toBe(most);
      if (answer.maxAmount === 0n) return;
      const passing = price({ ...example, room, amount: answer.maxAmount ?? 0n });
      expect(isDecline(passing)).toBe(false);
    });

    test('the reported size uses the rest of the band to the unit', () => {
      const { maxAmount = 0n } = declined({ room: { output: 5_000n * USDC } });
      expect(price({ ...example, room: { output: 5_000n * USDC }, amount: maxAmount })).toMatchObject({
        output: 5_000n * USDC,
      });
      expect(
        declined({ side: 'exactOutput', amount: 6_000n * USDC, room: { output: 5_000n * USDC } }),
      ).toMatchObject({ declined: 'limit', maxAmount: 5_000n * USDC });
    });

    test('a band wider than the balance changes nothing within the balance', () => {
      expect(declined({ room: { output: 9_000n * USDC }, freeOutput: 5_000n * USDC }).declined).toBe(
        'no_inventory',
      );
      expect(price({ ...example, room: { input: 10n * ETH, output: 30_000n * USDC } })).toEqual(
        price(example),
      );
    });
  });
});

const scenario: fc.Arbitrary<PriceInputs> = fc
  .record({
    side: fc.constantFrom('exactInput', 'exactOutput'),
    lp: fc.constantFrom('buy', 'sell'),
    baseDecimals: fc.constantFrom(6, 8, 18),
    quoteDecimals: fc.constantFrom(6, 18),
    whole: fc.double({ min: 10, max: 240_000, noNaN: true }),
    price: fc.bigInt(1n, 10n ** 11n),
    platformFeeBps: fc.nat(100),
    relay: fc.boolean(),
    q: fc.double({ min: -1.9, max: 1.9, noNaN: true }),
    sigma: fc.double({ min: 0.05, max: 3, noNaN: true }),
    firmSeconds: fc.integer({ min: 1, max: 300 }),
    omega: fc.double({ min: 0, max: 3, noNaN: true }),
    confidenceBps: fc.double({ min: 0, max: 20, noNaN: true }),
    rebalanceBps: fc.double({ min: -10, max: 10, noNaN: true }),
  })
  .map(({ whole, price: units, relay, omega, ...rest }) => {
    const mid = { num: units, den: 10_000_000n };
    const value = Number(mid.num) / Number(mid.den);
    const inBase = (rest.lp === 'buy') === (rest.side === 'exactInput');
    const decimals = inBase ? rest.baseDecimals : rest.quoteDecimals;
    const amount =
      (BigInt(Math.max(1, Math.round((inBase ? whole / value : whole) * 1e6))) * 10n ** BigInt(decimals)) /
      1_000_000n;
    const cent = (base: boolean) =>
      (BigInt(Math.ceil((0.01 / (base ? value : 1)) * 1e6)) *
        10n ** BigInt(base ? rest.baseDecimals : rest.quoteDecimals)) /
      1_000_000n;
    return {
      ...example,
      ...rest,
      mid,
      amount: amount > 0n ? amount : 1n,
      relayFee: relay ? cent(rest.lp === 'buy') : 0n,
      ownGas: cent(rest.lp === 'sell'),
      params: { ...DEFAULT_PARAMS, omega },
    };
  });

describe('any request', () => {
  test('every price passes the independent check', () => {
    let count = 0;
    fc.assert(
      fc.property(scenario, (inputs) => {
        const answer = price(inputs);
        if (isDecline(answer)) return;
        count += 1;
        expect(check(inputs, answer)).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
    expect(count).toBeGreaterThan(500);
  });

  test('never throws and always returns, whatever the inputs', () => {
    const wild = fc.oneof(fc.double(), fc.constantFrom(0, -1, 1e300, Number.NaN, Number.POSITIVE_INFINITY));
    const whole = fc.oneof(fc.bigInt(-5n, 10n ** 30n), fc.bigInt(0n, 2n ** 256n));
    fc.assert(
      fc.property(
        scenario,
        whole,
        whole,
        whole,
        fc.option(whole, { nil: undefined }),
        fc.record(
          {
            sigma: wild,
            q: wild,
            firmSeconds: wild,
            confidenceBps: wild,
            adverseBps: wild,
            quoteValue: wild,
          },
          { requiredKeys: [] },
        ),
        (inputs, amount, relayFee, ownGas, freeOutput, odd) => {
          const answer = price({
            ...inputs,
            ...odd,
            amount,
            relayFee,
            ownGas,
            ...(freeOutput !== undefined && { freeOutput }),
          } as PriceInputs);
          if (!isDecline(answer))
            expect(check({ ...inputs, ...odd, amount, relayFee, ownGas } as PriceInputs, answer)).toEqual([]);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test('the independent check rejects a change to any number', () => {
    const answer = priced();
    for (const [field, by] of [
      ['output', 1n],
      ['output', -1n],
      ['input', 1n],
      ['gross', 1n],
      ['feeAmount', -1n],
      ['gasAmount', 1n],
      ['relayAmount', 1n],
      ['received', 1n],
      ['spread', -1n],
      ['spread', 1n],
    ] as const) {
      expect(check(example, { ...answer, [field]: answer[field] + by }), field).not.toEqual([]);
    }
    for (const term of [
      'conf',
      'adv',
      'inv',
      'impact',
      'capital',
      'rebal',
      'gas',
      'fee',
      'x',
      'm',
      'D',
      'c0',
    ] as const) {
      expect(
        check(example, { ...answer, terms: { ...answer.terms, [term]: answer.terms[term] + 0.001 } }),
        term,
      ).not.toEqual([]);
    }
    // The same, where the sums have been made to fit.
    for (const term of ['adv', 'inv', 'impact', 'capital', 'rebal'] as const) {
      const { c0, D } = answer.terms;
      expect(
        check(example, {
          ...answer,
          spread: answer.spread + 10n,
          terms: { ...answer.terms, c0: c0 + 0.001, D: D + 0.001, [term]: answer.terms[term] + 0.001 },
        }).join(),
        term,
      ).toMatch(/skew|impact|capital|adverse/);
    }
    expect(check({ ...example, quoteDecimals: 18 }, answer)).not.toEqual([]);
  });

  test('exact output asks no more than exact input would', () => {
    fc.assert(
      fc.property(scenario, (inputs) => {
        const out = price({ ...inputs, side: 'exactOutput' });
        if (isDecline(out)) return;
        const back = price({ ...inputs, side: 'exactInput', amount: out.input });
        expect(isDecline(back) ? 0n : back.output).toBeGreaterThanOrEqual(out.output);
      }),
    );
  });

  test('the size suggested in a decline passes', () => {
    fc.assert(
      fc.property(scenario, fc.bigInt(1n, 10n ** 6n), fc.boolean(), (inputs, factor, up) => {
        const amount = up ? inputs.amount * factor : inputs.amount / factor + 1n;
        const answer = price({ ...inputs, amount });
        if (!isDecline(answer)) return;
        const advice = answer.declined === 'size_below_min' ? answer.minAmount : answer.maxAmount;
        if (advice !== undefined && advice > 0n)
          expect(isDecline(price({ ...inputs, amount: advice }))).toBe(false);
      }),
    );
  });

  test('ladders are concave: no level has a better marginal price than the one before', () => {
    fc.assert(
      fc.property(scenario, (inputs) => {
        const rungs = [{ input: 0n, output: 0n }, ...ladder(inputs)];
        for (let at = 2; at < rungs.length; at++) {
          const [a, b, c] = [rungs[at - 2], rungs[at - 1], rungs[at]] as [
            (typeof rungs)[0],
            (typeof rungs)[0],
            (typeof rungs)[0],
          ];
          expect((c.output - b.output) * (b.input - a.input)).toBeLessThanOrEqual(
            (b.output - a.output) * (c.input - b.input),
          );
        }
      }),
    );
  });
});
