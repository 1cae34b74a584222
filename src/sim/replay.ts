/**
 * Answers the same requests with two configurations. A taker's reaction to a price it never saw is drawn once
 * for both, consistent with the record.
 */

import { type Decline, isDecline } from '../domain/decline.ts';
import { winProbability } from '../pricing/firmness.ts';
import { createRandom } from './random.ts';
import {
  createMaker,
  edgeUsd,
  type Maker,
  type MakerSetup,
  type MakerQuote,
  type SimRequest,
} from './maker.ts';
import { drawRequest, mostValuable, type OptionView, type TakerSetup } from './market.ts';
import type { RfqRecord } from './rfq-record.ts';
import { away, awayBps, type EventCounter, createCounter, type Sample, type SimTally } from './tally.ts';

export interface ReplaySetup {
  seed: number;
  startMs: number;
  prices: readonly number[];
  motion: OptionView;
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
  corridor: string;
  lp: 'buy' | 'sell';
  side: 'exactInput' | 'exactOutput';
  amount: string;
  recorded: string | null;
  legs: [ReplayLeg, ReplayLeg];
  /** Second minus first, bps of the taker's price: positive is worse for the taker. */
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
  quotes: ReplayedQuote[];
  series: { second: number; mid: number; makers: Sample[] }[];
}

/** A taker that waits longer counts as an option holder. */
const HESITATION_MS = 2_000;

interface PlannedRequest extends Omit<SimRequest, 'route'>, Pick<RfqRecord, 'atMs' | 'corridor'> {
  input: string;
  output: string;
  holder: boolean;
  whether: number;
  record: RfqRecord | undefined;
}

interface OpenQuote {
  side: 0 | 1;
  offer: MakerQuote;
  /** null: at the end of its validity, if worth exercising. */
  record: RfqRecord | null;
  leg: ReplayLeg;
}

export function runReplay(setup: ReplaySetup): ReplayResult {
  const { prices, startMs, motion, takers } = setup;
  const makers = setup.makers.map(createMaker) as [Maker, Maker];
  const counters = makers.map(createCounter) as [EventCounter, EventCounter];
  const endMs = startMs + (prices.length - 1) * 1000;
  const noises = [createRandom(setup.seed, 3), createRandom(setup.seed, 3)] as const;
  const planned = setup.records === undefined ? drawn(setup) : recorded(setup.records, setup.seed);
  const waiting = new Map<number, OpenQuote[]>();
  const quotes: ReplayedQuote[] = [];
  const series: ReplayResult['series'] = [];
  let [next, skipped] = [0, 0];

  function take({ side, offer, leg }: OpenQuote, atMs: number, mid: number, exercised: boolean): void {
    makers[side].accept(offer, atMs);
    counters[side].taken(offer, mid, exercised);
    leg.outcome = 'won';
    leg.edgeUsd = edgeUsd(offer, mid);
  }

  const wait = (second: number, one: OpenQuote) => waiting.set(second, [...(waiting.get(second) ?? []), one]);

  function answer(plan: PlannedRequest, side: 0 | 1, atMs: number, mid: number): ReplayLeg {
    const maker = makers[side];
    const route = maker.setup.routes.find(
      (each) =>
        each.corridor === plan.corridor &&
        each.input.symbol === plan.input &&
        each.output.symbol === plan.output,
    );
    const answered: readonly MakerQuote[] | Decline =
      route === undefined ? { declined: 'pair' } : maker.ask({ ...plan, route }, atMs);
    counters[side].answered(answered);
    if (isDecline(answered))
      return {
        declined: answered.control ?? answered.declined,
        amount: null,
        spreadBps: null,
        validSeconds: null,
        outcome: 'declined',
        edgeUsd: 0,
      };

    const offer = chosen(plan, answered, mid);
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
    if (late) wait(Math.floor((backAt as number) / 1000), { side, offer, record: record ?? null, leg });
    else if (plan.holder) wait(offer.validUntil, { side, offer, record: null, leg });
    else if (
      beatsRival(offer, record) &&
      conditionedDraw(plan, offer, mid, takers) < winProbability(awayBps(offer, mid), takers)
    )
      take({ side, offer, record: null, leg }, atMs, mid, false);
    return leg;
  }

  function chosen(
    { holder, record }: PlannedRequest,
    offers: readonly MakerQuote[],
    mid: number,
  ): MakerQuote {
    const backAt = record?.acceptedAtMs ?? null;
    const lasting = backAt === null ? offers : offers.filter(({ validUntil }) => validUntil * 1000 >= backAt);
    if (holder)
      return mostValuable(
        offers.map((offer) => ({ offer })),
        mid,
        motion,
      )?.offer as MakerQuote;
    const of = lasting.length > 0 ? lasting : offers;
    return of.reduce((best, offer) => (awayBps(offer, mid) < awayBps(best, mid) ? offer : best));
  }

  function decideWaiting(second: number, atMs: number, mid: number): void {
    for (const one of waiting.get(second) ?? []) {
      const { offer, record } = one;
      const inTheMoney = awayBps(offer, mid) < 0;
      const asGood =
        record !== null && record.quoted !== null && isAtLeastAsGood(offer, BigInt(record.quoted));
      if (offer.validUntil >= second && (inTheMoney || asGood)) take(one, atMs, mid, true);
    }
    waiting.delete(second);
  }

  function toReplayedQuote(plan: PlannedRequest, legs: [ReplayLeg, ReplayLeg]): ReplayedQuote {
    const { id, atMs, corridor, side, amount, record } = plan;
    const [one, other] = [legs[0].amount, legs[1].amount];
    const ratio = Number(other) / Number(one);
    return {
      id,
      atMs,
      corridor,
      lp: plan.input === setup.makers[0].base ? 'buy' : 'sell',
      side,
      amount: amount.toString(),
      recorded: record?.outcome ?? null,
      legs,
      differenceBps:
        one === null || other === null ? null : (side === 'exactInput' ? 1 - ratio : ratio - 1) * 1e4,
      changed: false,
    };
  }

  while (planned[next] !== undefined && (planned[next] as PlannedRequest).atMs < startMs)
    [next, skipped] = [next + 1, skipped + 1];
  for (const [at, mid] of prices.entries()) {
    const atMs = startMs + at * 1000;
    const second = Math.floor(atMs / 1000);
    for (const side of [0, 1] as const) {
      const { noiseBps } = makers[side].setup;
      makers[side].see(noiseBps === 0 ? mid : mid * (1 + (noiseBps * noises[side].normal()) / 1e4), atMs);
      makers[side].step(atMs);
    }
    decideWaiting(second, atMs, mid);
    for (
      let plan = planned[next];
      plan !== undefined && plan.atMs < atMs + 1000 && plan.atMs <= endMs + 999;
      plan = planned[++next]
    )
      quotes.push(toReplayedQuote(plan, [answer(plan, 0, atMs, mid), answer(plan, 1, atMs, mid)]));
    if (at % setup.sampleSeconds === 0 || at === prices.length - 1)
      series.push({ second: at, mid, makers: counters.map((counter) => counter.sample(mid)) });
  }
  skipped += planned.length - next;
  for (const quote of quotes)
    quote.changed =
      quote.legs[0].outcome !== quote.legs[1].outcome ||
      quote.legs[0].amount !== quote.legs[1].amount ||
      quote.legs[0].declined !== quote.legs[1].declined;
  const last = prices.at(-1) as number;
  return {
    seconds: prices.length - 1,
    requests: quotes.length,
    skipped,
    changed: quotes.filter(({ changed }) => changed).length,
    makers: [counters[0].tally(last), counters[1].tally(last)],
    quotes,
    series,
  };
}

function recorded(records: readonly RfqRecord[], seed: number): PlannedRequest[] {
  const random = createRandom(seed, 2);
  return records.map((record, at) => ({
    ...record,
    id: `${at} ${record.id}`,
    amount: BigInt(record.amount),
    holder: false,
    whether: random.uniform(),
    record,
  }));
}

function drawn({ seed, takers, prices, startMs, makers }: ReplaySetup): PlannedRequest[] {
  const [arrivals, crowd] = [createRandom(seed, 1), createRandom(seed, 2)];
  const planned: PlannedRequest[] = [];
  for (
    let time = arrivals.exponential(takers.rfqSeconds);
    time < prices.length - 1;
    time += arrivals.exponential(takers.rfqSeconds)
  ) {
    const { request, ...draw } = drawRequest(
      crowd,
      takers,
      makers[0].routes,
      prices[Math.floor(time)] as number,
      `rfq ${planned.length}`,
    );
    const { route, ...rest } = request;
    planned.push({
      ...rest,
      ...draw,
      atMs: startMs + Math.floor(time * 1000),
      corridor: route.corridor,
      input: route.input.symbol,
      output: route.output.symbol,
      record: undefined,
    });
  }
  return planned;
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

/** At least as good for the taker as `amount` on the free side. */
const isAtLeastAsGood = (offer: MakerQuote, amount: bigint): boolean =>
  offer.request.side === 'exactInput' ? freeSide(offer) >= amount : freeSide(offer) <= amount;

/** The rival's amount must be beaten strictly. */
function beatsRival(offer: MakerQuote, record: RfqRecord | undefined): boolean {
  if (record === undefined || record.rival === null) return true;
  const rival = BigInt(record.rival);
  return isAtLeastAsGood(offer, rival) && freeSide(offer) !== rival;
}
