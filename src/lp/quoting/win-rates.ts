/**
 * Learns the win-rate curve of each pair, corridor and size from the outcomes of our quotes: an accepted
 * quote is a win, an expired one a loss. What it learned survives a restart.
 */

import { nonceGroupOf } from '../../domain/order.ts';
import * as z from 'zod';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { LpStore } from '../../ports/stores/lp-store.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { PricingParams } from '../../pricing/params.ts';
import {
  type Curve,
  type CurveFit,
  exploration,
  learn,
  SIZE_BUCKETS,
  sizeBucket,
  startFit,
  trusted,
} from '../../pricing/win-curve.ts';
import type { LpConfig } from '../config/config.ts';
import type { QuoteRecord } from '../quote-log/quote-events.ts';
import type { OpenAward } from '../settlement/awards.ts';
import type { QuoteRoute } from '../routes/route.ts';

export type CalibrationConfig = LpConfig['pricing']['calibration'];

export interface WinRates {
  /** The route's parameters, with the learned curve where it may be used at this size in USD. */
  params(route: QuoteRoute, sizeUsd: number): PricingParams;
  /** Returns how much the spread of this request departs from the best one to learn, in bps; mostly 0. */
  explore(rfqId: string): number;
  quoted(record: QuoteRecord): void;
  accepted(award: Pick<OpenAward, 'orderId' | 'order'>): void;
  /** Counts expired requests as losses. Call about once a second. */
  countExpired(): void;
  /** Stores what was learned since the last call. Rejects when the store does, and stores it next time. */
  flush(): Promise<void>;
  configure(next: CalibrationConfig): void;
  curves(): CurveView[];
}

interface WinRateDeps {
  clock: Clock;
  log: Log;
  metrics: Metrics;
  store: Pick<LpStore, 'putCurves'>;
}

export interface CurveView {
  pair: string;
  corridor: string;
  /** Such as "1000-10000", in USD. */
  size: string;
  configured: Curve;
  learned: Curve;
  won: number;
  lost: number;
  inUse: boolean;
}

interface LearnedCurve {
  configured: Curve;
  fit: CurveFit;
}

interface Segment {
  readonly key: string;
  learned: LearnedCurve | undefined;
}

interface RouteSegment {
  segment: Segment;
  configured: Curve;
  cached: { fit: CurveFit; params: PricingParams } | undefined;
}

/** The quotes of one nonce: of several tenors the best price is the one that counts as lost. */
interface PendingRequest {
  routeSegment: RouteSegment;
  taker: string;
  bestBps: number;
  /** Unix seconds, of the longest tenor. */
  endsAt: number;
  won: boolean;
  quotes: { orderId: string; spreadBps: number }[];
}

interface WinRateState {
  config: CalibrationConfig;
  /** The share of what was learned that each further outcome keeps. */
  weightKept: number;
  /** Something was learned since the last `flush`. */
  dirty: boolean;
  readonly segments: Map<string, Segment>;
  routeSegments: Map<QuoteRoute, RouteSegment[]>;
  /** The requests whose outcome is not known yet, by nonce group, oldest first. */
  readonly pending: Map<string, PendingRequest>;
  /** Takers and segments whose losses do not count now, by the time of the loss in ms, the oldest first. */
  readonly losers: Map<string, number>;
}

/** An award may arrive this long after the last second at which the quote was valid. */
const SETTLING_SECONDS = 10;
/** Above this many pending requests the oldest hundredth is forgotten, neither won nor lost. */
const MAX_PENDING = 250_000;
/** Losses of one taker and segment count once in this time: asking is free and must not move our price. */
const LOSS_INTERVAL_MS = 60_000;
const MAX_TAKER_SEGMENTS = 50_000;

const zCurve = { alpha: z.number(), beta: z.number().positive() };
const zStored = z.strictObject({
  version: z.literal(1),
  curves: z.record(
    z.string(),
    z.strictObject({
      configured: z.strictObject(zCurve),
      fit: z.strictObject({
        ...zCurve,
        aa: z.number(),
        ab: z.number(),
        bb: z.number(),
        won: z.number(),
        lost: z.number(),
      }),
    }),
  ),
});

export function createWinRates(deps: WinRateDeps, config: CalibrationConfig, stored: unknown): WinRates {
  const { clock, log, metrics, store } = deps;
  const state: WinRateState = {
    config,
    weightKept: weightKeptOf(config),
    dirty: false,
    segments: new Map(
      Object.entries(readStored(stored, log)).map(([key, learned]) => [key, { key, learned }]),
    ),
    routeSegments: new Map(),
    pending: new Map(),
    losers: new Map(),
  };
  showCurves(metrics, state);
  return {
    params: (route, sizeUsd) => paramsOf(state, route, sizeUsd),
    explore: (rfqId) => exploreBps(state, rfqId),
    quoted: (record) => quoted(state, record),
    accepted: (award) => accepted(state, award),
    countExpired: () => countExpired(clock, state),
    flush: () => flush(store, state),
    configure(next) {
      state.config = next;
      state.weightKept = weightKeptOf(next);
      state.routeSegments = new Map();
    },
    curves: () => curves(state),
  };
}

const weightKeptOf = ({ halfLifeOutcomes }: CalibrationConfig): number => 0.5 ** (1 / halfLifeOutcomes);

function readStored(stored: unknown, log: Log): Record<string, LearnedCurve> {
  if (stored === null || stored === undefined) return {};
  const parsed = zStored.safeParse(stored);
  if (!parsed.success)
    log.warn(
      { problem: parsed.error.issues[0]?.message },
      'stored win-rate curves cannot be read: learning starts over',
    );
  return parsed.success ? parsed.data.curves : {};
}

function showCurves(metrics: Metrics, state: WinRateState): void {
  const labels = ['pair', 'corridor', 'size'];
  metrics.gauge(
    'firmquote_lp_win_curve_half_bps',
    'Learned spread at which half of the takers accept',
    labels,
    (gauge) => {
      for (const { pair, corridor, size, fit } of learnedCurves(state))
        gauge.set(-fit.alpha / fit.beta, { pair, corridor, size });
    },
  );
  metrics.gauge(
    'firmquote_lp_win_curve_outcomes',
    'Outcomes that the win-rate curve was learned from',
    [...labels, 'outcome'],
    (gauge) => {
      for (const { pair, corridor, size, fit } of learnedCurves(state)) {
        gauge.set(fit.won, { pair, corridor, size, outcome: 'won' });
        gauge.set(fit.lost, { pair, corridor, size, outcome: 'lost' });
      }
    },
  );
}

function* learnedCurves({
  segments,
}: WinRateState): Generator<LearnedCurve & { pair: string; corridor: string; size: string }> {
  for (const { key, learned } of segments.values()) {
    if (learned === undefined) continue;
    const [pair = '', corridor = '', bucket = '0'] = key.split('|');
    yield { ...learned, pair, corridor, size: sizeName(Number(bucket)) };
  }
}

const sizeName = (bucket: number): string => `${SIZE_BUCKETS[bucket - 1] ?? 0}-${SIZE_BUCKETS[bucket] ?? ''}`;

function paramsOf(state: WinRateState, route: QuoteRoute, sizeUsd: number): PricingParams {
  const { config } = state;
  if (config.mode !== 'use') return route.params;
  const routeSegment = routeSegmentOf(state, route, sizeBucket(sizeUsd));
  const fit = routeSegment.segment.learned?.fit;
  if (fit === undefined) return route.params;
  if (routeSegment.cached?.fit === fit) return routeSegment.cached.params;
  const curve = trusted(fitOf(routeSegment), route.params, config);
  const params =
    curve === undefined ? route.params : { ...route.params, alpha: curve.alpha, beta: curve.beta };
  routeSegment.cached = { fit, params };
  return params;
}

function routeSegmentOf(state: WinRateState, route: QuoteRoute, bucket: number): RouteSegment {
  let ofRoute = state.routeSegments.get(route);
  if (ofRoute === undefined) state.routeSegments.set(route, (ofRoute = []));
  return (ofRoute[bucket] ??= createRouteSegment(state, route, bucket));
}

function createRouteSegment(
  { segments }: WinRateState,
  { market, params: { alpha, beta } }: QuoteRoute,
  bucket: number,
): RouteSegment {
  const key = `${market.pair}|${market.corridor}|${bucket}`;
  const segment = segments.get(key) ?? { key, learned: undefined };
  segments.set(key, segment);
  return { segment, configured: { alpha, beta }, cached: undefined };
}

/** The learned fit; starts over when the operator has changed the curve it started from. */
function fitOf({ segment: { learned }, configured }: RouteSegment): CurveFit {
  return learned !== undefined &&
    learned.configured.alpha === configured.alpha &&
    learned.configured.beta === configured.beta
    ? learned.fit
    : startFit(configured);
}

const exploreBps = ({ config }: WinRateState, rfqId: string): number =>
  config.mode === 'off' || config.exploreShare === 0
    ? 0
    : exploration(`${config.seed}|${rfqId}`, { share: config.exploreShare, bps: config.exploreBps });

function quoted(
  state: WinRateState,
  { orderId, route, times, taker, inputs, priced, hold, slice }: QuoteRecord,
): void {
  // How the venue divides an order decides whether a slice is taken, and a pricer has no curve to learn.
  if (state.config.mode === 'off' || slice || inputs.plugin?.pricer !== undefined) return;
  const { pending } = state;
  const spreadBps = priced.terms.D;
  const endsAt = times.fillDeadline + SETTLING_SECONDS;
  const quote = { orderId, spreadBps };
  const request = pending.get(hold.group);
  if (request !== undefined && !request.won) {
    request.bestBps = Math.min(request.bestBps, spreadBps);
    request.endsAt = Math.max(request.endsAt, endsAt);
    request.quotes.push(quote);
    return;
  }
  const routeSegment = routeSegmentOf(state, route, sizeBucket(Number(priced.notional) / 1e6));
  // Deleted first, so that it becomes the newest.
  pending.delete(hold.group);
  pending.set(hold.group, { routeSegment, taker, bestBps: spreadBps, endsAt, won: false, quotes: [quote] });
  if (pending.size > MAX_PENDING) forgetOldest(state);
}

function forgetOldest({ pending }: WinRateState): void {
  for (const group of pending.keys()) {
    if (pending.size <= 0.99 * MAX_PENDING) return;
    pending.delete(group);
  }
}

function accepted(state: WinRateState, { orderId, order }: Pick<OpenAward, 'orderId' | 'order'>): void {
  const request = state.pending.get(nonceGroupOf(order.originChainId, order.user, order.nonce));
  const quote = request?.quotes.find((each) => each.orderId === orderId);
  if (request === undefined || quote === undefined || request.won) return;
  request.won = true;
  learnOutcome(state, request.routeSegment, quote.spreadBps, true);
}

function learnOutcome(
  state: WinRateState,
  routeSegment: RouteSegment,
  spreadBps: number,
  won: boolean,
): void {
  const { segment, configured } = routeSegment;
  const fit = learn(fitOf(routeSegment), { delta: spreadBps, won }, state.weightKept);
  segment.learned = { configured, fit };
  state.dirty = true;
}

function countExpired(clock: Clock, state: WinRateState): void {
  forgetLosers(clock, state);
  const nowMs = clock.nowMs();
  // Requests with a short tenor may wait behind a longer one: learning a minute later is soon enough.
  for (const [group, request] of state.pending) {
    if (request.endsAt * 1000 > nowMs) return;
    if (!request.won) learnLoss(clock, state, request);
    state.pending.delete(group);
  }
}

function forgetLosers(clock: Clock, { losers }: WinRateState): void {
  const endMs = clock.monotonicMs() - LOSS_INTERVAL_MS;
  for (const [key, atMs] of losers) {
    if (atMs > endMs && losers.size <= MAX_TAKER_SEGMENTS) return;
    losers.delete(key);
  }
}

function learnLoss(
  clock: Clock,
  state: WinRateState,
  { routeSegment, taker, bestBps }: PendingRequest,
): void {
  const key = `${taker}|${routeSegment.segment.key}`;
  if (state.losers.has(key)) return;
  state.losers.set(key, clock.monotonicMs());
  learnOutcome(state, routeSegment, bestBps, false);
}

async function flush(store: WinRateDeps['store'], state: WinRateState): Promise<void> {
  if (!state.dirty) return;
  state.dirty = false;
  const all = Object.fromEntries(
    [...state.segments.values()].flatMap(({ key, learned }) =>
      learned === undefined ? [] : [[key, learned]],
    ),
  );
  try {
    await store.putCurves(JSON.stringify({ version: 1, curves: all } satisfies z.infer<typeof zStored>));
  } catch (error) {
    state.dirty = true;
    throw error;
  }
}

const curves = (state: WinRateState): CurveView[] =>
  [...learnedCurves(state)].map(({ pair, corridor, size, configured, fit }) => ({
    pair,
    corridor,
    size,
    configured,
    learned: { alpha: fit.alpha, beta: fit.beta },
    won: fit.won,
    lost: fit.lost,
    inUse: state.config.mode === 'use' && trusted(fit, configured, state.config) !== undefined,
  }));
