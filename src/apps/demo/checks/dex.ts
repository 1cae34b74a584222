/**
 * The router's DEX candidate, taken by `firmquote/client` that trusts only its own node, and filled in one
 * settleThrough call.
 */

import { createWalletClient, decodeFunctionData, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { createClient } from '../../../client/client.ts';
import { escrowAbi } from '../../../settlement/abi/escrow.ts';
import { type ChainView, viewChain, type DemoWorld } from '../world.ts';
import { type DemoCheck, expect, expectEqual, type OrderCounts } from './check.ts';
import { inTokens, SETTLE_TIMEOUT_MS } from './trade.ts';

interface Story {
  slug: string;
  sell: string;
  buy: string;
  whole: string;
  venue: string;
  hops: number;
}

/** No LP quotes the first pair. On the second chain the taker's wallet broadcasts the trade. */
const STORIES: readonly Story[] = [
  { slug: 'base', sell: 'USDC', buy: 'DAI', whole: '750', venue: 'uniswap-v3', hops: 2 },
  { slug: 'base', sell: 'DAI', buy: 'USDC', whole: '500', venue: 'uniswap-v2', hops: 2 },
  { slug: 'arc', sell: 'USDC', buy: 'WETH', whole: '1000', venue: 'uniswap-v2', hops: 1 },
];

export const dexCheck: DemoCheck = {
  name: 'DEX pools fill an order through settleThrough',
  async run(world, tally) {
    return (await Promise.all(STORIES.map((story) => tell(world, story, tally)))).join('; ');
  },
};

async function tell(
  world: DemoWorld,
  { slug, sell, buy, whole, venue, hops }: Story,
  tally: OrderCounts,
): Promise<string> {
  const view = viewChain(world.manifest, slug);
  const { chain, client: rpc } = view;
  const account = privateKeyToAccount(world.freshWallet().privateKey);
  const client = createClient({
    url: world.manifest.venue.url,
    key: world.manifest.venue.keys.service,
    namespace: 'router',
    chains: { [chain.id]: { rpc, escrow: chain.escrow, permit2: chain.permit2 } },
  });
  const held = () => Promise.all([view.balance(account.address, sell), view.balance(account.address, buy)]);
  const before = await held();
  const request = {
    taker: account.address,
    input: { asset: view.asset(sell), amount: view.units(sell, whole) },
    output: { asset: view.asset(buy) },
    solvers: { include: [venue] },
  };
  const { checked, status } = await client.trade({
    request,
    wallet: createWalletClient({ account, transport: http(chain.rpcUrl) }),
    signal: AbortSignal.timeout(SETTLE_TIMEOUT_MS),
  });
  if (status.status === 'failed') tally.failed += 1;
  expectEqual(
    status.status,
    'settled',
    `order status (${status.failure?.code ?? 'no failure'}: ${status.failure?.message ?? ''})`,
  );
  tally.settled += 1;

  const { candidate } = checked;
  const legs = ('composite' in candidate && candidate.composite?.legs) || [];
  expectEqual(
    legs.map(({ kind, venue: by }) => `${kind} ${by}`).join(),
    Array.from({ length: hops }, () => `dex ${venue}`).join(),
    'legs of the candidate',
  );
  const [paid, got] = (await held()).map((amount, side) => amount - (before[side] as bigint)) as [
    bigint,
    bigint,
  ];
  expectEqual(-paid, BigInt(candidate.preview.inputs[0]?.amount ?? 0), `${sell} paid by the taker`);
  const floor = BigInt(candidate.preview.outputs[0]?.minimumAmount ?? 0);
  expect(floor > 0n && got >= floor, `${got} ${buy} arrived, less than the enforced ${floor}`);
  expectEqual(status.settledAmounts?.[view.asset(buy)]?.amount, got.toString(), 'settledAmounts of the API');
  await filledThrough(view, status.txHash as `0x${string}`, [sell, buy]);
  return `${whole} ${sell} -> ${inTokens(view, buy, got)} by ${venue} on ${slug}`;
}

/** One settleThrough call, which leaves no tokens with the filler. */
async function filledThrough(
  { chain, client, balance }: ChainView,
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
