/**
 * What live quotes add up to against every cap. Each quote counts against six: those it shares with everybody
 * on its pair are found once for all, and its taker's hang from the taker, so that one look finds all six.
 */

import { createTextTable } from '../domain/text-table.ts';
import type { Side } from './event.ts';
import type { Outstanding, Scope } from './limits.ts';
import { createTallies, type Taker, type Tally } from './tallies.ts';

const FEW = 8;
/** Takers that a visitor sees in well under a millisecond. */
const AT_A_STEP = 500;

/** What quotes on one side of a pair share, whoever asks. */
export interface Way {
  readonly ofPair: Outstanding;
  readonly ofSide: Outstanding;
  readonly ofAsset: Outstanding;
  readonly asset: string;
}

type Amounts = Pick<Outstanding, 'notional' | 'gapLoss'>;

/**
 * Hears what counts against one cap now, and whose it is: a taker, a pair, a pair and side ...; the whole
 * book's has no name. A taker's pair comes in a part of its own, for there are very many.
 */
export type CounterVisitor = (scope: Scope, counter: Readonly<Outstanding>, of: string, pair: string) => void;

export interface Counters {
  /** `asset` is the one that its quotes buy or sell. The counters are the same for good. */
  wayOf(pair: string, side: Side, asset: string): Way;
  /** Whoever does not count anything here afterwards drops it. */
  tallyOf(taker: string, pair: string): Tally;
  /**
   * The six that a quote counts against, in the order of `SCOPES`. Not to be kept: a taker's second pair
   * gives it a counter of its own.
   */
  of(tally: Tally, way: Way): readonly Outstanding[];
  /** The same, to be kept while something counts there. */
  keptOf(tally: Tally, way: Way): readonly Outstanding[];
  /** One live quote more against all of them. */
  add(tally: Tally, way: Way, amounts: Amounts): void;
  takeOff(tally: Tally, way: Way, amounts: Amounts): void;
  /**
   * A taker with nothing that counts is forgotten, and another look makes new counters: so whoever stops
   * counting holds on to none.
   */
  drop(tally: Tally): void;
  /**
   * Shows those that anything counts against now, some takers at a step: between two steps they may change,
   * come and go, and one that went and came again may be shown twice.
   */
  visit(visitor: CounterVisitor): Generator<void>;
}

const NOTHING: never[] = [];

const nothing = (): Outstanding => ({ count: 0, notional: 0n, gapLoss: 0n });

export function count(counter: Outstanding, { notional, gapLoss }: Amounts): void {
  counter.count += 1;
  counter.notional += notional;
  counter.gapLoss += gapLoss;
}

export function discount(counter: Outstanding, { notional, gapLoss }: Amounts): void {
  counter.count -= 1;
  counter.notional -= notional;
  counter.gapLoss -= gapLoss;
}

export function createCounters(): Counters {
  const total = nothing();
  const pairs = new Map<string, Outstanding>();
  const sides = new Map<string, Outstanding>();
  const assets = new Map<string, Outstanding>();
  const tallies = createTallies();
  /** By name, what it asked for first. */
  const takers = createTextTable<string, Tally>();
  const ways = { buy: new Map<string, Way>(), sell: new Map<string, Way>() };

  function counterIn(counters: Map<string, Outstanding>, of: string): Outstanding {
    const counter = counters.get(of) ?? nothing();
    counters.set(of, counter);
    return counter;
  }

  /** All six, without making a list of them: every quote does this twice. */
  function change(by: typeof count, tally: Tally, { ofPair, ofSide, ofAsset }: Way, amounts: Amounts): void {
    by(total, amounts);
    by(tally, amounts);
    if (tally.all !== undefined) by(tally.all, amounts);
    by(ofPair, amounts);
    by(ofSide, amounts);
    by(ofAsset, amounts);
  }

  /** A taker's own counter, from now on beside that of its first pair. */
  function allOf(tally: Tally): Taker {
    const { count: quotes, notional, gapLoss } = tally;
    tally.all ??= { count: quotes, notional, gapLoss, first: tally, others: [], byPair: undefined };
    return tally.all;
  }

  const six = (all: Outstanding, tally: Tally, { ofPair, ofSide, ofAsset }: Way): readonly Outstanding[] => [
    total,
    all,
    tally,
    ofPair,
    ofSide,
    ofAsset,
  ];

  return {
    wayOf(pair, side, asset) {
      const known = ways[side].get(pair);
      if (known?.asset === asset) return known;
      const way = {
        ofPair: counterIn(pairs, pair),
        ofSide: counterIn(sides, `${pair} ${side}`),
        ofAsset: counterIn(assets, `${asset} ${side}`),
        asset,
      };
      ways[side].set(pair, way);
      return way;
    },
    tallyOf(taker, pair) {
      const first = takers.get(taker);
      if (first === undefined) {
        const tally = tallies.make(taker, pair, undefined);
        takers.set(taker, tally);
        return tally;
      }
      if (first.pair === pair) return first;
      const all = allOf(first);
      const known =
        all.byPair === undefined ? all.others.find((tally) => tally.pair === pair) : all.byPair.get(pair);
      if (known !== undefined) return known;
      const tally = tallies.make(taker, pair, all);
      all.others.push(tally);
      if (all.byPair !== undefined) all.byPair.set(pair, tally);
      else if (all.others.length > FEW) all.byPair = new Map(all.others.map((each) => [each.pair, each]));
      return tally;
    },
    of: (tally, way) => six(tally.all ?? tally, tally, way),
    keptOf: (tally, way) => six(allOf(tally), tally, way),
    add: (tally, way, amounts) => change(count, tally, way, amounts),
    takeOff: (tally, way, amounts) => change(discount, tally, way, amounts),
    drop(tally) {
      const { taker, all } = tally;
      const first = all?.first ?? tally;
      if ((all ?? tally).count !== 0 || takers.get(taker) !== first) return;
      takers.delete(taker);
      tallies.free(first);
      for (const other of all?.others ?? NOTHING) tallies.free(other);
    },
    *visit(visitor) {
      if (total.count > 0) visitor('total', total, '', '');
      let seen = 0;
      for (const first of takers.values()) {
        const { taker, all = first } = first;
        if (all.count > 0) visitor('perTaker', all, taker, '');
        for (const tally of [first, ...(first.all?.others ?? NOTHING)])
          if (tally.count > 0) visitor('perTakerPair', tally, taker, tally.pair);
        if (++seen % AT_A_STEP === 0) yield;
      }
      for (const [pair, counter] of pairs) if (counter.count > 0) visitor('perPair', counter, pair, '');
      for (const [side, counter] of sides) if (counter.count > 0) visitor('perPairSide', counter, side, '');
      for (const [side, counter] of assets) if (counter.count > 0) visitor('perAssetSide', counter, side, '');
    },
  };
}
