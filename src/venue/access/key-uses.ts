/** Stores in batches when each key was last used, so that no request waits for it. */

import type { KeyUseStore } from '../../ports/stores/key-uses.ts';
import type { VenueDeps } from '../deps.ts';

const FLUSH_MS = 10_000;

export interface KeyUses {
  record(keyId: string): void;
  start(): void;
  stop(): Promise<void>;
}

export function createKeyUses({
  store,
  clock,
  log,
}: Pick<VenueDeps, 'clock' | 'log'> & { store: Pick<KeyUseStore, 'addKeyUses'> }): KeyUses {
  /** Counts the requests of each key since the last flush. */
  let uses = new Map<string, number>();
  let cancel = () => {};

  async function flush(): Promise<void> {
    if (uses.size === 0) return;
    const rows = [...uses].map(([keyId, atMs]) => ({ keyId, atMs }));
    uses = new Map();
    try {
      await store.addKeyUses(rows);
    } catch (error) {
      log.warn({ error }, 'the last use of keys could not be stored; the next flush tries again');
      for (const { keyId, atMs } of rows) if (!uses.has(keyId)) uses.set(keyId, atMs);
    }
  }

  function schedule(): void {
    cancel = clock.after(FLUSH_MS, () => void flush().finally(schedule));
  }

  return {
    record(keyId: string): void {
      uses.set(keyId, clock.nowMs());
    },
    start: schedule,
    async stop(): Promise<void> {
      cancel();
      await flush();
    },
  };
}
