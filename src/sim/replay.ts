/**
 * Answers the same requests with two configurations. A taker's reaction to a price it never saw is drawn once
 * for both, consistent with the record.
 */

import { type Decline, isDecline } from '../domain/decline.ts';
import { winProbability } from '../pricing/firmness-premium.ts';
import type { SimRandom } from './random.ts';
import { createMaker, type Maker } from './maker/maker.ts';
import {
  edgeUsd,
  type MakerPair,
  type MakerSetup,
  type MakerQuote,
  pairName,
  type SimRequest,
} from './maker/setup.ts';
import { drawRequest, mostValuable, type PricePath, streamOf, type TakerSetup } from './market.ts';
import type { TransferTally } from './transfers.ts';
import type { RfqRecord } from './rfq-record.ts';
import { away, awayBps, type EventCounter, createCounter, type Sample, type SimTally } from './tally.ts';

export interface ReplaySetup {
  seed: number;
  startMs: number;
  /** One path per pair, in the order of the pairs, which both LPs have. */
  paths: readonly PricePath[];
  records: readonly RfqRecord[] | undefined;
  takers: TakerSetup;
  makers: readonly [MakerSetup, MakerSetup];
  sampleSeconds: number;
}

export interface ReplayLeg {
  declined: string | null;
  amount: string | null;
  spreadBps: number | null;
  validSeconds: number | null;
  outcome: 'won' | 'refused' | 'declined';
  edgeUsd: number;
}

export interface ReplayedQuote {
  id: string;
  atMs: number;
  /** The pair; null: neither configuration has it. */
  pair: string | null;
  corridor: string;
  lp: 'buy' | 'sell';
  side: 'exactInput' | 'exactOutput';
  amount: string;
  recorded: string | null;
  legs: [ReplayLeg, ReplayLeg];
  /** The second price minus the first, bps of the taker's price: positive is worse for the taker. */
  differenceBps: number | null;
  changed: boolean;
}

export interface ReplayResult {
  seconds: number;
  requests: number;
  /** Outside the prices' time, or on a route that neither configuration has. */
  skipped: number;
  changed: number;
  makers: [SimTally, SimTally];
  /** Tallies where inventory lay, and what moving it cost. */
  inventories: [TransferTally, TransferTally];
  quotes: ReplayedQuote[];
  series: { second: number; mids: number[]; makers: Sample[] }[];
}

/** A taker that waits longer counts as an option holder. */
const HESITATION_MS = 2_000;

interface PlannedRequest extends Omit<SimRequest, 'route'>, Pick<RfqRecord, 'atMs' | 'corridor'> {
  /** The place in the LPs' lists; undefined: they do not have it. */
  pair: number | undefined;
  input: string;
  output: string;
  holder: boolean;
  whether: number;
  record: RfqRecord | undefined;
}

interface OpenQuote {
  side: 0 | 1;
  offer: MakerQuote;
  /** The recorded request; null: the taker decides at the end of the validity, by whether exercise pays. */
  record: RfqRecord | null;
  leg: ReplayLeg;
}

interface ReplayState {
  setup: ReplaySetup;
  makers: readonly [Maker, Maker];
  counters: readonly [EventCounter, EventCounter];
  /** The noise of each LP, one stream for each pair. */
  noises: readonly [readonly SimRandom[], readonly SimRandom[]];
  /** Quotes whose takers decide later, by the second in which they do. */
  waiting: Map<number, OpenQuote[]>;
}

export function runReplay(setup: ReplaySetup): ReplayResult {
  const { paths, startMs } = setup;
  const seconds = (paths[0]?.prices.length ?? 0) - 1;
  const midsAt = (second: number): number[] => paths.map(({ prices }) => prices[second] as number);
  const state = startOf(setup);
  const { makers, counters } = state;
  const endMs = startMs + seconds * 1000;
  const planned = setup.records === undefined ? drawn(setup) : recorded(setup.records, setup);
  const quotes: ReplayedQuote[] = [];
  const series: ReplayResult['series'] = [];
  let [next, skipped] = [0, 0];
  while (planned[next] !== undefined && (planned[next] as PlannedRequest).atMs < startMs)
    [next, skipped] = [next + 1, skipped + 1];
  for (let at = 0; at <= seconds; at += 1) {
    const mids = midsAt(at);
    const atMs = startMs + at * 1000;
    for (const side of [0, 1] as const) showMids(state, side, atMs, mids);
    decideWaiting(state, Math.floor(atMs / 1000), atMs, mids);
    for (
      let plan = planned[next];
      plan !== undefined && plan.atMs < atMs + 1000 && plan.atMs <= endMs + 999;
      plan = planned[++next]
    )
      quotes.push(
        toReplayedQuote(setup, plan, [
          answer(state, plan, 0, atMs, mids),
          answer(state, plan, 1, atMs, mids),
        ]),
      );
    if (at % setup.sampleSeconds === 0 || at === seconds)
      series.push({ second: at, mids, makers: counters.map((counter) => counter.sample(mids)) });
  }
  skipped += planned.length - next;
  for (const quote of quotes) quote.changed = differs(quote.legs);
  const last = midsAt(seconds);
  return {
    seconds,
    requests: quotes.length,
    skipped,
    changed: quotes.filter(({ changed }) => changed).length,
    makers: [counters[0].tally(last), counters[1].tally(last)],
    inventories: [makers[0].transfers(), makers[1].transfers()],
    quotes,
    series,
  };
}

function startOf(setup: ReplaySetup): ReplayState {
  const makers = setup.makers.map(createMaker) as [Maker, Maker];
  const noiseOf = () => setup.paths.map((_, pair) => streamOf(setup.seed, 'noise', pair));
  return {
    setup,
    makers,
    counters: makers.map(createCounter) as [EventCounter, EventCounter],
    noises: [noiseOf(), noiseOf()],
    waiting: new Map(),
  };
}

/** Shows one LP the mids of a second, each with the error of its feeds. */
function showMids({ makers, noises }: ReplayState, side: 0 | 1, atMs: number, mids: readonly number[]): void {
  const { noiseBps } = makers[side].setup;
  const seen = (mid: number, pair: number) =>
    noiseBps === 0 ? mid : mid * (1 + (noiseBps * (noises[side][pair] as SimRandom).normal()) / 1e4);
  makers[side].see(mids.map(seen), atMs);
  makers[side].step(atMs);
}

/** Takers that waited until this second take their quotes, if these are still worth it. */
function decideWaiting(state: ReplayState, second: number, atMs: number, mids: readonly number[]): void {
  for (const one of state.waiting.get(second) ?? []) {
    const { offer, record } = one;
    const mid = mids[offer.request.route.pair] as number;
    const inTheMoney = awayBps(offer, mid) < 0;
    const asGood = record !== null && record.quoted !== null && isAtLeastAsGood(offer, BigInt(record.quoted));
    if (offer.validUntil >= second && (inTheMoney || asGood)) take(state, one, atMs, mid, true);
  }
  state.waiting.delete(second);
}

/** Computes what one LP answers, and what its taker does with the answer. */
function answer(
  state: ReplayState,
  plan: PlannedRequest,
  side: 0 | 1,
  atMs: number,
  mids: readonly number[],
): ReplayLeg {
  const { setup, makers, counters } = state;
  const maker = makers[side];
  const mid = mids[plan.pair ?? 0] as number;
  const route = maker.setup.pairs[plan.pair ?? -1]?.routes.find(
    (each) =>
      each.corridor === plan.corridor &&
      each.input.symbol === plan.input &&
      each.output.symbol === plan.output,
  );
  const answered: readonly MakerQuote[] | Decline =
    route === undefined ? { declined: 'pair' } : maker.ask({ ...plan, route }, atMs);
  counters[side].answered(plan.pair, answered);
  if (isDecline(answered))
    return {
      declined: answered.control ?? answered.declined,
      amount: null,
      spreadBps: null,
      validSeconds: null,
      outcome: 'declined',
      edgeUsd: 0,
    };

  const offer = chosen(setup, plan, answered, mid);
  const { priced } = offer;
  const leg: ReplayLeg = {
    declined: null,
    amount: freeSide(offer).toString(),
    spreadBps: priced.terms.D,
    validSeconds: offer.validUntil - Math.floor(atMs / 1000),
    outcome: 'refused',
    edgeUsd: 0,
  };
  const { record } = plan;
  const backAt = record?.acceptedAtMs ?? null;
  const late = backAt !== null && backAt > plan.atMs + HESITATION_MS;
  if (late) wait(state, Math.floor((backAt as number) / 1000), { side, offer, record: record ?? null, leg });
  else if (plan.holder) wait(state, offer.validUntil, { side, offer, record: null, leg });
  else if (
    beatsRival(offer, record) &&
    conditionedDraw(plan, offer, mid, setup.takers) < winProbability(awayBps(offer, mid), setup.takers)
  )
    take(state, { side, offer, record: null, leg }, atMs, mid, false);
  return leg;
}

/** The tenor that the taker chooses: a holder the most valuable option, others the best price. */
function chosen(
  { paths }: ReplaySetup,
  { holder, record, pair }: PlannedRequest,
  offers: readonly MakerQuote[],
  mid: number,
): MakerQuote {
  const backAt = record?.acceptedAtMs ?? null;
  const lasting = backAt === null ? offers : offers.filter(({ validUntil }) => validUntil * 1000 >= backAt);
  if (holder)
    return mostValuable(
      offers.map((offer) => ({ offer })),
      mid,
      (paths[pair ?? 0] as PricePath).motion,
    )?.offer as MakerQuote;
  const of = lasting.length > 0 ? lasting : offers;
  return of.reduce((best, offer) => (awayBps(offer, mid) < awayBps(best, mid) ? offer : best));
}

function take(
  { makers, counters }: ReplayState,
  { side, offer, leg }: OpenQuote,
  atMs: number,
  mid: number,
  exercised: boolean,
): void {
  makers[side].accept(offer, atMs);
  counters[side].taken(offer, mid, exercised);
  leg.outcome = 'won';
  leg.edgeUsd = edgeUsd(offer, mid);
}

function wait({ waiting }: ReplayState, second: number, one: OpenQuote): void {
  waiting.set(second, [...(waiting.get(second) ?? []), one]);
}

function toReplayedQuote(
  { makers: [first] }: ReplaySetup,
  plan: PlannedRequest,
  legs: [ReplayLeg, ReplayLeg],
): ReplayedQuote {
  const { id, atMs, corridor, side, amount, record } = plan;
  const pair = first.pairs[plan.pair ?? -1];
  const [one, other] = [legs[0].amount, legs[1].amount];
  const ratio = Number(other) / Number(one);
  return {
    id,
    atMs,
    pair: pair === undefined ? null : pairName(pair),
    corridor,
    lp: first.pairs.some(({ base }) => base === plan.input) ? 'buy' : 'sell',
    side,
    amount: amount.toString(),
    recorded: record?.outcome ?? null,
    legs,
    differenceBps:
      one === null || other === null ? null : (side === 'exactInput' ? 1 - ratio : ratio - 1) * 1e4,
    changed: false,
  };
}

const differs = ([one, other]: [ReplayLeg, ReplayLeg]): boolean =>
  one.outcome !== other.outcome || one.amount !== other.amount || one.declined !== other.declined;

function recorded(records: readonly RfqRecord[], { seed, makers }: ReplaySetup): PlannedRequest[] {
  const random = streamOf(seed, 'takers', 0);
  const isOf = ({ input, output }: RfqRecord, { base, quote }: MakerPair) =>
    (input === base && output === quote) || (input === quote && output === base);
  return records.map((record, at) => {
    const pair = makers[0].pairs.findIndex((each) => isOf(record, each));
    return {
      ...record,
      id: `${at} ${record.id}`,
      amount: BigInt(record.amount),
      pair: pair < 0 ? undefined : pair,
      holder: false,
      whether: random.uniform(),
      record,
    };
  });
}

function drawn({ seed, takers, paths, startMs, makers }: ReplaySetup): PlannedRequest[] {
  const planned = paths.flatMap(({ prices }, pair) => {
    const [arrivals, crowd] = [streamOf(seed, 'arrivals', pair), streamOf(seed, 'takers', pair)];
    const flow: PlannedRequest[] = [];
    for (
      let time = arrivals.exponential(takers.rfqSeconds);
      time < prices.length - 1;
      time += arrivals.exponential(takers.rfqSeconds)
    ) {
      const routes = makers[0].pairs[pair]?.routes ?? [];
      const mid = prices[Math.floor(time)] as number;
      const { request, ...draw } = drawRequest(crowd, takers, routes, mid, '');
      const { route, ...rest } = request;
      flow.push({
        ...rest,
        ...draw,
        pair,
        atMs: startMs + Math.floor(time * 1000),
        corridor: route.corridor,
        input: route.input.symbol,
        output: route.output.symbol,
        record: undefined,
      });
    }
    return flow;
  });
  return planned.toSorted((a, b) => a.atMs - b.atMs).map((plan, at) => ({ ...plan, id: `rfq ${at}` }));
}

/** The taker's draw, conditioned on what it did at the recorded price. */
function conditionedDraw(
  { whether, record, side, amount }: PlannedRequest,
  { request: { route } }: MakerQuote,
  mid: number,
  takers: TakerSetup,
): number {
  if (
    record === undefined ||
    record.quoted === null ||
    record.outcome === null ||
    record.outcome === 'declined'
  )
    return whether;
  const quoted = BigInt(record.quoted);
  const chance = winProbability(
    side === 'exactInput' ? away(route, amount, quoted, mid) : away(route, quoted, amount, mid),
    takers,
  );
  return record.outcome === 'accepted' ? whether * chance : chance + whether * (1 - chance);
}

const freeSide = ({ request: { side }, priced: { input, output } }: MakerQuote): bigint =>
  side === 'exactInput' ? output : input;

/** Returns true when the offer is at least as good for the taker as `amount` on the free side. */
const isAtLeastAsGood = (offer: MakerQuote, amount: bigint): boolean =>
  offer.request.side === 'exactInput' ? freeSide(offer) >= amount : freeSide(offer) <= amount;

/** The rival's amount must be beaten strictly. */
function beatsRival(offer: MakerQuote, record: RfqRecord | undefined): boolean {
  if (record === undefined || record.rival === null) return true;
  const rival = BigInt(record.rival);
  return isAtLeastAsGood(offer, rival) && freeSide(offer) !== rival;
}
