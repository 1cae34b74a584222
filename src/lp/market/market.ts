/**
 * Prices in memory: feeds push into it, and quotes read mid and volatility synchronously. A reload replaces a
 * market by another one (price-sources.ts); its configuration never changes.
 */

import { isDeepStrictEqual } from 'node:util';
import { type Decline, isDecline } from '../../domain/decline.ts';
import type { Clock } from '../../ports/clock.ts';
import type { FeedPrice, FeedRefusal, ReferencePrice, Sequencer } from '../../ports/feed.ts';
import { observe as observationOf, type Mid, type Observation } from '../../pricing/mid.ts';
import { DEFAULT_PARAMS } from '../../pricing/params.ts';
import type { LpConfig } from '../config/config.ts';
import { createPairView, type Legs, type PairPrice } from './pair-view.ts';
import { inputsOf, parsePrice, type PriceInput, type SourceView, sourceView } from './source-view.ts';
import {
  type CheckedReference,
  type Condition,
  createSymbolPrice,
  declineOf,
  middleOf,
  type PriceState,
  type SymbolPrice,
} from './symbol-price.ts';
import type { Refusals } from './source-texts.ts';

type Pair = Pick<LpConfig['pairs'][number], 'base' | 'quote'>;

/** A reference of a price; `checked` is undefined while there is no mid or the reference is silent. */
interface ReferenceCheck {
  price: string;
  source: string;
  checked: CheckedReference | undefined;
}

export interface Market {
  /** The names of all prices. */
  readonly symbols: readonly string[];
  /** The market that replaces this one reads this state. */
  readonly state: MarketState;
  /** The price of a pair of assets, or why it cannot be quoted. Called several times for each request. */
  pair(base: string, quote: string): PairPrice | Decline;
  /** The mid of one price, by its name. */
  mid(symbol: string): Mid | Decline;
  /** Returns what is wrong with the price of a pair. A condition that does not block quotes is only shown. */
  condition(base: string, quote: string): Condition | undefined;
  /** Returns why the sequencer of a rollup stops its routes; undefined when it does not. */
  chainCondition(chainId: number): Condition | undefined;
  /** Takes in a price of a source. Called for every tick of every exchange. */
  observe(quote: FeedPrice): void;
  /** Takes in a price that checks a mid. */
  refer(reference: ReferencePrice): void;
  /** Records a message that a feed refused; without a symbol it counts for every source of the feed. */
  refused(feed: string, symbol: string | null, why: FeedRefusal, detail?: string): void;
  /**
   * Takes over what the market that this one replaces knows: the newest price of each feed that is still
   * connected, pegs and volatilities. Returns the pairs whose sources changed.
   */
  adopt(old: { state: MarketState }, keeps: (feed: string) => boolean): Pair[];
  /**
   * Updates volatilities from current mids, a part of the pairs per call: call about four times a second.
   */
  tick(): void;
  /** Returns the price symbols without a usable mid, with what each source says: for the operator. */
  stale(): { symbol: string; detail: string }[];
  sources(): SourceView[];
  references(): ReferenceCheck[];
  pairs(): (Pair & { price: PairPrice | Decline })[];
}

/** The state of a market that its replacement reads. */
interface MarketState {
  prices: LpConfig['prices'];
  /** The last accepted message by `feed|symbol`. */
  latest: ReadonlyMap<string, FeedPrice | ReferencePrice>;
  refusals: ReadonlyMap<string, Refusals>;
  books: ReadonlyMap<string, SymbolPrice>;
  views: ReadonlyMap<string, ReadonlyMap<string, Legs>>;
}

interface MarketDeps {
  clock: Clock;
  sequencers?: ReadonlyMap<number, Sequencer>;
}

type MarketConfig = Pick<LpConfig, 'prices' | 'assets' | 'pairs'>;

/** A price that takes the messages of a source, with the weight and age that the source has there. */
interface Subscriber {
  book: SymbolPrice;
  as: Pick<Observation, 'weight' | 'maxAgeMs'>;
}

/** Sources are named `feed|symbol`, prices by their symbol. */
interface State extends MarketState {
  readonly config: MarketConfig;
  readonly inputs: readonly PriceInput[];
  readonly keysOfFeed: Map<string, Set<string>>;
  readonly subscribers: Map<string, Subscriber[]>;
  readonly checkers: Map<string, SymbolPrice[]>;
  readonly latest: Map<string, FeedPrice | ReferencePrice>;
  readonly refusals: Map<string, Refusals>;
  readonly books: Map<string, SymbolPrice>;
  readonly views: Map<string, Map<string, Legs>>;
  readonly symbols: readonly string[];
  /** The pair that was read last: a request reads the same one several times. */
  last: { base: string; quote: string; legs: Legs } | undefined;
  /** The part of the pairs that the last tick updated. */
  turn: number;
  /** Prices that had no usable mid when `stale` examined, and why. */
  readonly missing: Map<string, string>;
  /** The index of the symbol that `stale` checked last. */
  examined: number;
}

/** Pairs or symbols that one call examines, so that quotes are answered in between. */
const MOST_AT_ONCE = 64;

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

export function createMarket({ clock, sequencers }: MarketDeps, config: MarketConfig): Market {
  const state = openState(config, clock.nowMs());
  return {
    symbols: state.symbols,
    state,
    pair: (base, quote) => pairPrice(state, clock, base, quote),
    mid: (symbol) => midOf(state, symbol, clock.nowMs()),
    condition: (base, quote) => conditionOf(state, clock, base, quote),
    chainCondition: (chainId) => chainConditionOf(sequencers?.get(chainId)),
    observe: (quote) => observe(state, quote),
    refer: (reference) => refer(state, reference),
    refused: (feed, symbol, why, detail) => refused(state, clock.nowMs(), feed, symbol, why, detail),
    adopt: (old, keeps) => adopt(state, old.state, keeps),
    tick: () => tick(state, clock),
    stale: () => stale(state, clock.nowMs()),
    sources: () => sources(state, clock.nowMs()),
    references: () => references(state, clock),
    pairs: () =>
      config.pairs.map(({ base, quote }) => ({ base, quote, price: pairPrice(state, clock, base, quote) })),
  };
}

function openState(config: MarketConfig, nowMs: number): State {
  const refusals = new Map<string, Refusals>();
  const books = new Map(
    Object.entries(config.prices).map(([symbol, price]) => [
      symbol,
      createSymbolPrice(price, nowMs, (source) => refusals.get(source)),
    ]),
  );
  const inputs = inputsOf(config.prices);
  return {
    config,
    prices: config.prices,
    inputs,
    ...subscriptions(inputs, books),
    latest: new Map(),
    refusals,
    books,
    views: viewsOf(config, books),
    symbols: [...books.keys()],
    last: undefined,
    turn: 0,
    missing: new Map(),
    examined: -1,
  };
}

/** Finds which prices take the messages of each source, and which prices it checks. */
function subscriptions(
  inputs: readonly PriceInput[],
  books: ReadonlyMap<string, SymbolPrice>,
): Pick<State, 'keysOfFeed' | 'subscribers' | 'checkers'> {
  const keysOfFeed: State['keysOfFeed'] = new Map();
  const subscribers: State['subscribers'] = new Map();
  const checkers: State['checkers'] = new Map();
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
  return { keysOfFeed, subscribers, checkers };
}

function viewsOf(config: MarketConfig, books: ReadonlyMap<string, SymbolPrice>): State['views'] {
  const views: State['views'] = new Map();
  for (const { base, quote, params } of config.pairs) {
    const [baseBook, quoteBook] = [books.get(symbolOf(config, base)), books.get(symbolOf(config, quote))];
    if (baseBook === undefined || quoteBook === undefined) continue;
    const view = createPairView(base === quote, params.maxConfidenceBps ?? DEFAULT_PARAMS.maxConfidenceBps);
    const ofBase = views.get(base) ?? new Map<string, Legs>();
    views.set(base, ofBase.set(quote, { view, base: baseBook, quote: quoteBook }));
  }
  return views;
}

/** The name of an asset's price. */
const symbolOf = ({ assets }: MarketConfig, asset: string): string => assets[asset]?.price ?? asset;

function find(state: State, base: string, quote: string): Legs | undefined {
  const { last } = state;
  if (last !== undefined && last.base === base && last.quote === quote) return last.legs;
  const found = state.views.get(base)?.get(quote);
  if (found !== undefined) state.last = { base, quote, legs: found };
  return found;
}

function pairPrice(state: State, clock: Clock, base: string, quote: string): PairPrice | Decline {
  const found = find(state, base, quote);
  if (found === undefined) return { declined: 'pair' };
  const nowMs = clock.nowMs();
  const [baseState, quoteState] = [found.base.state(nowMs), found.quote.state(nowMs)];
  if (baseState.condition?.blocks === true)
    return declineOf(symbolOf(state.config, base), baseState.condition);
  if (quoteState.condition?.blocks === true)
    return declineOf(symbolOf(state.config, quote), quoteState.condition);
  return found.view.price(baseState, quoteState);
}

function midOf({ books }: State, symbol: string, nowMs: number): Mid | Decline {
  const state = books.get(symbol)?.state(nowMs);
  if (state === undefined) return { declined: 'stale_price', detail: `no price named ${symbol}` };
  if (state.mid !== undefined && state.condition?.blocks !== true) return state.mid;
  return state.condition === undefined ? { declined: 'stale_price' } : declineOf(symbol, state.condition);
}

function conditionOf(state: State, clock: Clock, base: string, quote: string): Condition | undefined {
  const found = find(state, base, quote);
  if (found === undefined) return undefined;
  const nowMs = clock.nowMs();
  const now: { base: PriceState; quote: PriceState; nowMs: number } = {
    base: found.base.state(nowMs),
    quote: found.quote.state(nowMs),
    nowMs,
  };
  const conditions = [now.base.condition, now.quote.condition].filter((each) => each !== undefined);
  const blocking = conditions.find(({ blocks }) => blocks);
  if (blocking !== undefined) return blocking;
  const { mid } = found.view.price(now.base, now.quote);
  return found.view.disagreement(mid.confidenceBps, now) ?? conditions[0];
}

function chainConditionOf(sequencer: Sequencer | undefined): Condition | undefined {
  const state = sequencer?.state();
  return state === undefined || state.up
    ? undefined
    : { code: 'sequencer', blocks: true, brief: state.detail, detail: state.detail, sinceMs: state.sinceMs };
}

function observe(state: State, quote: FeedPrice): void {
  const key = `${quote.source}|${quote.symbol}`;
  const [takes, checks] = [state.subscribers.get(key), state.checkers.get(key)];
  const observation = (takes ?? checks) && observationOf(quote, key);
  if (observation === undefined) return;
  accepted(state, key);
  // Runs for every tick of every exchange: allocate nothing but the observation.
  state.latest.set(key, quote);
  for (const { book, as } of takes ?? [])
    book.take(takes?.length === 1 ? Object.assign(observation, as) : { ...observation, ...as });
  for (const book of checks ?? []) book.check(key, { price: middleOf(observation), atMs: observation.atMs });
}

function refer(state: State, reference: ReferencePrice): void {
  const key = `${reference.source}|${reference.symbol}`;
  const price = parsePrice(reference);
  if (price === undefined) return;
  accepted(state, key);
  state.latest.set(key, reference);
  for (const book of state.checkers.get(key) ?? []) book.check(key, { price, atMs: reference.atMs });
}

function accepted({ refusals }: State, key: string): void {
  const known = refusals.get(key);
  if (known !== undefined) known.count = 0;
}

function refused(
  { keysOfFeed, refusals }: State,
  atMs: number,
  feed: string,
  symbol: string | null,
  why: FeedRefusal,
  detail: string | undefined,
): void {
  const refusedKey = `${feed}|${symbol}`;
  // Exchanges invent symbols: only those of the configuration are kept.
  for (const key of keysOfFeed.get(feed) ?? []) {
    if (symbol !== null && key !== refusedKey) continue;
    const known = refusals.get(key);
    const firstMs = known === undefined || known.count === 0 ? atMs : known.firstMs;
    refusals.set(key, { why, detail, atMs, firstMs, count: (known?.count ?? 0) + 1 });
  }
}

function adopt(state: State, old: MarketState, keeps: (feed: string) => boolean): Pair[] {
  const { config, inputs, views } = state;
  for (const [feed, keys] of state.keysOfFeed) {
    if (!keeps(feed)) continue;
    for (const key of keys) {
      const [message, known] = [old.latest.get(key), old.refusals.get(key)];
      if (message !== undefined && 'price' in message) refer(state, message);
      else if (message !== undefined) observe(state, message);
      if (known !== undefined) state.refusals.set(key, { ...known });
    }
  }
  for (const [symbol, book] of state.books) {
    const known = old.books.get(symbol);
    if (known !== undefined) book.resume(known.memory());
  }
  const same = (symbol: string): boolean =>
    isDeepStrictEqual(config.prices[symbol], old.prices[symbol]) &&
    inputs.every(({ price, feed }) => price !== symbol || keeps(feed));
  return config.pairs.filter(({ base, quote }) => {
    const known = old.views.get(base)?.get(quote)?.view.volatility();
    const changed = !same(symbolOf(config, base)) || !same(symbolOf(config, quote));
    if (known !== undefined)
      views
        .get(base)
        ?.get(quote)
        // The step from one source's price to another's is no move of the market.
        ?.view.resume(changed ? { ...known, last: undefined } : known);
    return changed;
  });
}

function tick(state: State, clock: Clock): void {
  const { pairs } = state.config;
  const turns = Math.max(4, Math.ceil(pairs.length / MOST_AT_ONCE));
  state.turn = (state.turn + 1) % turns;
  for (let at = state.turn; at < pairs.length; at += turns) {
    const { base, quote } = pairs[at] as Pair;
    const found = find(state, base, quote);
    const nowMs = clock.nowMs();
    if (found !== undefined && !isDecline(pairPrice(state, clock, base, quote))) found.view.tick(nowMs);
  }
}

function stale(state: State, nowMs: number): { symbol: string; detail: string }[] {
  const { symbols, missing } = state;
  for (const symbol of [...missing.keys()]) examine(state, symbol, nowMs);
  for (let left = Math.min(MOST_AT_ONCE, symbols.length); left > 0; left--) {
    state.examined = (state.examined + 1) % symbols.length;
    examine(state, symbols[state.examined] as string, nowMs);
  }
  return [...missing].map(([symbol, detail]) => ({ symbol, detail }));
}

function examine({ books, missing }: State, symbol: string, nowMs: number): void {
  const condition = books.get(symbol)?.state(nowMs).condition;
  if (condition?.blocks === true) missing.set(symbol, condition.detail);
  else missing.delete(symbol);
}

function sources({ inputs, books, latest, refusals }: State, nowMs: number): SourceView[] {
  return inputs.map((input) => {
    const key = `${input.feed}|${input.symbol}`;
    const state = books.get(input.price)?.state(nowMs);
    return sourceView(input, state, latest.get(key), refusals.get(key), nowMs);
  });
}

function references({ inputs, books }: State, clock: Clock): ReferenceCheck[] {
  return inputs.flatMap(({ price, feed, symbol, role }) => {
    if (role !== 'reference') return [];
    const source = `${feed}|${symbol}`;
    const state = books.get(price)?.state(clock.nowMs());
    return [{ price, source, checked: state?.references.find((each) => each.source === source) }];
  });
}
