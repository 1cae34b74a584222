/**
 * Decides when a price server may be asked again. Exchanges ban clients that go on asking after "too many
 * requests", so a refusal counts for all feeds of that server, and for connections as for requests.
 */

import type { Clock } from '../../ports/clock.ts';
import type { FeedWaitReason } from '../../ports/feed.ts';
import { pauseMs } from '../backoff.ts';
import { readRetryAfter } from '../outbound/retry-after.ts';

/** A server's wish not to be asked for a while. */
export interface Refusal {
  reason: FeedWaitReason;
  /** The wait that the server asks for; undefined where it names none. */
  forMs: number | undefined;
}

interface RefusingAnswer {
  /** 200 where words alone may refuse, such as in a message of a socket. */
  status: number;
  header?: (name: 'retry-after' | 'date') => string | null | undefined;
  /** The body; its beginning is enough. */
  body: string;
}

/** How many bytes of an answer may hold the words that refuse. */
const WORDS_BYTES = 4_096;

/**
 * Matches what exchanges write when they are asked too often. Kraken: "EGeneral:Too many requests",
 * "EAPI:Rate limit exceeded", "EService: Throttled: <time>", "EGeneral:Temporary lockout", "Exceeded msg
 * rate". Binance: "Way too many requests; IP banned until <time>", "Way too much request weight used". Bybit:
 * "Too many visits!", "access too frequent". OKX: "Requests too frequent". Gate: "TOO_MANY_REQUESTS".
 * Bitfinex: "ratelimit".
 */
const TOO_OFTEN =
  /too[ _](?:many[ _](?:requests|visits|connections|attempts|messages)|much[ _]request|frequent)|rate[ _-]?limit|request[ _]limit|msg[ _]rate|throttl|quota[ _]exceeded|temporary[ _]lockout/i;
const BANNED = /\b(?:ip|you|your ip|address)\b[^.]{0,40}\b(?:banned|blocked)\b|\bbanned until\b/i;
/** "IP banned until 1618228675371", "EService: Throttled: 1618228675". Unix seconds or ms. */
const UNTIL = /(?:until|throttled)\W{1,4}(\d{10}|\d{13})\b/i;
/** "Retry in 300 seconds". */
const RETRY_IN = /(?:retry|try again|wait)\D{1,20}(\d{1,6}) ?(?:s|sec|secs|second|seconds)\b/i;

/** Reads a refusal from an answer; undefined: the answer does not ask to wait. */
export function readRefusal(
  { status, header = () => undefined, body }: RefusingAnswer,
  nowMs: number,
): Refusal | undefined {
  const words = body.slice(0, WORDS_BYTES);
  const [banned, tooOften] = [status === 418 || BANNED.test(words), status === 429 || TOO_OFTEN.test(words)];
  const headerMs =
    status === 200 ? undefined : readRetryAfter(header('retry-after'), { nowMs, date: header('date') });
  if (!banned && !tooOften)
    return headerMs === undefined ? undefined : { reason: 'unavailable', forMs: headerMs };
  return { reason: banned ? 'banned' : 'rate_limited', forMs: headerMs ?? saidInWords(words, nowMs) };
}

function saidInWords(words: string, nowMs: number): number | undefined {
  const until = UNTIL.exec(words)?.[1];
  const untilMs = until === undefined ? 0 : Number(until) * (until.length === 10 ? 1_000 : 1);
  if (untilMs > nowMs) return untilMs - nowMs;
  const seconds = Number(RETRY_IN.exec(words)?.[1] ?? 0);
  return seconds > 0 ? seconds * 1_000 : undefined;
}

interface WaitOptions {
  /** The first wait where the server names none; each later one is twice as long. */
  firstMs?: number;
  longestMs?: number;
}

/** After this long without a refusal, the next wait is `firstMs` again. */
const STEADY_MS = 60_000;
/** Binance's longest ban. Whatever a server says, it is asked again after this. */
const LONGEST_SAID_MS = 3 * 86_400_000;

export interface Waits {
  /** Returns the wait that the server at this URL asked for; undefined when it may be asked. */
  left(url: string): { reason: FeedWaitReason; ms: number } | undefined;
  /** Returns the ms to wait: as long as the server says, or longer each time. */
  told(url: string, refusal: Refusal): number;
}

/** Makes the waits that all feeds of a process share, so that a feed that is made anew still waits. */
export function createWaits(clock: Clock, { firstMs = 5_000, longestMs = 300_000 }: WaitOptions = {}): Waits {
  const hosts = new Map<string, Refusal & { untilMs: number; count: number }>();
  const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);

  return {
    left(url) {
      const known = hosts.get(hostOf(url));
      const ms = known === undefined ? 0 : known.untilMs - clock.monotonicMs();
      return known !== undefined && ms > 0 ? { reason: known.reason, ms } : undefined;
    },
    told(url, refusal) {
      const [host, nowMs] = [hostOf(url), clock.monotonicMs()];
      const known = hosts.get(host);
      const isWaiting = known !== undefined && nowMs < known.untilMs;
      // Requests sent before the first refusal do not lengthen the wait.
      const again = known !== undefined && nowMs - known.untilMs <= STEADY_MS;
      const count = isWaiting ? known.count : again ? known.count + 1 : 0;
      const ownMs = isWaiting ? 0 : pauseMs(count, { firstMs, longestMs });
      const untilMs = Math.max(
        nowMs + Math.min(refusal.forMs ?? ownMs, LONGEST_SAID_MS),
        known?.untilMs ?? 0,
      );
      hosts.set(host, { ...refusal, untilMs, count });
      return untilMs - nowMs;
    },
  };
}

/**
 * Reads the first bytes of a body, as text. `isWhole`: the body has no more. The connection of a longer one
 * is left to the caller.
 */
export async function readStart(
  body: AsyncIterable<Uint8Array> | null,
  bytes = WORDS_BYTES,
): Promise<{ text: string; isWhole: boolean }> {
  const parts: Uint8Array[] = [];
  let total = 0;
  for await (const part of body ?? []) {
    parts.push(part);
    total += part.byteLength;
    if (total > bytes) break;
  }
  return { text: Buffer.concat(parts).subarray(0, bytes).toString('utf8'), isWhole: total <= bytes };
}

const LONGEST_QUOTATION = 120;

/**
 * Extracts what an answer says, for the log: the texts of a JSON document or of a page, without tags,
 * addresses and what may be a key. An outside server writes the body, so the patterns read a part of limited
 * length, each in linear time.
 */
export function quotation(body: string): string {
  let text: string;
  try {
    text = textsOf(JSON.parse(body), 4).join('; ');
  } catch {
    text = body;
  }
  const words = withoutTags(text.slice(0, WORDS_BYTES)).split(/\s+/);
  // The last word may be cut, and then it may be the start of a key or an address.
  if (text.length > WORDS_BYTES) words.splice(-1, 1, '…');
  return words
    .map((word) => (/\/\/|[?&=@]/.test(word) ? '…' : word.replace(/[A-Za-z0-9_-]{20,}/g, '…')))
    .join(' ')
    .replace(/[^\x21-\x7e…]+/g, ' ')
    .trim()
    .slice(0, LONGEST_QUOTATION);
}

/** Removes tags, and styles and scripts too, whether they end or not. */
function withoutTags(text: string): string {
  // Even items are texts; the item before each is "" for a tag that opens and "/" for one that closes.
  return text
    .split(/<(\/?)(?:style|script)[^<>]*>/i)
    .filter((_, index, items) => index % 2 === 0 && items[index - 1] !== '')
    .join(' ')
    .replace(/<[^<>]*>/g, ' ');
}

function textsOf(value: unknown, depth: number): string[] {
  if (typeof value === 'string') return /[a-z]/i.test(value) ? [value] : [];
  if (typeof value !== 'object' || value === null || depth === 0) return [];
  return Object.values(value).flatMap((part) => textsOf(part, depth - 1));
}
