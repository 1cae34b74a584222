/** The laws of admission, by the clock of the test: age, fairness, no idle server, true Retry-After. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFairQueue } from './fair-queue.ts';

const TARGET_MS = 50;
const LEAST = 8;

interface Request {
  keyId: string;
  atMs: number;
  /** How often it has come. */
  tries: number;
}

interface Served extends Request {
  waitedMs: number;
}

/** A server that starts `perTurn` requests every `turnMs`, in front of which keys offer so many a second. */
function server({ perTurn, turnMs }: { perTurn: number; turnMs: number }) {
  const queue = createFairQueue<Request>({ targetMs: TARGET_MS, leastHeld: LEAST });
  let nowMs = 0;
  const [served, refused]: [Served[], (Request & { retryAfterSeconds: number })[]] = [[], []];
  /** Turns that found less to start than they could. */
  let idle = 0;
  const offer = (keyId: string, tries = 1) => {
    const request = { keyId, atMs: nowMs, tries };
    const retryAfterSeconds = queue.refuse(keyId, nowMs);
    if (retryAfterSeconds === undefined) queue.enter(keyId, request, nowMs);
    else refused.push({ ...request, retryAfterSeconds });
  };
  return {
    served,
    refused,
    size: () => queue.size(),
    idle: () => idle,
    offer,
    /** Arrivals are spread evenly; `come` adds others of a turn. */
    run(ms: number, perSecond: Readonly<Record<string, number>>, come: (nowMs: number) => void = () => {}) {
      const owed = new Map(Object.keys(perSecond).map((keyId) => [keyId, 0]));
      for (const end = nowMs + ms; nowMs < end;) {
        nowMs += turnMs;
        for (const [keyId, rate] of Object.entries(perSecond)) {
          let due = (owed.get(keyId) ?? 0) + (rate * turnMs) / 1_000;
          for (; due >= 1; due -= 1) offer(keyId);
          owed.set(keyId, due);
        }
        come(nowMs);
        for (let n = 0; n < perTurn; n += 1) {
          const next = queue.next(nowMs, () => true);
          if (!next) {
            idle += 1;
            break;
          }
          served.push({ ...next, waitedMs: nowMs - next.atMs });
        }
      }
    },
  };
}

/** 8 requests each 5 ms: 1,600 a second. */
const SPEED = { perTurn: 8, turnMs: 5 };
const CAPACITY = 1_600;
const overload = fc.double({ min: 1.2, max: 10, noNaN: true });
const of = <T extends { keyId: string }>(all: readonly T[], keyId: string) =>
  all.filter((each) => each.keyId === keyId);

test('law: requests of a key start in order of age, and whatever entered is served', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ keyId: fc.constantFrom('a', 'b', 'c'), gap: fc.nat(30) })), (events) => {
      const one = server({ perTurn: 1, turnMs: 1 });
      for (const { keyId, gap } of events) {
        one.offer(keyId);
        one.run(gap, {});
      }
      one.run(1_000, {});
      expect(one.served.length + one.refused.length).toBe(events.length);
      expect(one.size()).toBe(0);
      for (const keyId of ['a', 'b', 'c']) {
        const times = of(one.served, keyId).map(({ atMs }) => atMs);
        expect(times).toEqual([...times].sort((x, y) => x - y));
      }
    }),
  );
});

test('law: however much is offered, the server is never idle and what it serves has waited little', () => {
  fc.assert(
    fc.property(overload, (times) => {
      const one = server(SPEED);
      one.run(400, { a: times * CAPACITY });
      const before = one.served.length;
      one.run(3_000, { a: times * CAPACITY });
      expect(one.idle()).toBe(0);
      expect(one.served.length - before).toBe(3 * CAPACITY);
      // After the burst that overload begins with.
      const settled = one.served.filter(({ atMs }) => atMs > 2_500);
      expect(Math.max(...settled.map(({ waitedMs }) => waitedMs))).toBeLessThanOrEqual(2 * TARGET_MS);
    }),
    { numRuns: 30 },
  );
});

test('law: a key that offers ten times its share takes nothing from one that stays within its own', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 4 }),
      fc.double({ min: 0.1, max: 0.9, noNaN: true }),
      (others, part) => {
        const one = server(SPEED);
        const share = CAPACITY / (others + 1);
        const modest = Array.from({ length: others }, (_, n) => `modest-${n}`);
        one.run(3_000, {
          greedy: 10 * share,
          ...Object.fromEntries(modest.map((keyId) => [keyId, part * share])),
        });
        for (const keyId of modest) {
          expect(of(one.refused, keyId)).toEqual([]);
          expect(Math.max(...of(one.served, keyId).map(({ waitedMs }) => waitedMs))).toBeLessThanOrEqual(
            TARGET_MS,
          );
        }
        expect(one.idle()).toBe(0);
      },
    ),
    { numRuns: 30 },
  );
});

test('law: keys that all ask too much get equal parts', () => {
  const one = server(SPEED);
  one.run(3_000, { a: 2_000, b: 4_000, c: 16_000 });
  const counts = ['a', 'b', 'c'].map((keyId) => of(one.served, keyId).length);
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(SPEED.perTurn);
});

test('law: who comes back when Retry-After says so is served, once the others have stopped', () => {
  fc.assert(
    fc.property(overload, fc.integer({ min: 300, max: 900 }), (times, ms) => {
      const one = server(SPEED);
      one.run(ms, { a: times * CAPACITY });
      const told = one.refused.map(({ atMs, retryAfterSeconds }) => atMs + 1_000 * retryAfterSeconds);
      const before = one.refused.length;
      one.run(40_000, {}, (nowMs) => {
        for (const at of told) if (at <= nowMs && at > nowMs - SPEED.turnMs) one.offer('a', 2);
      });
      const again = one.refused.slice(before);
      expect(again).toEqual([]);
    }),
    { numRuns: 30 },
  );
});

test('a burst waits for its turn, and an empty line begins anew', () => {
  const one = server(SPEED);
  for (let n = 0; n < 200; n += 1) one.offer('a');
  one.run(1_000, {});
  for (let n = 0; n < 200; n += 1) one.offer('a');
  one.run(1_000, {});
  expect([one.served.length, one.refused.length]).toEqual([400, 0]);
});
