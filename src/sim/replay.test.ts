import { describe, expect, test } from 'vitest';
import { simulatedMaker, simulatedMarket } from '../../test/support/simulated.ts';
import { createRandom } from './random.ts';
import { drawPrices } from './exchange.ts';
import type { MakerSetup } from './maker/setup.ts';
import { runReplay, type ReplaySetup } from './replay.ts';
import { parseRfqs, type RfqRecord } from './rfq-record.ts';

const startMs = Date.UTC(2026, 0, 1);
const prices = drawPrices(
  { seconds: 300, start: 2500, sigma: 0.9, jumpsPerHour: 1, jumpBps: 30 },
  createRandom(9),
);

function setup(a: MakerSetup, b: MakerSetup, records?: readonly RfqRecord[]): ReplaySetup {
  const { takers, paths } = simulatedMarket(
    [prices, prices.map((price) => 24 * price)].slice(0, a.pairs.length),
    [a],
  );
  return { seed: 1, startMs, paths, takers, records, makers: [a, b], sampleSeconds: 10 };
}

const one = simulatedMaker({ noiseBps: 0 });
/** Widens the spread of the pair at that place only. */
const widened = (maker: MakerSetup, pair = 0): MakerSetup => ({
  ...maker,
  name: 'wider',
  pairs: maker.pairs.map((each, at) => ({
    ...each,
    routes: each.routes.map((route) =>
      at === pair ? { ...route, params: { ...route.params, minEdgeBps: 40 } } : route,
    ),
  })),
});
const wider = widened(one);

const record = (changed: Partial<RfqRecord> = {}): RfqRecord => ({
  atMs: startMs + 20_500,
  id: 'r',
  taker: '0xabc',
  corridor: 'c1-c2',
  input: 'WETH',
  output: 'USDC',
  side: 'exactInput',
  amount: (4n * 10n ** 18n).toString(),
  platformFeeBps: 2,
  minValidSeconds: 0,
  outcome: null,
  quoted: null,
  acceptedAtMs: null,
  rival: null,
  ...changed,
});

describe('a replay', () => {
  test('of a configuration against itself shows no difference', () => {
    const result = runReplay(setup(one, { ...one, name: 'again' }));
    expect(result.requests).toBeGreaterThan(50);
    expect(result.changed).toBe(0);
    expect({ ...result.makers[0], name: '' }).toEqual({ ...result.makers[1], name: '' });
    expect(JSON.stringify(result)).toBe(JSON.stringify(runReplay(setup(one, { ...one, name: 'again' }))));
  });

  test('a configuration with a wider spread quotes worse and wins less in every row', () => {
    const {
      quotes,
      makers: [a, b],
      changed,
    } = runReplay(setup(one, wider));
    expect(changed).toBeGreaterThan(0);
    expect(b.fills).toBeLessThan(a.fills);
    expect(b.meanSpreadBps).toBeGreaterThan(a.meanSpreadBps + 20);
    for (const { differenceBps } of quotes)
      if (differenceBps !== null) expect(differenceBps).toBeGreaterThan(0);
  });

  test('of several pairs changes the quotes of the pair that was changed', () => {
    const both = simulatedMaker({ noiseBps: 0, risk: null }, [1, 2], ['WETH', 'WBTC']);
    const { quotes, makers } = runReplay(setup(both, widened(both, 1)));
    const changed = (pair: string) => quotes.filter((quote) => quote.pair === pair && quote.changed).length;
    expect(changed('WBTC-USDC')).toBeGreaterThan(20);
    const [a, b] = makers.map(({ pairs }) => pairs[1]?.meanSpreadBps ?? 0) as [number, number];
    expect(b).toBeGreaterThan(a + 20);
    for (const { pair, differenceBps } of quotes)
      if (pair === 'WBTC-USDC' && differenceBps !== null) expect(differenceBps).toBeGreaterThan(0);
    // The other pair changes only through the inventory that both share.
    expect(changed('WETH-USDC')).toBeLessThan(changed('WBTC-USDC') / 2);
    const btc = record({ input: 'WBTC', amount: (10n ** 7n).toString() });
    expect(runReplay(setup(both, both, [btc])).quotes[0]).toMatchObject({ pair: 'WBTC-USDC', lp: 'buy' });
  });

  test('recorded outcomes happen again at the recorded prices with every seed', () => {
    const [quote] = runReplay(setup(one, one, [record()])).quotes;
    const quoted = quote?.legs[0].amount as string;
    for (let seed = 0; seed < 40; seed++) {
      const outcomes = (outcome: RfqRecord['outcome']) =>
        runReplay({ ...setup(one, one, [record({ outcome, quoted })]), seed }).quotes[0]?.legs[0].outcome;
      expect(outcomes('accepted')).toBe('won');
      expect(outcomes('expired')).toBe('refused');
      expect(outcomes('lost')).toBe('refused');
    }
  });

  test('a quote wins only when it beats the rival', () => {
    const better = runReplay(
      setup(one, one, [record({ outcome: 'lost', quoted: '1', rival: (11_000n * 10n ** 6n).toString() })]),
    );
    expect(better.quotes[0]?.legs[0].outcome).toBe('refused');
    const accepted = record({ outcome: 'accepted', quoted: (10_100n * 10n ** 6n).toString() });
    expect(runReplay(setup(one, one, [{ ...accepted, rival: '1' }])).quotes[0]?.legs[0].outcome).toBe(
      runReplay(setup(one, one, [accepted])).quotes[0]?.legs[0].outcome,
    );
  });

  test('a taker that accepted late exercises the quote only while it is firm', () => {
    const [quote] = runReplay(setup(one, one, [record()])).quotes;
    const quoted = String(BigInt(quote?.legs[0].amount as string) - 10n ** 6n * 20n);
    const late = (acceptedAtMs: number) =>
      runReplay(
        setup(one, { ...one, quoting: { ...one.quoting, validitySeconds: 60 } }, [
          record({ outcome: 'accepted', quoted, acceptedAtMs }),
        ]),
      ).quotes[0]?.legs.map(({ outcome }) => outcome);
    expect(late(startMs + 28_500)).toEqual(['won', 'won']);
    expect(late(startMs + 55_500)).toEqual(['refused', 'won']);
  });

  test('counts requests outside the prices and on routes that neither configuration has', () => {
    const { skipped, requests, quotes } = runReplay(
      setup(one, wider, [
        record({ atMs: startMs - 1 }),
        record({ corridor: 'c1-c9' }),
        record({ atMs: startMs + 10 ** 9 }),
      ]),
    );
    expect({ skipped, requests }).toEqual({ skipped: 2, requests: 1 });
    expect(quotes[0]?.legs.map(({ declined }) => declined)).toEqual(['pair', 'pair']);
    const unknown = runReplay(setup(one, wider, [record({ input: 'DOGE' })])).quotes[0];
    expect(unknown).toMatchObject({ pair: null, legs: [{ declined: 'pair' }, { declined: 'pair' }] });
  });
});

describe('recorded requests', () => {
  test('are read line by line and sorted by time', () => {
    const lines = [record({ atMs: 5, id: 'b' }), record({ atMs: 3, id: 'a' })]
      .map((each) => JSON.stringify(each))
      .join('\n');
    expect(parseRfqs(`${lines}\n\n`, 'f').map(({ id }) => id)).toEqual(['a', 'b']);
    expect(
      parseRfqs(
        '{"atMs":1,"id":"x","taker":"t","corridor":"a-b","input":"A","output":"B","side":"exactInput","amount":"5"}',
        'f',
      )[0],
    ).toMatchObject({ outcome: null, platformFeeBps: 0, rival: null });
  });

  test.each([
    ['nonsense', /line 1: not JSON/],
    [JSON.stringify({ ...record(), amount: '0' }), /amount: must be base units/],
    [JSON.stringify({ ...record(), extra: 1 }), /Unrecognized key/],
    [JSON.stringify(record({ outcome: 'accepted' })), /quoted: is required when the outcome is accepted/],
    [JSON.stringify(record({ acceptedAtMs: 1 })), /acceptedAtMs: only for accepted requests/],
  ])('%s is refused with its line', (text, message) => {
    expect(() => parseRfqs(text, 'f')).toThrow(message);
  });
});
