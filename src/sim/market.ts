/** Simulates a market: takers, option holders and several LPs. All money is counted. */

import { isDecline } from '../domain/decline.ts';
import { InvariantError } from '../domain/errors.ts';
import { winProbability } from '../pricing/firmness.ts';
import { optionCost, perRootSecond } from '../pricing/option.ts';
import { createHedger, type Hedger, type HedgeSetup, type HedgeTally } from './hedge.ts';
import { createRandom, type SimRandom } from './random.ts';
import {
  createMaker,
  type Maker,
  type MakerSetup,
  type MakerQuote,
  type SimRequest,
  type SimRoute,
  type Steps,
} from './maker.ts';
import { awayBps, type EventCounter, createCounter, type Sample, type SimTally } from './tally.ts';

export interface TakerSetup {
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
  prices: readonly number[];
  motion: OptionView;
  takers: TakerSetup;
  makers: readonly MakerSetup[];
  sampleSeconds: number;
  /**
   * Trades the position of the first LP on an exchange. The daemon does not see that account, so the LP
   * quotes as without it, and the difference in profit is what the hedge earns and costs.
   */
  hedge?: HedgeSetup;
}

/** The first LP together with its hedge, USD. */
export interface HedgedSample {
  pnlUsd: number;
  /** Position that nothing hedges, at mid: of the LP alone, and with the hedge. */
  aloneUsd: number;
  openUsd: number;
}

export interface MarketResult {
  seconds: number;
  requests: number;
  unanswered: number;
  refused: number;
  makers: SimTally[];
  series: { second: number; mid: number; makers: Sample[]; hedged?: HedgedSample }[];
  hedge?: HedgeTally;
  /** Total of every token over all parties, base units, before and after. */
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

export function runMarket(setup: MarketSetup): MarketResult {
  const { prices, takers, startMs } = setup;
  const makers = setup.makers.map(createMaker);
  const counters: EventCounter[] = makers.map(createCounter);
  const [arrivals, crowd, noise] = [
    createRandom(setup.seed, 1),
    createRandom(setup.seed, 2),
    createRandom(setup.seed, 3),
  ];
  const money = createMoneyCount(makers);
  const before = money.total(makers);
  const waiting = new Map<number, Pending[]>();
  const series: MarketResult['series'] = [];
  const result = { requests: 0, unanswered: 0, refused: 0 };
  const routes = makers[0]?.setup.routes ?? [];
  const hedger = setup.hedge && createHedger(setup.hedge);
  let nextAt = arrivals.exponential(takers.rfqSeconds);

  function take({ maker, offer, others }: Pending, atMs: number, mid: number, exercised: boolean): void {
    const steps = (makers[maker] as Maker).accept(offer, atMs);
    (counters[maker] as EventCounter).taken(offer, mid, exercised);
    money.accepted(offer, steps);
    for (const other of others)
      if (other.maker !== maker) (makers[other.maker] as Maker).elsewhere(other.offers, atMs);
  }

  function ask(drawn: Drawn, atMs: number, mid: number): void {
    const { request, holder, whether } = drawn;
    result.requests += 1;
    const answers = makers.map((maker, index) => {
      const answer = maker.ask(request, atMs);
      (counters[index] as EventCounter).answered(answer);
      return { maker: index, offers: isDecline(answer) ? [] : answer };
    });
    const offered = answers.flatMap(({ maker, offers }) =>
      offers.map((offer) => ({ maker, offer, others: answers })),
    );
    const chosen = holder ? mostValuable(offered, mid, setup.motion) : cheapest(offered, mid);
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

  for (const [second, mid] of prices.entries()) {
    const atMs = startMs + second * 1000;
    for (const maker of makers) {
      const { noiseBps } = maker.setup;
      maker.see(noiseBps === 0 ? mid : mid * (1 + (noiseBps * noise.normal()) / 1e4), atMs);
      maker.step(atMs);
    }
    money.step(Math.floor(atMs / 1000));
    // Holders decide at the end of the window, before new requests of that second.
    for (const pending of waiting.get(Math.floor(atMs / 1000)) ?? []) {
      if (awayBps(pending.offer, mid) < 0) take(pending, atMs, mid, true);
    }
    waiting.delete(Math.floor(atMs / 1000));
    for (; nextAt < second + 1; nextAt += arrivals.exponential(takers.rfqSeconds))
      ask(drawRequest(crowd, takers, routes, mid, `rfq ${result.requests}`), atMs, mid);
    hedger?.step(second, (makers[0] as Maker).baseChange(), mid);
    if (second % setup.sampleSeconds === 0 || second === prices.length - 1) {
      const samples = counters.map((counter) => counter.sample(mid));
      const hedged = hedger && hedgedSample(makers[0] as Maker, hedger, samples[0] as Sample, mid);
      series.push({ second, mid, makers: samples, ...(hedged && { hedged }) });
      money.assertUnchanged(before, makers);
    }
  }
  const last = prices.at(-1) as number;
  const after = money.total(makers);
  return {
    seconds: prices.length - 1,
    ...result,
    makers: counters.map((counter) => counter.tally(last)),
    series,
    ...(hedger && { hedge: hedger.tally() }),
    money: [...before].map(([place, amount]) => ({
      chainId: place.chainId,
      symbol: place.symbol,
      before: amount.toString(),
      after: (after.get(place) as bigint).toString(),
    })),
  };
}

function hedgedSample(maker: Maker, hedger: Hedger, { pnlUsd }: Sample, mid: number): HedgedSample {
  const usd = (atto: bigint): number => (Number(atto / 1_000_000n) / 1e12) * mid;
  const change = maker.baseChange();
  return {
    pnlUsd: pnlUsd + hedger.pnlUsd(mid),
    aloneUsd: usd(change),
    openUsd: usd(change + hedger.position),
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

export interface OptionView {
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
