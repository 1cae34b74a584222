/** What live quotes add up to against every cap. A taker's quotes on one side of a pair count against the same six counters, so those are looked for once. */

import { createPartedMap } from '../domain/parted-map.ts';
import type { HoldRequest } from './event.ts';
import { keysOf, type Outstanding } from './limits.ts';

/** The counters of one taker on one side of a pair, in the order of `keysOf`; shared by all its quotes there. */
export interface Tally {
  readonly keys: readonly string[];
  readonly taker: string;
  /** Where it is found, while anything counts here. */
  readonly home: Map<string, Tally>;
  /** Empty while nothing counts here. */
  counters: readonly Outstanding[];
  uses: number;
}

type Amounts = Pick<Outstanding, 'notional' | 'gapLoss'>;

export interface Counters {
  /** `asset` is the one that the quote buys or sells. */
  tallyOf(request: Pick<HoldRequest, 'taker' | 'pair' | 'side'>, asset: string): Tally;
  /** One live quote more in this tally. */
  add(tally: Tally, amounts: Amounts): void;
  takeOff(tally: Tally, amounts: Amounts): void;
  /** The counter of a key, with this much more on it. */
  count(key: string, amounts: Amounts): Outstanding;
  discount(counter: Outstanding, amounts: Amounts): void;
  get(key: string): Outstanding | undefined;
  /** Those that anything counts against now. */
  all(): Outstanding[];
}

interface Common {
  asset: string;
  buy: Way;
  sell: Way;
}

/** What thousands of quotes of a pair have in common is one text for all of them, made and hashed once. */
interface Way {
  keys: readonly string[];
  tallies: Map<string, Tally>;
}

const NOTHING: readonly never[] = [];

export function createCounters(): Counters {
  const outstanding = createPartedMap<Outstanding>();
  const commons = new Map<string, Common>();

  function count(key: string, { notional, gapLoss }: Amounts): Outstanding {
    const known = outstanding.get(key);
    if (known !== undefined) {
      known.count += 1;
      known.notional += notional;
      known.gapLoss += gapLoss;
      return known;
    }
    const counter = { key, count: 1, notional, gapLoss };
    outstanding.set(key, counter);
    return counter;
  }

  function discount(counter: Outstanding, { notional, gapLoss }: Amounts): void {
    counter.count -= 1;
    counter.notional -= notional;
    counter.gapLoss -= gapLoss;
    if (counter.count === 0) outstanding.delete(counter.key);
  }

  return {
    tallyOf({ taker, pair, side }, asset) {
      let common = commons.get(pair);
      if (common?.asset !== asset) {
        const way = (of: 'buy' | 'sell'): Way => ({ keys: keysOf({ taker: '', pair, side: of }, asset), tallies: new Map() });
        common = { asset, buy: way('buy'), sell: way('sell') };
        commons.set(pair, common);
      }
      const { keys, tallies } = common[side];
      const known = tallies.get(taker);
      if (known !== undefined) return known;
      const [all, , , ofPair, ofSide, ofAsset] = keys as [string, string, string, string, string, string];
      return { keys: [all, `t ${taker}`, `t ${taker} ${pair}`, ofPair, ofSide, ofAsset], taker, home: tallies, counters: NOTHING, uses: 0 };
    },
    add(tally, amounts) {
      tally.uses += 1;
      if (tally.uses === 1) {
        tally.counters = tally.keys.map((key) => count(key, amounts));
        tally.home.set(tally.taker, tally);
        return;
      }
      for (const counter of tally.counters) {
        counter.count += 1;
        counter.notional += amounts.notional;
        counter.gapLoss += amounts.gapLoss;
      }
    },
    takeOff(tally, amounts) {
      // A counter cannot be emptied, and thrown away, while a tally counts against it.
      for (const counter of tally.counters) discount(counter, amounts);
      tally.uses -= 1;
      if (tally.uses > 0) return;
      tally.counters = NOTHING;
      if (tally.home.get(tally.taker) === tally) tally.home.delete(tally.taker);
    },
    count,
    discount,
    get: outstanding.get,
    all: () => [...outstanding.values()],
  };
}
