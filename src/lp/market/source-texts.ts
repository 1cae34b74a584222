/** Says for each source of a missing price why it contributes nothing. */

import type { FeedRefusal } from '../../ports/feed.ts';

/** Messages of a source that its feed refused. */
export interface Refusals {
  /**
   * The reason for refusing the last message. `detail` is the text of that message, where its feed passes it
   * on.
   */
  why: FeedRefusal;
  detail: string | undefined;
  atMs: number;
  /** The time of the first refusal since the last accepted price, in milliseconds. */
  firstMs: number;
  /** Messages refused since the last accepted price. */
  count: number;
}

export type RefusalsOf = (source: string) => Refusals | undefined;

type Named = readonly { feed: string; symbol: string }[];

/** Names each source that has not given a price yet. */
export const neverGave = (sources: Named, seen: { has(source: string): boolean }): string[] =>
  sources
    .map(({ feed, symbol }) => `${feed}|${symbol}`)
    .filter((source) => !seen.has(source))
    .map((source) => `${source} never gave a price`);

/** Tells of each source how many of its messages were refused since its last price. */
export const refusalTexts = (sources: Named, refusalsOf: RefusalsOf, nowMs: number): string[] =>
  sources.flatMap(({ feed, symbol }) => {
    const refusals = refusalsOf(`${feed}|${symbol}`);
    return refusals === undefined || refusals.count === 0
      ? []
      : [
          `${refusals.count} messages of ${feed}|${symbol} refused since its last price, the last as ${refusals.why} ${secondsText(nowMs - refusals.atMs)} ago`,
        ];
  });

/** Tells what a source said, how long ago, and what age is allowed if that is too long. */
export function aged(source: string, value: number, atMs: number, limitMs: number, nowMs: number): string {
  const late = Math.abs(nowMs - atMs) > limitMs ? `, ${secondsText(limitMs)} allowed` : '';
  return `${source} said ${value} ${secondsText(nowMs - atMs)} ago${late}`;
}

const secondsText = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
