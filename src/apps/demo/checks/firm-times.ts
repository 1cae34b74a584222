/** Checks that of several tenors a shorter one has the better price, and that each can be executed. */

import { formatUnits } from '../../../domain/amount.ts';
import { type DemoCheck, expect } from './check.ts';
import { askOf, outputOf, settleAndCompare, freshTrade } from './trade.ts';

export const firmTimesCheck: DemoCheck = {
  name: 'several tenors in one answer, the shorter at a better price',
  async run(world, tally) {
    const trade = freshTrade(world);
    const ask = askOf(trade, { sell: '700' }, { solvers: { include: ['alpha'] }, splitFill: 'never' });
    const { quotes } = await trade.taker.quote(ask);
    expect(quotes.length >= 2, `one LP sent ${quotes.length} candidates, and several tenors were expected`);
    const [short, long] = quotes as [(typeof quotes)[number], (typeof quotes)[number]];
    expect(short.validUntil < long.validUntil, 'the best candidate is not the one with the shorter tenor');
    const [better, worse] = [outputOf(short), outputOf(long)];
    expect(better > worse, `${better} for the shorter tenor, ${worse} for the longer`);
    const floor = long.validUntil - 1;
    const floored = await trade.taker.quote({ ...ask, minValidUntil: floor });
    expect(
      floored.quotes.every(({ validUntil }) => validUntil >= floor),
      'a quote ends before minValidUntil',
    );
    const { sentence } = await settleAndCompare(trade, ask, tally, { candidate: long });
    const gain = formatUnits(better - worse, trade.dest.token('WETH').decimals).slice(0, 12);
    return `${long.validUntil - short.validUntil} s shorter pays ${gain} WETH more; the longer was taken: ${sentence}`;
  },
};
