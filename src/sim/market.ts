/** Simulates markets of one or several pairs: takers, option holders and LPs. All money is counted. */

import { isDecline } from '../domain/decline.ts';
import { InvariantError } from '../domain/errors.ts';
import { winProbability } from '../pricing/firmness-premium.ts';
import { optionCost, perRootSecond } from '../pricing/option.ts';
import { createHedger, type Hedger, type HedgeSetup, type HedgeTally } from './hedge.ts';
import { createRandom, type SimRandom } from './random.ts';
import { createMaker, type Maker } from './maker/maker.ts';
import type { MakerSetup, MakerQuote, SimRequest, SimRoute, Steps } from './maker/setup.ts';
import { awayBps, type EventCounter, createCounter, type Sample, type SimTally } from './tally.ts';

/** The exchange's mid of one pair at every second, and what option holders know of how it moves. */
export interface PricePath {
  prices: readonly number[];
  motion: OptionView;
}

export interface TakerSetup {
  /** The mean time between requests of one pair. */
  rfqSeconds: number;
  theta: number;
  takers: number;
  holders: number;
  medianUsd: number;
  sizeSpread: number;
  mostUsd: number;
  alpha: number;
  beta: number;
  platformFeeBps: number;
}

export interface MarketSetup {
  seed: number;
  startMs: number;
  /** One path per pair, in the order of the LPs' pairs. */
  paths: readonly PricePath[];
  takers: TakerSetup;
  makers: readonly MakerSetup[];
  sampleSeconds: number;
  /**
   * Trades the positions of the first LP on an exchange, each pair on its own. The daemon does not see that
   * account, so the LP quotes as without it, and the difference in profit is what the hedge earns and costs.
   */
  hedge?: HedgeSetup;
}

/** The first LP together with its hedge, all pairs, USD. */
export interface HedgedSample {
  pnlUsd: number;
  /**
   * Position that nothing hedges, at mid: of the LP alone, and with the hedge. Several pairs add up without
   * their signs: one does not hedge another.
   */
  aloneUsd: number;
  openUsd: number;
}

export interface MarketResult {
  seconds: number;
  requests: number;
  unanswered: number;
  refused: number;
  makers: SimTally[];
  series: { second: number; mids: number[]; makers: Sample[]; hedged?: HedgedSample }[];
  hedge?: HedgeTally;
  /** Totals of every token over all parties, base units, before and after. */
  money: { chainId: number; symbol: string; before: string; after: string }[];
}

interface Drawn {
  request: SimRequest;
  holder: boolean;
  whether: number;
}

interface Pending {
  maker: number;
  offer: MakerQuote;
  others: readonly { maker: number; offers: readonly MakerQuote[] }[];
}

/** The random streams of a pair: adding a pair leaves the flow of the others as it is. */
const STREAMS = { prices: 0, arrivals: 1, takers: 2, noise: 3, common: 4 } as const;
export const streamOf = (seed: number, of: keyof typeof STREAMS, pair: number): SimRandom =>
  createRandom(seed, STREAMS[of] + 10 * pair);

export function runMarket(setup: MarketSetup): MarketResult {
  const { paths, takers, startMs, seed } = setup;
  const makers = setup.makers.map(createMaker);
  const counters: EventCounter[] = makers.map(createCounter);
  const flows = paths.map((_, pair) => {
    const arrivals = streamOf(seed, 'arrivals', pair);
    return {
      pair,
      routes: makers[0]?.setup.pairs[pair]?.routes ?? [],
      arrivals,
      crowd: streamOf(seed, 'takers', pair),
      noise: streamOf(seed, 'noise', pair),
      nextAt: arrivals.exponential(takers.rfqSeconds),
    };
  });
  const money = createMoneyCount(makers);
  const before = money.total(makers);
  const waiting = new Map<number, Pending[]>();
  const series: MarketResult['series'] = [];
  const result = { requests: 0, unanswered: 0, refused: 0 };
  const hedgers = setup.hedge && paths.map(() => createHedger(setup.hedge as HedgeSetup));
  const seconds = paths[0]?.prices.length ?? 0;
  const midsAt = (second: number): number[] => paths.map(({ prices }) => prices[second] as number);

  function take({ maker, offer, others }: Pending, atMs: number, mid: number, exercised: boolean): void {
    const steps = (makers[maker] as Maker).accept(offer, atMs);
    (counters[maker] as EventCounter).taken(offer, mid, exercised);
    money.accepted(offer, steps);
    for (const other of others)
      if (other.maker !== maker) (makers[other.maker] as Maker).elsewhere(other.offers, atMs);
  }

  function ask(drawn: Drawn, pair: number, atMs: number, mid: number): void {
    const { request, holder, whether } = drawn;
    result.requests += 1;
    const answers = makers.map((maker, index) => {
      const answer = maker.ask(request, atMs);
      (counters[index] as EventCounter).answered(pair, answer);
      return { maker: index, offers: isDecline(answer) ? [] : answer };
    });
    const offered = answers.flatMap(({ maker, offers }) =>
      offers.map((offer) => ({ maker, offer, others: answers })),
    );
    const { motion } = paths[pair] as PricePath;
    const chosen = holder ? mostValuable(offered, mid, motion) : cheapest(offered, mid);
    if (chosen === undefined) {
      result.unanswered += 1;
    } else if (holder) {
      waiting.set(chosen.offer.validUntil, [...(waiting.get(chosen.offer.validUntil) ?? []), chosen]);
    } else if (whether < winProbability(awayBps(chosen.offer, mid), takers)) {
      take(chosen, atMs, mid, false);
    } else {
      result.refused += 1;
    }
  }

  for (let second = 0; second < seconds; second += 1) {
    const mids = midsAt(second);
    const atMs = startMs + second * 1000;
    for (const maker of makers) {
      const { noiseBps } = maker.setup;
      const seen = (mid: number, pair: number) =>
        noiseBps === 0 ? mid : mid * (1 + (noiseBps * (flows[pair] as Flow).noise.normal()) / 1e4);
      maker.see(mids.map(seen), atMs);
      maker.step(atMs);
    }
    money.step(Math.floor(atMs / 1000));
    // Holders decide at the end of the window, before new requests of that second.
    for (const pending of waiting.get(Math.floor(atMs / 1000)) ?? []) {
      const mid = mids[pending.offer.request.route.pair] as number;
      if (awayBps(pending.offer, mid) < 0) take(pending, atMs, mid, true);
    }
    waiting.delete(Math.floor(atMs / 1000));
    for (let flow = earliest(flows); flow.nextAt < second + 1; flow = earliest(flows)) {
      const mid = mids[flow.pair] as number;
      const drawn = drawRequest(flow.crowd, takers, flow.routes, mid, `rfq ${result.requests}`);
      ask(drawn, flow.pair, atMs, mid);
      flow.nextAt += flow.arrivals.exponential(takers.rfqSeconds);
    }
    for (const [pair, hedger] of hedgers?.entries() ?? [])
      hedger.step(second, (makers[0] as Maker).baseChange(pair), mids[pair] as number);
    if (second % setup.sampleSeconds === 0 || second === seconds - 1) {
      const samples = counters.map((counter) => counter.sample(mids));
      const hedged = hedgers && hedgedSample(makers[0] as Maker, hedgers, samples[0] as Sample, mids);
      series.push({ second, mids, makers: samples, ...(hedged && { hedged }) });
      money.assertUnchanged(before, makers);
    }
  }
  const after = money.total(makers);
  return {
    seconds: seconds - 1,
    ...result,
    makers: counters.map((counter) => counter.tally(midsAt(seconds - 1))),
    series,
    ...(hedgers && { hedge: sumOf(hedgers.map((hedger) => hedger.tally())) }),
    money: [...before].map(([place, amount]) => ({
      chainId: place.chainId,
      symbol: place.symbol,
      before: amount.toString(),
      after: (after.get(place) as bigint).toString(),
    })),
  };
}

/** Draws the requests of one pair, and the errors of each LP about its mid. */
interface Flow {
  pair: number;
  noise: SimRandom;
  nextAt: number;
}

const earliest = <T extends Flow>(flows: readonly T[]): T =>
  flows.reduce((first, flow) => (flow.nextAt < first.nextAt ? flow : first));

const sumOf = (tallies: readonly HedgeTally[]): HedgeTally =>
  tallies.reduce((sum, each) => ({
    orders: sum.orders + each.orders,
    volumeUsd: sum.volumeUsd + each.volumeUsd,
    halfSpreadUsd: sum.halfSpreadUsd + each.halfSpreadUsd,
    feeUsd: sum.feeUsd + each.feeUsd,
  }));

function hedgedSample(
  maker: Maker,
  hedgers: readonly Hedger[],
  { pnlUsd }: Sample,
  mids: readonly number[],
): HedgedSample {
  const sides = hedgers.map((hedger, pair) => {
    const mid = mids[pair] as number;
    const usd = (atto: bigint): number => (Number(atto / 1_000_000n) / 1e12) * mid;
    const change = maker.baseChange(pair);
    return { pnlUsd: hedger.pnlUsd(mid), aloneUsd: usd(change), openUsd: usd(change + hedger.position) };
  });
  // The sign of one pair's position says on which side it is; of several it would cancel.
  const open = (of: (side: { aloneUsd: number; openUsd: number }) => number): number =>
    sides.length === 1
      ? of(sides[0] as (typeof sides)[0])
      : sides.reduce((sum, side) => sum + Math.abs(of(side)), 0);
  return {
    pnlUsd: sides.reduce((sum, side) => sum + side.pnlUsd, pnlUsd),
    aloneUsd: open(({ aloneUsd }) => aloneUsd),
    openUsd: open(({ openUsd }) => openUsd),
  };
}

function cheapest(offered: readonly Pending[], mid: number): Pending | undefined {
  let best: { choice: Pending; away: number } | undefined;
  for (const choice of offered) {
    const away = awayBps(choice.offer, mid);
    if (best === undefined || away < best.away) best = { choice, away };
  }
  return best?.choice;
}

interface OptionView {
  sigma: number;
  jumpsPerHour: number;
  jumpBps: number;
}

export function mostValuable<T extends { offer: MakerQuote }>(
  offered: readonly T[],
  mid: number,
  { sigma, jumpsPerHour, jumpBps }: OptionView,
): T | undefined {
  let best: { choice: T; worth: number } | undefined;
  for (const choice of offered) {
    const seconds = choice.offer.validUntil - choice.offer.atMs / 1000;
    const worth = optionCost(awayBps(choice.offer, mid), {
      deviation: perRootSecond(sigma) * Math.sqrt(seconds),
      jumps: (jumpsPerHour / 3600) * seconds,
      jumpBps,
    });
    if (best === undefined || worth > best.worth) best = { choice, worth };
  }
  return best?.choice;
}

/** Sizes are drawn in dollars, and fixed on the input or the output. */
export function drawRequest(
  random: SimRandom,
  { theta, takers, holders, medianUsd, sizeSpread, mostUsd, platformFeeBps }: TakerSetup,
  routes: readonly SimRoute[],
  mid: number,
  id: string,
): Drawn {
  const holder = random.uniform() < theta;
  const taker = holder ? `holder ${random.below(holders)}` : `taker ${random.below(takers)}`;
  const route = routes[random.below(routes.length)] as SimRoute;
  const usd = Math.min(medianUsd * Math.exp(sizeSpread * random.normal()), mostUsd);
  const side = random.uniform() < 0.5 ? 'exactInput' : 'exactOutput';
  const token = side === 'exactInput' ? route.input : route.output;
  const inBase = (side === 'exactInput') === (route.lp === 'buy');
  const units = Math.round((inBase ? usd / mid : usd) * 1e6);
  const amount =
    token.decimals >= 6
      ? BigInt(units) * 10n ** BigInt(token.decimals - 6)
      : BigInt(units) / 10n ** BigInt(6 - token.decimals);
  return {
    request: { id, taker, route, side, amount, platformFeeBps, minValidSeconds: 0 },
    holder,
    whether: random.uniform(),
  };
}

/** Balances outside the LPs: takers, the venue and the escrow. */

interface TokenOnChain {
  chainId: number;
  token: string;
  symbol: string;
}

function createMoneyCount(makers: readonly Maker[]) {
  const places: TokenOnChain[] = (makers[0]?.setup.buckets ?? []).map(({ chainId, token, asset }) => ({
    chainId,
    token,
    symbol: asset,
  }));
  const outside = new Map<TokenOnChain, bigint>(places.map((place) => [place, 0n]));
  const due = new Map<number, { place: TokenOnChain; amount: bigint }[]>();
  const placeOf = ({ chainId, token }: { chainId: number; token: string }): TokenOnChain => {
    const found = places.find((place) => place.chainId === chainId && place.token === token);
    if (found === undefined)
      throw new InvariantError('A trade uses a token that no LP has.', { facts: { chainId, token } });
    return found;
  };
  const later = (second: number, entry: { place: TokenOnChain; amount: bigint }) =>
    due.set(second, [...(due.get(second) ?? []), entry]);
  const move = (place: TokenOnChain, amount: bigint) =>
    outside.set(place, (outside.get(place) as bigint) + amount);

  function total(all: readonly Maker[]): Map<TokenOnChain, bigint> {
    const sums = new Map(outside);
    for (const { ledger } of all) {
      for (const place of places) {
        const bucket = ledger.bucket(place.chainId, place.token as `0x${string}`);
        if (bucket !== undefined)
          sums.set(place, (sums.get(place) as bigint) + bucket.onchain - bucket.pendingOut);
      }
    }
    return sums;
  }

  return {
    accepted({ request: { route }, priced }: MakerQuote, steps: Steps): void {
      // The outside total changes when the LP receives the input.
      later(steps.filled, { place: placeOf(route.output), amount: priced.output });
      later(steps.finalised, { place: placeOf(route.input), amount: -priced.received });
    },
    step(second: number): void {
      for (const { place, amount } of due.get(second) ?? []) move(place, amount);
      due.delete(second);
    },
    total,
    /** Throws `InvariantError` when any total changed. */
    assertUnchanged(before: ReadonlyMap<TokenOnChain, bigint>, all: readonly Maker[]): void {
      const now = total(all);
      for (const [place, amount] of before) {
        if (now.get(place) !== amount)
          throw new InvariantError('The total amount of a token changed in the simulation.', {
            facts: { chainId: place.chainId, symbol: place.symbol, before: amount, now: now.get(place) },
          });
      }
    },
  };
}
