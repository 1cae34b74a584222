/** Signals stay within their bounds, end by themselves, and change nothing that they do not say. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isDecline } from '../../domain/decline.ts';
import type { LpSignal } from '../../ports/stores/lp-store.ts';
import { check } from '../../pricing/check.ts';
import { DEFAULT_PARAMS } from '../../pricing/params.ts';
import { price } from '../../pricing/price.ts';
import type { PriceInputs } from '../../pricing/price-inputs.ts';
import { zLpConfig } from '../config/config.ts';
import { linesOf } from '../quote-log/price-lines.ts';
import type { QuoteRecord } from '../quote-log/quote-events.ts';
import { previewQuotes } from './preview.ts';
import type { QuoteRoute } from '../routes/route.ts';
import { createSignals, type SignalRequest } from './signals.ts';

const silent = () => {};
const log = { debug: silent, info: silent, warn: silent, error: silent, fatal: silent, child: () => log };
const bounds = zLpConfig.shape.signals.parse(undefined);

/** The rows of a store that answers at once, for as many replicas as read it. */
function createRows() {
  let rows: LpSignal[] = [];
  return {
    rows: () => rows,
    async putSignal(signal: LpSignal) {
      const { pair, side } = signal;
      rows = rows.filter(
        (row) => row.pair !== pair || !(row.side === null || side === null || row.side === side),
      );
      rows.push(signal);
      return true;
    },
    async dropSignals(ids: readonly string[]) {
      rows = rows.filter(({ id }) => !ids.includes(id));
      return true;
    },
    signals: async () => [...rows],
  };
}

function setUp({ saved = [] as LpSignal[], limits = bounds, startMs = 1_000_000 } = {}) {
  let nowMs = startMs;
  let ids = 0;
  const random = { bytes32: () => `0x${(ids += 1).toString(16).padStart(64, '0')}` as const };
  const unique = { bytes32: () => `0x${random.bytes32().slice(-8)}${'0'.repeat(56)}` as const };
  const clock = { nowMs: () => nowMs };
  const signals = createSignals({ clock, log, random: unique } as never, limits, saved);
  return { signals, now: () => nowMs, pass: (ms: number) => (nowMs += ms) };
}

const wanted = (change: Partial<SignalRequest> = {}): SignalRequest => ({
  ...{ pair: 'WETH-USDC', side: null, skewBps: 2, fairValueShiftBps: 0, widthBps: 0 },
  ...{ expiresAtMs: 1_060_000, by: 'me', note: null },
  ...change,
});

test('a signal applies to its pair and side until it expires, also on a clock that goes back after', () => {
  const { signals, now, pass } = setUp();
  const { signal } = signals.set(wanted({ side: 'buy' }));
  expect(signals.of('WETH-USDC', 'buy', now())).toBe(signal);
  expect(signals.of('WETH-USDC', 'sell', now())).toBeUndefined();
  expect(signals.of('WBTC-USDC', 'buy', now())).toBeUndefined();
  pass(60_000);
  expect(signals.of('WETH-USDC', 'buy', now())).toBeUndefined();
  expect(signals.list()).toEqual([]);
  signals.expire();
  pass(-30_000);
  expect(signals.of('WETH-USDC', 'buy', now())).toBeUndefined();
});

test('a new signal replaces those of the pair that cover the same side', () => {
  const { signals, now } = setUp();
  const buy = signals.set(wanted({ side: 'buy', skewBps: 1 })).signal;
  const sell = signals.set(wanted({ side: 'sell', widthBps: 9 }));
  expect(sell.replaced).toEqual([]);
  expect(signals.of('WETH-USDC', 'buy', now())).toBe(buy);
  const other = signals.set(wanted({ pair: 'WBTC-USDC' }));
  const both = signals.set(wanted({ skewBps: -3 }));
  expect(both.replaced).toEqual([buy, sell.signal]);
  expect(signals.list()).toEqual([other.signal, both.signal]);
  expect(signals.clear('WETH-USDC')).toEqual([both.signal]);
  expect(signals.clear('WETH-USDC')).toEqual([]);
  expect(signals.clear(undefined)).toEqual([other.signal]);
});

test.each<[string, Partial<SignalRequest>]>([
  ['skewBps is -5.1, and lp.signals.maxSkewBps allows 5', { skewBps: -5.1 }],
  ['fairValueShiftBps is 6, and lp.signals.maxFairValueShiftBps allows 5', { fairValueShiftBps: 6 }],
  ['widthBps is 51, and lp.signals.maxWidthBps allows 50', { widthBps: 51 }],
  ['widthBps is -1, and the least is 0', { widthBps: -1 }],
  ['would last 3601 s, and lp.signals.maxSeconds allows 3600', { expiresAtMs: 1_000_000 + 3_600_001 }],
  ['expiresAt is 999, and it is 1000 already', { expiresAtMs: 999_999 }],
  ['would change nothing', { skewBps: 0 }],
  ['numbers', { skewBps: Number.NaN }],
])('error: %s', (sentence, change) => {
  const { signals } = setUp();
  const { signal } = signals.set(wanted());
  expect(() => signals.set(wanted(change))).toThrow(sentence);
  expect(signals.list()).toEqual([signal]);
});

test('error: more signals at once than allowed; replacing one is not more', () => {
  const { signals } = setUp({ limits: { ...bounds, maxActive: 1 } });
  signals.set(wanted());
  expect(() => signals.set(wanted({ pair: 'WBTC-USDC' }))).toThrow(
    '1 other signals are in force, and lp.signals.maxActive allows 1',
  );
  signals.set(wanted({ skewBps: 1 }));
  expect(() => setUp({ limits: { ...bounds, maxActive: 0 } }).signals.set(wanted())).toThrow(
    'lp.signals.maxActive is 0',
  );
});

test('after a restart a signal is in force again, unless it is over or beyond the bounds', async () => {
  const store = createRows();
  const before = setUp();
  const kept = before.signals.set(wanted()).signal;
  before.signals.set(wanted({ pair: 'WBTC-USDC', expiresAtMs: 1_001_000 }));
  before.signals.set(wanted({ pair: 'ARB-USDC', skewBps: 5 }));
  await before.signals.flush(store);
  const after = setUp({ saved: store.rows(), startMs: 1_002_000, limits: { ...bounds, maxSkewBps: 4 } });
  expect(after.signals.list()).toEqual([kept]);
  await after.signals.flush(store);
  expect(store.rows()).toEqual([kept]);
});

test('a reload with tighter bounds ends what is beyond them', () => {
  const { signals } = setUp();
  const { signal } = signals.set(wanted({ skewBps: 1 }));
  signals.set(wanted({ pair: 'WBTC-USDC', skewBps: 3 }));
  signals.configure({ ...bounds, maxSkewBps: 2 });
  expect(signals.list()).toEqual([signal]);
});

test('replicas follow each other, and a store that fails loses nothing', async () => {
  const store = createRows();
  const [one, other] = [setUp(), setUp()];
  const { signal } = one.signals.set(wanted());
  const down = { ...store, putSignal: () => Promise.reject(new Error('down')) };
  await expect(one.signals.flush(down)).rejects.toThrow('down');
  // Nothing is read while a command of this replica is unwritten.
  await one.signals.follow(store);
  expect(one.signals.list()).toEqual([signal]);
  await one.signals.flush(store);
  await other.signals.follow(store);
  expect(other.signals.list()).toEqual([signal]);
  other.signals.clear(signal.id);
  await other.signals.flush(store);
  await one.signals.follow(store);
  expect(one.signals.list()).toEqual([]);
});

const example: PriceInputs = {
  ...{ side: 'exactInput', amount: 10n ** 19n, platformFeeBps: 2, relayFee: 0n, lp: 'buy' },
  ...{ baseDecimals: 18, quoteDecimals: 6, mid: { num: 2_500n, den: 1n }, quoteValue: 1 },
  ...{ confidenceBps: 1.2, sigma: 0.9, firmSeconds: 61, q: -0.25, ownGas: 300_000n, lockSeconds: 900 },
  params: DEFAULT_PARAMS,
};
const anyInputs = fc
  .record({
    lp: fc.constantFrom('buy' as const, 'sell' as const),
    exact: fc.boolean(),
    size: fc.integer({ min: 1, max: 60_000 }),
    q: fc.double({ min: -1.2, max: 1.2, noNaN: true }),
    sigma: fc.double({ min: 0.01, max: 2, noNaN: true }),
    firmSeconds: fc.integer({ min: 1, max: 300 }),
    exploreBps: fc.constantFrom(0, 1, -1),
    noRebates: fc.boolean(),
    omega: fc.constantFrom(0, 0.25, 3),
    invPassThrough: fc.boolean(),
    pricer: fc.boolean(),
  })
  .map(({ lp, exact, size, omega, invPassThrough, pricer, ...rest }): PriceInputs => {
    // The fixed token: the base where the LP buys by exact input or sells by exact output.
    const isBase = (lp === 'buy') !== exact;
    return {
      ...example,
      ...rest,
      lp,
      side: exact ? 'exactOutput' : 'exactInput',
      amount: isBase ? BigInt(size) * 10n ** 15n : BigInt(size) * 2_500_000n,
      ownGas: lp === 'buy' ? 300_000n : 120_000_000_000_000n,
      params: { ...DEFAULT_PARAMS, omega, invPassThrough },
      ...(pricer && { plugin: { name: 'mine', pricer: () => ({ spread: 9 }) } }),
    };
  });
const anySignal = fc.record({
  skewBps: fc.double({ min: -bounds.maxSkewBps, max: bounds.maxSkewBps, noNaN: true }),
  fairValueShiftBps: fc.double({
    min: -bounds.maxFairValueShiftBps,
    max: bounds.maxFairValueShiftBps,
    noNaN: true,
  }),
  widthBps: fc.double({ min: 0, max: bounds.maxWidthBps, noNaN: true }),
});

test('law: a signal never improves a price beyond its bound or the least spread, and explains itself', () => {
  let seen = 0;
  fc.assert(
    fc.property(anyInputs, anySignal, (inputs, bps) => {
      const plain = price(inputs);
      const moved = price({ ...inputs, signal: { id: 's', ...bps } });
      if (isDecline(plain) || isDecline(moved)) return;
      seen += 1;
      expect(check({ ...inputs, signal: { id: 's', ...bps } }, moved)).toEqual([]);
      const { D } = moved.terms;
      const lean = Math.abs(bps.skewBps) + Math.abs(bps.fairValueShiftBps);
      const most = inputs.noRebates === true ? 0 : lean;
      expect(D).toBeGreaterThanOrEqual(inputs.params.minSpreadBps);
      if (inputs.side === 'exactInput') expect(D).toBeGreaterThanOrEqual(plain.terms.D - most - 1e-9);
      // The input decides the size here, so D changes in its terms of size and gas too. Spreads end at 3 %.
      else
        expect(moved.input * 100_000_000n).toBeGreaterThanOrEqual(
          plain.input * (100_000_000n - BigInt(Math.ceil((most * 1.04 + 0.001) * 1e4))),
        );
      expect(linesOf(moved).reduce((sum, { amount }) => sum + amount, 0n)).toBe(moved.gross - moved.output);
      // The check of another signal, or of none, does not pass this price.
      if (bps.widthBps > 0.01 && D > inputs.params.minSpreadBps)
        expect(check({ ...inputs, signal: { id: 's', ...bps, widthBps: 0 } }, moved)).not.toEqual([]);
    }),
    { numRuns: 500 },
  );
  expect(seen).toBeGreaterThan(200);
});

test('law: bid <= ask', () => {
  let seen = 0;
  fc.assert(
    fc.property(anyInputs, anySignal, (inputs, bps) => {
      const at = (lp: 'buy' | 'sell') =>
        price({
          ...{ ...inputs, lp, side: 'exactInput', ownGas: 0n, signal: { id: 's', ...bps } },
          amount: lp === 'buy' ? 10n ** 18n : 2_500_000_000n,
        });
      const [bid, ask] = [at('buy'), at('sell')];
      if (isDecline(bid) || isDecline(ask)) return;
      seen += 1;
      // USDC for one WETH, cross-multiplied: bid <= ask.
      expect(bid.output * ask.output <= ask.input * bid.input).toBe(true);
    }),
    { numRuns: 300 },
  );
  expect(seen).toBeGreaterThan(100);
});

test('law: a signal that was cleared or is over was never set', () => {
  fc.assert(
    fc.property(anyInputs, anySignal, fc.boolean(), (inputs, bps, clears) => {
      const { signals, now, pass } = setUp();
      signals.set(wanted({ ...bps, skewBps: bps.skewBps || 1 }));
      if (clears) signals.clear('WETH-USDC');
      else pass(60_000);
      const signal = signals.of('WETH-USDC', inputs.lp, now());
      expect(price(signal === undefined ? inputs : { ...inputs, signal })).toEqual(price(inputs));
    }),
    { numRuns: 100 },
  );
});

test('a past quote priced again, for an explanation or before a reload, keeps the signal that it had', async () => {
  const { signals, now } = setUp();
  signals.set(wanted({ fairValueShiftBps: -4, widthBps: 7 }));
  const signal = signals.of('WETH-USDC', 'buy', now()) as LpSignal;
  const inputs = { ...example, signal };
  const priced = price(inputs);
  if (isDecline(priced)) throw new Error(priced.declined);
  signals.clear(undefined);
  expect(price(inputs)).toEqual(priced);
  const route = { pairName: 'WETH-USDC', params: DEFAULT_PARAMS } as QuoteRoute;
  const [preview] = await previewQuotes(
    {
      quotes: [{ route, inputs, priced } as unknown as QuoteRecord],
      accepted: new Set<string>(),
      declines: [],
    },
    {
      routes: { find: () => route },
      fatFinger: { leastBps: 0.5, mostBps: 300, aboveMid: 1, maxUsd: 1e6 },
      plugin: undefined,
    },
  );
  expect(preview).toMatchObject({ spreadBps: priced.terms.D, newSpreadBps: priced.terms.D });
});

test('the shift moves the price by itself; skew and width move it but for their effect on the premium', () => {
  const D = (bps: object) => {
    const priced = price({
      ...example,
      signal: { id: 's', skewBps: 0, fairValueShiftBps: 0, widthBps: 0, ...bps },
    });
    if (isDecline(priced)) throw new Error(priced.declined);
    return priced.terms;
  };
  const plain = D({});
  // The taker sells: a higher fair value is better for it.
  expect(D({ fairValueShiftBps: 3 }).D).toBeCloseTo(plain.D - 3, 9);
  expect(D({ fairValueShiftBps: 3 }).x).toBeCloseTo(plain.x, 9);
  expect(D({ widthBps: 3 })).toMatchObject({ signalWidth: 3, m: expect.closeTo(plain.m, 1) as number });
  expect(D({ widthBps: 3 }).x).toBeLessThan(plain.x);
  expect(D({ widthBps: 3 }).D - plain.D).toBeGreaterThan(2.5);
  expect(D({ skewBps: 3 }).x).toBeGreaterThan(plain.x);
});
