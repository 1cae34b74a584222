/**
 * Recovers signers in a thread, so that the event loop does not wait for the curve: with three quotes a
 * request, that is a fifth of the work of answering. What one turn of the loop asks for goes there in one
 * message, because a message may have to wake the thread. In batches the way there and back adds no CPU that
 * can be measured (`npm run bench -- own`).
 */

import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { type Address, hexToBytes } from '../../domain/hex.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Recoveries, Signed } from '../../ports/signer.ts';
import { ecdsa } from './ecdsa.ts';
import { createRecovery, splitSignature } from './recovery.ts';
import { publicKeyAddress } from './signer.ts';

/** Recovery id, r ‖ s, digest. */
const QUESTION_BYTES = 1 + 64 + 32;
/** An uncompressed public key, whose first byte is never 0. */
const ANSWER_BYTES = 65;
/** Beyond this many waiting signatures the event loop has as much time as the thread. */
const MOST_WAITING = 512;
const RESTART_MS = 5_000;

/** Plain JavaScript, because the thread must start the same from sources, from a bundle and in tests. */
const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads');
const { addon: path, QUESTION_BYTES, ANSWER_BYTES } = workerData;
const addon = require(path);
parentPort.on('message', (questions) => {
  const answers = new Uint8Array((questions.length / QUESTION_BYTES) * ANSWER_BYTES);
  for (let at = 0, to = 0; at < questions.length; at += QUESTION_BYTES, to += ANSWER_BYTES) {
    const [signature, digest] = [questions.subarray(at + 1, at + 65), questions.subarray(at + 65, at + 97)];
    try {
      answers.set(addon.ecdsaRecover(signature, questions[at], digest, false), to);
    } catch {
      // No key made this signature: the answer stays zero.
    }
  }
  parentPort.postMessage(answers, [answers.buffer]);
});`;

/** The signatures of one call, and who waits for them. */
interface Call {
  readonly signed: readonly Signed[];
  resolve(signers: (Address | undefined)[]): void;
}

interface RecoveryThread extends Recoveries {
  stop(): Promise<void>;
}

interface ThreadDeps {
  clock: Clock;
  log: Log;
}

interface ThreadState {
  worker: Worker | undefined;
  /** False until the thread has started, and from its end to its restart. */
  ready: boolean;
  /** Calls that leave with this turn of the loop. */
  gathered: Call[];
  /** Calls of each batch that the thread has, oldest first. */
  readonly sent: Call[][];
  waiting: number;
  stopped: boolean;
  cancelRestart: () => void;
}

/** Without the native addon there is no thread: the event loop recovers. Tests pass programs that fail. */
export function createRecoveryThread(deps: ThreadDeps, program = PROGRAM): RecoveryThread {
  const state: ThreadState = {
    worker: undefined,
    ready: false,
    gathered: [],
    sent: [],
    waiting: 0,
    stopped: false,
    cancelRestart: () => {},
  };
  if (ecdsa.name === 'secp256k1') start(deps, state, program);
  return {
    recover,
    recoverAll(signed) {
      if (!state.ready || state.waiting + signed.length > MOST_WAITING)
        return Promise.resolve(recoverHere(signed));
      return new Promise((resolve) => gather(state, { signed, resolve }));
    },
    async stop() {
      state.stopped = true;
      state.cancelRestart();
      await state.worker?.terminate();
    },
  };
}

const { recover } = createRecovery();
const recoverHere = (signed: readonly Signed[]): (Address | undefined)[] =>
  signed.map(({ digest, signature }) => recover(digest, signature));

function start(deps: ThreadDeps, state: ThreadState, program: string): void {
  const { clock, log } = deps;
  const addon = createRequire(import.meta.url).resolve('secp256k1/bindings');
  const worker = new Worker(program, {
    eval: true,
    workerData: { addon, QUESTION_BYTES, ANSWER_BYTES },
    // The thread needs no loader that this process has.
    execArgv: [],
  });
  worker.unref();
  state.worker = worker;
  let failure: unknown = null;
  worker.once('online', () => (state.ready = true));
  worker.once('error', (error) => (failure = error));
  worker.on('message', (answers: Uint8Array) => {
    for (const call of state.sent.shift() ?? []) answers = settle(state, call, answers);
  });
  worker.once('exit', () => {
    state.ready = false;
    const left = [...state.sent.splice(0).flat(), ...state.gathered.splice(0)];
    state.waiting = 0;
    for (const { signed, resolve } of left) resolve(recoverHere(signed));
    if (state.stopped) return;
    log.error(
      { error: failure },
      'the thread that recovers signers has ended; the event loop does its work until another has started',
    );
    state.cancelRestart = clock.after(RESTART_MS, () => start(deps, state, program));
  });
}

function gather(state: ThreadState, call: Call): void {
  if (state.gathered.length === 0) setImmediate(() => send(state));
  state.gathered.push(call);
  state.waiting += call.signed.length;
}

function send(state: ThreadState): void {
  const calls = state.gathered;
  if (!state.ready || calls.length === 0) return;
  state.gathered = [];
  state.sent.push(calls);
  const questions = new Uint8Array(
    calls.reduce((sum, { signed }) => sum + signed.length, 0) * QUESTION_BYTES,
  );
  let at = 0;
  for (const { signed } of calls)
    for (const { digest, signature } of signed) {
      const parts = splitSignature(signature);
      // The thread finds no key for r = s = 0.
      if (parts) {
        questions[at] = parts.recovery;
        questions.set(parts.rs, at + 1);
        questions.set(hexToBytes(digest), at + 65);
      }
      at += QUESTION_BYTES;
    }
  state.worker?.postMessage(questions, [questions.buffer]);
}

/** Answers a call with the first of the answers. Returns the others. */
function settle(state: ThreadState, { signed, resolve }: Call, answers: Uint8Array): Uint8Array {
  state.waiting -= signed.length;
  resolve(
    signed.map((_, index) => {
      const key = answers.subarray(index * ANSWER_BYTES, (index + 1) * ANSWER_BYTES);
      return key[0] === 0 ? undefined : publicKeyAddress(key.subarray(1));
    }),
  );
  return answers.subarray(signed.length * ANSWER_BYTES);
}
