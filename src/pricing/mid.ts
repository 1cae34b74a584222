/**
 * Aggregates several sources into one mid. Stale sources are dropped, then those far from the median; the
 * weighted median of the rest is the mid, exactly. Their dispersion is the confidence that pricing charges
 * for. Too few sources: no price.
 */

import { mulDivDown, mulDivUp, ten } from '../domain/amount.ts';
import type { Decline } from '../domain/decline.ts';
import { compare, divide, parseDecimal, reduced, toNumber, type Rational } from './rational.ts';

/** One source's latest top of book. Prices are in 1e-18 of a quote token. */
export interface Observation {
  source: string;
  bid: bigint;
  ask: bigint;
  /** Exchange time if the source gives it, never later than our receipt. */
  atMs: number;
  /** The source gives no time, so its weight is halved. */
  untimed: boolean;
  /** Its share in the weighted median: a whole number, default 1. */
  weight?: number;
  /** The longest age for a push oracle; default: the limit of all sources. */
  maxAgeMs?: number;
  /** Uncertainty that the source reports (Pyth), in bps. */
  confidenceBps: number;
}

const SCALE = 18;

/**
 * Parses a feed's decimal texts. Digits beyond 1e-18 lower the bid and raise the ask: they widen the spread.
 * undefined if invalid, crossed, or below 1e-18. The time is the earlier of exchange time and receipt.
 * `source` overrides the feed's name.
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
  const [bidPrice, askPrice] = [parseDecimal(quote.bid), parseDecimal(quote.ask)];
  if (bidPrice === undefined || askPrice === undefined || compare(askPrice, bidPrice) < 0) return undefined;
  const bid = mulDivDown(bidPrice.num, ten(SCALE), bidPrice.den);
  const ask = mulDivUp(askPrice.num, ten(SCALE), askPrice.den);
  if (bid === 0n) return undefined;
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

export interface MidOptions {
  maxAgeMs: number;
  devGuardBps: number;
  minSources: number;
}

export const DEFAULT_MID_OPTIONS: MidOptions = { maxAgeMs: 2_000, devGuardBps: 50, minSources: 2 };

export interface Mid {
  /** Exact; quote tokens for one base token. */
  price: Rational;
  value: number;
  /** sigma_P in bps: the largest of scaled MAD, half-spread and reported uncertainty. */
  confidenceBps: number;
  /** Time of the oldest source used: the option starts here. */
  atMs: number;
  used: readonly string[];
  dropped: readonly { source: string; why: 'stale' | 'future' | 'crossed' | 'deviant' }[];
  seen: readonly Observation[];
}

const NONE: readonly never[] = [];

/** MAD to standard deviation, for normal noise. */
const MAD_SCALE = 1.4826;
/** Sums of two books (bid + ask, twice) keep every median exact: a price is num / (4 * 1e18). */
const QUARTERS = 4n * ten(SCALE);

/** `detail` says what each source said; `brief` names none. */
interface NoMid extends Decline {
  declined: 'stale_price';
  detail: string;
  brief: string;
}

/** Returns `NoMid` when too few sources are fresh or agree. */
export function aggregate(
  observations: Iterable<Observation>,
  nowMs: number,
  { maxAgeMs, devGuardBps, minSources }: MidOptions = DEFAULT_MID_OPTIONS,
): Mid | NoMid {
  const tooFew = (brief: string, sources: readonly string[]): NoMid => ({
    declined: 'stale_price',
    brief,
    detail: [brief, ...sources].join('; '),
  });
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
    return tooFew(
      `${fresh.length} of ${minSources} sources fresh`,
      all.map((seen) => {
        const limitMs = seen.maxAgeMs ?? maxAgeMs;
        const late = Math.abs(nowMs - seen.atMs) > limitMs ? `, ${secondsText(limitMs)} allowed` : '';
        return `${seen.source} said ${said(seen)} ${secondsText(nowMs - seen.atMs)} ago${late}`;
      }),
    );

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
    return tooFew(
      `${kept.length} of ${minSources} sources agree`,
      fresh.map(({ value, seen }) => {
        const off = (Number(distance(value, first)) / Number(first)) * 1e4;
        const median = display({ num: first, den: QUARTERS });
        return `${seen.source} says ${said(seen)}, ${off.toFixed(1)} bps from the median ${median}: ${devGuardBps} are allowed`;
      }),
    );

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

const display = (price: Rational): number => Number(toNumber(price).toPrecision(12));
const said = ({ bid, ask }: Observation): number => display({ num: bid + ask, den: 2n * ten(SCALE) });
const secondsText = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** Describes what each source of a mid says, and how far it is from the mid. */
export const sourceTexts = ({ seen, price }: Pick<Mid, 'seen' | 'price'>): string[] =>
  seen.map((each) => {
    const offBps = deviationBps(price, { num: each.bid + each.ask, den: 2n * ten(SCALE) });
    return `${each.source} says ${said(each)}, ${offBps.toFixed(1)} bps from the mid`;
  });

/** Divides A/USD by B/USD to B per A. Uncertainties add; the time is that of the older leg. */
export const cross = (a: Mid, b: Mid): Mid => new Cross(a, b);

/** Created on every tick of every pair: lists are read from the legs instead of copied. */
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

/** Returns the distance of a reference (oracle, TWAP) from the mid, in bps of the mid. */
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
 * Returns the weighted median; the mean of the middle two where the weight splits evenly. Exact, because
 * values are even.
 */
function median(items: readonly Weighed[]): bigint {
  const sorted: Weighed[] = [];
  let total = 0;
  // Insertion sort: sources are few.
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
