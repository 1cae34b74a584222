/**
 * Work of the soak in a process of its own, so that the soak does not become the bottleneck of what it
 * measures.
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';

export interface Aside {
  /** What the function of this name in the other process returns. */
  ask<T>(what: string, ...words: readonly unknown[]): Promise<T>;
  stop(): Promise<void>;
}

interface Question {
  n: number;
  what: string;
  words: readonly unknown[];
}

interface Answer {
  n: number;
  said?: unknown;
  failed?: string;
}

/** Starts a process with this file, which calls `answerAside`. If it dies, every call to it fails. */
export function openAside(file: URL): Aside {
  const child = fork(file, { serialization: 'advanced' });
  const waiting = new Map<number, { resolve(said: unknown): void; reject(error: Error): void }>();
  let [n, over]: [number, Error | undefined] = [0, undefined];
  const end = (error: Error) => {
    over ??= error;
    for (const { reject } of waiting.values()) reject(over);
    waiting.clear();
  };
  child.on('message', (message) => {
    const { n: of, said, failed } = message as Answer;
    const asked = waiting.get(of);
    waiting.delete(of);
    if (failed === undefined) asked?.resolve(said);
    else asked?.reject(new Error(failed));
  });
  child.on('exit', () => end(new Error(`${file.pathname} has ended.`)));
  return {
    ask: <T>(what: string, ...words: readonly unknown[]) =>
      new Promise<T>((resolve, reject) => {
        if (over) return reject(over);
        waiting.set((n += 1), { resolve: resolve as (said: unknown) => void, reject });
        child.send({ n, what, words } satisfies Question);
      }),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

/** The child's side: answers with these functions, and ends with its parent. */
export function answerAside(functions: Readonly<Record<string, (...words: never[]) => unknown>>): void {
  const answer = (said: Answer) => process.connected && process.send?.(said);
  process.once('disconnect', () => process.exit());
  process.on('message', (message) => {
    const { n, what, words } = message as Question;
    const work = async () => functions[what]?.(...(words as never[]));
    work().then(
      (said) => answer({ n, said }),
      (error: unknown) =>
        answer({ n, failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    );
  });
}
