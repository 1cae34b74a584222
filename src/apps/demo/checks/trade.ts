/** Trades and compares balances and API answers with the quote. */

import { formatUnits } from '../../../domain/amount.ts';
import type { QuoteCandidate } from '../../../protocol/api/candidate.ts';
import type { WantedQuote, TakeChoices, DemoTaker } from '../taker.ts';
import { type DemoChainView, viewChain, type DemoWorld } from '../world.ts';
import { expect, expectEqual, expectSettled, type DemoOrderCounts } from './check.ts';

export interface DemoTrade {
  taker: DemoTaker;
  source: DemoChainView;
  dest: DemoChainView;
  sell: string;
  buy: string;
}

export const SETTLE_TIMEOUT_MS = 60_000;

export const inTokens = (view: DemoChainView, symbol: string, amount: bigint): string =>
  `${formatUnits(amount, view.token(symbol).decimals).replace(/(\.\d{6})\d+$/, '$1')} ${symbol}`;

/** Returns the base units of the first input; `outputOf` does so for the first output. */
export const inputOf = ({ preview }: { preview: QuoteCandidate['preview'] }): bigint =>
  BigInt(preview.inputs[0]?.amount ?? 0);
export const outputOf = ({ preview }: { preview: QuoteCandidate['preview'] }): bigint =>
  BigInt(preview.outputs[0]?.amount ?? 0);

export function tradeOf(
  world: Pick<DemoWorld, 'manifest'>,
  taker: DemoTaker,
  corridor: readonly [string, string] = ['base', 'base'],
  sell = 'USDC',
  buy = 'WETH',
): DemoTrade {
  return {
    taker,
    source: viewChain(world.manifest, corridor[0]),
    dest: viewChain(world.manifest, corridor[1]),
    sell,
    buy,
  };
}

export const freshTrade = (
  world: DemoWorld,
  corridor?: readonly [string, string],
  sell?: string,
  buy?: string,
) => tradeOf(world, world.freshTaker(), corridor, sell, buy);

export function askOf(
  trade: DemoTrade,
  amount: { sell: string } | { buy: string },
  more: Partial<WantedQuote> = {},
): WantedQuote {
  return {
    input: {
      asset: trade.source.asset(trade.sell),
      ...('sell' in amount ? { amount: trade.source.units(trade.sell, amount.sell).toString() } : {}),
    },
    output: {
      asset: trade.dest.asset(trade.buy),
      ...('buy' in amount ? { amount: trade.dest.units(trade.buy, amount.buy).toString() } : {}),
    },
    ...more,
  };
}

export async function settleAndCompare(
  trade: DemoTrade,
  ask: WantedQuote,
  tally: DemoOrderCounts,
  how: TakeChoices = {},
) {
  const before = await balancesOf(trade);
  const { candidate, plan, orderId, setUp } = await trade.taker.take(ask, how);
  const status = await trade.taker.finish(orderId, SETTLE_TIMEOUT_MS);
  expectSettled(status, tally);
  const [input, output] = [candidate.preview.inputs[0], candidate.preview.outputs[0]];
  expect(input !== undefined && output !== undefined, 'the candidate shows no input or no output');
  const delivered = candidate.preview.outputs.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  const after = await balancesOf(trade);
  const paid = plan.fundingLock === 'ResourceLock' ? 0n : BigInt(input.amount);
  expectEqual(before[0] - after[0], paid, `${trade.sell} paid from the taker's wallet`);
  expectEqual(after[1] - before[1], delivered, `${trade.buy} received by the taker`);
  const settled = status.settledAmounts?.[output.asset];
  expectEqual(settled?.amount, delivered.toString(), 'settledAmounts in the API');
  expect(status.txHash !== undefined, 'the API names no settlement transaction');
  const receipt = await trade.dest.client.getTransactionReceipt({ hash: settled?.txHash as `0x${string}` });
  expectEqual(receipt.status, 'success', 'delivery transaction');
  return {
    candidate,
    status,
    lock: plan.fundingLock ?? null,
    setUp,
    orderId,
    sentence: `${inTokens(trade.source, trade.sell, BigInt(input.amount))} -> ${inTokens(trade.dest, trade.buy, delivered)} by ${candidate.splitFill ? candidate.splitFill.fills.map(({ solverId }) => solverId).join(' + ') : candidate.solverId}`,
  };
}

/** Reads only this taker's balances: other checks trade with the same LPs. */
export const balancesOf = ({ taker: { address }, source, dest, sell, buy }: DemoTrade) =>
  Promise.all([source.balance(address, sell), dest.balance(address, buy)]);
