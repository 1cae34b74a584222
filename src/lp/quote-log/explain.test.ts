/** Explanations add up exactly for every price, and only the most recent quotes are kept. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { corridorOf } from '../../domain/corridor.ts';
import { DEFAULT_PARAMS } from '../../pricing/params.ts';
import { price, type Priced } from '../../pricing/price.ts';
import type { PriceInputs } from '../../pricing/price-inputs.ts';
import type { Rfq } from '../../protocol/link/link.ts';
import { type ExplainedDecline, type ExplainedQuote, explainQuote } from './explain.ts';
import { linesOf } from './price-lines.ts';
import { createRecentQuotes } from './recent-quotes.ts';
import type { QuoteRecord } from './quote-events.ts';
import type { QuoteRoute } from '../routes/route.ts';

/** The worked example of the model. */
const example: PriceInputs = {
  side: 'exactInput',
  amount: 10n * 10n ** 18n,
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
};
const priceOf = (inputs: PriceInputs): Priced => {
  const answer = price(inputs);
  if ('declined' in answer) throw new Error(answer.declined);
  return answer;
};
const sumOf = (priced: Priced) => linesOf(priced).reduce((sum, { amount }) => sum + amount, 0n);

test('the worked example, term by term in bps and USDC', () => {
  const priced = priceOf(example);
  const lines = new Map(linesOf(priced).map(({ name, amount }) => [name, amount]));
  expect(sumOf(priced)).toBe(25_000_000_000n - 24_973_895_500n);
  expect(lines.get('conf')).toBe(2_509_448n);
  expect(lines.get('inv')).toBe(-6_192_952n);
  expect(lines.get('x')).toBe(997_202n);
  expect(lines.get('gas')).toBe(360_000n);
  expect(lines.get('fee')).toBe(5_000_000n);
  // The spread is rounded up to 1e-4 bps: a quarter of a cent on 25,000 USDC.
  expect(Number(lines.get('rounding'))).toBeGreaterThanOrEqual(0);
  expect(Number(lines.get('rounding'))).toBeLessThan(250_000);
});

test('law: the lines add up to the difference between gross and output', () => {
  const inputs = fc.record({
    amount: fc.bigInt({ min: 10n ** 15n, max: 60n * 10n ** 18n }),
    exact: fc.boolean(),
    sell: fc.boolean(),
    relayFee: fc.bigInt({ min: 0n, max: 10n ** 14n }),
    ownGas: fc.bigInt({ min: 0n, max: 900_000n }),
    q: fc.double({ min: -1.5, max: 1.5, noNaN: true }),
    sigma: fc.double({ min: 0.01, max: 2, noNaN: true }),
    fee: fc.integer({ min: 0, max: 50 }),
    cents: fc.bigInt({ min: 100_000n, max: 900_000n }),
    through: fc.boolean(),
    least: fc.constantFrom(0.5, 30),
    explore: fc.constantFrom(0, 1, -1),
    extra: fc.boolean(),
  });
  let seen = 0;
  fc.assert(
    fc.property(
      inputs,
      ({ amount, exact, sell, relayFee, ownGas, q, sigma, fee, cents, through, least, explore, extra }) => {
        // Selling takes USDC, so the amount and its fee are in another unit.
        const size = sell !== exact ? amount / 10n ** 9n : amount;
        const answer = price({
          ...example,
          amount: size,
          side: exact ? 'exactOutput' : 'exactInput',
          lp: sell ? 'sell' : 'buy',
          relayFee: sell ? relayFee / 10n ** 9n : relayFee,
          ownGas: sell ? ownGas * 10n ** 9n : ownGas,
          q,
          sigma,
          platformFeeBps: fee,
          mid: { num: cents, den: 100n },
          exploreBps: explore,
          params: { ...DEFAULT_PARAMS, invPassThrough: through, minSpreadBps: least },
          ...(extra && { plugin: { name: 'mine', terms: { news: () => 3.25, rebate: () => -0.5 } } }),
        });
        if ('declined' in answer) return;
        seen += 1;
        expect(sumOf(answer)).toBe(answer.gross - answer.output);
        const bps = linesOf(answer)
          .filter(({ name }) => !['rounding', 'gas', 'relay', 'fee'].includes(name))
          .reduce((sum, line) => sum + line.bps, 0);
        expect(bps).toBeCloseTo(answer.terms.D - answer.terms.fee - answer.terms.gas, 6);
        if (extra)
          expect(linesOf(answer).map(({ name }) => name)).toEqual(expect.arrayContaining(['news', 'rebate']));
      },
    ),
    { numRuns: 400 },
  );
  expect(seen).toBeGreaterThan(150);
});

const token = (symbol: string, decimals: number) => ({
  address: `0x${symbol.length}` as const,
  symbol,
  name: symbol,
  decimals,
  eip3009: null,
  priceSymbol: null,
});
const chain = (slug: string) => ({ slug }) as QuoteRoute['origin'];
const route = {
  pairName: 'WETH-USDC',
  lp: 'buy',
  origin: chain('base'),
  dest: chain('op'),
  sameChain: false,
  inputToken: token('WETH', 18),
  outputToken: token('USDC', 6),
} as unknown as QuoteRoute;
const record = (n: number, rfqId = `rfq${n}`): QuoteRecord => {
  const priced = priceOf(example);
  return {
    orderId: `0x${n}`,
    quoteId: `0xq${n}` as `0x${string}`,
    rfqId,
    atMs: 1_000 + n,
    taker: '0xt',
    route,
    times: { validUntil: 10, fillDeadline: 20, expires: 30 },
    inputs: { ...example, freeOutput: 30_000_000_000n },
    priced,
    slice: false,
    hold: { amount: priced.output, group: 'g', lapsesAt: 20 },
  };
};

test('an explanation has a summary, the nearest limit first, and null for what is not recorded', () => {
  const made = explainQuote(record(1));
  expect(made.summary).toBe(
    'We promised 24973.8955 USDC on op for 10 WETH on base: 10.44 bps worse ' +
      'for the taker than the mid of 2500, mostly markup 6.17, platform fee 2.00 and market impact 1.67; ' +
      'inventory skew 2.48 given back.',
  );
  expect(made.limits.gates[0]).toMatchObject({ name: 'free inventory', value: '24973.8955 USDC' });
  expect(made.request).toMatchObject({
    corridor: corridorOf({ slug: 'base' } as never, { slug: 'op' } as never),
    side: 'exactInput',
  });
  expect(made.inputs.mid).toEqual({ ageMs: null, confidenceBps: 1.18608, sources: [], references: [] });
  expect(JSON.parse(JSON.stringify(made))).toEqual(made);
});

test('finds quotes by quote id, order id and rfq id, and keeps only the most recent', () => {
  const recentQuotes = createRecentQuotes({ keep: 3 });
  for (const n of [1, 2, 3, 4]) recentQuotes.quoted(record(n, n > 2 ? 'both' : `rfq${n}`));
  expect(recentQuotes.explain('0x1')).toEqual([]);
  expect((recentQuotes.explain('0xq2') as ExplainedQuote[]).map(({ orderId }) => orderId)).toEqual(['0x2']);
  expect((recentQuotes.explain('both') as ExplainedQuote[]).map(({ orderId }) => orderId)).toEqual([
    '0x4',
    '0x3',
  ]);
  expect(recentQuotes.quote('0x3')?.atMs).toBe(1_003);
});

test('a decline names its reason and the size that would have passed, in the token that the taker fixed', () => {
  const recentQuotes = createRecentQuotes({ keep: 3 });
  const rfq = {
    rfqId: 'r',
    taker: '0xt',
    side: 'exactInput',
    amount: '5000000000000000000',
    input: 'in',
    output: 'out',
  } as unknown as Rfq;
  recentQuotes.declined(
    rfq,
    route,
    { declined: 'limit', control: 'limit_taker', detail: 'perTaker: notional', maxAmount: 10n ** 18n },
    7,
  );
  recentQuotes.declined({ ...rfq, rfqId: 's' }, undefined, { declined: 'pair' }, 8);
  expect(recentQuotes.explain('r')[0]).toMatchObject({
    reason: 'limit',
    control: 'limit_taker',
    largestThatPasses: { base: '1000000000000000000', units: '1' },
    summary:
      'We declined 5 WETH to USDC: limit (perTaker: notional). The largest that would have passed is 1 WETH.',
  });
  expect((recentQuotes.explain('s')[0] as ExplainedDecline).summary).toBe(
    'We declined 5000000000000000000 in to out: pair.',
  );
});
