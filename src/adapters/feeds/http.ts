/** Polls a JSON price over HTTP, dated by the request's start less the age reported by caches. */

import type { Feed, FeedListener, FeedQuote, FeedRefusal } from '../../ports/feed.ts';
import { createTimeOrder, isRecord, isShortText, microsOf, readPrices } from './format.ts';
import { parseLossless } from './json.ts';
import type { FeedTools } from './socket.ts';

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
  | { ok: false; why: FeedRefusal }
  | { ok: false; failed: string };

export function createHttpFeed({ clock, backoff }: FeedTools, options: HttpFeedOptions): Feed {
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
      if (response.status !== 200) {
        await response.body?.cancel();
        return { ok: false, failed: `status ${response.status}` };
      }
      const text = await readAtMost(response, MOST_BYTES);
      if (text === undefined) return { ok: false, failed: `more than ${MOST_BYTES} bytes` };
      // Nine digits of seconds are 31 years.
      const age = /^\d{1,9}/.exec(response.headers.get('age') ?? '')?.[0] ?? '0';
      return read(parseLossless(text), Number(age) * 1_000);
    } catch {
      // The error message may contain a key in the URL.
      return { ok: false, failed: late ? `no answer within ${timeoutMs} ms` : 'no connection' };
    } finally {
      cancelTimeout();
      asking.delete(abort);
    }
  }

  function read(json: unknown, inCacheMs: number): Answer {
    const book = readPrices(at(json, paths.bid), at(json, paths.ask));
    if (typeof book === 'string') return { ok: false, why: book };
    if (paths.time === undefined) return { ok: true, ...book, exchangeTimeMs: null, inCacheMs };
    const exchangeTimeMs = timeOf(at(json, paths.time));
    return exchangeTimeMs === undefined
      ? { ok: false, why: 'malformed' }
      : { ok: true, ...book, exchangeTimeMs, inCacheMs };
  }

  function poll(symbol: string, listener: FeedListener): void {
    let failures = 0;
    let connected = false;

    const deliver = (answer: Answer, askedMs: number): void => {
      if ('failed' in answer) return;
      if (!connected) listener.trouble?.({ kind: 'connected' });
      connected = true;
      if (!answer.ok) return listener.trouble?.({ kind: 'refused', why: answer.why, symbol });
      const { exchangeTimeMs } = answer;
      // Several machines may serve one URL, some of them behind.
      const late = exchangeTimeMs === null ? undefined : order.take(symbol, exchangeTimeMs);
      if (late !== undefined) return listener.trouble?.({ kind: 'refused', why: late, symbol });
      const quote: FeedQuote = {
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

    const round = async (): Promise<void> => {
      const [askedMs, startedMs] = [clock.nowMs(), clock.monotonicMs()];
      const answer = await request(symbol);
      if (stopped) return;
      const spentMs = clock.monotonicMs() - startedMs;
      let waitMs = Math.max(0, everyMs - spentMs);
      if ('failed' in answer) {
        waitMs = Math.max(waitMs, backoff(failures));
        failures += 1;
        connected = false;
        listener.trouble?.({
          kind: 'disconnected',
          detail: `${symbol}: ${answer.failed}`,
          retryInMs: Math.round(waitMs),
        });
      } else failures = 0;
      deliver(answer, askedMs);
      cancels.set(
        symbol,
        clock.after(waitMs, () => void round()),
      );
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

/** undefined when the body is longer. */
async function readAtMost(response: Response, bytes: number): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let total = 0;
  for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    total += part.byteLength;
    if (total > bytes) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
