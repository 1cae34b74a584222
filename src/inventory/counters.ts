/**
 * What live quotes add up to against every cap. Each quote counts against six: those it shares with everybody on its pair are
 * found once for all, and its taker's hang from the taker, so that one look finds all six.
 */

import { createTextTable } from '../domain/text-table.ts';
import type { Side } from './event.ts';
import type { Outstanding, Scope } from './limits.ts';

/** What a taker has live on a pair. To be kept only while something counts here: see `drop`. */
export interface Tally extends Outstanding {
  readonly pair: string;
  readonly taker: Taker;
}

/** What a taker has live. */
interface Taker extends Outstanding {
  readonly name: string;
  /** Most ask for one pair. */
  readonly first: Tally;
  /** As many more as it asks for while anything of it is live; undefined: none. */
  others: Tally[] | undefined;
  /** Those by pair, once they are more than are looked through in no time: whoever routes for others asks for every pair. */
  byPair: Map<string, Tally> | undefined;
}

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

/** Hears what counts against one cap now, and whose it is: a taker, a pair, a pair and side ...; the whole book's has no name. A taker's pair comes in a part of its own, for there are very many. */
export type CounterVisitor = (scope: Scope, counter: Readonly<Outstanding>, of: string, pair: string) => void;

export interface Counters {
  /** `asset` is the one that its quotes buy or sell. The counters are the same for good. */
  wayOf(pair: string, side: Side, asset: string): Way;
  /** Whoever does not count anything here afterwards drops it. */
  tallyOf(taker: string, pair: string): Tally;
  /** The six that a quote counts against, in the order of `SCOPES`. */
  of(tally: Tally, way: Way): readonly Outstanding[];
  /** One live quote more against all of them. */
  add(tally: Tally, way: Way, amounts: Amounts): void;
  takeOff(tally: Tally, way: Way, amounts: Amounts): void;
  /** A taker with nothing that counts is forgotten, and another look makes new counters: so whoever stops counting holds on to none. */
  drop(tally: Tally): void;
  /** Shows those that anything counts against now, some takers at a step: between two steps they may change, come and go, and one that went and came again may be shown twice. */
  visit(visitor: CounterVisitor): Generator<void>;
}

const NOTHING: never[] = [];

/** Of whoever asks for one pair only: the same numbers, and the same bigints. */
function same(counter: Outstanding, { count: quotes, notional, gapLoss }: Outstanding): void {
  counter.count = quotes;
  counter.notional = notional;
  counter.gapLoss = gapLoss;
}

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
  const takers = createTextTable<string, Taker>();
  const ways = { buy: new Map<string, Way>(), sell: new Map<string, Way>() };

  function counterIn(counters: Map<string, Outstanding>, of: string): Outstanding {
    const counter = counters.get(of) ?? nothing();
    counters.set(of, counter);
    return counter;
  }

  /** All six, without making a list of them: every quote does this twice. */
  function change(by: typeof count, tally: Tally, { ofPair, ofSide, ofAsset }: Way, amounts: Amounts): void {
    const { taker } = tally;
    by(total, amounts);
    by(tally, amounts);
    if (taker.others === undefined) same(taker, tally);
    else by(taker, amounts);
    by(ofPair, amounts);
    by(ofSide, amounts);
    by(ofAsset, amounts);
  }

  function newTaker(name: string, pair: string): Tally {
    const taker = { count: 0, notional: 0n, gapLoss: 0n, name, others: undefined, byPair: undefined } as unknown as Taker & { first: Tally };
    taker.first = { count: 0, notional: 0n, gapLoss: 0n, pair, taker };
    takers.set(name, taker);
    return taker.first;
  }

  return {
    wayOf(pair, side, asset) {
      const known = ways[side].get(pair);
      if (known?.asset === asset) return known;
      const way = { ofPair: counterIn(pairs, pair), ofSide: counterIn(sides, `${pair} ${side}`), ofAsset: counterIn(assets, `${asset} ${side}`), asset };
      ways[side].set(pair, way);
      return way;
    },
    tallyOf(name, pair) {
      const taker = takers.get(name);
      if (taker === undefined) return newTaker(name, pair);
      if (taker.first.pair === pair) return taker.first;
      const known = taker.byPair === undefined ? taker.others?.find((tally) => tally.pair === pair) : taker.byPair.get(pair);
      if (known !== undefined) return known;
      const tally: Tally = { count: 0, notional: 0n, gapLoss: 0n, pair, taker };
      taker.others ??= [];
      taker.others.push(tally);
      if (taker.byPair !== undefined) taker.byPair.set(pair, tally);
      else if (taker.others.length > FEW) taker.byPair = new Map(taker.others.map((each) => [each.pair, each]));
      return tally;
    },
    of: (tally, { ofPair, ofSide, ofAsset }) => [total, tally.taker, tally, ofPair, ofSide, ofAsset],
    add: (tally, way, amounts) => change(count, tally, way, amounts),
    takeOff: (tally, way, amounts) => change(discount, tally, way, amounts),
    drop({ taker }) {
      if (taker.count === 0 && takers.get(taker.name) === taker) takers.delete(taker.name);
    },
    *visit(visitor) {
      if (total.count > 0) visitor('total', total, '', '');
      let seen = 0;
      for (const taker of takers.values()) {
        if (taker.count > 0) visitor('perTaker', taker, taker.name, '');
        for (const tally of [taker.first, ...(taker.others ?? NOTHING)]) if (tally.count > 0) visitor('perTakerPair', tally, taker.name, tally.pair);
        if (++seen % AT_A_STEP === 0) yield;
      }
      for (const [pair, counter] of pairs) if (counter.count > 0) visitor('perPair', counter, pair, '');
      for (const [side, counter] of sides) if (counter.count > 0) visitor('perPairSide', counter, side, '');
      for (const [side, counter] of assets) if (counter.count > 0) visitor('perAssetSide', counter, side, '');
    },
  };
}
