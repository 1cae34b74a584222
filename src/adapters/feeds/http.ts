/** Polls a JSON price over HTTP, dated by the request's start less the age reported by caches. */

import type { Feed, FeedListener, FeedPrice, FeedRefusal, FeedWaitReason } from '../../ports/feed.ts';
import { createTimeOrder, isRecord, isShortText, microsOf, readPrices } from './format.ts';
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

export function createHttpFeed(
  { clock, backoff, waits = createWaits(clock) }: FeedTools,
  options: HttpFeedOptions,
): Feed {
  const { url, symbols, source, bid, ask, time, headers = {}, everyMs = 1_000, timeoutMs = 2_000 } = options;
  const paths = { bid: bid.split('.'), ask: ask.split('.'), time: time?.split('.') };
  const order = createTimeOrder(clock.nowMs);
  const asking = new Set<AbortController>();
  const cancels = new Map<string, () => void>();
  let stopped = false;

  async function request(symbol: string): Promise<Answer> {
    const address = url.replaceAll('{symbol}', encodeURIComponent(symbol));
    const abort = new AbortController();
    let late = false;
    const cancelTimeout = clock.after(timeoutMs, () => {
      late = true;
      abort.abort();
    });
    asking.add(abort);
    try {
      const response = await fetch(address, {
        headers: { accept: 'application/json', ...headers },
        redirect: 'error',
        signal: abort.signal,
      });
      if (response.status !== 200) return await failureOf(response);
      const { text, isWhole } = await readStart(response.body, MOST_BYTES);
      if (!isWhole) return { ok: false, failed: `more than ${MOST_BYTES} bytes` };
      // Nine digits of seconds are 31 years.
      const age = /^\d{1,9}/.exec(response.headers.get('age') ?? '')?.[0] ?? '0';
      const answer = read(text, Number(age) * 1_000);
      if (answer.ok || !('why' in answer) || answer.why !== 'malformed') return answer;
      // Kraken refuses with status 200: a body without a price may say so in words.
      const refusal = readRefusal({ status: 200, body: text }, clock.nowMs());
      return refusal === undefined ? answer : { ok: false, failed: `"${quotation(text)}"`, refusal };
    } catch {
      // The error message may contain a key in the URL.
      return { ok: false, failed: late ? `no answer within ${timeoutMs} ms` : 'no connection' };
    } finally {
      cancelTimeout();
      asking.delete(abort);
    }
  }

  async function failureOf(response: Response): Promise<Answer> {
    const { status, headers, body } = response;
    const { text } = await readStart(body).catch(() => ({ text: '' }));
    const words = quotation(text);
    return {
      ok: false,
      failed: `status ${status}${words && `, "${words}"`}`,
      refusal: readRefusal({ status, header: (name) => headers.get(name), body: text }, clock.nowMs()),
    };
  }

  function read(text: string, inCacheMs: number): Answer {
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

  function poll(symbol: string, listener: FeedListener): void {
    let failures = 0;
    /** Answers in a row that could not be read. */
    let unreadable = 0;
    let connected = false;

    const deliver = (answer: Exclude<Answer, { failed: string }>, askedMs: number): void => {
      if (!connected) listener.trouble?.({ kind: 'connected' });
      connected = true;
      if (!answer.ok) {
        const { why, detail } = answer;
        return listener.trouble?.({ kind: 'refused', why, symbol, ...(detail !== undefined && { detail }) });
      }
      const { exchangeTimeMs } = answer;
      // Several machines may serve one URL, some of them behind.
      const late = exchangeTimeMs === null ? undefined : order.take(symbol, exchangeTimeMs);
      if (late !== undefined) return listener.trouble?.({ kind: 'refused', why: late, symbol });
      const quote: FeedPrice = {
        source,
        symbol,
        bid: answer.bid,
        ask: answer.ask,
        exchangeTimeMs,
        receivedMs: askedMs - answer.inCacheMs,
        sequence: null,
      };
      listener.quote(quote);
    };

    const again = (waitMs: number): void => {
      const cancel = clock.after(waitMs, () => void round());
      cancels.set(symbol, cancel);
    };

    const fail = (detail: string, waitMs: number, reason?: FeedWaitReason): void => {
      connected = false;
      listener.trouble?.({
        kind: 'disconnected',
        detail: `${symbol}: ${detail}`,
        retryInMs: Math.round(waitMs),
        ...(reason !== undefined && { reason }),
      });
      again(waitMs);
    };

    /** Returns the ms until the next request, less what the last one took. */
    const pauseAfter = (answer: Answer, spentMs: number): number => {
      const waitMs = Math.max(0, everyMs - spentMs);
      if ('failed' in answer)
        return answer.refusal === undefined
          ? Math.max(waitMs, backoff(failures++))
          : Math.max(waitMs, waits.told(url, answer.refusal));
      failures = 0;
      const notRead = !answer.ok && isUnreadable(answer.why);
      unreadable = notRead ? unreadable + 1 : 0;
      return notRead ? Math.max(waitMs, backoff(unreadable - 1)) : waitMs;
    };

    const round = async (): Promise<void> => {
      const waiting = waits.left(url);
      if (waiting !== undefined) return fail('waits as its server asked', waiting.ms, waiting.reason);
      const [askedMs, startedMs] = [clock.nowMs(), clock.monotonicMs()];
      const answer = await request(symbol);
      if (stopped) return;
      const waitMs = pauseAfter(answer, clock.monotonicMs() - startedMs);
      if ('failed' in answer) return fail(answer.failed, waitMs, answer.refusal?.reason);
      deliver(answer, askedMs);
      again(waitMs);
    };
    void round();
  }

  return {
    source,
    start(listener) {
      for (const symbol of symbols) poll(symbol, listener);
    },
    stop() {
      stopped = true;
      for (const abort of asking) abort.abort();
      for (const cancel of cancels.values()) cancel();
    },
  };
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
