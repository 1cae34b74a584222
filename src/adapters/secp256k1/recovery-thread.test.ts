/** The thread gives the answers that the event loop would, in order, and nobody waits for one that ended. */

import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import type { Hex } from '../../domain/hex.ts';
import { keccakText } from '../../domain/keccak.ts';
import type { Log } from '../../ports/log.ts';
import type { Signed } from '../../ports/signer.ts';
import { systemClock } from '../system/clock.ts';
import { createRecovery } from './recovery.ts';
import { createRecoveryThread } from './recovery-thread.ts';
import { createSigner } from './signer.ts';

const own = createRecovery();
const signers = [1, 2, 3].map((n) => createSigner(`0x${n.toString(16).padStart(64, '0')}`));
const text = new TextEncoder();

const threads: { stop(): Promise<void> }[] = [];
afterEach(() => Promise.all(threads.splice(0).map((thread) => thread.stop())));

function start(program?: string) {
  const errors: string[] = [];
  const log = { error: (_facts: object, message: string) => void errors.push(message) } as unknown as Log;
  const thread = createRecoveryThread({ clock: systemClock, log }, program);
  threads.push(thread);
  return { thread, errors };
}

/** Time for the thread to start, after which it and not the event loop is asked. */
const started = () => new Promise((done) => setTimeout(done, 300));

const good = async (n: number): Promise<Signed> => ({
  digest: keccakText(`message ${n}`),
  signature: await (signers[n % 3] as (typeof signers)[number]).sign(text.encode(`message ${n}`)),
});
const bad = fc.oneof(
  fc.constantFrom<Hex>('0x', `0x${'00'.repeat(65)}`, `0x${'ff'.repeat(64)}1b`, `0x${'zz'.repeat(65)}`),
  fc.uint8Array({ minLength: 60, maxLength: 70 }).map((b): Hex => `0x${Buffer.from(b).toString('hex')}`),
);
const answersHere = (signed: readonly Signed[]) =>
  signed.map(({ digest, signature }) => own.recover(digest, signature));

test('law: answers as the event loop would, each call in its own order, whatever was signed', async () => {
  const { thread } = start();
  await started();
  const question = fc.oneof(
    { weight: 3, arbitrary: fc.nat(20).map((n) => ({ n })) },
    { weight: 1, arbitrary: bad.map((signature) => ({ signature })) },
  );
  const calls = fc.array(fc.array(question, { maxLength: 8 }), { minLength: 1, maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(calls, async (rows) => {
      const asked = await Promise.all(
        rows.map((row) =>
          Promise.all(
            row.map(async (each) =>
              'n' in each ? good(each.n) : { digest: keccakText('any'), signature: each.signature },
            ),
          ),
        ),
      );
      expect(await Promise.all(asked.map((signed) => thread.recoverAll(signed)))).toEqual(
        asked.map(answersHere),
      );
    }),
    { numRuns: 60 },
  );
});

test('a flood beyond the bound is answered too', async () => {
  const { thread } = start();
  await started();
  const signed = await Promise.all(Array.from({ length: 900 }, (_, n) => good(n)));
  const calls = Array.from({ length: 300 }, (_, n) => signed.slice(3 * n, 3 * n + 3));
  expect(await Promise.all(calls.map((call) => thread.recoverAll(call)))).toEqual(calls.map(answersHere));
});

test('before the thread has started, the event loop answers', async () => {
  const { thread } = start();
  const signed = [await good(1), await good(2)];
  expect(await thread.recoverAll(signed)).toEqual(answersHere(signed));
});

test('a thread that ends while it is asked leaves nobody waiting, and an operator is told', async () => {
  const { thread, errors } = start(
    `require('node:worker_threads').parentPort.on('message', () => { throw new Error('broken'); });`,
  );
  const signed = [await good(1), await good(2)];
  // Until the thread has started, the event loop answers.
  const askTwice = async () => {
    const both = await Promise.all([thread.recoverAll(signed), thread.recoverAll(signed)]);
    expect(both).toEqual([answersHere(signed), answersHere(signed)]);
    return errors.length;
  };
  await expect.poll(askTwice, { timeout: 10_000 }).toBe(1);
  expect(await thread.recoverAll(signed)).toEqual(answersHere(signed));
});

test('a thread that is stopped while it is asked leaves nobody waiting', async () => {
  const { thread, errors } = start(`require('node:worker_threads').parentPort.on('message', () => {});`);
  await started();
  const signed = [await good(1)];
  const answer = thread.recoverAll(signed);
  await new Promise((done) => setTimeout(done, 50));
  await thread.stop();
  expect(await answer).toEqual(answersHere(signed));
  expect(errors).toEqual([]);
});
