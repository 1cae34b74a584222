/** One pass at a time for the newest head of a chain: operator's limits, follower, reconciler. */

import type { ChainPort } from '../../ports/chain.ts';
import type { Log } from '../../ports/log.ts';
import { createPasses } from '../passes.ts';
import type { Follower } from './follow.ts';
import type { Reconciler } from './reconcile.ts';
import type { Spending } from './spending.ts';

export interface Pump {
  /** Resolves when ledger and chain were compared: a difference is not quoted. Rejects as a pass does. */
  first(): Promise<void>;
  /** Resolves after the last pass. */
  stop(): Promise<void>;
}

interface PumpDeps {
  spending: Spending;
  port: Pick<ChainPort, 'chain' | 'head' | 'onHead'>;
  follower: Pick<Follower, 'scan'>;
  reconciler: Pick<Reconciler, 'check' | 'undecided'>;
  log: Log;
}

export function createPump({ port, spending, follower, reconciler, log }: PumpDeps): Pump {
  let stopped = false;
  let failing = false;

  const passes = createPasses(async () => {
    const head = port.head();
    if (head === undefined || stopped) return;
    await spending.read(head);
    await follower.scan(head);
    await reconciler.check();
    if (failing) log.info({ chain: port.chain.slug, head: head.number }, 'a chain is followed again');
    failing = false;
  });

  const unsubscribe = port.onHead(() => {
    const joined = passes.running !== undefined;
    const work = passes.run();
    // The caller that started the running pass reports its failure.
    if (!joined)
      work.catch((error: unknown) => {
        if (!failing)
          log.warn(
            { chain: port.chain.slug, error },
            'a chain could not be followed; every next head tries again, and a line says when one succeeds',
          );
        failing = true;
      });
  });

  return {
    async first() {
      do {
        while (passes.running !== undefined) await passes.running.catch(() => {});
        await passes.run();
      } while (reconciler.undecided() && !stopped);
    },
    async stop() {
      unsubscribe();
      stopped = true;
      await passes.running?.catch(() => {});
    },
  };
}
