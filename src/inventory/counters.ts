/**
 * Sums live quotes against every cap: one counter per taker, pair, side, asset and for the whole book. A hold
 * keeps references to its six counters, so that booking looks nothing up.
 */

import type { HoldRequest, Side } from './event.ts';
import type { Outstanding, Scope } from './limits.ts';

/** The counters of one hold in the order of `SCOPES`. */
export type HoldCounters = readonly Outstanding[];

/**
 * Called with one counter that is not zero. `of` is what the counter counts for, by scope: a taker, a pair, a
 * pair with side, an asset with side, or empty for all quotes. `pair` is set for `perTakerPair` alone.
 */
export type CounterVisitor = (scope: Scope, counter: Readonly<Outstanding>, of: string, pair: string) => void;

interface Counter extends Outstanding {
  /** Remembered holds that refer to this counter; only counted for takers. */
  holds: number;
}

type BySide = Record<Side, Counter>;

interface PairCounters {
  all: Counter;
  sides: BySide;
  takers: Map<string, Counter>;
}

const SIDES = ['buy', 'sell'] as const;
const zero = (): Counter => ({ count: 0, notional: 0n, gapLoss: 0n, holds: 0 });
const bothSides = (): BySide => ({ buy: zero(), sell: zero() });

export interface Counters {
  /** The six counters of a request in the order of `SCOPES`. `asset`: the one we would buy or sell. */
  of(request: Pick<HoldRequest, 'taker' | 'pair' | 'side'>, asset: string): HoldCounters;
  /** Keeps the counters of a hold's taker until `release`. */
  retain(request: Pick<HoldRequest, 'taker' | 'pair'>, counters: HoldCounters): void;
  release(request: Pick<HoldRequest, 'taker' | 'pair'>): void;
  visit(visitor: CounterVisitor): void;
}

export function createCounters(): Counters {
  const total = zero();
  const takers = new Map<string, Counter>();
  const pairs = new Map<string, PairCounters>();
  const assets = new Map<string, BySide>();

  function pairOf(name: string): PairCounters {
    let pair = pairs.get(name);
    if (pair === undefined) pairs.set(name, (pair = { all: zero(), sides: bothSides(), takers: new Map() }));
    return pair;
  }

  function assetOf(name: string): BySide {
    let asset = assets.get(name);
    if (asset === undefined) assets.set(name, (asset = bothSides()));
    return asset;
  }

  return {
    of(request, asset) {
      const pair = pairOf(request.pair);
      return [
        total,
        takers.get(request.taker) ?? zero(),
        pair.takers.get(request.taker) ?? zero(),
        pair.all,
        pair.sides[request.side],
        assetOf(asset)[request.side],
      ];
    },
    retain({ taker, pair }, [, ofTaker, ofTakerPair]) {
      retainIn(takers, taker, ofTaker as Counter);
      retainIn(pairOf(pair).takers, taker, ofTakerPair as Counter);
    },
    release({ taker, pair }) {
      releaseIn(takers, taker);
      releaseIn(pairOf(pair).takers, taker);
    },
    visit(visitor) {
      const show: CounterVisitor = (scope, counter, of, pair) => {
        if (counter.count > 0) visitor(scope, counter, of, pair);
      };
      show('total', total, '', '');
      for (const [taker, counter] of takers) show('perTaker', counter, taker, '');
      for (const [name, pair] of pairs) {
        show('perPair', pair.all, name, '');
        for (const side of SIDES) show('perPairSide', pair.sides[side], `${name} ${side}`, '');
        for (const [taker, counter] of pair.takers) show('perTakerPair', counter, taker, name);
      }
      for (const [name, asset] of assets)
        for (const side of SIDES) show('perAssetSide', asset[side], `${name} ${side}`, '');
    },
  };
}

function retainIn(counters: Map<string, Counter>, name: string, counter: Counter): void {
  if (counter.holds === 0) counters.set(name, counter);
  counter.holds += 1;
}

function releaseIn(counters: Map<string, Counter>, name: string): void {
  const counter = counters.get(name);
  if (counter === undefined) return;
  counter.holds -= 1;
  if (counter.holds === 0) counters.delete(name);
}
