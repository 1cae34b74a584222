/**
 * Polls a JSON price over HTTP, dated by the request's start less the age reported by caches. Uses `fetch`
 * and not `outbound`, because exchanges may compress answers, and some refuse requests that name no user
 * agent.
 */

import type { Feed, FeedListener, FeedRefusal, FeedWaitReason } from '../../ports/feed.ts';
import { createTimeOrder, isRecord, isShortText, microsOf, readPrices, type TimeOrder } from './format.ts';
import { isUnreadable } from '../../pricing/readable.ts';
import { parseLossless } from './json.ts';
import type { FeedTools } from './socket.ts';
import { createWaits, quotation, readRefusal, readStart, type Refusal } from './waits.ts';

export interface HttpFeedOptions {
  url: string;
  symbols: readonly string[];
  source: string;
  /** Names joined by dots, such as "result.*.b.0"; `*` is the only member at that level. */
  bid: string;
  ask: string;
  /** RFC 3339, or seconds, milliseconds, microseconds or nanoseconds since 1970. */
  time?: string;
  headers?: Readonly<Record<string, string>>;
  everyMs?: number;
  timeoutMs?: number;
}

const MOST_BYTES = 256 * 1024;

type Answer =
  | { ok: true; bid: string; ask: string; exchangeTimeMs: number | null; inCacheMs: number }
  /** `detail` says what could not be read. */
  | { ok: false; why: FeedRefusal; detail?: string }
  | { ok: false; failed: string; refusal?: Refusal | undefined };

/** What all requests of one feed share. */
interface HttpSource extends Required<FeedTools> {
  options: HttpFeedOptions & { everyMs: number; timeoutMs: number };
  paths: { bid: readonly string[]; ask: readonly string[]; time: readonly string[] | undefined };
  order: TimeOrder;
  state: {
    asking: Set<AbortController>;
    /** Ends the pause before the next request, by symbol. */
    cancels: Map<string, () => void>;
    stopped: boolean;
  };
}

/** The requests for one symbol, one after another. */
interface Poll {
  symbol: string;
  listener: FeedListener;
  failures: number;
  /** Answers in a row that could not be read. */
  unreadable: number;
  connected: boolean;
}

export function createHttpFeed(
  { clock, backoff, waits = createWaits(clock) }: FeedTools,
  options: HttpFeedOptions,
): Feed {
  const { symbols, source, bid, ask, time, everyMs = 1_000, timeoutMs = 2_000 } = options;
  const state: HttpSource['state'] = { asking: new Set(), cancels: new Map(), stopped: false };
  const feed: HttpSource = {
    ...{ clock, backoff, waits, state },
    options: { ...options, everyMs, timeoutMs },
    paths: { bid: bid.split('.'), ask: ask.split('.'), time: time?.split('.') },
    order: createTimeOrder(clock.nowMs),
  };
  return {
    source,
    start(listener) {
      for (const symbol of symbols)
        void round(feed, { symbol, listener, failures: 0, unreadable: 0, connected: false });
    },
    stop() {
      state.stopped = true;
      for (const abort of state.asking) abort.abort();
      for (const cancel of state.cancels.values()) cancel();
    },
  };
}

async function round(feed: HttpSource, poll: Poll): Promise<void> {
  const { clock, waits, options } = feed;
  const waiting = waits.left(options.url);
  if (waiting !== undefined) return fail(feed, poll, 'waits as its server asked', waiting.ms, waiting.reason);
  const [askedMs, startedMs] = [clock.nowMs(), clock.monotonicMs()];
  const answer = await request(feed, poll.symbol);
  if (feed.state.stopped) return;
  const waitMs = pauseAfter(feed, poll, answer, clock.monotonicMs() - startedMs);
  if ('failed' in answer) return fail(feed, poll, answer.failed, waitMs, answer.refusal?.reason);
  deliver(feed, poll, answer, askedMs);
  again(feed, poll, waitMs);
}

async function request(feed: HttpSource, symbol: string): Promise<Answer> {
  const { clock, state } = feed;
  const { url, headers = {}, timeoutMs } = feed.options;
  const address = url.replaceAll('{symbol}', encodeURIComponent(symbol));
  const abort = new AbortController();
  let late = false;
  const cancelTimeout = clock.after(timeoutMs, () => {
    late = true;
    abort.abort();
  });
  state.asking.add(abort);
  try {
    const response = await fetch(address, {
      headers: { accept: 'application/json', ...headers },
      redirect: 'error',
      signal: abort.signal,
    });
    if (response.status !== 200) return await failureOf(feed, response);
    const { text, isWhole } = await readStart(response.body, MOST_BYTES);
    if (!isWhole) return { ok: false, failed: `more than ${MOST_BYTES} bytes` };
    // Nine digits of seconds are 31 years.
    const age = /^\d{1,9}/.exec(response.headers.get('age') ?? '')?.[0] ?? '0';
    const answer = read(feed, text, Number(age) * 1_000);
    if (answer.ok || !('why' in answer) || answer.why !== 'malformed') return answer;
    // Kraken refuses with status 200: a body without a price may say so in words.
    const refusal = readRefusal({ status: 200, body: text }, clock.nowMs());
    return refusal === undefined ? answer : { ok: false, failed: `"${quotation(text)}"`, refusal };
  } catch {
    // The error message may contain a key in the URL.
    return { ok: false, failed: late ? `no answer within ${timeoutMs} ms` : 'no connection' };
  } finally {
    cancelTimeout();
    state.asking.delete(abort);
  }
}

async function failureOf({ clock }: HttpSource, { status, headers, body }: Response): Promise<Answer> {
  const { text } = await readStart(body).catch(() => ({ text: '' }));
  const words = quotation(text);
  return {
    ok: false,
    failed: `status ${status}${words && `, "${words}"`}`,
    refusal: readRefusal({ status, header: (name) => headers.get(name), body: text }, clock.nowMs()),
  };
}

function read({ paths }: HttpSource, text: string, inCacheMs: number): Answer {
  const json = parseLossless(text);
  const [bidText, askText] = [at(json, paths.bid), at(json, paths.ask)];
  const book = readPrices(bidText, askText);
  if (typeof book === 'string') return { ok: false, why: book, detail: saidOf(text, bidText, askText) };
  if (paths.time === undefined) return { ok: true, ...book, exchangeTimeMs: null, inCacheMs };
  const exchangeTimeMs = timeOf(at(json, paths.time));
  return exchangeTimeMs === undefined
    ? { ok: false, why: 'malformed' }
    : { ok: true, ...book, exchangeTimeMs, inCacheMs };
}

/** Returns the ms until the next request, less what the last one took. */
function pauseAfter(
  { backoff, waits, options }: HttpSource,
  poll: Poll,
  answer: Answer,
  spentMs: number,
): number {
  const waitMs = Math.max(0, options.everyMs - spentMs);
  if ('failed' in answer)
    return answer.refusal === undefined
      ? Math.max(waitMs, backoff(poll.failures++))
      : Math.max(waitMs, waits.told(options.url, answer.refusal));
  poll.failures = 0;
  const notRead = !answer.ok && isUnreadable(answer.why);
  poll.unreadable = notRead ? poll.unreadable + 1 : 0;
  return notRead ? Math.max(waitMs, backoff(poll.unreadable - 1)) : waitMs;
}

function fail(feed: HttpSource, poll: Poll, detail: string, waitMs: number, reason?: FeedWaitReason): void {
  poll.connected = false;
  poll.listener.trouble?.({
    kind: 'disconnected',
    detail: `${poll.symbol}: ${detail}`,
    retryInMs: Math.round(waitMs),
    ...(reason !== undefined && { reason }),
  });
  again(feed, poll, waitMs);
}

function again(feed: HttpSource, poll: Poll, waitMs: number): void {
  const cancel = feed.clock.after(waitMs, () => void round(feed, poll));
  feed.state.cancels.set(poll.symbol, cancel);
}

function deliver(
  { options: { source }, order }: HttpSource,
  poll: Poll,
  answer: Exclude<Answer, { failed: string }>,
  askedMs: number,
): void {
  const { symbol, listener } = poll;
  if (!poll.connected) listener.trouble?.({ kind: 'connected' });
  poll.connected = true;
  if (!answer.ok) {
    const { why, detail } = answer;
    return listener.trouble?.({ kind: 'refused', why, symbol, ...(detail !== undefined && { detail }) });
  }
  const { bid, ask, exchangeTimeMs, inCacheMs } = answer;
  // Several machines may serve one URL, some of them behind.
  const late = exchangeTimeMs === null ? undefined : order.take(symbol, exchangeTimeMs);
  if (late !== undefined) return listener.trouble?.({ kind: 'refused', why: late, symbol });
  const receivedMs = askedMs - inCacheMs;
  listener.quote({ source, symbol, bid, ask, exchangeTimeMs, receivedMs, sequence: null });
}

/** The prices that an answer gives, or else what it says instead. */
const saidOf = (text: string, bid: unknown, ask: unknown): string =>
  bid === undefined || ask === undefined
    ? `no price at the paths: "${quotation(text)}"`
    : quotation(JSON.stringify([`bid ${String(bid)}`, `ask ${String(ask)}`]));

function at(json: unknown, path: readonly string[]): unknown {
  let here = json;
  for (const name of path) {
    if (Array.isArray(here))
      here = name === '*' ? (here.length === 1 ? here[0] : undefined) : here[Number(name)];
    else if (isRecord(here))
      here =
        name === '*'
          ? Object.keys(here).length === 1
            ? Object.values(here)[0]
            : undefined
          : Object.hasOwn(here, name)
            ? here[name]
            : undefined;
    else return undefined;
  }
  return here;
}

/** Seconds reach 1e11 in the year 5138; milliseconds passed it in 1973. */
function timeOf(value: unknown): number | undefined {
  const micros = microsOf(value);
  if (micros !== undefined) return Math.floor(micros / 1_000);
  const number = isShortText(value) && /^\d{9,19}(?:\.\d+)?$/.test(value) ? Number(value) : undefined;
  if (number === undefined) return undefined;
  return Math.floor(
    number < 1e11 ? number * 1_000 : number < 1e14 ? number : number < 1e17 ? number / 1e3 : number / 1e6,
  );
}
