/** Risk checks of takers and of the operator's limits. They affect one LP: in parallel. */

import type { Control } from '../../../domain/decline.ts';
import {
  type DemoCheck,
  eventually,
  expect,
  expectEqual,
  expectSettled,
  type DemoOrderCounts,
} from '../checks/check.ts';
import { askOf, SETTLE_TIMEOUT_MS, freshTrade } from '../checks/trade.ts';
import type { DemoWorld } from '../world.ts';
import { asking, quotesAgain, untilRoster, watch } from './board.ts';

type Change = (lp: Record<string, unknown>) => void;
const risk =
  (change: object): Change =>
  (lp) =>
    void (lp['risk'] = { ...(lp['risk'] as object), ...change });
const limits =
  (change: object): Change =>
  (lp) =>
    void (lp['limits'] = change);

const reconfigured = (
  id: string,
  change: Change,
  name: string,
  run: (world: DemoWorld, tally: DemoOrderCounts, undo: () => Promise<void>) => Promise<string>,
): DemoCheck => ({
  name,
  async run(world, tally) {
    const undo = await world.disturbances.reconfigure(id, change);
    try {
      return await run(world, tally, undo);
    } finally {
      await undo();
    }
  },
});

function refusal(
  id: string,
  control: Control,
  name: string,
  change: Change,
  { requests = 2, sell = '100' }: { requests?: number; sell?: string } = {},
): DemoCheck {
  return reconfigured(id, change, `${control}: ${name}`, async (world, _, undo) => {
    const seen = await watch(world, id, control);
    const taker = asking(world, id);
    let answered = 0;
    for (let n = 0; n < requests; n++) answered += (await taker.quotes({ sell })).length > 0 ? 1 : 0;
    expect(answered < requests, `all ${requests} requests were quoted`);
    await seen.refused(() => taker.quotes({ sell }));
    const detail = await seen.tripped();
    await undo();
    await quotesAgain(world, id);
    await seen.passed();
    return `${answered} of ${requests} requests quoted, the rest refused (${detail}); setting restored: quoting`;
  });
}

export const capChecks = (id: string): DemoCheck[] => [
  refusal(id, 'limit_taker_pair', 'three live quotes per taker and pair', () => {}, { requests: 4 }),
  refusal(
    id,
    'limit_taker',
    'one live quote per taker',
    limits({ perTakerPair: {}, perTaker: { count: 1 } }),
  ),
  refusal(
    id,
    'limit_pair',
    '150 USD of live quotes per pair',
    limits({ perTakerPair: {}, perPair: { notionalUsd: 150 } }),
  ),
  refusal(
    id,
    'limit_side',
    'one live quote per side',
    limits({ perTakerPair: {}, perPairSide: { count: 1 } }),
  ),
  refusal(id, 'limit_total', '0.01 bps of the capital in live quotes', risk({ totalBps: 0.01 })),
];

export const doubtChecks = (id: string): DemoCheck[] => [
  refusal(id, 'gap_loss', 'the loss that one price jump may cause', risk({ gapLoss: { budgetBps: 0.001 } }), {
    sell: '500',
  }),
  refusal(id, 'rate_limit', 'three requests in a burst', risk({ rate: { perSecond: 0.5, burst: 3 } }), {
    requests: 8,
  }),
  refusal(id, 'fat_finger', 'a size above the maximum', risk({ fatFinger: { maxUsd: 400 } }), {
    requests: 1,
    sell: '500',
  }),
  refusal(
    id,
    'band',
    'a position beyond its hard band',
    (lp) => {
      const assets = lp['assets'] as Record<string, object>;
      assets['WETH'] = { ...assets['WETH'], target: '100000', softBand: '10', hardBand: '20' };
    },
    { requests: 1 },
  ),
];

export const freeOptionCheck = (id: string): DemoCheck =>
  reconfigured(
    id,
    (lp) => {
      risk({ freeOption: { liveSeconds: 6, memorySeconds: 4 } })(lp);
      limits({ perTakerPair: {} })(lp);
    },
    'free_option: a taker that requests and never accepts',
    async (world) => {
      const seen = await watch(world, id, 'free_option');
      const taker = asking(world, id);
      const lives: number[] = [];
      while (lives.length < 60) {
        const [quote] = await taker.quotes();
        if (quote === undefined) break;
        lives.push(quote.validUntil - Date.now() / 1000);
      }
      expect(lives.length < 60, '60 requests were quoted although none was accepted');
      await seen.refused(taker.quotes);
      await seen.tripped();
      const [first = 0, last = 0] = [lives[0], lives.at(-1)];
      expect(last < first, 'the tenors did not become shorter before the quotes stopped');
      await eventually('the taker gets quotes again', 30_000, async () => (await taker.quotes()).length > 0);
      await seen.passed(40_000);
      return `no quotes after ${lives.length} without a trade; tenors fell from ${first.toFixed(0)} s to ${last.toFixed(0)} s before; quoted again later`;
    },
  );

export const burstCheck = (id: string): DemoCheck =>
  reconfigured(
    id,
    risk({ burst: { fills: 2, withinSeconds: 40, freezeSeconds: 5 } }),
    'burst: too many fills on one side',
    async (world, tally) => {
      const seen = await watch(world, id, 'burst');
      const orders = await Promise.all(
        [1, 2, 3].map(async () => {
          const trade = freshTrade(world);
          const ask = askOf(trade, { sell: '60' }, { solvers: { include: [id] }, splitFill: 'never' });
          return { trade, orderId: (await trade.taker.take(ask)).orderId };
        }),
      );
      await seen.tripped();
      expectEqual((await asking(world, id).quotes()).length, 0, 'quotes while frozen');
      await seen.refused(asking(world, id).quotes);
      await untilRoster(world, id, 'active', /^risk:/);
      for (const { trade, orderId } of orders)
        expectSettled(await trade.taker.finish(orderId, SETTLE_TIMEOUT_MS), tally, 'a trade of the burst');
      await seen.passed();
      await quotesAgain(world, id);
      return 'three fills in a row: frozen; all three settled; quoting again after the freeze';
    },
  );
