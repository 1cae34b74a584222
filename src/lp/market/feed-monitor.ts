/** Counts messages and faults of price feeds, and logs the health of each feed and source. */

import type { Clock } from '../../ports/clock.ts';
import { FEED_REFUSALS, FEED_WAIT_REASONS, type FeedTrouble, type Sequencer } from '../../ports/feed.ts';
import type { Log } from '../../ports/log.ts';
import type { Counter, Metrics } from '../../ports/metrics.ts';
import { createReadable, type Readability } from '../../pricing/readable.ts';
import type { Market } from './market.ts';
import { registerPriceGauges } from './price-gauges.ts';
import type { SourceView } from './source-view.ts';

export interface FeedMonitor {
  /** Begins to count a feed. `up`: it is connected. */
  add(feed: string, up: boolean): void;
  /** Takes the feed's metrics away, so that no alert waits for a feed that the configuration dropped. */
  remove(feed: string): void;
  /** Counts a price. Called for every tick of every exchange. */
  delivered(feed: string, symbol: string, outcome: 'quote' | 'reference'): void;
  hear(feed: string, trouble: FeedTrouble): void;
  /** Looks at every source once a second, until `stop`. */
  start(): void;
  stop(): void;
}

export interface FeedMonitorDeps {
  /** The market in force. */
  market(): Market;
  sequencers: ReadonlyMap<number, Sequencer>;
  slug(chainId: number): string;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

/** A time during which a source was not usable. */
interface Spell {
  sinceMs: number;
  /** Messages refused in it. */
  refused: number;
  logged: { trouble: string; atMs: number } | undefined;
}

interface FeedCounters {
  readonly messages: Counter;
  readonly disconnects: Counter;
  readonly waits: Counter;
  readonly gaps: Counter;
}

/** What is known of each feed by its name, and of each source. Times are monotonic, in milliseconds. */
interface MonitorState {
  readonly connected: Map<string, boolean>;
  readonly readable: Map<string, Readability>;
  /** The time until which a feed waits. */
  readonly waiting: Map<string, number>;
  /** The failures of a feed to connect that were logged: those that repeat are not. */
  readonly failures: Map<string, Set<string>>;
  /** The time at which a wait was last logged, by feed and reason. */
  readonly waitsLogged: Map<string, number>;
  /** Feeds that were disconnected without a line. */
  readonly silently: Set<string>;
  /** Symbols of a feed that its source does not serve, since the feed was connected. */
  readonly rejections: Map<string, number>;
  /** The spells of sources that are not usable. */
  readonly spells: Map<string, Spell>;
  cancelCheck: () => void;
}

const CHECK_MS = 1_000;
/** A source in trouble for less is not logged. */
const LOGGED_AFTER_MS = 5_000;
/** Changes of one trouble are logged at most once in this time. */
const CHANGE_LOGGED_AFTER_MS = 30_000;
/** Waits of one feed for one reason are logged at most once in this time. */
const WAIT_LOGGED_AFTER_MS = 60_000;
/** An exchange may give a new reason for each attempt. */
const MAX_REASONS = 20;
/** Each connection logs this many rejections; further ones are only counted. */
const MAX_LOGGED_REJECTIONS = 20;

/** The outcomes of a message: a metrics label. */
const OUTCOMES = ['quote', 'reference', 'rejected', ...FEED_REFUSALS];

export function createFeedMonitor(deps: FeedMonitorDeps): FeedMonitor {
  const state: MonitorState = {
    connected: new Map(),
    readable: new Map(),
    waiting: new Map(),
    failures: new Map(),
    waitsLogged: new Map(),
    silently: new Set(),
    rejections: new Map(),
    spells: new Map(),
    cancelCheck: () => {},
  };
  const counters = registerFeedMetrics(deps, state);
  registerPriceGauges(deps);
  return {
    add: (feed, up) => add(state, counters, feed, up),
    remove: (feed) => remove(state, counters, feed),
    delivered(feed, symbol, outcome) {
      counters.messages.add({ feed, outcome });
      state.readable.get(feed)?.delivered(symbol);
    },
    hear: (feed, trouble) => hear(deps, state, counters, feed, trouble),
    start() {
      state.cancelCheck = deps.clock.after(CHECK_MS, () => check(deps, state));
    },
    stop: () => state.cancelCheck(),
  };
}

function registerFeedMetrics({ clock, metrics }: FeedMonitorDeps, state: MonitorState): FeedCounters {
  const { connected, readable, waiting } = state;
  const messages = metrics.counter(
    'firmquote_lp_feed_messages_total',
    'Prices from a feed, by what became of them',
    ['feed', 'outcome'],
  );
  const disconnects = metrics.counter(
    'firmquote_lp_feed_disconnects_total',
    'Connections to a feed that ended, each followed by another attempt',
    ['feed'],
  );
  const waits = metrics.counter(
    'firmquote_lp_feed_waits_total',
    'Times that the source of a feed asked to wait, by reason',
    ['feed', 'reason'],
  );
  metrics.gauge(
    'firmquote_lp_feed_wait_seconds',
    'Until a feed asks its source again, which asked it to wait; 0 while it does not wait',
    ['feed'],
    (gauge) => {
      for (const feed of connected.keys())
        gauge.set(Math.max(0, (waiting.get(feed) ?? 0) - clock.monotonicMs()) / 1_000, { feed });
    },
  );
  const gaps = metrics.counter('firmquote_lp_feed_gaps_total', 'Losses that a feed proved', ['feed']);
  metrics.gauge(
    'firmquote_lp_feed_connected',
    '1 while a feed is connected and says something that can be read',
    ['feed'],
    (gauge) => {
      for (const [feed, up] of connected)
        gauge.set(up && readable.get(feed)?.yes() !== false ? 1 : 0, { feed });
    },
  );
  return { messages, disconnects, waits, gaps };
}

function add(state: MonitorState, counters: FeedCounters, feed: string, up: boolean): void {
  const { messages, disconnects, waits, gaps } = counters;
  state.connected.set(feed, up);
  state.readable.set(feed, createReadable());
  for (const counter of [disconnects, gaps]) counter.add({ feed }, 0);
  for (const outcome of OUTCOMES) messages.add({ feed, outcome }, 0);
  for (const reason of FEED_WAIT_REASONS) waits.add({ feed, reason }, 0);
}

function remove(state: MonitorState, counters: FeedCounters, feed: string): void {
  const { connected, readable, failures, rejections, waiting, silently } = state;
  const { messages, disconnects, waits, gaps } = counters;
  for (const each of [connected, readable, failures, rejections, waiting, silently]) each.delete(feed);
  for (const counter of [disconnects, gaps]) counter.remove({ feed });
  for (const outcome of OUTCOMES) messages.remove({ feed, outcome });
  for (const reason of FEED_WAIT_REASONS) waits.remove({ feed, reason });
}

function hear(
  { clock, log }: FeedMonitorDeps,
  state: MonitorState,
  counters: FeedCounters,
  feed: string,
  trouble: FeedTrouble,
): void {
  switch (trouble.kind) {
    case 'refused':
      // An exchange can send thousands of these a second: count them, and log spells of them.
      state.readable.get(feed)?.refused(trouble.why, trouble.symbol);
      return counters.messages.add({ feed, outcome: trouble.why });
    case 'connected':
      noteConnected(state, feed);
      if (state.silently.delete(feed)) return;
      return log.info({ feed, ...trouble }, 'price feed');
    case 'disconnected':
      if (!noteDisconnected(clock, state, counters, feed, trouble)) return;
      break;
    case 'gap':
      counters.gaps.add({ feed });
      break;
    case 'rejected':
      if (!noteRejected(state, counters, feed)) return;
      return log.error(
        { feed, ...trouble },
        'price feed: the source does not serve this symbol, correct the configuration',
      );
    case 'silent':
  }
  log.warn({ feed, ...trouble }, 'price feed');
}

function noteConnected(state: MonitorState, feed: string): void {
  state.connected.set(feed, true);
  state.readable.get(feed)?.connected();
  for (const each of [state.failures, state.rejections, state.waiting]) each.delete(feed);
}

/** Returns whether it is to be logged. */
function noteDisconnected(
  clock: Clock,
  state: MonitorState,
  { disconnects, waits }: FeedCounters,
  feed: string,
  { reason, detail, retryInMs }: Extract<FeedTrouble, { kind: 'disconnected' }>,
): boolean {
  state.connected.set(feed, false);
  disconnects.add({ feed });
  if (reason === undefined) return isNewFailure(state, feed, detail);
  waits.add({ feed, reason });
  state.waiting.set(feed, clock.monotonicMs() + (retryInMs ?? 0));
  const isNew = isNewWait(clock, state, feed, reason);
  if (!isNew) state.silently.add(feed);
  return isNew;
}

/** Attempts to connect that fail in the same way are logged once. */
function isNewFailure({ failures }: MonitorState, feed: string, detail: string): boolean {
  const known = failures.get(feed) ?? new Set();
  failures.set(feed, known);
  if (known.has(detail) || known.size >= MAX_REASONS) return false;
  known.add(detail);
  return true;
}

function isNewWait(clock: Clock, { waitsLogged }: MonitorState, feed: string, reason: string): boolean {
  const [key, nowMs] = [`${feed} ${reason}`, clock.monotonicMs()];
  const loggedMs = waitsLogged.get(key);
  if (loggedMs !== undefined && nowMs - loggedMs < WAIT_LOGGED_AFTER_MS) return false;
  waitsLogged.set(key, nowMs);
  return true;
}

/** Returns whether it is to be logged. */
function noteRejected({ rejections }: MonitorState, { messages }: FeedCounters, feed: string): boolean {
  messages.add({ feed, outcome: 'rejected' });
  const count = (rejections.get(feed) ?? 0) + 1;
  rejections.set(feed, count);
  return count <= MAX_LOGGED_REJECTIONS;
}

/** Logs the spells of all sources, and looks again in a second. */
function check(deps: FeedMonitorDeps, state: MonitorState): void {
  const { spells } = state;
  const views = deps.market().sources();
  for (const view of views) followSource(deps, spells, view);
  const names = new Set(views.map(spellKey));
  for (const name of spells.keys()) if (!names.has(name)) spells.delete(name);
  state.cancelCheck = deps.clock.after(CHECK_MS, () => check(deps, state));
}

const spellKey = ({ price, feed, symbol }: SourceView): string => `${price} ${feed}|${symbol}`;

function followSource(
  { clock, log }: FeedMonitorDeps,
  spells: MonitorState['spells'],
  view: SourceView,
): void {
  const { price, feed, symbol, role, trouble, refused } = view;
  const key = spellKey(view);
  const [spell, nowMs] = [spells.get(key), clock.monotonicMs()];
  const facts = { price, source: `${feed}|${symbol}`, role };
  if (trouble === undefined) {
    spells.delete(key);
    if (spell?.logged !== undefined)
      log.info(
        { ...facts, was: spell.logged.trouble, forMs: nowMs - spell.sinceMs, refused: spell.refused },
        'this source of a price is usable again',
      );
    return;
  }
  if (spell === undefined) {
    spells.set(key, { sinceMs: nowMs, refused: refused?.count ?? 0, logged: undefined });
    return;
  }
  spell.refused = Math.max(spell.refused, refused?.count ?? 0);
  if (!isDue(spell, trouble, nowMs)) return;
  const { value, ageMs, allowedAgeMs, offBps, allowedBps } = view;
  log.warn(
    { ...facts, trouble, value, ageMs, allowedAgeMs, offBps, allowedBps, refused },
    'this source of a price is not usable',
  );
  spell.logged = { trouble, atMs: nowMs };
}

const isDue = ({ sinceMs, logged }: Spell, trouble: string, nowMs: number): boolean =>
  logged === undefined
    ? nowMs - sinceMs >= LOGGED_AFTER_MS
    : logged.trouble !== trouble && nowMs - logged.atMs >= CHANGE_LOGGED_AFTER_MS;
