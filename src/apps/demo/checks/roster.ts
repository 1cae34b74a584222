/** A killed LP goes offline on the roster, restarts, and quotes again. */

import { rosterOf } from '../world.ts';
import { type DemoCheck, eventually, expect, expectEqual } from './check.ts';
import { askOf, freshTrade } from './trade.ts';

export const rosterCheck: DemoCheck = {
  name: 'a killed LP goes offline and comes back',
  async run(world) {
    const trade = freshTrade(world);
    const statusOfBeta = async () => (await rosterOf(world.manifest)).find(({ id }) => id === 'beta')?.status;
    const quotesFrom = async () =>
      (
        await trade.taker.quote(askOf(trade, { sell: '100' }, { maxCandidates: 20, splitFill: 'never' }))
      ).quotes.map(({ solverId }) => solverId);
    expectEqual(await statusOfBeta(), 'active', 'status before');
    await world.supervisor.hold('lp-beta');
    await eventually(
      'beta is offline on the roster',
      30_000,
      async () => (await statusOfBeta()) === 'offline',
    );
    const without = await quotesFrom();
    expect(
      without.length > 0 && !without.includes('beta'),
      `quotes while beta is down come from: ${without.join(', ') || 'no LP'}`,
    );
    await world.supervisor.release('lp-beta');
    // A crashed LP signs nothing until every quote it may have signed has expired.
    await eventually('beta is active again', 120_000, async () => (await statusOfBeta()) === 'active');
    await eventually('beta quotes again', 20_000, async () => {
      const names = await quotesFrom();
      expect(names.includes('beta'), `quotes come from ${names.join(', ') || 'no LP'}`);
      return true;
    });
    return 'after SIGKILL: offline and not asked; after the restart: active and quoting';
  },
};
