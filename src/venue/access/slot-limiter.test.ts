/**
 * Slots, queues and shares, and what is refused when the event loop or the database is behind: by the clock
 * and the turns of the test.
 */

import { describe, expect, test } from 'vitest';
import { silentMetrics } from '../../../test/support/silent.ts';
import type { Clock } from '../../ports/clock.ts';
import type { LoadKind, Release } from '../../ports/http.ts';
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
  let turns: (() => void)[] = [];
  const clock: Clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    after(ms, run) {
      const entry = { atMs: nowMs + ms, run };
      due.add(entry);
      return () => void due.delete(entry);
    },
  };
  const limiter = createSlotLimiter(
    {
      clock,
      metrics: silentMetrics,
      databaseWaitMs: () => databaseWaitMs,
      nextTurn: (begin) => void turns.push(begin),
    },
    { ...ADMISSION, ...options },
  );
  return {
    enter: (kind: LoadKind, key = 'k') => limiter.take(kind, key),
    refusal: limiter.refusal,
    pass(ms: number) {
      nowMs += ms;
      for (const entry of due) if (entry.atMs <= nowMs && due.delete(entry)) entry.run();
    },
    /** The next turn of the event loop. */
    async turn() {
      const begin = turns;
      turns = [];
      for (const each of begin) each();
      // Those who were let in go on.
      await new Promise((done) => setImmediate(done));
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
    const { enter, turn } = venue({ places: each(4), waiting: each(2) });
    const held = await Promise.all(['a', 'b', 'c', 'd'].map((key) => enter('submit', key)));
    const line = ['e', 'f'].map((key) => enter('submit', key));
    expect(await refusal(() => enter('submit', 'g'))).toBe('unavailable');
    // Other kinds have places of their own.
    (await enter('read', 'g'))();
    held[0]?.();
    held[0]?.();
    await turn();
    const fifth = await line[0];
    fifth?.();
    await turn();
    (await line[1])?.();
    for (const release of held) release();
    await turn();
    expect(await refusal(() => enter('submit', 'g'))).toBe('let in');
  });

  test('a request that waits too long is refused and leaves the queue', async () => {
    const { enter, pass, turn } = venue({ places: each(1), waiting: each(8), maxWaitMs: 100 });
    const release = await enter('submit', 'a');
    const waiting = enter('submit', 'b').catch((error: unknown) => (error as ApiError).code);
    pass(200);
    expect(await waiting).toBe('unavailable');
    release();
    await turn();
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
  const { enter, turn } = venue({ places: each(4), waiting: each(8) });
  const greedy = await Promise.all([1, 2, 3].map(() => enter('read', 'greedy')));
  const order: string[] = [];
  const waits = [1, 2].map((n) => enter('read', 'greedy').then(() => order.push(`greedy ${n}`)));
  const modest = enter('read', 'modest');
  await turn();
  const second = enter('read', 'modest').then(() => order.push('modest'));
  (await modest)();
  await turn();
  await second;
  expect(order).toEqual(['modest']);
  for (const release of greedy) release();
  await turn();
  await Promise.all(waits);
  expect(order).toEqual(['modest', 'greedy 1', 'greedy 2']);
});

describe('overload', () => {
  /** Asks so many times a turn, for so many turns of 10 ms. Returns what was let in and what was refused. */
  async function ask(one: ReturnType<typeof venue>, kind: LoadKind, perTurn: number, turns: number) {
    let [letIn, refused] = [0, 0];
    for (let turn = 0; turn < turns; turn++) {
      for (let n = 0; n < perTurn; n++)
        void one.enter(kind).then(
          (release) => {
            release();
            letIn++;
          },
          () => refused++,
        );
      one.pass(10);
      await one.turn();
    }
    return { letIn, refused };
  }

  test('a turn of the loop starts few requests, so that what has begun ends first', async () => {
    const one = venue({});
    expect(await ask(one, 'quote', 100, 1)).toEqual({ letIn: 64, refused: 0 });
    expect((await ask(one, 'quote', 0, 12)).refused).toBe(0);
  });

  test('beyond capacity each turn starts as much as before, and the rest is refused at once', async () => {
    const one = venue({});
    const { letIn, refused } = await ask(one, 'quote', 96, 150);
    expect(letIn).toBe(32 * 151);
    expect(letIn + refused).toBeGreaterThanOrEqual(96 * 150 - 256);
    // Once less is asked, nothing is refused.
    await ask(one, 'quote', 0, 20);
    expect((await ask(one, 'quote', 24, 100)).refused).toBe(0);
  });

  /** Returns how many of 150 are in progress after so many turns, if none ends. */
  async function inProgress(one: ReturnType<typeof venue>, kind: LoadKind) {
    let atWork = 0;
    for (let n = 0; n < 150; n++) void one.enter(kind).then(() => atWork++);
    return async (turns: number, turnMs: number) => {
      for (let turn = 0; turn < turns; turn++) {
        one.pass(turnMs);
        await one.turn();
      }
      return atWork;
    };
  }

  test('while turns are long few quotes are in progress, and more once they are short', async () => {
    const after = await inProgress(venue({ maxWaitMs: 60_000 }), 'quote');
    expect(await after(20, 40)).toBeLessThan(80);
    expect(await after(200, 5)).toBe(150);
  });

  test('after an overload as many may be in progress as before, once turns have been short for a while', async () => {
    const one = venue({ maxWaitMs: 60_000 });
    const ended: Release[] = [];
    for (let n = 0; n < 150; n++) void one.enter('quote').then((release) => ended.push(release));
    for (let turn = 0; turn < 20; turn++) {
      one.pass(40);
      await one.turn();
      for (const release of ended.splice(0)) release();
    }
    for (let turn = 0; turn < 300; turn++) {
      one.pass(5);
      await one.turn();
    }
    const after = await inProgress(one, 'quote');
    expect(await after(6, 0)).toBe(150);
  });

  test('few places are never exceeded, however long turns are, and each that becomes free is used', async () => {
    const one = venue({ places: each(4), waiting: each(200), maxWaitMs: 60_000 });
    const working: Release[] = [];
    let letIn = 0;
    for (let n = 0; n < 40; n++)
      void one.enter('quote', `key ${n}`).then((release) => {
        working.push(release);
        letIn += 1;
      });
    for (let turn = 1; turn <= 80; turn++) {
      one.pass(turn % 2 === 0 ? 40 : 5);
      await one.turn();
      expect(working.length).toBeLessThanOrEqual(4);
      if (turn % 2 === 0) working.shift()?.();
    }
    expect(letIn).toBe(40);
  });

  test('long turns let no fewer submissions work', async () => {
    const one = venue({ maxWaitMs: 60_000, places: each(200) });
    const after = await inProgress(one, 'submit');
    expect(await after(8, 40)).toBe(150);
  });

  test('what take would refuse for a full queue is known without it, with the same time to come back', async () => {
    const one = venue({});
    expect(one.refusal('quote', 'k')).toBeUndefined();
    await ask(one, 'quote', 96, 150);
    for (let n = 0; n < 96; n++) one.enter('quote').catch(() => {});
    expect(one.refusal('quote', 'k')).toMatchObject({
      code: 'unavailable',
      retryAfterSeconds: expect.any(Number),
    });
    expect(one.refusal('quote', 'other')).toBeUndefined();
    await ask(one, 'quote', 0, 30);
    expect(one.refusal('quote', 'k')).toBeUndefined();
  });

  test('submissions wait longer than quotes before they are refused', async () => {
    const [quotes, submissions] = [venue({}), venue({})];
    const refusedOf = async (one: ReturnType<typeof venue>, kind: LoadKind) =>
      (await ask(one, kind, 40, 60)).refused;
    expect(await refusedOf(quotes, 'quote')).toBeGreaterThan(0);
    expect(await refusedOf(submissions, 'submit')).toBe(0);
  });

  test('a slow database sheds only the requests that need it', async () => {
    const letInEach = async (one: ReturnType<typeof venue>, kinds: readonly LoadKind[]) => {
      const counts: number[] = [];
      for (const kind of kinds) counts.push((await ask(one, kind, 5, 20)).letIn);
      return counts;
    };
    const one = venue({ shedAtDatabaseWaitMs: 500 });
    one.database(1_000);
    expect(await letInEach(one, ['quote', 'memory', 'preflight', 'socket'])).toEqual([100, 100, 100, 100]);
    expect(await letInEach(one, ['submit', 'read', 'export', 'subscribe'])).toEqual([0, 0, 0, 0]);
    one.database(0);
    expect(await letInEach(one, ['submit'])).toEqual([100]);
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
