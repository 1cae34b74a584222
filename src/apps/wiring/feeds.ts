/** Creates price feeds from the configuration. */

import { isDeepStrictEqual } from 'node:util';
import { jittered, pauseMs } from '../../adapters/backoff.ts';
import { createChainlinkFeed } from '../../adapters/feeds/chainlink.ts';
import { createConstantFeed } from '../../adapters/feeds/constant.ts';
import { createFileFeed } from '../../adapters/feeds/file.ts';
import { EXCHANGE_SOCKETS } from '../../adapters/feeds/formats.ts';
import { createHttpFeed } from '../../adapters/feeds/http.ts';
import { createSequencer } from '../../adapters/feeds/sequencer.ts';
import { createSocketFeed, type SocketFeedOptions } from '../../adapters/feeds/socket.ts';
import { createUniswapV3TwapFeed } from '../../adapters/feeds/uniswap-v3-twap.ts';
import { createWaits } from '../../adapters/feeds/waits.ts';
import { systemClock } from '../../adapters/system/clock.ts';
import type { Address } from '../../domain/hex.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Feed, Sequencer } from '../../ports/feed.ts';
import { type FeedSection, feedProblems, type WantedSymbol } from '../config/feeds.ts';
import { expand, type SecretContext } from './keys.ts';
import { badConfig } from './bad-request.ts';

export interface FeedContext {
  secrets: SecretContext;
  chains: readonly ChainPort[];
  sequencers?: ReadonlyMap<number, Sequencer>;
  onMessage?: SocketFeedOptions['onMessage'];
}

/** A feed with what it was made from: a reload keeps the ones that would be made the same way again. */
export interface MadeFeed {
  feed: Feed;
  section: FeedSection;
  symbols: readonly string[];
}

/** Throws `RequestError` when a feed cannot deliver a symbol. */
export function createFeeds(
  sections: Readonly<Record<string, FeedSection>>,
  wanted: readonly WantedSymbol[],
  context: FeedContext,
  running: readonly MadeFeed[] = [],
): MadeFeed[] {
  const problems = feedProblems(
    sections,
    wanted,
    context.chains.map(({ chain }) => chain.id),
  );
  if (problems.length > 0) throw badConfig(`The price feeds cannot work: ${problems.join('; ')}.`);
  const symbols = new Map<string, Set<string>>();
  for (const { feed, symbol } of wanted) symbols.set(feed, (symbols.get(feed) ?? new Set()).add(symbol));
  return [...symbols].map(([source, names]) => {
    const made = { section: sections[source] as FeedSection, symbols: [...names].sort() };
    const same = running.find(
      ({ feed, ...before }) => feed.source === source && isDeepStrictEqual(before, made),
    );
    return same ?? { ...made, feed: createFeed(source, made.section, made.symbols, context) };
  });
}

function createFeed(
  source: string,
  section: FeedSection,
  symbols: readonly string[],
  { secrets, chains, sequencers, onMessage }: FeedContext,
): Feed {
  const tools = { clock: systemClock, backoff, waits };
  const only = <T>(all: Readonly<Record<string, T>>) =>
    Object.fromEntries(Object.entries(all).filter(([symbol]) => symbols.includes(symbol)));
  const on = (chainId: number) => chains.find(({ chain }) => chain.id === chainId) as ChainPort;
  switch (section.kind) {
    case 'http': {
      const headers = Object.fromEntries(
        Object.entries(section.headers).map(([name, value]) => [name, expand(value, secrets)]),
      );
      const { time, ...rest } = section;
      return createHttpFeed(tools, {
        ...rest,
        ...(time !== null && { time }),
        headers,
        url: expand(section.url, secrets),
        symbols,
        source,
      });
    }
    case 'chainlink': {
      const sequencer = sequencers?.get(section.chainId);
      return createChainlinkFeed(
        { clock: systemClock, chain: on(section.chainId), ...(sequencer && { sequencer }) },
        { source, aggregators: only(section.aggregators) },
      );
    }
    case 'uniswapV3Twap':
      return createUniswapV3TwapFeed(
        { clock: systemClock, chain: on(section.chainId) },
        { source, pools: only(section.pools) },
      );
    case 'file':
      return createFileFeed(
        { clock: systemClock },
        { ...section, format: EXCHANGE_SOCKETS[section.format].format, source },
      );
    case 'constant':
      return createConstantFeed(
        { clock: systemClock },
        { prices: only(section.prices), source, everyMs: section.everyMs },
      );
    default:
      return createSocketFeed(tools, {
        ...section,
        format: EXCHANGE_SOCKETS[section.kind].format,
        url: expand(section.url, secrets),
        symbols,
        source,
        ...(onMessage && { onMessage }),
      });
  }
}

export function createSequencers(
  networks: readonly { id: number; sequencer: { address: Address; graceSeconds: number } | null }[],
  chains: readonly ChainPort[],
): Map<number, Sequencer> {
  return new Map(
    networks.flatMap(({ id, sequencer }) => {
      const chain = chains.find((each) => each.chain.id === id);
      return sequencer === null || chain === undefined
        ? []
        : [[id, createSequencer({ clock: systemClock, chain }, sequencer)]];
    }),
  );
}

/** A reload makes feeds anew; what their servers asked for still counts. */
const waits = createWaits(systemClock);

const BACKOFF = { firstMs: 200, longestMs: 10_000 };

const backoff = (attempt: number): number => Math.round(jittered(pauseMs(attempt, BACKOFF), Math.random()));
