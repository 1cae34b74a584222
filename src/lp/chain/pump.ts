/** Runs follower and reconciler for the newest head of a chain, one pass at a time. */

import type { ChainPort } from '../../ports/chain.ts';
import type { Log } from '../../ports/log.ts';
import type { Follower } from './follow.ts';
import type { Reconciler } from './reconcile.ts';

export interface Pump {
  /** Runs a new pass after the current one. Rejects when it fails. */
  first(): Promise<void>;
  /** Resolves when no pass is running and none will start. */
  stop(): Promise<void>;
}

interface PumpDeps {
  port: Pick<ChainPort, 'chain' | 'head' | 'onHead'>;
  follower: Pick<Follower, 'scan'>;
  reconciler: Reconciler;
  log: Log;
}

/** Starts following immediately. */
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
      // Synchronous with the last check of `again`, so that no head is missed.
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
        log.warn(
          { chain: port.chain.slug, error },
          'a chain could not be followed; its next head tries again',
        ),
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
