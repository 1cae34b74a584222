/**
 * Taker statistics: a request counts once, whatever its number of quotes, and trading elsewhere is honest.
 */

import { expect, test } from 'vitest';
import type { Bytes32 } from '../../domain/hex.ts';
import { createTakerStatistics } from './taker-statistics.ts';
import type { OpenAward } from '../settlement/awards.ts';
import { zLpRisk } from '../config/risk-config.ts';

const id = (n: number) => `0x${n.toString(16).padStart(64, '0')}` as Bytes32;
const taker = '0x00000000000000000000000000000000000000aa' as const;

function setUp(freeOption: object = {}) {
  const risk = zLpRisk.parse({ freeOption, rate: { perSecond: 1e9, burst: 1_000_000_000 } });
  const statistics = createTakerStatistics(risk);
  let serial = 0;
  const quote = (rfqId: string, seconds: number, atMs = 0) => {
    const quoteId = id((serial += 1));
    statistics.quoted({
      quoteId,
      rfqId,
      atMs,
      taker,
      times: { validUntil: (atMs + seconds * 1000) / 1000 } as never,
    });
    return quoteId;
  };
  const accept = (quoteId: Bytes32, edgeBps: number, nowMs: number) =>
    statistics.accepted({ quoteId, order: { user: taker } } as unknown as OpenAward, edgeBps, nowMs);
  return { statistics, quote, accept, step: (nowMs = 0) => statistics.countRequest(taker, nowMs) };
}

test('quotes of one request count once, by the longest tenor', () => {
  const { quote, statistics, step } = setUp({ liveSeconds: 39 });
  for (let n = 0; n < 3; n++) for (const seconds of [5, 10]) quote(`r${n}`, seconds);
  expect(step()).toBe(0);
  quote('r3', 10);
  expect(step()).toBe(1);
  expect(statistics.suspects(0)).toEqual([{ taker, step: 1, quotes: 4, liveSeconds: 40, accepts: 0 }]);
});

test('trading another quote of the same request removes it from the statistics, once', () => {
  const { quote, statistics, step } = setUp({ liveSeconds: 15 });
  const [short, long] = [quote('r', 5), quote('r', 10)];
  quote('s', 10);
  expect(step()).toBe(1);
  statistics.tradedElsewhere([short, long, short, id(999)], 0);
  expect(step()).toBe(0);
  expect(statistics.suspects(0)).toEqual([]);
});

test('after an accept, the release of the other tenors changes nothing', () => {
  const { quote, accept, statistics, step } = setUp({ liveSeconds: 15, acceptShare: 0.02 });
  const [short, long] = [quote('r', 5), quote('r', 10)];
  accept(short, 8, 1_000);
  statistics.tradedElsewhere([long], 1_000);
  for (let n = 0; n < 20; n++) quote(`s${n}`, 10, 1_000);
  // One of twenty-one is a trader.
  expect(step(1_000)).toBe(0);
});

test('late accepts at prices that are bad for us raise suspicion, unknown quotes do not', () => {
  const { accept, step } = setUp({ accepts: 3, liveSeconds: 1e9 });
  for (let n = 0; n < 3; n++) accept(id(10_000 + n), -50, 0);
  expect(step()).toBe(0);
  const other = setUp({ accepts: 3, liveSeconds: 1e9 });
  for (let n = 0; n < 3; n++) other.accept(other.quote(`r${n}`, 10, n * 10_000), -5, n * 10_000 + 9_500);
  expect(other.step(30_000)).toBe(1);
});

test('a longer tenor still counts for its request after the shorter one was pruned', () => {
  const { quote, statistics, step } = setUp({ liveSeconds: 150 });
  const [short, longer] = [quote('r', 5), quote('r', 100)];
  quote('r', 300);
  expect(step()).toBe(1);
  // Its minute is over; the longer one holds up nobody behind it.
  for (let n = 0; n < 5; n++) quote(`s${n}`, 0, 70_000);
  statistics.forgetEnded(70_000);
  statistics.tradedElsewhere([short], 70_000);
  expect(step(70_000)).toBe(1);
  statistics.tradedElsewhere([longer], 70_000);
  expect(statistics.suspects(70_000)).toEqual([]);
});

test('a quote is forgotten a minute after its end, when no further quote is asked for', () => {
  const { quote, statistics } = setUp({ liveSeconds: 5 });
  const ended = quote('r', 10);
  statistics.forgetEnded(69_999);
  statistics.forgetEnded(70_000);
  // A quote that is known would be taken off the taker's statistics.
  statistics.tradedElsewhere([ended], 70_000);
  expect(statistics.suspects(70_000)).toHaveLength(1);
});

test('beyond the limit the oldest quotes are forgotten first', () => {
  for (const [which, suspects] of [
    [0, 0],
    [100_000, 1],
    [200_000, 1],
  ] as const) {
    const { quote, accept, statistics } = setUp({ liveSeconds: 1e9, accepts: 1 });
    const quoted = Array.from({ length: 200_001 }, (_, n) => quote(`r${n}`, 10));
    // Late and against us, where it is known; half of nothing, where it is not.
    accept(quoted[which] as (typeof quoted)[number], -5, 9_500);
    expect(statistics.suspects(9_500)).toHaveLength(suspects);
  }
});
