/**
 * What is learnt of takers: one request is one, however often it is answered, and nobody is blamed for
 * trading elsewhere.
 */

import { expect, test } from 'vitest';
import type { Bytes32 } from '../../domain/hex.ts';
import { createConductBook } from './taker-statistics.ts';
import type { OpenAward } from '../settlement/awards.ts';
import { zLpRisk } from '../config/risk-config.ts';

const id = (n: number) => `0x${n.toString(16).padStart(64, '0')}` as Bytes32;
const taker = '0x00000000000000000000000000000000000000aa' as const;

function desk(freeOption: object = {}) {
  const risk = zLpRisk.parse({ freeOption, rate: { perSecond: 1e9, burst: 1_000_000_000 } });
  const book = createConductBook(() => risk);
  let serial = 0;
  const quote = (rfqId: string, seconds: number, atMs = 0) => {
    const quoteId = id((serial += 1));
    book.quoted({
      quoteId,
      rfqId,
      atMs,
      taker,
      times: { validUntil: (atMs + seconds * 1000) / 1000 } as never,
    });
    return quoteId;
  };
  const accept = (quoteId: Bytes32, markBps: number, nowMs: number) =>
    book.accepted({ quoteId, order: { user: taker } } as unknown as OpenAward, markBps, nowMs);
  return { book, quote, accept, step: (nowMs = 0) => book.asked(taker, nowMs) };
}

test('several answers to one request count once, by the longest', () => {
  const { quote, book, step } = desk({ liveSeconds: 39 });
  for (let n = 0; n < 3; n++) for (const seconds of [5, 10]) quote(`r${n}`, seconds);
  expect(step()).toBe(0);
  quote('r3', 10);
  expect(step()).toBe(1);
  expect(book.suspects(0)).toEqual([{ taker, step: 1, quotes: 4, liveSeconds: 40, accepts: 0 }]);
});

test('who takes another quote of the same request is blamed for nothing, and is so once', () => {
  const { quote, book, step } = desk({ liveSeconds: 15 });
  const [short, long] = [quote('r', 5), quote('r', 10)];
  quote('s', 10);
  expect(step()).toBe(1);
  book.elsewhere([short, long, short, id(999)], 0);
  expect(step()).toBe(0);
  expect(book.suspects(0)).toEqual([]);
});

test('taken here: the rest of its life was not used, and its siblings’ release says nothing more', () => {
  const { quote, accept, book, step } = desk({ liveSeconds: 15, acceptShare: 0.02 });
  const [short, long] = [quote('r', 5), quote('r', 10)];
  accept(short, 8, 1_000);
  book.elsewhere([long], 1_000);
  for (let n = 0; n < 20; n++) quote(`s${n}`, 10, 1_000);
  // One of twenty-one is a trader.
  expect(step(1_000)).toBe(0);
});

test('late and after the price moved against us: under suspicion; an award of an earlier life proves nothing', () => {
  const { accept, step } = desk({ accepts: 3, liveSeconds: 1e9 });
  for (let n = 0; n < 3; n++) accept(id(10_000 + n), -50, 0);
  expect(step()).toBe(0);
  const other = desk({ accepts: 3, liveSeconds: 1e9 });
  for (let n = 0; n < 3; n++) other.accept(other.quote(`r${n}`, 10, n * 10_000), -5, n * 10_000 + 9_500);
  expect(other.step(30_000)).toBe(1);
});

test('the first answer is forgotten before a longer one, and still speaks for the request', () => {
  const { quote, book, step } = desk({ liveSeconds: 150 });
  const [short, longer] = [quote('r', 5), quote('r', 100)];
  quote('r', 300);
  expect(step()).toBe(1);
  // Its minute is over; the longer one holds up nobody behind it.
  for (let n = 0; n < 5; n++) quote(`s${n}`, 0, 70_000);
  book.elsewhere([short], 70_000);
  expect(step(70_000)).toBe(1);
  book.elsewhere([longer], 70_000);
  expect(book.suspects(70_000)).toEqual([]);
});

test('more than are remembered: whoever was asked for first is forgotten first, and the next one is not', () => {
  for (const [which, suspects] of [
    [0, 0],
    [1, 1],
  ] as const) {
    const { quote, accept, book } = desk({ liveSeconds: 1e9, accepts: 1 });
    const early = [quote('first', 10), quote('second', 10)] as const;
    for (let n = 0; n < 200_000; n++) quote(`r${n}`, 10);
    // Late and against us, where it is known; half of nothing, where it is not.
    accept(early[which], -5, 9_500);
    expect(book.suspects(9_500)).toHaveLength(suspects);
  }
});
