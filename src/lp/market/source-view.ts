/** The sources of prices as configured, and what an operator sees of each one. */

import type { FeedPrice, FeedRefusal, ReferencePrice } from '../../ports/feed.ts';
import { deviationBps, type Mid, observe } from '../../pricing/mid.ts';
import { parseDecimal, type Rational } from '../../pricing/rational.ts';
import type { LpConfig } from '../config/config.ts';
import { displayPrice, middleOf, type PriceState, type ReferenceValue } from './symbol-price.ts';
import type { Refusals } from './source-texts.ts';

export interface SourceView {
  price: string;
  feed: string;
  symbol: string;
  role: 'source' | 'guard' | 'reference';
  value: number | undefined;
  atMs: number | undefined;
  /** `unused`: the price has no mid; `checks`: the source only checks a mid. */
  use: 'used' | 'stale' | 'future' | 'crossed' | 'deviant' | 'silent' | 'unused' | 'checks';
  /** The distance from the mid, or from a fixed price, in basis points; undefined where there is none. */
  offBps: number | undefined;
  allowedBps: number | undefined;
  ageMs: number | undefined;
  allowedAgeMs: number;
  /** Messages that its feed refused; `count` since its last accepted price. */
  refused: { why: FeedRefusal; detail?: string; count: number; ageMs: number } | undefined;
  /** The reason why it contributes nothing, or soon will not; undefined while it does. */
  trouble: string | undefined;
}

/** A source, guard or reference of a price, as configured. */
export interface PriceInput extends Pick<SourceView, 'price' | 'feed' | 'symbol' | 'role' | 'allowedAgeMs'> {
  weight: number;
  maxAgeMs: number | null;
  /**
   * The greatest distance allowed to a source or guard; undefined for a reference, whose distance depends on
   * the mid.
   */
  guardBps: number | undefined;
  /** The fixed price that a guard is compared with. */
  fixed: Rational | undefined;
}

export function inputsOf(prices: LpConfig['prices']): PriceInput[] {
  return Object.entries(prices).flatMap(([price, config]): PriceInput[] => {
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
      ...config.sources.map((each): PriceInput => ({
        ...each,
        price,
        role: 'source',
        allowedAgeMs: each.maxAgeMs ?? config.maxAgeMs,
        guardBps: config.maxDeviationBps,
        fixed: undefined,
      })),
      ...config.references.map((each): PriceInput => ({
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
}

/** Shows what one source says of a price now. `refused`: the messages of it that its feed refused. */
export function sourceView(
  { price, feed, symbol, role, guardBps, fixed, allowedAgeMs }: PriceInput,
  state: PriceState | undefined,
  message: FeedPrice | ReferencePrice | undefined,
  refused: Refusals | undefined,
  nowMs: number,
): SourceView {
  const key = `${feed}|${symbol}`;
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
}

/** Reads the price; undefined when it is no positive decimal. */
export function parsePrice({ price }: ReferencePrice): Rational | undefined {
  const exact = parseDecimal(price);
  return exact?.num === 0n ? undefined : exact;
}

/** Returns the price that an accepted message names. */
function seenIn(message: FeedPrice | ReferencePrice): ReferenceValue | undefined {
  if ('price' in message) {
    const price = parsePrice(message);
    return price && { price, atMs: message.atMs };
  }
  const observation = observe(message);
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
