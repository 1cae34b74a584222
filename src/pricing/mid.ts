/**
 * The mid: several sources, none of them trusted alone.
 *
 * Old ones are dropped, then those far from the median of the rest, and the median of what is left is the
 * mid, exact. How far the survivors lie apart is the confidence that pricing charges for. Too few survivors
 * is no price at all.
 */

import type { Decline } from '../domain/decline.ts';
import { divide, parseDecimal, reduced, ten, toNumber, type Rational } from './rational.ts';

/** One source's latest top of book. Prices are in 1e-18 of a quote token. */
export interface Observation {
  source: string;
  bid: bigint;
  ask: bigint;
  /** When it happened, if the source says so, and never later than we received it. */
  atMs: number;
  /** The source does not say when it happened, so it counts half. */
  untimed: boolean;
  /** How often it counts; a whole number, default 1. */
  weight?: number;
  /** A push oracle is fresh for a heartbeat; default: as long as every other source. */
  maxAgeMs?: number;
  /** What the source itself says of its uncertainty (Pyth), in bps. */
  confidenceBps: number;
}

const SCALE = 18;

/**
 * Reads a feed's decimal texts. undefined when they are no prices, crossed, or finer than 1e-18. A source
 * whose clock runs ahead of ours cannot make its price younger than its arrival, but one that delivers late
 * makes it as old as it is. `source` names it where the feed's own name is not enough.
 */
export function observe(
  quote: {
    source: string;
    bid: string;
    ask: string;
    receivedMs: number;
    exchangeTimeMs?: number | null;
    confidenceBps?: number;
  },
  source = quote.source,
): Observation | undefined {
  const bid = toScale(quote.bid);
  const ask = toScale(quote.ask);
  if (bid === undefined || ask === undefined || bid <= 0n || ask < bid) return undefined;
  const exchangeTimeMs = quote.exchangeTimeMs ?? null;
  return {
    source,
    bid,
    ask,
    atMs: Math.min(quote.receivedMs, exchangeTimeMs ?? quote.receivedMs),
    untimed: exchangeTimeMs === null,
    confidenceBps: quote.confidenceBps ?? 0,
  };
}

function toScale(text: string): bigint | undefined {
  const parsed = parseDecimal(text);
  if (parsed === undefined) return undefined;
  const scaled = parsed.num * ten(SCALE);
  return scaled % parsed.den === 0n ? scaled / parsed.den : undefined;
}

export interface MidOptions {
  maxAgeMs: number;
  /** Sources further than this from the median are dropped. */
  devGuardBps: number;
  minSources: number;
}

export const DEFAULT_MID_OPTIONS: MidOptions = { maxAgeMs: 2_000, devGuardBps: 50, minSources: 2 };

export interface Mid {
  /** Exact, whole quote tokens for one whole base token. */
  price: Rational;
  /** The same as a float, for terms and people. */
  value: number;
  /** sigma_P in bps: the largest of scaled MAD, half-spread, and what a source says of itself. */
  confidenceBps: number;
  /** Time of the oldest source used: the quote's option runs from here. */
  atMs: number;
  used: readonly string[];
  dropped: readonly { source: string; why: 'stale' | 'future' | 'crossed' | 'deviant' }[];
  /** Every source considered, used or not, with price and age, to explain this mid. */
  seen: readonly Observation[];
}

const NONE: readonly never[] = [];

/** MAD to standard deviation, for normal noise. */
const MAD_SCALE = 1.4826;
/** Sums of two books (bid + ask, twice) keep every median exact: a price is num / (4 * 1e18). */
const QUARTERS = 4n * ten(SCALE);

/** The mid of the sources that are fresh and agree, or `stale_price` with what is wrong with them. */
export function aggregate(
  observations: Iterable<Observation>,
  nowMs: number,
  { maxAgeMs, devGuardBps, minSources }: MidOptions = DEFAULT_MID_OPTIONS,
): Mid | Decline {
  const dropped: { source: string; why: 'stale' | 'future' | 'crossed' | 'deviant' }[] = [];
  const fresh: Seen[] = [];
  const all = [...observations];
  for (const seen of all) {
    const age = nowMs - seen.atMs;
    const why =
      age > (seen.maxAgeMs ?? maxAgeMs)
        ? 'stale'
        : age < -maxAgeMs
          ? 'future'
          : seen.bid <= 0n || seen.ask < seen.bid
            ? 'crossed'
            : undefined;
    if (why === undefined)
      fresh.push({
        value: 2n * (seen.bid + seen.ask),
        weight: (seen.weight ?? 1) * (seen.untimed ? 1 : 2),
        seen,
      });
    else dropped.push({ source: seen.source, why });
  }
  if (fresh.length < Math.max(minSources, 1))
    return { declined: 'stale_price', detail: `${fresh.length} of ${minSources} sources fresh` };

  const first = median(fresh);
  const guard = BigInt(Math.round(devGuardBps * 100));
  const kept: Seen[] = [];
  const used: string[] = [];
  const [fromPrice, halfSpreads]: [Weighed[], Weighed[]] = [[], []];
  let saysBps = 0;
  let atMs = Number.POSITIVE_INFINITY;
  for (const each of fresh) {
    if (distance(each.value, first) * 1_000_000n > guard * first)
      dropped.push({ source: each.seen.source, why: 'deviant' });
    else kept.push(each);
  }
  if (kept.length < Math.max(minSources, 1))
    return { declined: 'stale_price', detail: `${kept.length} of ${minSources} sources agree` };

  const price = median(kept);
  for (const { value, weight, seen } of kept) {
    fromPrice.push({ value: distance(value, price), weight });
    halfSpreads.push({ value: 2n * (seen.ask - seen.bid), weight });
    if (seen.confidenceBps > saysBps) saysBps = seen.confidenceBps;
    if (seen.atMs < atMs) atMs = seen.atMs;
    used.push(seen.source);
  }
  const inBps = (width: bigint) => (Number(width) / Number(price)) * 1e4;
  return {
    price: reduced({ num: price, den: QUARTERS }),
    value: toNumber({ num: price, den: QUARTERS }),
    confidenceBps: Math.max(MAD_SCALE * inBps(median(fromPrice)), inBps(median(halfSpreads)), saysBps),
    atMs,
    used,
    dropped: dropped.length === 0 ? NONE : dropped,
    seen: all,
  };
}

/** A/USD over B/USD: quote tokens B for one A. Uncertainties add, and the older leg dates it. */
export const cross = (a: Mid, b: Mid): Mid => new Cross(a, b);

/**
 * Every tick makes one for each pair that it is part of, and each stays until the next: what its legs know
 * already is not copied.
 */
class Cross implements Mid {
  readonly price: Rational;
  readonly value: number;
  readonly confidenceBps: number;
  readonly atMs: number;
  readonly #a: Mid;
  readonly #b: Mid;

  constructor(a: Mid, b: Mid) {
    this.price = reduced(divide(a.price, b.price));
    this.value = toNumber(this.price);
    this.confidenceBps = a.confidenceBps + b.confidenceBps;
    this.atMs = Math.min(a.atMs, b.atMs);
    this.#a = a;
    this.#b = b;
  }

  get used(): readonly string[] {
    return [...this.#a.used, ...this.#b.used];
  }

  get dropped(): Mid['dropped'] {
    return [...this.#a.dropped, ...this.#b.dropped];
  }

  get seen(): readonly Observation[] {
    return [...this.#a.seen, ...this.#b.seen];
  }
}

/** Distance of a reference (an oracle, a TWAP) from the mid, in bps of the mid; for the deviation guard. */
export function deviationBps(mid: Rational, reference: Rational): number {
  return Math.abs(toNumber(divide(reference, mid)) - 1) * 1e4;
}

interface Weighed {
  value: bigint;
  weight: number;
}

interface Seen extends Weighed {
  seen: Observation;
}

/**
 * Weighted median; the mean of the two in the middle where the weight splits evenly. Values are even, so it
 * is exact.
 */
function median(items: readonly Weighed[]): bigint {
  const sorted: Weighed[] = [];
  let total = 0;
  // Sources are few, and each is put where it belongs.
  for (const item of items) {
    total += item.weight;
    let at = sorted.length;
    for (; at > 0 && (sorted[at - 1] as Weighed).value > item.value; at -= 1)
      sorted[at] = sorted[at - 1] as Weighed;
    sorted[at] = item;
  }
  let below = 0;
  for (let at = 0; at < sorted.length; at += 1) {
    const { value, weight } = sorted[at] as Weighed;
    below += weight;
    if (2 * below > total) return value;
    if (2 * below === total) return (value + (sorted[at + 1]?.value ?? value)) / 2n;
  }
  return 0n;
}

const distance = (a: bigint, b: bigint): bigint => (a < b ? b - a : a - b);
