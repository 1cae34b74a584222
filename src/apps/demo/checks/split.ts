/** Checks that three LPs fill one order in one transaction. */

import { parseEventLogs } from 'viem';
import type { QuoteCandidate } from '../../../protocol/api/candidate.ts';
import { escrowAbi } from '../../../settlement/abi/escrow.ts';
import { type DemoCheck, eventually, expect, expectEqual } from './check.ts';
import { askOf, settleAndCompare, freshTrade } from './trade.ts';

export const splitCheck: DemoCheck = {
  name: 'split fill: three LPs in one transaction',
  async run(world, tally) {
    const trade = freshTrade(world);
    const ask = askOf(trade, { sell: SPLIT_USDC });
    let chosen: QuoteCandidate | undefined;
    await eventually('three LPs together quote the whole amount', 30_000, async () => {
      const { quotes, productUnavailable } = await trade.taker.quote(ask);
      chosen = quotes.find(({ splitFill }) => splitFill?.fills.length === 3);
      expect(chosen !== undefined, productUnavailable?.message ?? 'one LP quoted the whole amount');
      return true;
    });
    expect(chosen !== undefined, 'no split was offered');
    const { candidate, status, sentence } = await settleAndCompare(trade, ask, tally, { candidate: chosen });
    const fills = candidate.splitFill?.fills ?? [];
    expectEqual(new Set(fills.map(({ solverId }) => solverId)).size, 3, 'LPs in the split');
    expectEqual(
      fills.reduce((sum, { portionBps }) => sum + portionBps, 0),
      10_000,
      'sum of the portions in basis points',
    );
    const receipt = await trade.source.client.getTransactionReceipt({ hash: status.txHash as `0x${string}` });
    const filled = parseEventLogs({ abi: escrowAbi, logs: receipt.logs, eventName: 'OutputFilled' });
    expectEqual(filled.length, fills.length, 'deliveries in the one transaction');
    expect(
      filled.every(({ args }) => args.orderId === status.id),
      'a delivery belongs to another order',
    );
    return sentence;
  },
};

/** The amount to sell: more than any two LPs quote together (60,000 + 50,000), less than all three. */
const SPLIT_USDC = '125000';
