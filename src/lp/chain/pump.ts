/**
 * Feeds every head of a chain through its follower and reconciler, one at a time, always the newest: neither
 * is made for two passes at once.
 */

import type { ChainPort } from '../../ports/chain.ts';
import type { Log } from '../../ports/log.ts';
import type { Follower } from './follow.ts';
import type { Reconciler } from './reconcile.ts';

export interface Pump {
  /** A pass of its own, after whatever a head began meanwhile. Throws what the pass throws. */
  first(): Promise<void>;
  /** Resolves when no pass is under way and none will begin. */
  stop(): Promise<void>;
}

export interface PumpDeps {
  port: Pick<ChainPort, 'chain' | 'head' | 'onHead'>;
  follower: Pick<Follower, 'scan'>;
  reconciler: Reconciler;
  log: Log;
}

/** Follows from this moment on. */
export function createPump({ port, follower, reconciler, log }: PumpDeps): Pump {
  let running = false;
  let again = false;
  let stopped = false;
  /** Never rejects. */
  let settled: Promise<unknown> = Promise.resolve();

  async function pass(): Promise<void> {
    running = true;
    try {
      do {
        again = false;
        const head = port.head();
        if (head === undefined || stopped) return;
        await follower.scan(head);
        await reconciler.check();
      } while (again);
    } finally {
      // In the same breath as the last look at `again`: a head that comes right now is not lost.
      running = false;
    }
  }

  function run(): Promise<void> {
    const work = pass();
    settled = work.catch(() => {});
    return work;
  }

  const unsubscribe = port.onHead(() => {
    again = true;
    if (!running)
      run().catch((error: unknown) =>
        log.warn({ chain: port.chain.slug, error }, 'a chain could not be followed: again at its next head'),
      );
  });

  return {
    async first() {
      while (running) await settled;
      await run();
    },
    async stop() {
      unsubscribe();
      stopped = true;
      await settled;
    },
  };
}
