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

export type WinRates = ReturnType<typeof createWinRates>;

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

export function createWinRates(
  deps: { clock: Clock; log: Log; metrics: Metrics; store: Pick<LpStore, 'putCurves'> },
  initial: CalibrationConfig,
  stored: unknown,
) {
  const { clock, log } = deps;
  let config = initial;
  let weightKept = weightKeptOf(initial);
  let dirty = false;
  const segments = new Map<string, Segment>(
    Object.entries(readStored(stored, log)).map(([key, learned]) => [key, { key, learned }]),
  );
  /** The requests whose outcome is not known yet, by nonce group, oldest first. */
  const pending = new Map<string, PendingRequest>();
  /** Takers and segments whose losses do not count now, by the time of the loss in ms, the oldest first. */
  const losers = new Map<string, number>();
  let routeSegments = new Map<QuoteRoute, RouteSegment[]>();

  function routeSegmentOf(route: QuoteRoute, bucket: number): RouteSegment {
    let ofRoute = routeSegments.get(route);
    if (ofRoute === undefined) routeSegments.set(route, (ofRoute = []));
    return (ofRoute[bucket] ??= createRouteSegment(route, bucket));
  }

  function createRouteSegment({ market, params: { alpha, beta } }: QuoteRoute, bucket: number): RouteSegment {
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

  function learnOutcome(routeSegment: RouteSegment, spreadBps: number, won: boolean): void {
    const { segment, configured } = routeSegment;
    segment.learned = { configured, fit: learn(fitOf(routeSegment), { delta: spreadBps, won }, weightKept) };
    dirty = true;
  }

  function learnLoss({ routeSegment, taker, bestBps }: PendingRequest): void {
    const key = `${taker}|${routeSegment.segment.key}`;
    if (losers.has(key)) return;
    losers.set(key, clock.monotonicMs());
    learnOutcome(routeSegment, bestBps, false);
  }

  function forgetLosers(): void {
    const endMs = clock.monotonicMs() - LOSS_INTERVAL_MS;
    for (const [key, atMs] of losers) {
      if (atMs > endMs && losers.size <= MAX_TAKER_SEGMENTS) return;
      losers.delete(key);
    }
  }

  function forgetOldest(): void {
    for (const group of pending.keys()) {
      if (pending.size <= 0.99 * MAX_PENDING) return;
      pending.delete(group);
    }
  }

  function* learnedCurves(): Generator<LearnedCurve & { pair: string; corridor: string; size: string }> {
    for (const { key, learned } of segments.values()) {
      if (learned === undefined) continue;
      const [pair = '', corridor = '', bucket = '0'] = key.split('|');
      yield { ...learned, pair, corridor, size: sizeName(Number(bucket)) };
    }
  }

  const labels = ['pair', 'corridor', 'size'];
  deps.metrics.gauge(
    'firmquote_lp_win_curve_half_bps',
    'Learned spread at which half of the takers accept',
    labels,
    (gauge) => {
      for (const { pair, corridor, size, fit } of learnedCurves())
        gauge.set(-fit.alpha / fit.beta, { pair, corridor, size });
    },
  );
  deps.metrics.gauge(
    'firmquote_lp_win_curve_outcomes',
    'Outcomes that the win-rate curve was learned from',
    [...labels, 'outcome'],
    (gauge) => {
      for (const { pair, corridor, size, fit } of learnedCurves()) {
        gauge.set(fit.won, { pair, corridor, size, outcome: 'won' });
        gauge.set(fit.lost, { pair, corridor, size, outcome: 'lost' });
      }
    },
  );

  return {
    /** The route's parameters, with the learned curve where it may be used at this size (USD). */
    params(route: QuoteRoute, sizeUsd: number) {
      if (config.mode !== 'use') return route.params;
      const routeSegment = routeSegmentOf(route, sizeBucket(sizeUsd));
      const fit = routeSegment.segment.learned?.fit;
      if (fit === undefined) return route.params;
      if (routeSegment.cached?.fit === fit) return routeSegment.cached.params;
      const curve = trusted(fitOf(routeSegment), route.params, config);
      const params =
        curve === undefined ? route.params : { ...route.params, alpha: curve.alpha, beta: curve.beta };
      routeSegment.cached = { fit, params };
      return params;
    },
    explore: (rfqId: string) =>
      config.mode === 'off' || config.exploreShare === 0
        ? 0
        : exploration(`${config.seed}|${rfqId}`, { share: config.exploreShare, bps: config.exploreBps }),
    quoted({ orderId, route, times, taker, inputs, priced, hold, slice }: QuoteRecord) {
      // How the venue divides an order decides whether a slice is taken, and a pricer has no curve to learn.
      if (config.mode === 'off' || slice || inputs.plugin?.pricer !== undefined) return;
      const spreadBps = priced.terms.D;
      const endsAt = times.fillDeadline + SETTLING_SECONDS;
      const quote = { orderId, spreadBps };
      const request = pending.get(hold.group);
      if (request === undefined || request.won) {
        const routeSegment = routeSegmentOf(route, sizeBucket(Number(priced.notional) / 1e6));
        pending.delete(hold.group);
        pending.set(hold.group, {
          routeSegment,
          taker,
          bestBps: spreadBps,
          endsAt,
          won: false,
          quotes: [quote],
        });
        if (pending.size > MAX_PENDING) forgetOldest();
      } else {
        request.bestBps = Math.min(request.bestBps, spreadBps);
        request.endsAt = Math.max(request.endsAt, endsAt);
        request.quotes.push(quote);
      }
    },
    accepted({ orderId, order }: Pick<OpenAward, 'orderId' | 'order'>) {
      const request = pending.get(nonceGroupOf(order.originChainId, order.user, order.nonce));
      const quote = request?.quotes.find((each) => each.orderId === orderId);
      if (request === undefined || quote === undefined || request.won) return;
      request.won = true;
      learnOutcome(request.routeSegment, quote.spreadBps, true);
    },
    /** Counts expired requests as losses. Call about once a second. */
    countExpired() {
      forgetLosers();
      const nowMs = clock.nowMs();
      // Requests with a short tenor may wait behind a longer one: learning a minute later is soon enough.
      for (const [group, request] of pending) {
        if (request.endsAt * 1000 > nowMs) return;
        if (!request.won) learnLoss(request);
        pending.delete(group);
      }
    },
    /** Stores what was learned since the last call. Rejects when the store does, and stores it next time. */
    async flush() {
      if (!dirty) return;
      dirty = false;
      const curves = Object.fromEntries(
        [...segments.values()].flatMap(({ key, learned }) => (learned === undefined ? [] : [[key, learned]])),
      );
      try {
        await deps.store.putCurves(JSON.stringify({ version: 1, curves } satisfies z.infer<typeof zStored>));
      } catch (error) {
        dirty = true;
        throw error;
      }
    },
    configure(next: CalibrationConfig) {
      config = next;
      weightKept = weightKeptOf(next);
      routeSegments = new Map();
    },
    curves: () =>
      [...learnedCurves()].map(({ pair, corridor, size, configured, fit }) => ({
        pair,
        corridor,
        size,
        configured,
        learned: { alpha: fit.alpha, beta: fit.beta },
        won: fit.won,
        lost: fit.lost,
        inUse: config.mode === 'use' && trusted(fit, configured, config) !== undefined,
      })),
  };
}

const weightKeptOf = ({ halfLifeOutcomes }: CalibrationConfig): number => 0.5 ** (1 / halfLifeOutcomes);
const sizeName = (bucket: number): string => `${SIZE_BUCKETS[bucket - 1] ?? 0}-${SIZE_BUCKETS[bucket] ?? ''}`;

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
