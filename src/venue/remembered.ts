/** Rows of the database kept in memory for the hot path, forgotten by every replica the moment one is announced as changed. */

import type { Bus } from '../ports/bus.ts';
import type { Clock } from '../ports/clock.ts';

export interface Remembered<T> {
  /** Synchronous when it is remembered. What `read` throws is thrown and not remembered. */
  get(id: string): T | Promise<T>;
  /** Called after what was remembered has been forgotten. */
  onChange(listener: () => void): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** A row is read again after this long, should the message of its change ever be lost. */
export const REMEMBER_MS = 10_000;
const MAX_REMEMBERED = 20_000;

export function createRemembered<T>({ bus, clock, topic, read }: { bus: Bus; clock: Clock; topic: string; read(id: string): Promise<T> }): Remembered<T> {
  const known = new Map<string, { value: T; untilMs: number }>();
  /** Counts announcements: a row that was being read while one came may be older than it. */
  let changes = 0;
  const listeners: (() => void)[] = [];
  let unsubscribe: (() => Promise<void>) | undefined;

  async function look(id: string): Promise<T> {
    for (;;) {
      const before = changes;
      const value = await read(id);
      if (changes !== before) continue;
      if (known.size >= MAX_REMEMBERED) known.clear();
      known.set(id, { value, untilMs: clock.monotonicMs() + REMEMBER_MS });
      return value;
    }
  }

  return {
    get(id) {
      const remembered = known.get(id);
      return remembered && clock.monotonicMs() < remembered.untilMs ? remembered.value : look(id);
    },
    onChange: (listener) => void listeners.push(listener),
    async start() {
      unsubscribe = await bus.subscribe(topic, () => {
        changes++;
        known.clear();
        for (const listener of listeners) listener();
      });
    },
    async stop() {
      await unsubscribe?.();
    },
  };
}
