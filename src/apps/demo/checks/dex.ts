/** A DEX candidate, taken by `firmquote/client` that trusts only its own node. */

import { decodeFunctionData } from 'viem';
import { escrowAbi } from '../../../settlement/abi/escrow.ts';
import { type DemoChainView, trustlessTaker, viewChain, type DemoWorld } from '../world.ts';
import { type DemoCheck, expect, expectEqual, expectSettled, type DemoOrderCounts } from './check.ts';
import { inputOf, inTokens, SETTLE_TIMEOUT_MS } from './trade.ts';

const STORIES = [
  { slug: 'base', sell: 'USDC', buy: 'DAI', whole: '750', venue: 'uniswap-v3', hops: 2 },
  { slug: 'base', sell: 'DAI', buy: 'USDC', whole: '500', venue: 'uniswap-v2', hops: 2 },
  { slug: 'arc', sell: 'USDC', buy: 'WETH', whole: '1000', venue: 'uniswap-v2', hops: 1 },
] as const;

export const dexCheck: DemoCheck = {
  name: 'DEX pools fill an order through settleThrough',
  async run(world, tally) {
    return (await Promise.all(STORIES.map((story) => tell(world, story, tally)))).join('; ');
  },
};

async function tell(
  world: DemoWorld,
  { slug, sell, buy, whole, venue, hops }: (typeof STORIES)[number],
  tally: DemoOrderCounts,
): Promise<string> {
  const view = viewChain(world.manifest, slug);
  const { client, taker, wallet } = trustlessTaker(world, 'router');
  const held = () => Promise.all([view.balance(taker, sell), view.balance(taker, buy)]);
  const before = await held();
  const request = {
    taker,
    input: { asset: view.asset(sell), amount: view.units(sell, whole) },
    output: { asset: view.asset(buy) },
    solvers: { include: [venue] },
  };
  const signal = AbortSignal.timeout(SETTLE_TIMEOUT_MS);
  const { checked, status } = await client.trade({ request, wallet, signal });
  expectSettled(status, tally);

  const { candidate } = checked;
  const legs = ('composite' in candidate && candidate.composite?.legs) || [];
  expectEqual(
    legs.map(({ kind, venue: by }) => `${kind} ${by}`).join(),
    Array.from({ length: hops }, () => `dex ${venue}`).join(),
    'legs of the candidate',
  );
  const after = await held();
  const got = after[1] - before[1];
  expectEqual(before[0] - after[0], inputOf(candidate), `${sell} paid by the taker`);
  const floor = BigInt(candidate.preview.outputs[0]?.minimumAmount ?? 0);
  expect(floor > 0n && got >= floor, `${got} ${buy} arrived, less than the enforced ${floor}`);
  expectEqual(status.settledAmounts?.[view.asset(buy)]?.amount, got.toString(), 'settledAmounts of the API');
  await filledThrough(view, status.txHash as `0x${string}`, [sell, buy]);
  return `${whole} ${sell} -> ${inTokens(view, buy, got)} by ${venue} on ${slug}`;
}

async function filledThrough(
  { chain, client, balance }: DemoChainView,
  hash: `0x${string}`,
  symbols: readonly string[],
): Promise<void> {
  const { to, input } = await client.getTransaction({ hash });
  expectEqual(to?.toLowerCase(), chain.escrow, 'contract of the settlement');
  const { functionName, args } = decodeFunctionData({ abi: escrowAbi, data: input });
  expect(functionName === 'settleThrough', `the settlement called ${functionName}`);
  for (const symbol of symbols)
    expectEqual(await balance(args[2], symbol), 0n, `${symbol} left with the filler`);
}
