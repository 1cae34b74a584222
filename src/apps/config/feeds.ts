/** Configuration of price feeds. */

import * as z from 'zod';
import { EXCHANGE_KINDS, EXCHANGE_SOCKETS, type ExchangeKind } from '../../adapters/feeds/formats.ts';
import { zAddress } from '../../protocol/wire.ts';

const zPath = z
  .string()
  .regex(/^[^.\s]+(?:\.[^.\s]+)*$/, 'must be names joined by dots, such as "result.*.b.0"');
const zPrice = z
  .string()
  .regex(/^(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,18})?$/, 'must be a price as decimal text, such as "1.0"');

const zExchange = (kind: ExchangeKind) =>
  z.strictObject({
    kind: z.literal(kind),
    url: z.string().min(1).default(EXCHANGE_SOCKETS[kind].url),
    /** Connects again after so long without any message. */
    silentMs: z.int().min(500).default(10_000),
    /** Connects again after so long without a price, although messages arrive. */
    quietMs: z.int().min(1_000).default(60_000),
    pingMs: z.int().min(100).default(5_000),
  });

const [firstKind, ...otherKinds] = EXCHANGE_KINDS;

export const zFeed = z.discriminatedUnion('kind', [
  zExchange(firstKind),
  ...otherKinds.map(zExchange),
  z.strictObject({
    kind: z.literal('http'),
    url: z.string().min(1),
    /** Paths into the answer; `*` matches an only member. */
    bid: zPath,
    ask: zPath,
    time: zPath.nullable().default(null),
    headers: z.record(z.string(), z.string()).default({}),
    everyMs: z.int().min(50).default(1_000),
    timeoutMs: z.int().min(50).default(2_000),
  }),
  z.strictObject({
    kind: z.literal('chainlink'),
    chainId: z.int().min(1),
    aggregators: z.record(z.string(), zAddress),
  }),
  /** Time-weighted means of Uniswap v3 pools: they only check prices. */
  z.strictObject({
    kind: z.literal('uniswapV3Twap'),
    chainId: z.int().min(1),
    pools: z.record(
      z.string(),
      z.strictObject({ address: zAddress, base: zAddress, windowSeconds: z.int().min(1).default(1_800) }),
    ),
  }),
  z.strictObject({
    kind: z.literal('file'),
    path: z.string().min(1),
    format: z.enum(EXCHANGE_KINDS).default('binance'),
    speed: z.number().positive().default(1),
    loop: z.boolean().default(false),
  }),
  z.strictObject({
    kind: z.literal('constant'),
    prices: z.record(z.string(), zPrice),
    everyMs: z.int().min(10).default(500),
  }),
]);

export type FeedSection = z.infer<typeof zFeed>;

export interface WantedSymbol {
  feed: string;
  symbol: string;
  /** `price`: may make a mid; `reference`: only checks one. */
  use: 'price' | 'reference';
}

export function feedProblems(
  feeds: Readonly<Record<string, FeedSection>>,
  wanted: readonly WantedSymbol[],
  chainIds: readonly number[],
): string[] {
  const problems: string[] = [];
  for (const [name, feed] of Object.entries(feeds)) {
    if ('chainId' in feed && !chainIds.includes(feed.chainId))
      problems.push(`feeds.${name}.chainId: chain ${feed.chainId} is not configured`);
  }
  for (const { feed: name, symbol, use } of wanted) {
    const feed = feeds[name];
    if (feed === undefined) {
      problems.push(
        `a price is taken from the feed "${name}", which is not configured: add it under feeds, or name another`,
      );
      continue;
    }
    const listed =
      feed.kind === 'chainlink'
        ? feed.aggregators
        : feed.kind === 'uniswapV3Twap'
          ? feed.pools
          : feed.kind === 'constant'
            ? feed.prices
            : undefined;
    if (listed !== undefined && !(symbol in listed))
      problems.push(`a price is taken from "${symbol}" of the feed "${name}", which does not list it`);
    if (feed.kind === 'uniswapV3Twap' && use === 'price')
      problems.push(
        `"${symbol}" of the feed "${name}" is a time-weighted mean, which may only check a price: put it under references`,
      );
  }
  return [...new Set(problems)];
}
