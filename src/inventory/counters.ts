/**
 * What live quotes add up to against every cap. Each quote counts against six: those it shares with everybody on its pair are
 * found once for all, and its taker's hang from the taker, so that one look finds all six.
 */

import { createPartedMap } from '../domain/parted-map.ts';
import type { HoldRequest, Side } from './event.ts';
import type { Outstanding, Scope } from './limits.ts';

/** The counters of one taker on one side of a pair, in the order of `SCOPES`. To be kept only while something counts here: see `drop`. */
export interface Tally {
  readonly counters: readonly Outstanding[];
  readonly asset: string;
  readonly taker: Taker;
}

type Amounts = Pick<Outstanding, 'notional' | 'gapLoss'>;

/** What counts against one cap now, and whose it is. */
export interface Counted extends Readonly<Outstanding> {
  scope: Scope;
  /** A taker, a pair, a pair and side ...; empty for the whole book. */
  of: string;
}

export interface Counters {
  /** `asset` is the one that the quote buys or sells. Whoever does not count anything here afterwards drops it. */
  tallyOf(request: Pick<HoldRequest, 'taker' | 'pair' | 'side'>, asset: string): Tally;
  /** One live quote more against all of them. */
  add(tally: Tally, amounts: Amounts): void;
  takeOff(tally: Tally, amounts: Amounts): void;
  /** A taker with nothing that counts is forgotten, and another look makes new counters: so whoever stops counting holds on to none. */
  drop(tally: Tally): void;
  /** Those that anything counts against now. */
  all(): Counted[];
}

interface Taker {
  readonly name: string;
  readonly own: Outstanding;
  /** As many as it asks for while anything of it is live. */
  readonly pairs: TakerPair[];
}

interface TakerPair {
  readonly pair: string;
  readonly own: Outstanding;
  buy: Tally | undefined;
  sell: Tally | undefined;
}

/** What all takers share on a pair. */
interface Common {
  readonly own: Outstanding;
  readonly buy: Outstanding;
  readonly sell: Outstanding;
}

const nothing = (): Outstanding => ({ count: 0, notional: 0n, gapLoss: 0n });

export function createCounters(): Counters {
  const total = nothing();
  const pairs = new Map<string, Common>();
  const assets = new Map<string, { buy: Outstanding; sell: Outstanding }>();
  const takers = createPartedMap<Taker>();

  function tallyOn(taker: Taker, there: TakerPair, side: Side, asset: string): Tally {
    const common = pairs.get(there.pair) ?? { own: nothing(), buy: nothing(), sell: nothing() };
    pairs.set(there.pair, common);
    const ofAsset = assets.get(asset) ?? { buy: nothing(), sell: nothing() };
    assets.set(asset, ofAsset);
    return { counters: [total, taker.own, there.own, common.own, common[side], ofAsset[side]], asset, taker };
  }

  return {
    tallyOf({ taker: name, pair, side }, asset) {
      let taker = takers.get(name);
      if (taker === undefined) {
        taker = { name, own: nothing(), pairs: [] };
        takers.set(name, taker);
      }
      let there: TakerPair | undefined;
      for (const each of taker.pairs) if (each.pair === pair) there = each;
      if (there === undefined) {
        there = { pair, own: nothing(), buy: undefined, sell: undefined };
        taker.pairs.push(there);
      }
      const known = there[side];
      if (known?.asset === asset) return known;
      return (there[side] = tallyOn(taker, there, side, asset));
    },
    add({ counters }, { notional, gapLoss }) {
      for (const counter of counters) {
        counter.count += 1;
        counter.notional += notional;
        counter.gapLoss += gapLoss;
      }
    },
    takeOff({ counters }, { notional, gapLoss }) {
      for (const counter of counters) {
        counter.count -= 1;
        counter.notional -= notional;
        counter.gapLoss -= gapLoss;
      }
    },
    drop({ taker }) {
      if (taker.own.count === 0 && takers.get(taker.name) === taker) takers.delete(taker.name);
    },
    all() {
      const found: Counted[] = [];
      const say = (scope: Scope, of: string, counter: Outstanding) => {
        if (counter.count > 0) found.push({ scope, of, ...counter });
      };
      say('total', '', total);
      for (const { name, own, pairs: there } of takers.values()) {
        say('perTaker', name, own);
        for (const each of there) say('perTakerPair', `${name} ${each.pair}`, each.own);
      }
      for (const [pair, { own, buy, sell }] of pairs) {
        say('perPair', pair, own);
        say('perPairSide', `${pair} buy`, buy);
        say('perPairSide', `${pair} sell`, sell);
      }
      for (const [asset, { buy, sell }] of assets) {
        say('perAssetSide', `${asset} buy`, buy);
        say('perAssetSide', `${asset} sell`, sell);
      }
      return found;
    },
  };
}
