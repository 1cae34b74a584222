/** One request gets several tenors: a shorter one has the better price, and each can be executed. */

import { type DemoCheck, expect, expectEqual } from './check.ts';
import { askOf, settleAndCompare, tradeOf } from './trade.ts';

export const firmTimesCheck: DemoCheck = {
  name: 'several firm times, each at its price',
  async run(world, tally) {
    const trade = tradeOf(world, world.freshTaker(), ['base', 'base'], 'USDC', 'WETH');
    const ask = askOf(trade, { sell: '700' }, { solvers: { include: ['alpha'] }, splitFill: 'never' });
    const { quotes } = await trade.taker.quote(ask);
    expect(
      quotes.length >= 2,
      `${quotes.length} candidates of one LP where several firm times were expected`,
    );
    const [short, long] = quotes as [(typeof quotes)[number], (typeof quotes)[number]];
    expect(short.validUntil < long.validUntil, 'the better price is not the shorter promise');
    const [better, worse] = [short, long].map(({ preview }) => BigInt(preview.outputs[0]?.amount ?? 0)) as [
      bigint,
      bigint,
    ];
    expect(better > worse, `${better} for the shorter promise, ${worse} for the longer`);
    const floor = long.validUntil - 1;
    const floored = await trade.taker.quote({ ...ask, minValidUntil: floor });
    expect(
      floored.quotes.every(({ validUntil }) => validUntil >= floor),
      'a quote ends before the floor that was asked for',
    );
    const { status, sentence } = await settleAndCompare(trade, ask, tally, { candidate: long });
    expectEqual(status.status, 'settled', 'the longer promise');
    return `${long.validUntil - short.validUntil} s shorter pays ${better - worse} units more; the longer was taken: ${sentence}`;
  },
};
