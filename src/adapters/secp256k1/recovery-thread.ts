/**
 * Recovering signers on a thread of its own: a fifth of a quote's work, taken off the event loop that takers
 * wait for. While the thread is not there, full or late, the asking thread does it at once: slower, never
 * different.
 */

import { Worker } from 'node:worker_threads';
import { type Address, type Bytes32, bytesToHex, type Hex, isHex } from '../../domain/hex.ts';
import { writeHex } from '../../domain/word.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Recoveries } from '../../ports/signer.ts';
import { createRecovery } from './recovery.ts';
import { ANSWERED, ASKED, newMemory, openSlots, READY, SLOTS } from './recovery-slots.ts';

export interface RecoveryThread extends Recoveries {
  /** Resolves when the thread has ended. Whoever waits is answered, and whoever asks later too. */
  stop(): Promise<void>;
}

/** Without an answer for so long the thread counts as late: a hundred times what an answer takes. */
const LATE_MS = 25;
/** A thread that was late and has not caught up after so long will not. */
const HUNG_MS = 5_000;
/** Before a thread that has ended is started again. */
const REST_MS = 5_000;
const THREAD = { where: 'thread' };
const LOOP = { where: 'loop' };

/** `program`: what the thread runs. */
export function createRecoveryThread(
  { clock, log, metrics }: { clock: Clock; log: Log; metrics: Metrics },
  { program = beside() }: { program?: URL } = {},
): RecoveryThread {
  const own = createRecovery();
  const recoveries = metrics.counter(
    'firmquote_venue_recoveries_total',
    'Recoveries of the signers of quotes: asked of the thread for it, done on the event loop',
    ['where'],
  );
  const failures = metrics.counter(
    'firmquote_venue_recovery_thread_failures_total',
    'Times that the thread which recovers signers was late, or ended',
    ['why'],
  );
  let stopped = false;
  let cancelStart = () => {};
  let thread = start();

  function start() {
    return openThread(program, {
      clock,
      own: (digest, signature) => {
        recoveries.add(LOOP);
        return own.recover(digest, signature);
      },
      late(waiting) {
        failures.add({ why: 'late' });
        log.warn(
          { waiting },
          'the thread that recovers signers is late; the event loop does its work until it has caught up',
        );
      },
      ended(error) {
        if (stopped) return;
        failures.add({ why: 'ended' });
        log.error(
          { error },
          'the thread that recovers signers has ended; the event loop does its work until there is another',
        );
        cancelStart = clock.after(REST_MS, () => void (thread = start()));
      },
    });
  }

  return {
    recover(digest, signature) {
      const answer = stopped ? undefined : thread.ask(digest, signature);
      recoveries.add(answer ? THREAD : LOOP);
      return answer ?? own.recover(digest, signature);
    },
    async stop() {
      stopped = true;
      cancelStart();
      await thread.stop();
    },
  };
}

interface Waiting {
  digest: Bytes32;
  signature: Hex;
  resolve(signer: Address | undefined): void;
}

interface ThreadDeps {
  clock: Clock;
  /** Does here what the thread was asked for. */
  own(digest: Bytes32, signature: Hex): Address | undefined;
  late(waiting: number): void;
  ended(error: unknown): void;
}

/** One thread, from its start to its end. */
function openThread(program: URL, { clock, own, late, ended }: ThreadDeps) {
  const memory = newMemory();
  const { counters, at } = openSlots(memory);
  const places: (Waiting | undefined)[] = Array.from({ length: SLOTS }, () => undefined);
  let over = false;
  /** It was late, and has not caught up yet. */
  let behind = false;
  /** Counts of what it was asked, and of what was taken from it; they run over together. */
  let [asked, taken] = [0, 0];
  let listens = false;
  let cancelWatch: (() => void) | undefined;
  let cancelHung = () => {};
  let failure: unknown = null;

  const worker = new Worker(program, { workerData: memory });
  worker.unref();
  worker.once('error', (error) => void (failure = error));
  const gone = new Promise<void>((resolve) =>
    worker.once('exit', () => {
      over = true;
      cancelWatch?.();
      cancelHung();
      takeOver();
      // A listener on memory that nobody writes any more would be kept for ever.
      Atomics.notify(counters, ANSWERED);
      resolve();
      ended(failure);
    }),
  );

  /** Hands on what has been answered. */
  function take(): void {
    const answered = Atomics.load(counters, ANSWERED);
    for (; taken !== answered; taken = (taken + 1) | 0) {
      const { signer, found } = at(taken);
      place(taken)?.resolve(found[0] === 1 ? bytesToHex(signer) : undefined);
    }
    if (taken !== asked) return;
    behind = false;
    cancelHung();
  }

  /** Who waits for this count; nobody twice. */
  function place(count: number): Waiting | undefined {
    const waiting = places[count & (SLOTS - 1)];
    places[count & (SLOTS - 1)] = undefined;
    return waiting;
  }

  /** Answers here whatever it still owes. What it answers after all finds nobody waiting. */
  function takeOver(): void {
    for (let count = taken; count !== asked; count = (count + 1) | 0) {
      const waiting = place(count);
      waiting?.resolve(own(waiting.digest, waiting.signature));
    }
  }

  function listen(): void {
    while (!over && !listens && taken !== asked) {
      const wait = Atomics.waitAsync(counters, ANSWERED, taken);
      if (!wait.async) {
        take();
        continue;
      }
      listens = true;
      void wait.value.then(() => {
        listens = false;
        take();
        listen();
      });
    }
  }

  function watch(): void {
    if (cancelWatch) return;
    const before = taken;
    cancelWatch = clock.after(LATE_MS, () => {
      cancelWatch = undefined;
      take();
      if (taken === asked || behind) return;
      if (taken !== before) return watch();
      behind = true;
      cancelHung = clock.after(HUNG_MS, () => {
        take();
        if (!behind) return;
        failure = new Error(`It answered nothing for ${HUNG_MS} ms and was stopped.`);
        void worker.terminate();
      });
      late((asked - taken) | 0);
      takeOver();
    });
  }

  return {
    /** undefined when it had better be done here. */
    ask(digest: Bytes32, signature: Hex): Promise<Address | undefined> | undefined {
      if (taken !== asked) take();
      const full = ((asked - taken) | 0) === SLOTS;
      if (
        over ||
        behind ||
        full ||
        Atomics.load(counters, READY) !== 1 ||
        (signature.length !== 132 && signature.length !== 130) ||
        !isHex(signature)
      )
        return undefined;
      const slot = at(asked);
      writeHex(slot.digest, 0, digest);
      slot.length[0] = writeHex(slot.signature, 0, signature);
      const answer = new Promise<Address | undefined>(
        (resolve) => void (places[asked & (SLOTS - 1)] = { digest, signature, resolve }),
      );
      asked = (asked + 1) | 0;
      Atomics.store(counters, ASKED, asked);
      Atomics.notify(counters, ASKED);
      listen();
      watch();
      return answer;
    },
    async stop() {
      await worker.terminate();
      await gone;
    },
  };
}

/**
 * Compiled, the program lies beside this file. Where this file is source, a loader reads it, and a new thread
 * has to be told of that loader.
 */
function beside(): URL {
  if (!import.meta.url.endsWith('.ts')) return new URL('./recovery-worker.js', import.meta.url);
  const [loader, source] = [
    import.meta.resolve('tsx/esm/api'),
    new URL('./recovery-worker.ts', import.meta.url).href,
  ].map((url) => JSON.stringify(url));
  return new URL(
    `data:text/javascript,${encodeURIComponent(`import { register } from ${loader}; register(); await import(${source});`)}`,
  );
}
