/** Checks every funding method on one chain. */

import { erc20Abi, encodeFunctionData } from 'viem';
import { escrowAbi } from '../../../settlement/abi/escrow.ts';
import { takerFor, viewChain } from '../world.ts';
import { type DemoCheck, expect, expectEqual, expectSettled } from './check.ts';
import {
  askOf,
  inputOf,
  outputOf,
  SETTLE_TIMEOUT_MS,
  settleAndCompare,
  freshTrade,
  tradeOf,
} from './trade.ts';

export const fundingChecks: readonly DemoCheck[] = [
  {
    name: 'same chain, EIP-3009',
    async run(world, tally) {
      const trade = freshTrade(world);
      const { lock, setUp, sentence } = await settleAndCompare(trade, askOf(trade, { sell: '1000' }), tally);
      expectEqual(lock, 'EIP-3009', 'funding lock');
      expectEqual(setUp.length, 0, 'transactions of the taker');
      return `${sentence}; the taker sent no transaction`;
    },
  },
  {
    name: 'same chain, Permit2 inline lock',
    async run(world, tally) {
      const trade = freshTrade(world, ['base', 'base'], 'WETH', 'USDC');
      const { lock, setUp, sentence } = await settleAndCompare(trade, askOf(trade, { sell: '0.5' }), tally);
      expectEqual(lock, 'Permit2', 'funding lock');
      expectEqual(setUp.join(), 'tokenApproval', 'set-up');
      return `${sentence}; one approval of Permit2, then the lock is part of the submission`;
    },
  },
  {
    name: 'same chain, standing Permit2 grant',
    async run(world, tally) {
      const trade = freshTrade(world, ['base', 'base'], 'DAI', 'WETH');
      const first = await settleAndCompare(trade, askOf(trade, { sell: '500' }), tally, {
        standingGrant: true,
      });
      expect(first.setUp.includes('permit2Grant'), 'preflight offered no standing grant');
      const { submission, setUp, orderId } = await trade.taker.take(askOf(trade, { sell: '250' }), {
        standingGrant: true,
      });
      expectSettled(
        await trade.taker.finish(orderId, SETTLE_TIMEOUT_MS),
        tally,
        'second order under the grant',
      );
      expectEqual(setUp.length, 0, 'transactions for the second trade');
      expect(
        submission.permit2Lock === undefined && submission.eip3009Authorization === undefined,
        'the second trade needed an inline lock',
      );
      return `${first.sentence}; a second trade needed only the order's signature`;
    },
  },
  {
    name: 'same chain, resource lock',
    async run(world, tally) {
      const trade = freshTrade(world);
      const { taker, source } = trade;
      const amount = source.units('USDC', '800');
      const token = source.token('USDC').address;
      const transaction = (to: string, data: string) =>
        taker.send({ to, data, value: '0', chainId: source.chain.id });
      await transaction(
        token,
        encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [source.chain.escrow, amount] }),
      );
      await transaction(
        source.chain.escrow,
        encodeFunctionData({ abi: escrowAbi, functionName: 'deposit', args: [token, amount] }),
      );
      const before = await source.ledger(taker.address, 'USDC');
      expectEqual(before, amount, 'escrow balance after the deposit');
      const { lock, candidate, sentence } = await settleAndCompare(
        trade,
        askOf(trade, { sell: '800' }),
        tally,
      );
      expectEqual(lock, 'ResourceLock', 'funding lock');
      expectEqual(
        before - (await source.ledger(taker.address, 'USDC')),
        inputOf(candidate),
        "USDC taken from the taker's escrow balance",
      );
      return `${sentence}; paid from the taker's escrow balance`;
    },
  },
  {
    name: 'same chain, ERC-1271 contract wallet',
    async run(world, tally) {
      const wallet = world.contractWallet('base');
      const taker = takerFor(world.manifest, {
        privateKey: wallet.owner.privateKey,
        contractWallet: wallet.address,
      });
      const trade = tradeOf(world, taker);
      const { lock, sentence } = await settleAndCompare(trade, askOf(trade, { sell: '700' }), tally);
      expect(lock === 'Permit2', `a contract wallet cannot use ${lock ?? 'no lock'}`);
      return `${sentence}; the wallet contract verified its owner's signature`;
    },
  },
  {
    name: 'same chain, walletBroadcast',
    async run(world, tally) {
      const trade = freshTrade(world, ['arc', 'arc']);
      const { candidate, status, sentence } = await settleAndCompare(
        trade,
        askOf(trade, { sell: '600' }),
        tally,
      );
      expectEqual(candidate.executionMode, 'walletBroadcast', 'execution mode');
      const view = viewChain(world.manifest, 'arc');
      const transaction = await view.client.getTransaction({ hash: status.txHash as `0x${string}` });
      expectEqual(transaction.from.toLowerCase(), trade.taker.address, 'sender of the settlement');
      return `${sentence}; the taker's wallet sent the settlement`;
    },
  },
  {
    name: 'same chain, exact output',
    async run(world, tally) {
      const trade = freshTrade(world);
      const { candidate, sentence } = await settleAndCompare(trade, askOf(trade, { buy: '0.25' }), tally);
      expectEqual(outputOf(candidate), trade.dest.units('WETH', '0.25'), 'output amount');
      return sentence;
    },
  },
];
