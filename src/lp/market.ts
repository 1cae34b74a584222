/** The prices an LP works with, kept fresh in memory: feeds push into it, and a quote reads a mid and a volatility out of it without waiting. */

import type { Decline } from '../domain/decline.ts';
import { isDecline } from '../domain/decline.ts';
import { RequestError } from '../domain/errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { FeedQuote } from '../ports/feed.ts';
import { aggregate, cross, type Mid, type MidOptions, type Observation, observe } from '../pricing/mid.ts';
import { parseDecimal } from '../pricing/rational.ts';
import { observeMid, sigmaOf, spiked, UNSEEN, type Volatility } from '../pricing/volatility.ts';
import type { LpConfig, LpPriceConfig } from './config.ts';

export interface PairPrice {
  mid: Mid;
  /** Reference currency for one whole quote token. */
  quoteValue: number;
  sigma: number;
  /** The last minute is far wilder than the day. */
  spiked: boolean;
}

export interface Market {
  /** Takes a feed's quote in; unknown symbols are ignored. */
  observe(quote: FeedQuote): void;
  /** USD mid of a price symbol now. */
  mid(symbol: string): Mid | Decline;
  pair(base: string, quote: string): PairPrice | Decline;
  /** Makes prices for these pairs from now on; what is known of those that stay, stays. */
  serve(pairs: LpConfig['pairs']): void;
  /** Lets volatilities see the current mids; call about once a second. */
  tick(): void;
  /** Price symbols with no usable mid now, with the reason. */
  stale(): { symbol: string; detail: string }[];
  /** Every source a feed has to deliver: feed name to symbols. */
  readonly wanted: ReadonlyMap<string, readonly string[]>;
}

/** A fixed price never ages, so it never dates a cross rate. */
const ALWAYS = Number.MAX_SAFE_INTEGER;
/** Of a pair whose legs are both fixed: a peg is trusted, not known. */
const LEAST_SIGMA = 0.002;

export function createMarket({ clock }: { clock: Clock }, { prices, assets, pairs }: Pick<LpConfig, 'prices' | 'assets' | 'pairs'>): Market {
  let served = pairs;
  const books = new Map(Object.entries(prices).map(([symbol, config]) => [symbol, createPrice(config)]));
  const bySource = new Map<string, { take(observation: Observation): void }[]>();
  const wanted = new Map<string, string[]>();
  for (const [symbol, config] of Object.entries(prices)) {
    if ('fixed' in config) continue;
    for (const source of config.sources) {
      const key = `${source.feed}|${source.symbol}`;
      bySource.set(key, [...(bySource.get(key) ?? []), books.get(symbol) as PriceBook]);
      wanted.set(source.feed, [...new Set([...(wanted.get(source.feed) ?? []), source.symbol])]);
    }
  }

  const symbolOf = (asset: string) => assets[asset]?.price ?? asset;
  const views = new Map(pairs.map(({ base, quote }) => [`${base}|${quote}`, createPair(base === quote)]));

  function createPair(same: boolean) {
    let volatility: Volatility = UNSEEN;
    let last: { base: Mid; quote: Mid; mid: Mid } | undefined;
    return {
      mid(base: Mid, quote: Mid): Mid {
        if (same) return ONE;
        if (last?.base === base && last.quote === quote) return last.mid;
        const mid = quote.atMs === ALWAYS && quote.value === 1 ? base : cross(base, quote);
        last = { base, quote, mid };
        return mid;
      },
      see(mid: Mid, nowMs: number) {
        if (!same) volatility = observeMid(volatility, mid.value, nowMs);
      },
      sigma: (floor: number) => (same ? LEAST_SIGMA : sigmaOf(volatility, Math.max(floor, LEAST_SIGMA))),
      spiked: () => spiked(volatility),
    };
  }

  function pairMid(base: string, quote: string) {
    const view = views.get(`${base}|${quote}`);
    const [baseBook, quoteBook] = [books.get(symbolOf(base)), books.get(symbolOf(quote))];
    if (view === undefined || baseBook === undefined || quoteBook === undefined) return undefined;
    const nowMs = clock.nowMs();
    const [baseMid, quoteMid] = [baseBook.mid(nowMs), quoteBook.mid(nowMs)];
    if (isDecline(baseMid)) return baseMid;
    if (isDecline(quoteMid)) return quoteMid;
    return { view, mid: view.mid(baseMid, quoteMid), quoteMid, floor: Math.max(baseBook.sigmaFloor, quoteBook.sigmaFloor), nowMs };
  }

  return {
    wanted,
    observe(quote) {
      const takers = bySource.get(`${quote.source}|${quote.symbol}`);
      // One feed may deliver several symbols of one price: each is a source of its own.
      const observation = takers && observe({ ...quote, source: `${quote.source}|${quote.symbol}` });
      if (takers && observation) for (const book of takers) book.take(observation);
    },
    mid: (symbol) => books.get(symbol)?.mid(clock.nowMs()) ?? { declined: 'stale_price', detail: `no price named ${symbol}` },
    pair(base, quote) {
      const found = pairMid(base, quote);
      if (found === undefined) return { declined: 'pair' };
      if (isDecline(found)) return found;
      const { view, mid, quoteMid, floor } = found;
      return { mid, quoteValue: quoteMid.value, sigma: view.sigma(floor), spiked: view.spiked() };
    },
    serve(next) {
      served = next;
      for (const { base, quote } of next) if (!views.has(`${base}|${quote}`)) views.set(`${base}|${quote}`, createPair(base === quote));
    },
    tick() {
      for (const { base, quote } of served) {
        const found = pairMid(base, quote);
        if (found !== undefined && !isDecline(found)) found.view.see(found.mid, found.nowMs);
      }
    },
    stale() {
      const nowMs = clock.nowMs();
      return [...books].flatMap(([symbol, book]) => {
        const mid = book.mid(nowMs);
        return isDecline(mid) ? [{ symbol, detail: mid.detail ?? 'no price' }] : [];
      });
    },
  };
}

interface PriceBook {
  readonly sigmaFloor: number;
  take(observation: Observation): void;
  mid(nowMs: number): Mid | Decline;
}

function createPrice(config: LpPriceConfig): PriceBook {
  if ('fixed' in config) {
    const price = parseDecimal(config.fixed);
    if (price === undefined || price.num === 0n) throw new RequestError(`A fixed price of "${config.fixed}" is no price: write a positive decimal.`, { code: 'bad_config' });
    const fixed: Mid = { price, value: Number(config.fixed), confidenceBps: 0, atMs: ALWAYS, used: [], dropped: [] };
    return { sigmaFloor: 0, take: () => {}, mid: () => fixed };
  }
  const options: MidOptions = { maxAgeMs: config.maxAgeMs, devGuardBps: config.maxDeviationBps, minSources: config.minSources ?? (config.sources.length >= 3 ? 2 : 1) };
  const seen = new Map<string, Observation>();
  // A mid stands until a source speaks or the oldest one it used grows too old: thousands of quotes share one aggregation.
  let cached: { mid: Mid | Decline; untilMs: number } | undefined;
  return {
    sigmaFloor: config.sigmaFloor,
    take(observation) {
      seen.set(observation.source, observation);
      cached = undefined;
    },
    mid(nowMs) {
      if (cached !== undefined && nowMs <= cached.untilMs && nowMs >= cached.untilMs - 2 * options.maxAgeMs) return cached.mid;
      const mid = aggregate(seen.values(), nowMs, options);
      cached = { mid, untilMs: isDecline(mid) ? nowMs : mid.atMs + options.maxAgeMs };
      return mid;
    },
  };
}

const ONE: Mid = { price: { num: 1n, den: 1n }, value: 1, confidenceBps: 0, atMs: ALWAYS, used: [], dropped: [] };
