/** The demo's own trades: random takers, on both chains and between them. */

import { formatUnits, parseUnits } from '../../domain/amount.ts';
import type { DemoConfig } from './config.ts';
import type { QuoteCandidate } from '../../protocol/api/candidate.ts';
import { askOf, type DemoTrade, freshTrade } from './checks/trade.ts';
import type { DemoWorld } from './world.ts';

const PAIRS = [
  ['USDC', 'WETH'],
  ['WETH', 'USDC'],
  ['DAI', 'WETH'],
  ['WETH', 'DAI'],
] as const;
const PARALLEL = 4;

export function startMarket(
  world: DemoWorld,
  { everyMs, minUsd, maxUsd }: DemoConfig['market'],
  mid: (symbol: string) => number,
  show: (line: string) => void,
) {
  const slugs = world.manifest.chains.map(({ slug }) => slug);
  const open = new Set<Promise<void>>();
  let stopped = false;

  async function tradeOnce(): Promise<void> {
    const [sell, buy] = pick(PAIRS);
    const source = pick(slugs);
    const dest = Math.random() < 0.7 ? source : pick(slugs);
    const trade = freshTrade(world, [source, dest], sell, buy);
    const usd = minUsd + Math.random() * (maxUsd - minUsd);
    const size = sell === 'WETH' ? (usd / mid('ETH')).toFixed(6) : usd.toFixed(2);
    const label = `${source}-${dest}  ${size} ${sell} -> ${buy}`;
    try {
      parseUnits(size, trade.source.token(sell).decimals);
      const ask = askOf(trade, { sell: size });
      const { quotes, productUnavailable } = await trade.taker.quote(ask);
      const [best] = quotes;
      if (!best) return show(`no quote ${label}  ${productUnavailable?.message ?? ''}`);
      show(`quoted   ${label}  ${quotes.map((one) => `${one.solverId} ${got(trade, one)}`).join(', ')}`);
      const { candidate, orderId } = await trade.taker.take(ask, { candidate: best });
      show(`traded   ${label}  ${got(trade, candidate)} by ${candidate.solverId}  ${orderId.slice(0, 10)}…`);
      await trade.taker.finish(orderId, 120_000);
    } catch (error) {
      if (!stopped)
        show(
          `failed   ${label}  ${error instanceof Error ? error.message.split('\n')[0]?.slice(0, 120) : String(error)}`,
        );
    }
  }

  const timer = setInterval(() => {
    if (open.size >= PARALLEL) return;
    const story = tradeOnce().finally(() => open.delete(story));
    open.add(story);
  }, everyMs);
  return {
    async stop(): Promise<void> {
      stopped = true;
      clearInterval(timer);
      await Promise.race([Promise.all(open), new Promise((resolve) => setTimeout(resolve, 500))]);
    },
  };
}

function got({ dest, buy }: DemoTrade, { preview }: QuoteCandidate): string {
  const amount = preview.outputs.reduce((sum, { amount: part }) => sum + BigInt(part), 0n);
  return formatUnits(amount, dest.token(buy).decimals).slice(0, 10);
}

function pick<T>(items: readonly T[]): T {
  return items[Math.floor(Math.random() * items.length)] as T;
}
