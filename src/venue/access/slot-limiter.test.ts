/**
 * Places, lines and shares, and how an entrance closes when the loop or the database is behind: by the clock
 * of the test.
 */

import { describe, expect, test } from 'vitest';
import { silentMetrics } from '../../../test/support/silent.ts';
import type { Clock } from '../../ports/clock.ts';
import type { LoadKind } from '../../ports/http.ts';
import { ApiError } from '../../protocol/errors.ts';
import { createSlotLimiter } from './slot-limiter.ts';
import { createBulkhead } from './bulkhead.ts';
import { ADMISSION } from '../options.ts';

const each = (most: number) =>
  Object.fromEntries(Object.keys(ADMISSION.places).map((kind) => [kind, most])) as Record<LoadKind, number>;

function venue(options: Partial<typeof ADMISSION>) {
  let nowMs = 0;
  let databaseWaitMs = 0;
  const due = new Set<{ atMs: number; run: () => void }>();
  const clock: Clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    after(ms, run) {
      const entry = { atMs: nowMs + ms, run };
      due.add(entry);
      return () => void due.delete(entry);
    },
  };
  const admission = createSlotLimiter(
    { clock, metrics: silentMetrics, databaseWaitMs: () => databaseWaitMs },
    { ...ADMISSION, ...options },
  );
  admission.start();
  return {
    admission,
    enter: (kind: LoadKind, key = 'k') => admission.take(kind, key),
    /** Time passes, and every timer is so much too late. */
    pass(ms: number, lateMs = 0) {
      const end = nowMs + ms;
      while (nowMs < end) {
        nowMs += 20 + lateMs;
        for (const entry of due) if (entry.atMs <= nowMs && due.delete(entry)) entry.run();
      }
    },
    database: (waitMs: number) => void (databaseWaitMs = waitMs),
  };
}

async function refusal(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return 'let in';
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expect(error.retryAfterSeconds).toBeGreaterThan(0);
    return error.code;
  }
}

describe('slots', () => {
  test('runs up to the limit, then queues, then answers 503; a freed slot goes to the first in the queue', async () => {
    const { enter, admission } = venue({ places: each(4), waiting: each(2) });
    const held = await Promise.all(['a', 'b', 'c', 'd'].map((key) => enter('submit', key)));
    const line = ['e', 'f'].map((key) => admission.take('submit', key));
    expect(await refusal(() => enter('submit', 'g'))).toBe('unavailable');
    // Other kinds have places of their own.
    (await enter('read', 'g'))();
    held[0]?.();
    held[0]?.();
    const fifth = await line[0];
    fifth?.();
    (await line[1])?.();
    for (const release of held) release();
    expect(await refusal(() => enter('submit', 'g'))).toBe('let in');
  });

  test('a request that waits too long is refused and leaves the queue', async () => {
    const { enter, admission, pass } = venue({ places: each(1), waiting: each(8), maxWaitMs: 100 });
    const release = await enter('submit', 'a');
    const waiting = admission.take('submit', 'b').catch((error: unknown) => (error as ApiError).code);
    pass(200);
    expect(await waiting).toBe('unavailable');
    release();
    expect(await refusal(() => enter('submit', 'b'))).toBe('let in');
  });

  test('a key above its share gets 429, and others still get in', async () => {
    const { enter } = venue({ places: each(4), waiting: each(0) });
    for (let n = 0; n < 3; n++) await enter('quote', 'greedy');
    expect(await refusal(() => enter('quote', 'greedy'))).toBe('rate_limited');
    expect(await refusal(() => enter('quote', 'modest'))).toBe('let in');
  });
});

test('a key works in three quarters of the places, further requests of it wait for its own', async () => {
  const { admission } = venue({ places: each(4), waiting: each(8) });
  const greedy = await Promise.all([1, 2, 3].map(() => admission.take('read', 'greedy')));
  const order: string[] = [];
  const waits = [1, 2].map((n) => admission.take('read', 'greedy').then(() => order.push(`greedy ${n}`)));
  const modest = await admission.take('read', 'modest');
  const second = admission.take('read', 'modest').then(() => order.push('modest'));
  modest();
  await second;
  expect(order).toEqual(['modest']);
  for (const release of greedy) release();
  await Promise.all(waits);
  expect(order).toEqual(['modest', 'greedy 1', 'greedy 2']);
});

describe('overload', () => {
  async function letIn(one: ReturnType<typeof venue>, kind: LoadKind): Promise<number> {
    let count = 0;
    for (let n = 0; n < 100; n++) {
      await one.enter(kind).then(
        (release) => {
          release();
          count++;
        },
        () => {},
      );
    }
    return count;
  }
  async function letInEach(one: ReturnType<typeof venue>, kinds: readonly LoadKind[]): Promise<number[]> {
    const counts: number[] = [];
    for (const kind of kinds) counts.push(await letIn(one, kind));
    return counts;
  }

  test('one delay sheds nothing', async () => {
    const one = venue({ shedAtLagMs: 100 });
    one.pass(400);
    one.pass(20, 5_000);
    expect(await letIn(one, 'quote')).toBe(100);
  });

  test('a late event loop sheds by degrees: quotes first, submissions last; everything reopens once it is on time', async () => {
    const one = venue({ shedAtLagMs: 100 });
    one.pass(2_000, 150);
    expect([await letIn(one, 'quote'), await letIn(one, 'read'), await letIn(one, 'submit')]).toEqual([
      50, 100, 100,
    ]);
    one.pass(4_000, 300);
    expect([await letIn(one, 'quote'), await letIn(one, 'read'), await letIn(one, 'submit')]).toEqual([
      0, 50, 100,
    ]);
    one.pass(20_000, 900);
    expect([await letIn(one, 'quote'), await letIn(one, 'read'), await letIn(one, 'submit')]).toEqual([
      0, 0, 0,
    ]);
    one.pass(400);
    expect([await letIn(one, 'quote'), await letIn(one, 'read'), await letIn(one, 'submit')]).toEqual([
      100, 100, 100,
    ]);
  });

  test('a slow database sheds only the requests that need it', async () => {
    const one = venue({ shedAtDatabaseWaitMs: 500 });
    one.database(1_000);
    expect(await letInEach(one, ['quote', 'memory', 'preflight', 'socket'])).toEqual([100, 100, 100, 100]);
    expect(await letInEach(one, ['submit', 'read', 'export', 'subscribe'])).toEqual([0, 0, 0, 0]);
    one.database(0);
    expect(await letIn(one, 'submit')).toBe(100);
  });
});

test('bulkhead: a full one refuses, others are unaffected, and failures free their slots', async () => {
  const bulkhead = createBulkhead<string>(2, 'full');
  let finish = () => {};
  const slow = () => new Promise<void>((_, reject) => (finish = () => reject(new Error('broke'))));
  const first = bulkhead.run('a', slow).catch(() => {});
  const end = finish;
  const second = bulkhead.run('a', slow).catch(() => {});
  await expect(bulkhead.run('a', async () => 1)).rejects.toMatchObject({
    code: 'unavailable',
    retryAfterSeconds: 2,
  });
  expect(await bulkhead.run('b', async () => 1)).toBe(1);
  end();
  finish();
  await Promise.all([first, second]);
  expect(await bulkhead.run('a', async () => 1)).toBe(1);
});
