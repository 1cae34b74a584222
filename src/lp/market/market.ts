/**
 * Prices in memory: feeds push into it, and quotes read mid and volatility synchronously. A reload replaces a
 * market by another one (price-sources.ts); its configuration never changes.
 */

import { isDeepStrictEqual } from 'node:util';
import { type Decline, isDecline } from '../../domain/decline.ts';
import type { Clock } from '../../ports/clock.ts';
import type { FeedQuote, FeedRefusal, ReferencePrice, Sequencer } from '../../ports/feed.ts';
import * as mids from '../../pricing/mid.ts';
import { cross, deviationBps, type Mid, type Observation, sourceTexts } from '../../pricing/mid.ts';
import { DEFAULT_PARAMS } from '../../pricing/params.ts';
import { parseDecimal, type Rational } from '../../pricing/rational.ts';
import { observeMid, sigmaOf, UNSEEN, type Volatility, volatilityRatio } from '../../pricing/volatility.ts';
import type { LpConfig } from '../config/config.ts';
import {
  ALWAYS,
  type CheckedReference,
  type Condition,
  createSymbolPrice,
  declineOf,
  middleOf,
  type SymbolPrice,
  type PriceState,
  type ReferenceValue,
  type Refusals,
  displayPrice,
} from './symbol-price.ts';

export interface PairPrice {
  mid: Mid;
  /** Reference currency for one whole quote token. */
  quoteValue: number;
  sigma: number;
  /** Volatility of the last minute divided by that of the day; 0 while unknown. */
  volatilityRatio: number;
  depegged: boolean;
  references: readonly CheckedReference[];
  base: PriceState;
  quote: PriceState;
}

export interface SourceView {
  price: string;
  feed: string;
  symbol: string;
  role: 'source' | 'guard' | 'reference';
  value: number | undefined;
  atMs: number | undefined;
  /** `unused`: the price has no mid; `checks`: the source only checks a mid. */
  use: 'used' | 'stale' | 'future' | 'crossed' | 'deviant' | 'silent' | 'unused' | 'checks';
  /** From the mid, or from a fixed price; undefined where there is none. */
  offBps: number | undefined;
  allowedBps: number | undefined;
  ageMs: number | undefined;
  allowedAgeMs: number;
  /** Messages that its feed refused; `count` since its last accepted price. */
  refused: { why: FeedRefusal; detail?: string; count: number; ageMs: number } | undefined;
  /** Why it contributes nothing, or soon will not; undefined while it does. */
  trouble: string | undefined;
}

interface Input extends Pick<SourceView, 'price' | 'feed' | 'symbol' | 'role' | 'allowedAgeMs'> {
  weight: number;
  maxAgeMs: number | null;
  /** Of a source or guard; of a reference it depends on the mid. */
  guardBps: number | undefined;
  /** Of a guard: what it is compared with. */
  fixed: Rational | undefined;
}

export type Market = ReturnType<typeof createMarket>;
type Pair = Pick<LpConfig['pairs'][number], 'base' | 'quote'>;

/** What the market that replaces this one reads of it. */
export interface MarketState {
  prices: LpConfig['prices'];
  /** The last accepted message by `feed|symbol`. */
  latest: ReadonlyMap<string, FeedQuote | ReferencePrice>;
  refusals: ReadonlyMap<string, Refusals>;
  books: ReadonlyMap<string, SymbolPrice>;
  views: ReadonlyMap<string, ReadonlyMap<string, Legs>>;
}

const MOST_AT_ONCE = 64;
/** For pairs with two fixed legs: a peg can break. */
const LEAST_SIGMA = 0.002;

interface MarketDeps {
  clock: Clock;
  sequencers?: ReadonlyMap<number, Sequencer>;
}

export function wantedOf(
  prices: LpConfig['prices'],
): { feed: string; symbol: string; use: 'price' | 'reference' }[] {
  const all = Object.values(prices).flatMap((price) => {
    const [sources, references] = 'fixed' in price ? [price.guards, []] : [price.sources, price.references];
    return [
      ...sources.map((each) => ({ ...each, use: 'price' as const })),
      ...references.map((each) => ({ ...each, use: 'reference' as const })),
    ];
  });
  return [
    ...new Map(
      all.map(({ feed, symbol, use }) => [`${feed}|${symbol}|${use}`, { feed, symbol, use }]),
    ).values(),
  ];
}

export function createMarket(
  { clock, sequencers }: MarketDeps,
  { prices, assets, pairs }: Pick<LpConfig, 'prices' | 'assets' | 'pairs'>,
) {
  let turn = 0;
  const refusals = new Map<string, Refusals>();
  const books = new Map(
    Object.entries(prices).map(([symbol, config]) => [
      symbol,
      createSymbolPrice(config, clock.nowMs(), (source) => refusals.get(source)),
    ]),
  );
  const inputs = Object.entries(prices).flatMap(([price, config]): Input[] => {
    if ('fixed' in config)
      return config.guards.map((each) => ({
        ...each,
        price,
        role: 'guard',
        allowedAgeMs: each.maxAgeMs ?? config.guardMaxAgeMs,
        guardBps: config.depegBps,
        fixed: parseDecimal(config.fixed),
      }));
    return [
      ...config.sources.map((each): Input => ({
        ...each,
        price,
        role: 'source',
        allowedAgeMs: each.maxAgeMs ?? config.maxAgeMs,
        guardBps: config.maxDeviationBps,
        fixed: undefined,
      })),
      ...config.references.map((each): Input => ({
        ...each,
        weight: 1,
        price,
        role: 'reference',
        allowedAgeMs: each.maxAgeMs,
        guardBps: undefined,
        fixed: undefined,
      })),
    ];
  });
  const keysOfFeed = new Map<string, Set<string>>();
  const subscribers = new Map<
    string,
    { book: SymbolPrice; as: Pick<Observation, 'weight' | 'maxAgeMs'> }[]
  >();
  const checkers = new Map<string, SymbolPrice[]>();
  const latest = new Map<string, FeedQuote | ReferencePrice>();
  for (const { feed, symbol, price, role, weight, maxAgeMs } of inputs) {
    const [key, book] = [`${feed}|${symbol}`, books.get(price) as SymbolPrice];
    keysOfFeed.set(feed, (keysOfFeed.get(feed) ?? new Set()).add(key));
    if (role === 'reference') checkers.set(key, [...(checkers.get(key) ?? []), book]);
    // A feed may serve several symbols of one price, each a separate source.
    else
      subscribers.set(key, [
        ...(subscribers.get(key) ?? []),
        { book, as: { weight, ...(maxAgeMs !== null && { maxAgeMs }) } },
      ]);
  }

  const symbols = [...books.keys()];
  const missing = new Map<string, string>();
  let looked = -1;

  const accepted = (key: string) => {
    const known = refusals.get(key);
    if (known !== undefined) known.count = 0;
  };

  const symbolOf = (asset: string) => assets[asset]?.price ?? asset;
  const views = new Map<string, Map<string, Legs>>();
  /** A request reads the same pair several times. */
  let last: { base: string; quote: string; legs: Legs } | undefined;
  for (const { base, quote, params } of pairs) {
    const [baseBook, quoteBook] = [books.get(symbolOf(base)), books.get(symbolOf(quote))];
    if (baseBook === undefined || quoteBook === undefined) continue;
    const view = createView(base === quote, params.maxConfidenceBps ?? DEFAULT_PARAMS.maxConfidenceBps);
    const ofBase = views.get(base) ?? new Map<string, Legs>();
    views.set(base, ofBase.set(quote, { view, base: baseBook, quote: quoteBook }));
  }

  function find(base: string, quote: string): Legs | undefined {
    if (last !== undefined && last.base === base && last.quote === quote) return last.legs;
    const found = views.get(base)?.get(quote);
    if (found !== undefined) last = { base, quote, legs: found };
    return found;
  }

  function legs(base: string, quote: string) {
    const found = find(base, quote);
    if (found === undefined) return undefined;
    const nowMs = clock.nowMs();
    return { view: found.view, nowMs, base: found.base.state(nowMs), quote: found.quote.state(nowMs) };
  }

  function pair(base: string, quote: string): PairPrice | Decline {
    const found = legs(base, quote);
    if (found === undefined) return { declined: 'pair' };
    if (found.base.condition?.blocks === true) return declineOf(symbolOf(base), found.base.condition);
    if (found.quote.condition?.blocks === true) return declineOf(symbolOf(quote), found.quote.condition);
    return found.view.price(found.base, found.quote);
  }

  function observe(quote: FeedQuote): void {
    const key = `${quote.source}|${quote.symbol}`;
    const [takes, checks] = [subscribers.get(key), checkers.get(key)];
    const observation = (takes ?? checks) && mids.observe(quote, key);
    if (observation === undefined) return;
    accepted(key);
    // Runs for every tick of every exchange: allocate nothing but the observation.
    latest.set(key, quote);
    for (const { book, as } of takes ?? [])
      book.take(takes?.length === 1 ? Object.assign(observation, as) : { ...observation, ...as });
    for (const book of checks ?? [])
      book.check(key, { price: middleOf(observation), atMs: observation.atMs });
  }

  function refer(reference: ReferencePrice): void {
    const key = `${reference.source}|${reference.symbol}`;
    const price = parsePrice(reference);
    if (price === undefined) return;
    accepted(key);
    latest.set(key, reference);
    for (const book of checkers.get(key) ?? []) book.check(key, { price, atMs: reference.atMs });
  }

  /**
   * Takes over what the market that this one replaces knows: the newest price of each feed that is still
   * connected, pegs and volatilities. Returns the pairs whose sources changed.
   */
  function adopt({ state: old }: { state: MarketState }, keeps: (feed: string) => boolean): Pair[] {
    for (const [feed, keys] of keysOfFeed) {
      if (!keeps(feed)) continue;
      for (const key of keys) {
        const [message, refused] = [old.latest.get(key), old.refusals.get(key)];
        if (message !== undefined && 'price' in message) refer(message);
        else if (message !== undefined) observe(message);
        if (refused !== undefined) refusals.set(key, { ...refused });
      }
    }
    for (const [symbol, book] of books) {
      const known = old.books.get(symbol);
      if (known !== undefined) book.resume(known.memory());
    }
    const same = (symbol: string): boolean =>
      isDeepStrictEqual(prices[symbol], old.prices[symbol]) &&
      inputs.every(({ price, feed }) => price !== symbol || keeps(feed));
    return pairs.filter(({ base, quote }) => {
      const known = old.views.get(base)?.get(quote)?.view.volatility();
      const changed = !same(symbolOf(base)) || !same(symbolOf(quote));
      if (known !== undefined)
        views
          .get(base)
          ?.get(quote)
          // The step from one source's price to another's is no move of the market.
          ?.view.resume(changed ? { ...known, last: undefined } : known);
      return changed;
    });
  }

  return {
    pair,
    adopt,
    state: { prices, latest, refusals, books, views } satisfies MarketState,
    symbols,
    observe,
    refer,
    /** Records a message that a feed refused; without a symbol it counts for every source of the feed. */
    refused(feed: string, symbol: string | null, why: FeedRefusal, detail?: string) {
      const atMs = clock.nowMs();
      const refused = `${feed}|${symbol}`;
      // Exchanges invent symbols: only those of the configuration are kept.
      for (const key of keysOfFeed.get(feed) ?? []) {
        if (symbol !== null && key !== refused) continue;
        const known = refusals.get(key);
        const firstMs = known === undefined || known.count === 0 ? atMs : known.firstMs;
        refusals.set(key, { why, detail, atMs, firstMs, count: (known?.count ?? 0) + 1 });
      }
    },
    mid(symbol: string): Mid | Decline {
      const state = books.get(symbol)?.state(clock.nowMs());
      if (state === undefined) return { declined: 'stale_price', detail: `no price named ${symbol}` };
      if (state.mid !== undefined && state.condition?.blocks !== true) return state.mid;
      return state.condition === undefined ? { declined: 'stale_price' } : declineOf(symbol, state.condition);
    },
    condition(base: string, quote: string) {
      const found = legs(base, quote);
      if (found === undefined) return undefined;
      const conditions = [found.base.condition, found.quote.condition].filter((each) => each !== undefined);
      const blocking = conditions.find(({ blocks }) => blocks);
      if (blocking !== undefined) return blocking;
      const { mid } = found.view.price(found.base, found.quote);
      return found.view.disagreement(mid.confidenceBps, found) ?? conditions[0];
    },
    chainCondition(chainId: number) {
      const state = sequencers?.get(chainId)?.state();
      return state === undefined || state.up
        ? undefined
        : {
            code: 'sequencer',
            blocks: true,
            brief: state.detail,
            detail: state.detail,
            sinceMs: state.sinceMs,
          };
    },
    /**
     * Updates volatilities from current mids, a part of the pairs per call: call about four times a second.
     */
    tick() {
      // Limits the pairs per call, so that quotes are answered in between.
      const turns = Math.max(4, Math.ceil(pairs.length / MOST_AT_ONCE));
      turn = (turn + 1) % turns;
      for (let at = turn; at < pairs.length; at += turns) {
        const { base, quote } = pairs[at] as Pair;
        const found = legs(base, quote);
        if (found !== undefined && !isDecline(pair(base, quote))) found.view.tick(found.nowMs);
      }
    },
    /** Price symbols without a usable mid, with what each source says: for the operator. */
    stale() {
      const nowMs = clock.nowMs();
      const look = (symbol: string) => {
        const condition = books.get(symbol)?.state(nowMs).condition;
        if (condition?.blocks === true) missing.set(symbol, condition.detail);
        else missing.delete(symbol);
      };
      for (const symbol of [...missing.keys()]) look(symbol);
      for (let left = Math.min(MOST_AT_ONCE, symbols.length); left > 0; left--)
        look(symbols[(looked = (looked + 1) % symbols.length)] as string);
      return [...missing].map(([symbol, detail]) => ({ symbol, detail }));
    },
    sources() {
      const nowMs = clock.nowMs();
      return inputs.map(({ price, feed, symbol, role, guardBps, fixed, allowedAgeMs }): SourceView => {
        const [key, state] = [`${feed}|${symbol}`, books.get(price)?.state(nowMs)];
        const message = latest.get(key);
        const seen = message && seenIn(message);
        const checked = state?.references.find(({ source }) => source === key);
        const use =
          seen === undefined
            ? 'silent'
            : role === 'reference'
              ? checked?.stale === true
                ? 'stale'
                : 'checks'
              : Math.abs(nowMs - seen.atMs) > allowedAgeMs
                ? 'stale'
                : useOf(key, state?.mid, role);
        const refused = refusals.get(key);
        const [against, says] = [fixed ?? state?.mid?.price, seen?.price];
        return {
          price,
          feed,
          symbol,
          role,
          value: says && displayPrice(says),
          atMs: seen?.atMs,
          use,
          offBps: against && says && deviationBps(against, says),
          allowedBps: guardBps ?? checked?.allowedBps,
          ageMs: seen && Math.max(0, nowMs - seen.atMs),
          allowedAgeMs,
          refused: refused && {
            why: refused.why,
            ...(refused.detail !== undefined && { detail: refused.detail }),
            count: refused.count,
            ageMs: nowMs - refused.atMs,
          },
          trouble: troubleOf(use, refused, nowMs),
        };
      });
    },
    /** undefined while there is no mid or the reference is silent. */
    references: () =>
      inputs.flatMap(({ price, feed, symbol, role }) => {
        if (role !== 'reference') return [];
        const name = `${feed}|${symbol}`;
        return [
          {
            price,
            source: name,
            checked: books
              .get(price)
              ?.state(clock.nowMs())
              .references.find(({ source }) => source === name),
          },
        ];
      }),
    pairs: () => pairs.map(({ base, quote }) => ({ base, quote, price: pair(base, quote) })),
  };
}

function parsePrice({ price }: ReferencePrice): Rational | undefined {
  const exact = parseDecimal(price);
  return exact?.num === 0n ? undefined : exact;
}

/** Of an accepted message. */
function seenIn(message: FeedQuote | ReferencePrice): ReferenceValue | undefined {
  if ('price' in message) {
    const price = parsePrice(message);
    return price && { price, atMs: message.atMs };
  }
  const observation = mids.observe(message);
  return observation && { price: middleOf(observation), atMs: observation.atMs };
}

function useOf(key: string, mid: Mid | undefined, role: 'source' | 'guard'): SourceView['use'] {
  if (mid === undefined) return 'unused';
  return (
    mid.dropped.find(({ source }) => source === key)?.why ??
    (mid.used.includes(key) ? 'used' : role === 'guard' ? 'checks' : 'unused')
  );
}

/** A refusal among accepted prices is normal, and a duplicate says that the price is what it was. */
const REFUSED_AFTER_MS = 5_000;

function troubleOf(use: SourceView['use'], refused: Refusals | undefined, nowMs: number): string | undefined {
  const usable = use === 'used' || use === 'checks' || use === 'unused';
  const refusing =
    refused !== undefined &&
    refused.count > 0 &&
    (!usable || (refused.why !== 'duplicate' && nowMs - refused.firstMs >= REFUSED_AFTER_MS));
  if (refusing) return `refused as ${refused.why}`;
  return usable ? undefined : use;
}

export interface Legs {
  view: View;
  base: SymbolPrice;
  quote: SymbolPrice;
}

/** Price and volatility of one pair, recomputed only when a leg or the volatility changed. */
interface View {
  volatility(): Volatility;
  resume(known: Volatility): void;
  price(base: PriceState, quote: PriceState): PairPrice;
  disagreement(
    confidenceBps: number,
    now: { base: PriceState; quote: PriceState; nowMs: number },
  ): Condition | undefined;
  tick(nowMs: number): void;
}

function createView(same: boolean, mostBps: number): View {
  let volatility: Volatility = UNSEEN;
  let last: PairPrice | undefined;
  let disagreedSinceMs: number | undefined;

  return {
    volatility: () => volatility,
    resume(known) {
      volatility = known;
      last = undefined;
    },
    price(base, quote) {
      if (last?.base === base && last.quote === quote) return last;
      const [baseMid, quoteMid] = [base.mid as Mid, quote.mid as Mid];
      last = {
        mid: same
          ? ONE
          : quoteMid.atMs === ALWAYS && quoteMid.value === 1
            ? baseMid
            : cross(baseMid, quoteMid),
        quoteValue: quoteMid.value,
        sigma: same
          ? LEAST_SIGMA
          : sigmaOf(volatility, Math.max(base.sigmaFloor, quote.sigmaFloor, LEAST_SIGMA)),
        volatilityRatio: volatilityRatio(volatility),
        depegged: base.depegged || quote.depegged,
        references:
          base.references.length + quote.references.length === 0
            ? NONE
            : [...base.references, ...quote.references],
        base,
        quote,
      };
      return last;
    },
    disagreement(confidenceBps, { base, quote, nowMs }) {
      if (confidenceBps <= mostBps) {
        disagreedSinceMs = undefined;
        return undefined;
      }
      disagreedSinceMs ??= nowMs;
      return {
        code: 'confidence',
        blocks: true,
        brief: 'its price is uncertain',
        detail: [
          `sources disagree by ${confidenceBps.toFixed(1)} bps, and ${mostBps} are allowed`,
          ...[base.mid, quote.mid].flatMap((mid) => (mid === undefined ? [] : sourceTexts(mid))),
        ].join('; '),
        sinceMs: disagreedSinceMs,
      };
    },
    tick(nowMs) {
      if (same || last === undefined) return;
      volatility = observeMid(volatility, last.mid.value, nowMs);
      last = undefined;
    },
  };
}

const NONE: readonly never[] = [];
const ONE: Mid = {
  price: { num: 1n, den: 1n },
  value: 1,
  confidenceBps: 0,
  atMs: ALWAYS,
  used: [],
  dropped: [],
  seen: [],
};
