/**
 * The price feeds that run, and the market that they fill. A reload makes the next market beside the one in
 * force, waits until every new feed has given its prices, and replaces both at once.
 */

import { RequestError } from '../../domain/errors.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Feed, FeedTrouble, Sequencer } from '../../ports/feed.ts';
import type { LpConfig } from '../config/config.ts';
import { createFeedMonitor, type FeedMonitor, type FeedMonitorDeps } from './feed-monitor.ts';
import { createMarket, type Market } from './market.ts';
import type { SourceView } from './source-view.ts';

interface PriceSourcesDeps extends Omit<FeedMonitorDeps, 'market'> {
  clock: Clock;
  sequencers: ReadonlyMap<number, Sequencer>;
}

type MarketConfig = Pick<LpConfig, 'prices' | 'assets' | 'pairs'>;

/** A market that is ready to replace the one in force. */
export interface NextSources {
  market: Market;
  /** Returns the pairs whose sources changed. */
  apply(): string[];
  discard(): void;
}

export interface PriceSources {
  /** The market in force. A request keeps the one that it began with. */
  market(): Market;
  feeds(): readonly Feed[];
  /** Throws `RequestError` where `prepare` would, but for feeds that give no price. */
  marketOf(next: MarketConfig): Market;
  /** Rejects with `RequestError` when a new feed gives no price. Until `apply`, nothing in force changes. */
  prepare(next: MarketConfig, nextFeeds: readonly Feed[]): Promise<NextSources>;
  start(): void;
  stop(): void;
}

/** A reload waits this long for the first prices of a new feed. The admin client waits for ten seconds. */
const FIRST_PRICE_MS = 5_000;
const POLL_MS = 20;

export function createPriceSources(
  deps: PriceSourcesDeps,
  config: MarketConfig,
  feeds: readonly Feed[],
): PriceSources {
  const { clock, sequencers } = deps;
  let market = createMarket({ clock, sequencers }, config);
  const monitor = createFeedMonitor({ ...deps, market: () => market });
  let streams = feeds.map((feed) => createStream(feed, market));
  let stopped = false;

  const marketOf = (next: MarketConfig): Market => createMarket({ clock, sequencers }, next);

  async function prepare(next: MarketConfig, nextFeeds: readonly Feed[]): Promise<NextSources> {
    const nextMarket = marketOf(next);
    const kept = streams.filter(({ feed }) => nextFeeds.includes(feed));
    const added = nextFeeds
      .filter((feed) => !kept.some((stream) => stream.feed === feed))
      .map((feed) => createStream(feed, nextMarket));
    const discard = () => added.forEach((stream) => stream.feed.stop());
    try {
      for (const stream of added) startAlone(stream);
      await firstPrices(nextMarket, added);
    } catch (error) {
      discard();
      throw error;
    }
    return { market: nextMarket, discard, apply: () => apply(nextMarket, kept, added) };
  }

  function startAlone(stream: Stream): void {
    try {
      stream.start();
    } catch (cause) {
      throw new RequestError(
        `The feed "${stream.feed.source}" cannot be started: its configuration is wrong (feeds.${stream.feed.source}).`,
        { code: 'bad_config', cause },
      );
    }
  }

  async function firstPrices(next: Market, added: readonly Stream[]): Promise<void> {
    const untilMs = clock.monotonicMs() + FIRST_PRICE_MS;
    for (;;) {
      const late = next.sources().filter((view) => {
        const fresh = view.ageMs !== undefined && view.ageMs <= view.allowedAgeMs;
        return !fresh && added.some(({ feed }) => feed.source === view.feed);
      });
      if (late.length === 0 || stopped) return;
      if (clock.monotonicMs() >= untilMs)
        throw new RequestError(
          `New price sources give no usable price, so the old ones stay: ${late
            .map((view) => whyLate(view, added.find(({ feed }) => feed.source === view.feed)?.trouble))
            .join('; ')}. Correct them or take them out, and reload again.`,
          { code: 'no_first_price' },
        );
      await new Promise<void>((resolve) => clock.after(POLL_MS, resolve));
    }
  }

  /** Synchronous: no request sees the old prices beside the new configuration. */
  function apply(next: Market, kept: readonly Stream[], added: readonly Stream[]): string[] {
    const names = new Set([...kept, ...added].map(({ feed }) => feed.source));
    const gone = streams.filter((stream) => !kept.includes(stream));
    const changed = next.adopt(market, (name) => kept.some(({ feed }) => feed.source === name));
    market = next;
    for (const stream of kept) stream.market = next;
    for (const stream of gone) {
      stream.monitor = undefined;
      stream.feed.stop();
      if (!names.has(stream.feed.source)) monitor.remove(stream.feed.source);
    }
    for (const stream of added) {
      monitor.add(stream.feed.source, stream.connected);
      stream.monitor = monitor;
    }
    streams = [...kept, ...added];
    return changed.map(({ base, quote }) => `${base}-${quote}`);
  }

  return {
    market: () => market,
    feeds: () => streams.map(({ feed }) => feed),
    marketOf,
    prepare,
    start() {
      for (const sequencer of sequencers.values()) sequencer.start();
      for (const stream of streams) {
        monitor.add(stream.feed.source, false);
        stream.monitor = monitor;
        stream.start();
      }
      monitor.start();
    },
    stop() {
      stopped = true;
      monitor.stop();
      for (const { feed } of streams) feed.stop();
      for (const sequencer of sequencers.values()) sequencer.stop();
    },
  };
}

/** One running feed, the market that it fills, and the monitor that counts and logs it while in force. */
interface Stream {
  readonly feed: Feed;
  market: Market;
  monitor: FeedMonitor | undefined;
  connected: boolean;
  /** The last one. */
  trouble: FeedTrouble | undefined;
  start(): void;
}

function createStream(feed: Feed, market: Market): Stream {
  const { source } = feed;
  const stream: Stream = {
    feed,
    market,
    monitor: undefined,
    connected: false,
    trouble: undefined,
    start: () =>
      feed.start({
        quote(quote) {
          stream.monitor?.delivered(source, quote.symbol, 'quote');
          stream.market.observe(quote);
        },
        reference(reference) {
          stream.monitor?.delivered(source, reference.symbol, 'reference');
          stream.market.refer(reference);
        },
        trouble(trouble) {
          stream.trouble = trouble;
          if (trouble.kind === 'connected') stream.connected = true;
          if (trouble.kind === 'disconnected') stream.connected = false;
          if (trouble.kind === 'refused')
            stream.market.refused(source, trouble.symbol, trouble.why, trouble.detail);
          stream.monitor?.hear(source, trouble);
        },
      }),
  };
  return stream;
}

function whyLate({ feed, symbol, ageMs, allowedAgeMs, refused }: SourceView, trouble?: FeedTrouble): string {
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
  const name = `${feed}|${symbol}`;
  if (ageMs !== undefined)
    return `the price of ${name} is ${seconds(ageMs)} old, and ${seconds(allowedAgeMs)} are allowed`;
  const why =
    refused !== undefined
      ? `${refused.count} messages refused, the last as ${refused.why}${refused.detail === undefined ? '' : `: ${refused.detail}`}`
      : trouble?.kind === 'disconnected' || trouble?.kind === 'rejected'
        ? trouble.detail
        : trouble?.kind === 'connected'
          ? 'it is connected and has sent none'
          : 'it does not answer';
  return `${name} gave none within ${seconds(FIRST_PRICE_MS)} (${why})`;
}
