/** Cross-chain orders: proven by two of three attesters, or refunded. */

import { parseEventLogs, decodeFunctionData } from 'viem';
import { attestationOracleAbi } from '../../../settlement/abi/attestation-oracle.ts';
import { escrowAbi } from '../../../settlement/abi/escrow.ts';
import { type DemoCheck, expect, expectEqual, eventually } from './check.ts';
import { askOf, inputOf, inTokens, SETTLE_TIMEOUT_MS, settleAndCompare, freshTrade } from './trade.ts';

export const attestedCheck: DemoCheck = {
  name: 'cross chain, fill attested by 2 of 3',
  async run(world, tally) {
    await world.supervisor.hold('attester-3');
    try {
      const trade = freshTrade(world, ['base', 'arc']);
      const fromBlock = await trade.source.client.getBlockNumber();
      const { orderId, sentence } = await settleAndCompare(
        trade,
        askOf(trade, { sell: '900' }, { solvers: { include: ['alpha'] } }),
        tally,
      );
      const { chain, client } = trade.source;
      const finalised = parseEventLogs({
        abi: escrowAbi,
        eventName: 'Finalised',
        logs: await client.getLogs({ address: chain.escrow, fromBlock }),
      }).filter(({ args }) => args.orderId === orderId);
      expectEqual(finalised.length, 1, 'Finalised events of the order on the origin');
      const proofs = await client.getLogs({ address: chain.oracle, fromBlock });
      const signers = await Promise.all(
        proofs.map(async ({ transactionHash }) => {
          const { input, to } = await client.getTransaction({ hash: transactionHash });
          if (to?.toLowerCase() !== chain.oracle) return 0;
          const { functionName, args } = decodeFunctionData({ abi: attestationOracleAbi, data: input });
          return functionName === 'submit' || functionName === 'submitAndFinalise' ? args[3].length : 0;
        }),
      );
      expect(
        signers.includes(2),
        `no proof with two signatures was submitted (${signers.join(', ') || 'none at all'})`,
      );
      return `${sentence}; two attesters proved the fill while the third was down`;
    } finally {
      await world.supervisor.release('attester-3');
    }
  },
};

export const refundCheck: DemoCheck = {
  name: 'cross chain, not filled and refunded',
  async run(world, tally) {
    const trade = freshTrade(world, ['base', 'arc']);
    const { source, taker } = trade;
    const maker = world.lps.find(({ id }) => id === 'gamma');
    expect(maker !== undefined, 'there is no LP called gamma');
    const admin = (path: string) => fetch(`${maker.adminUrl}${path}`, { method: 'POST' });
    try {
      const before = await source.balance(taker.address, 'USDC');
      const { candidate, orderId } = await taker.take(
        askOf(trade, { sell: '400' }, { solvers: { include: ['gamma'] } }),
      );
      // The order was just submitted, and the fill waits for the origin's depth, so holding transactions now
      // is in time.
      const held = await admin('/fills/pause');
      expectEqual(held.status, 200, 'answer to POST /fills/pause');
      const amount = inputOf(candidate);
      await eventually(
        'the input is in escrow',
        SETTLE_TIMEOUT_MS,
        async () => before - (await source.balance(taker.address, 'USDC')) === amount,
      );
      const status = await taker.finish(orderId, 150_000);
      expectEqual(status.status, 'failed', 'order status');
      tally.failed += 1;
      expectEqual(status.failure?.code, 'expired_unfilled', 'failure code');
      await eventually('the API names the refund transaction', SETTLE_TIMEOUT_MS, async () => {
        const refundTxHash = (await taker.status(orderId)).failure?.refundTxHash;
        return (
          Boolean(refundTxHash) &&
          (await source.client.getTransactionReceipt({ hash: refundTxHash as `0x${string}` })).status ===
            'success'
        );
      });
      expectEqual(await source.balance(taker.address, 'USDC'), before, 'USDC of the taker after the refund');
      tally.refunded += 1;
      expectEqual(
        await trade.dest.balance(taker.address, 'WETH'),
        trade.dest.units('WETH', world.holdings['WETH'] ?? '0'),
        'WETH of the taker on the destination',
      );
      return `${inTokens(source, 'USDC', amount)} went into the escrow, the LP did not fill, and all of it was refunded`;
    } finally {
      await admin('/fills/resume');
    }
  },
};
