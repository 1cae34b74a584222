/**
 * The thread that recovers signers gives the answers that the event loop would, in order, and nobody waits
 * for ever when it is slow, dead or gone.
 */

import { afterEach, expect, test } from 'vitest';
import { RECOVERY_PROGRAM } from '../../../test/support/build.ts';
import type { Bytes32, Hex } from '../../domain/hex.ts';
import { keccakText } from '../../domain/keccak.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import { createRecovery } from './recovery.ts';
import { SLOTS } from './recovery-slots.ts';
import { createRecoveryThread, type RecoveryThread } from './recovery-thread.ts';
import { createSigner } from './signer.ts';

/** Programs that say that they are ready and then answer nothing, or end when they are asked. */
const program = (text: string): URL =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`import { workerData } from 'node:worker_threads'; const counters = new Int32Array(workerData, 0, 3); Atomics.store(counters, 2, 1); ${text}`)}`,
  );
const SILENT = program(`Atomics.wait(counters, 1, 0);`);
const DYING = program(`Atomics.wait(counters, 0, 0); throw new Error('no more');`);

const signers = [1, 2, 3].map((n) => createSigner(`0x${n.toString(16).padStart(64, '0')}`));
const own = createRecovery();

interface Question {
  digest: Bytes32;
  signature: Hex;
}

/**
 * Of three signers by turns; every fifth signature is of something else, every seventh nobody's, every third
 * compact.
 */
const questions = (count: number): Question[] =>
  Array.from({ length: count }, (_, n) => {
    const digest = keccakText(`question ${n}`);
    const signature = (signers[n % 3] as (typeof signers)[number]).sign(
      n % 5 === 4 ? keccakText(`other ${n}`) : digest,
    );
    if (n % 7 === 6) return { digest, signature: `0x${'ff'.repeat(64)}1b` };
    if (n % 3 !== 2) return { digest, signature };
    const [r, s, v] = [signature.slice(2, 66), BigInt(`0x${signature.slice(66, 130)}`), signature.slice(130)];
    return {
      digest,
      signature: `0x${r}${(s + ((v === '1c' ? 1n : 0n) << 255n)).toString(16).padStart(64, '0')}`,
    };
  });

const answersOf = (asked: readonly Question[]) =>
  asked.map(({ digest, signature }) => own.recover(digest, signature));

/** Whatever it says and counts; timers go off when the test says so. */
function surroundings() {
  const counts = new Map<string, number>();
  const said: string[] = [];
  const timers = new Set<() => void>();
  const say = (_: object, message: string) => void said.push(message);
  const log: Log = { debug: say, info: say, warn: say, error: say, fatal: say, child: () => log };
  const metrics: Metrics = {
    counter: () => ({
      add(labels = {}, by = 1) {
        const [label] = Object.values(labels) as [string];
        counts.set(label, (counts.get(label) ?? 0) + by);
      },
    }),
    gauge: () => ({ set() {} }),
    histogram: () => ({ observe() {} }),
  };
  const clock: Clock = {
    nowMs: () => 0,
    monotonicMs: () => 0,
    after(_, callback) {
      timers.add(callback);
      return () => void timers.delete(callback);
    },
  };
  const ring = () => {
    for (const callback of [...timers]) if (timers.delete(callback)) callback();
  };
  return { counts, said, timers, ring, deps: { clock, log, metrics } };
}

const open: RecoveryThread[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.stop();
});

function start(url: URL) {
  const around = surroundings();
  const thread = createRecoveryThread(around.deps, { program: url });
  open.push(thread);
  return { ...around, thread };
}

/** Asks until the thread takes a question; those that it does not take are answered at once. */
async function taken(
  thread: RecoveryThread,
  { digest, signature }: Question,
): Promise<{ answer: Promise<unknown> }> {
  for (;;) {
    const answer = thread.recover(digest, signature);
    if (answer instanceof Promise) return { answer };
    expect(answer).toBe(own.recover(digest, signature));
    await new Promise((done) => setTimeout(done, 5));
  }
}

test('it answers as the event loop would, each question its own answer, whatever is asked and however much at once', async () => {
  const { thread, counts, timers } = start(RECOVERY_PROGRAM);
  const asked = questions(4 * SLOTS);
  await (
    await taken(thread, asked[0] as Question)
  ).answer;
  const before = counts.get('thread') ?? 0;
  const order: number[] = [];
  const answers = asked.map(async ({ digest, signature }, n) => {
    const answer = await thread.recover(digest, signature);
    order.push(n);
    return answer;
  });
  expect(await Promise.all(answers)).toEqual(answersOf(asked));
  // As many as there are slots went to the thread, and came back in order; the asking thread had as much time
  // and did the others.
  expect((counts.get('thread') ?? 0) - before).toBeGreaterThanOrEqual(SLOTS);
  const byThread = order.filter((n) => n < SLOTS);
  expect(byThread).toEqual([...byThread].sort((a, b) => a - b));
  // In small handfuls, as a venue asks, it does all of them.
  const alone = counts.get('loop') ?? 0;
  for (let n = 0; n < asked.length; n += 3) {
    const some = asked.slice(n, n + 3);
    expect(await Promise.all(some.map(({ digest, signature }) => thread.recover(digest, signature)))).toEqual(
      answersOf(some),
    );
  }
  expect(counts.get('loop') ?? 0).toBe(alone);
  expect(timers.size).toBeLessThanOrEqual(1);
});

test('what is no signature is answered at once', async () => {
  const { thread } = start(RECOVERY_PROGRAM);
  const [first] = questions(1) as [Question];
  await (
    await taken(thread, first)
  ).answer;
  for (const signature of ['0x', '0x00', `0x${'11'.repeat(66)}`, `0x${'zz'.repeat(65)}`] as Hex[])
    expect(thread.recover(first.digest, signature)).toBeUndefined();
});

test('a thread that is late loses its work to the event loop, which does it until the thread has caught up', async () => {
  const { thread, counts, said, ring } = start(SILENT);
  const asked = questions(10);
  const waiting = [
    await taken(thread, asked[0] as Question),
    ...(await Promise.all(asked.slice(1).map((question) => taken(thread, question)))),
  ];
  ring();
  expect(await Promise.all(waiting.map(({ answer }) => answer))).toEqual(answersOf(asked));
  expect(counts.get('late')).toBe(1);
  expect(said.some((text) => text.includes('late'))).toBe(true);
  const [again] = asked as [Question];
  expect(thread.recover(again.digest, again.signature)).toBe(own.recover(again.digest, again.signature));
});

test('a thread that dies leaves nobody waiting, is spoken of, and another takes its place', async () => {
  const { thread, counts, said, timers, ring } = start(DYING);
  const asked = questions(3);
  const { answer } = await taken(thread, asked[0] as Question);
  expect(await answer).toBe(answersOf(asked)[0]);
  await expect.poll(() => counts.get('ended')).toBe(1);
  expect(said.some((text) => text.includes('ended'))).toBe(true);
  expect(answersOf(asked)).toEqual(asked.map(({ digest, signature }) => thread.recover(digest, signature)));
  await expect.poll(() => timers.size).toBe(1);
  ring();
  // The next one dies of its first question too, and is answered for.
  const second = await taken(thread, asked[1] as Question);
  expect(await second.answer).toBe(answersOf(asked)[1]);
  await expect.poll(() => counts.get('ended')).toBe(2);
});

test('a thread that stays silent is stopped, and another takes its place', async () => {
  const { thread, counts, timers, ring } = start(SILENT);
  const asked = questions(2);
  const { answer } = await taken(thread, asked[0] as Question);
  ring();
  expect(await answer).toBe(answersOf(asked)[0]);
  expect(counts.get('ended')).toBeUndefined();
  ring();
  await expect.poll(() => counts.get('ended')).toBe(1);
  await expect.poll(() => timers.size).toBe(1);
  ring();
  const second = await taken(thread, asked[1] as Question);
  ring();
  expect(await second.answer).toBe(answersOf(asked)[1]);
});

test('a program that cannot be run costs speed, never an answer', async () => {
  const { thread, counts } = start(new URL('file:///nowhere/recovery-worker.js'));
  const asked = questions(5);
  expect(asked.map(({ digest, signature }) => thread.recover(digest, signature))).toEqual(answersOf(asked));
  await expect.poll(() => counts.get('ended')).toBe(1);
  expect(asked.map(({ digest, signature }) => thread.recover(digest, signature))).toEqual(answersOf(asked));
});

test('after stop everybody has been answered, whoever asks later is too, and nothing is started again', async () => {
  const { thread, counts, timers } = start(SILENT);
  const asked = questions(3);
  const { answer } = await taken(thread, asked[0] as Question);
  await thread.stop();
  expect(await answer).toBe(answersOf(asked)[0]);
  expect(asked.map(({ digest, signature }) => thread.recover(digest, signature))).toEqual(answersOf(asked));
  expect([counts.get('ended'), counts.get('late'), timers.size]).toEqual([undefined, undefined, 0]);
});
