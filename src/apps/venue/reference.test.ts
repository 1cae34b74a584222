/** The venue's reference prices: exact, fresh or unknown, and what its operator hears about their feeds. */

import { beforeEach, expect, test } from 'vitest';
import { createManualClock, type ManualClock } from '../../../test/support/manual-clock.ts';
import { silentLog } from '../../../test/support/silent.ts';
import { createMetrics } from '../../adapters/prometheus/metrics.ts';
import type { FeedListener } from '../../ports/feed.ts';
import type { Log } from '../../ports/log.ts';
import { parseDecimal } from '../../pricing/rational.ts';
import { zVenueConfig } from './config.ts';
import { createReference } from './reference.ts';

let clock: ManualClock;
let metrics: ReturnType<typeof createMetrics>;
let listener: FeedListener;
let reference: ReturnType<typeof createReference>;
let warnings: Record<string, unknown>[];

beforeEach(() => {
  [clock, metrics, warnings] = [createManualClock(), createMetrics(), []];
  const log: Log = { ...silentLog, warn: (facts) => void warnings.push(facts as Record<string, unknown>) };
  const feed = { source: 'web', start: (heard: FeedListener) => void (listener = heard), stop() {} };
  reference = createReference(
    { USD: { fixed: '0.9999999999999999999' }, COIN: { feed: 'web', symbol: 'coinusd', maxAgeMs: 60_000 } },
    [feed],
    { clock, log, metrics },
  );
  reference.start();
});
const say = (bid: string, ask = bid, exchangeTimeMs: number | null = null) =>
  listener.quote({
    ...{ source: 'web', symbol: 'COINUSD', bid, ask, exchangeTimeMs },
    ...{ receivedMs: clock.nowMs(), sequence: null },
  });

test.each([
  ['0.0000000071', '0.0000000073', '0.0000000072'],
  ['0.000000219', '0.000000219', '0.000000219'],
  [
    '0.000000000000000000000000000001',
    '0.000000000000000000000000000003',
    '0.000000000000000000000000000002',
  ],
  ['1234567890123456.7', '1234567890123456.9', '1234567890123456.8'],
])('bid %s and ask %s are exactly %s', (bid, ask, mid) => {
  say(bid, ask);
  const [price, wanted] = [reference.usd('COIN'), parseDecimal(mid)];
  expect(price && wanted && price.num * wanted.den === wanted.num * price.den).toBe(true);
});

test('a price is as old as its source says; too old it is unknown, and the last one for estimates', () => {
  expect([reference.usd('COIN'), reference.lastUsd('COIN')]).toEqual([undefined, undefined]);
  say('2', '2', clock.nowMs() - 50_000);
  expect(reference.usd('COIN')).toEqual({ num: 2n, den: 1n });
  clock.advance(10_001);
  expect(reference.usd('COIN')).toBeUndefined();
  expect(reference.lastUsd('COIN')).toEqual({ num: 2n, den: 1n });
  clock.advance(86_400_000);
  expect(reference.usd('USD')).toEqual(parseDecimal('0.9999999999999999999'));
});

test.each(['0', '0.00', '1e-7', '', '-1'])('a price of "%s" replaces none and is counted', async (price) => {
  say('2');
  say(price, '3');
  expect(reference.usd('COIN')).toEqual({ num: 2n, den: 1n });
  expect(await metrics.text()).toContain(
    'firmquote_venue_reference_messages_total{feed="web",outcome="malformed"} 1\n',
  );
  expect(warnings).toMatchObject([{ feed: 'web', why: 'malformed' }]);
});

test('logs the same trouble once in thirty seconds, with how often it came', async () => {
  for (let second = 0; second < 31; second++) {
    listener.trouble?.({ kind: 'refused', why: 'malformed', symbol: 'COINUSD', detail: 'bid 1e-200' });
    listener.trouble?.({
      kind: 'disconnected',
      ...{ detail: `status 429, "${second}"`, retryInMs: 1_000, reason: 'rate_limited' },
    });
    clock.advance(1_000);
  }
  expect(warnings.map(({ kind, alsoBefore }) => [kind, alsoBefore])).toEqual([
    ['refused', undefined],
    ['disconnected', undefined],
    ['refused', 29],
    ['disconnected', 29],
  ]);
  const text = await metrics.text();
  expect(text).toContain('firmquote_venue_reference_waits_total{feed="web",reason="rate_limited"} 31\n');
  expect(text).toContain('firmquote_venue_reference_connected{feed="web"} 0\n');
});

test.each([
  ['0', 'must be above 0'],
  ['0.000', 'must be above 0'],
  ['1e-7', 'must be a USD price'],
])('a fixed price of "%s" is refused', (fixed, why) => {
  const issues = zVenueConfig.safeParse({ prices: { USD: { fixed } } }).error?.issues ?? [];
  expect(JSON.stringify(issues.filter(({ path }) => path[0] === 'prices'))).toContain(why);
});
