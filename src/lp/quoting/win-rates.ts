/**
 * Learns the win-rate curve from what becomes of our quotes, for each pair, corridor and size on its own:
 * taken is won, run out is lost. It remembers quotes only while they live, never holds one up, and what it
 * learned survives a restart.
 */

import { z } from 'zod';
import { createBoundedMap } from '../../domain/bounded.ts';
import { createColumn } from '../../domain/column.ts';
import { createIdRing } from '../../domain/id-ring.ts';
import { eachOf } from '../../domain/steps.ts';
import { createTexts, LONGEST } from '../../domain/texts.ts';
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
import type { MomentListener } from '../quote-log/quote-events.ts';
import type { Route } from './route.ts';
import { inTurns } from './turns.ts';

export type CalibrationConfig = LpConfig['pricing']['calibration'];

export interface Calibrator extends Required<Pick<MomentListener, 'quoted' | 'accepted'>> {
  /**
   * The route's params, with the learned curve in them where one may be used at this size (reference
   * currency).
   */
  params(route: Route, size: number): PricingParams;
  /** Noise for this request, bps. */
  explore(rfqId: string): number;
  /** Takes in what ran out by now, in steps. About once a second. */
  tick(): Generator<void>;
  /** Writes what was learned since. Throws what the store throws; it stays due. */
  flush(): Promise<void>;
  configure(config: CalibrationConfig): void;
  /** All that was learned, in steps. */
  curves(): Generator<void, CurveView[]>;
}

/** One learned curve, for an operator. */
export interface CurveView {
  pair: string;
  corridor: string;
  /** Such as "1000-10000", reference currency. */
  size: string;
  configured: Curve;
  learned: Curve;
  won: number;
  lost: number;
  inUse: boolean;
}

/** What every quote of a route and size shares, made once: thousands of pending quotes hold on to it. */
interface Shelf {
  segment: Segment;
  configured: Curve;
  /** The route's params with the curve that was trusted when they were made. */
  made: { fit: CurveFit; params: PricingParams } | undefined;
}

/** A pair, corridor and size. */
interface Segment {
  readonly key: string;
  learned: Learned | undefined;
}

interface Learned {
  configured: Curve;
  fit: CurveFit;
}

/** An award may be on its way for this long after the last second it can be valid. */
const SETTLING_SECONDS = 10;
/** Further quotes are not learned from; they live as safely as any other. */
const MOST_PENDING = 250_000;
/** Firm times that one nonce may be quoted at, and all of them are remembered. */
const MOST_ANSWERS = 5 * MOST_PENDING;
/**
 * Between two looks at the clock: a quarter of a millisecond where the code is cold, and it is, once a
 * second.
 */
const LOST_AT_ONCE = 25;
const CURVES_AT_ONCE = 25;
/**
 * A taker's refusals of one kind count once in this time: asking is free, and it must not be a lever on our
 * price.
 */
const LOST_EVERY_MS = 60_000;
const MOST_TAKERS = 50_000;

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

export function createCalibrator(
  deps: { clock: Clock; log: Log; metrics: Metrics; store: Pick<LpStore, 'putCurves'> },
  start: CalibrationConfig,
  stored: unknown,
): Calibrator {
  const { clock, log } = deps;
  let config = start;
  let kept = keptOf(start);
  let dirty = false;
  const segments = new Map<string, Segment>(
    Object.entries(read(stored, log)).map(([key, learned]) => [key, { key, learned }]),
  );
  /**
   * Nonces that may still be taken, by the group of their quotes: of several firm times the best price is
   * what counts as lost.
   */
  const pending = createIdRing(MOST_PENDING);
  const shelfAt = createColumn<Shelf>();
  /** undefined: taken. */
  const takerAt = createTexts<string>(LONGEST.account);
  const bestAt = new Float64Array(MOST_PENDING);
  /** Unix seconds, of the longest firm time. */
  const endsAt = new Float64Array(MOST_PENDING);
  /** The quotes, by their order, each with its price and the number of its nonce. */
  const answers = createIdRing(MOST_ANSWERS);
  const deltaOf = new Float64Array(MOST_ANSWERS);
  const nonceOf = new Float64Array(MOST_ANSWERS);
  const lostAt = createBoundedMap<string, number>({ most: () => MOST_TAKERS });
  /** Of the routes in force; emptied when others are. */
  let shelves = new Map<Route, Shelf[]>();

  function shelfOf(route: Route, bucket: number): Shelf {
    let ofRoute = shelves.get(route);
    if (ofRoute === undefined) {
      ofRoute = [];
      shelves.set(route, ofRoute);
    }
    return (ofRoute[bucket] ??= newShelf(route, bucket));
  }

  function newShelf({ market, params: { alpha, beta } }: Route, bucket: number): Shelf {
    const key = `${market.pair}|${market.corridor}|${bucket}`;
    const segment = segments.get(key) ?? { key, learned: undefined };
    segments.set(key, segment);
    return { segment, configured: { alpha, beta }, made: undefined };
  }

  /** What is known there; begins anew when the operator has changed the curve it started from. */
  function fitOf({ segment: { learned }, configured }: Shelf): CurveFit {
    return learned !== undefined &&
      learned.configured.alpha === configured.alpha &&
      learned.configured.beta === configured.beta
      ? learned.fit
      : startFit(configured);
  }

  function take(shelf: Shelf, delta: number, won: boolean): void {
    shelf.segment.learned = { configured: shelf.configured, fit: learn(fitOf(shelf), { delta, won }, kept) };
    dirty = true;
  }

  /** What `read` reads, as JSON. */
  function* written(): Generator<void, string> {
    const curves: string[] = [];
    yield* eachOf(segments.values(), CURVES_AT_ONCE, ({ key, learned }) => {
      if (learned !== undefined)
        curves.push(
          `${JSON.stringify(key)}:${JSON.stringify(learned satisfies z.infer<typeof zStored>['curves'][string])}`,
        );
    });
    return `{"version":1,"curves":{${curves.join()}}}`;
  }

  function lost(shelf: Shelf, taker: string, delta: number, nowMs: number): void {
    const who = `${taker}|${shelf.segment.key}`;
    const last = lostAt.get(who);
    if (last !== undefined && nowMs - last < LOST_EVERY_MS) return;
    lostAt.set(who, nowMs);
    take(shelf, delta, false);
  }

  function answered(orderId: string, delta: number, nonce: number): void {
    if (answers.next - answers.oldest === MOST_ANSWERS) answers.dropOldest();
    const row = answers.rowOf(answers.add(orderId));
    deltaOf[row] = delta;
    nonceOf[row] = nonce;
  }

  /** In steps: there are as many as pairs and sizes. */
  function* visitCurves(
    visit: (place: { pair: string; corridor: string; size: string }, learned: Learned) => void,
  ): Generator<void> {
    yield* eachOf(segments.values(), CURVES_AT_ONCE, ({ key, learned }) => {
      if (learned === undefined) return;
      const [pair = '', corridor = '', bucket = '0'] = key.split('|');
      visit({ pair, corridor, size: sizeName(Number(bucket)) }, learned);
    });
  }

  const labels = ['pair', 'corridor', 'size'];
  deps.metrics.gauge(
    'firmquote_lp_win_curve_half_bps',
    'Learned spread that half of all takers take',
    labels,
    (gauge) => visitCurves((place, { fit: { alpha, beta } }) => gauge.set(-alpha / beta, place)),
  );
  deps.metrics.gauge(
    'firmquote_lp_win_curve_outcomes',
    'Quotes it was learned from',
    [...labels, 'outcome'],
    (gauge) =>
      visitCurves((place, { fit: { won, lost: gone } }) => {
        gauge.set(won, { ...place, outcome: 'won' });
        gauge.set(gone, { ...place, outcome: 'lost' });
      }),
  );

  return {
    params(route, size) {
      if (config.mode !== 'use') return route.params;
      const shelf = shelfOf(route, sizeBucket(size));
      const fit = shelf.segment.learned?.fit;
      if (fit === undefined) return route.params;
      if (shelf.made?.fit === fit) return shelf.made.params;
      const curve = trusted(fitOf(shelf), route.params, config);
      const params =
        curve === undefined ? route.params : { ...route.params, alpha: curve.alpha, beta: curve.beta };
      shelf.made = { fit, params };
      return params;
    },
    explore: (rfqId) =>
      config.mode === 'off' || config.exploreShare === 0
        ? 0
        : exploration(`${config.seed}|${rfqId}`, { share: config.exploreShare, bps: config.exploreBps }),
    quoted({ orderId, route, times, taker, inputs, priced, hold, slice }) {
      // A slice is taken or left by how the venue divides, and a pricer has no curve to learn.
      if (config.mode === 'off' || slice || inputs.plugin?.pricer !== undefined) return;
      const { group } = hold;
      const delta = priced.terms.D;
      const ends = times.fillDeadline + SETTLING_SECONDS;
      const known = pending.find(group);
      const row = pending.rowOf(known);
      if (known !== -1 && takerAt.has(row)) {
        answered(orderId, delta, known);
        bestAt[row] = Math.min(bestAt[row] as number, delta);
        endsAt[row] = Math.max(endsAt[row] as number, ends);
        return;
      }
      if (pending.next - pending.oldest === MOST_PENDING) return;
      const number = pending.add(group);
      const added = pending.rowOf(number);
      shelfAt.set(added, shelfOf(route, sizeBucket(Number(priced.notional) / 1e6)));
      takerAt.set(added, taker);
      bestAt[added] = delta;
      endsAt[added] = ends;
      answered(orderId, delta, number);
    },
    accepted({ orderId }) {
      const answer = answers.find(orderId);
      const nonce = nonceOf[answers.rowOf(answer)] as number;
      if (answer === -1 || nonce < pending.oldest) return;
      const row = pending.rowOf(nonce);
      const shelf = shelfAt.get(row);
      if (shelf === undefined || !takerAt.has(row)) return;
      takerAt.set(row, undefined);
      take(shelf, deltaOf[answers.rowOf(answer)] as number, true);
    },
    *tick() {
      const nowMs = clock.nowMs();
      // A long one at the head keeps shorter ones behind it waiting: learning a minute later is soon enough.
      for (let left = LOST_AT_ONCE; ; left -= 1) {
        const row = pending.rowOf(pending.oldest);
        if (pending.oldest === pending.next || (endsAt[row] as number) * 1000 > nowMs) return;
        if (left === 0) {
          left = LOST_AT_ONCE;
          yield;
          continue;
        }
        const [shelf, taker] = [shelfAt.get(row), takerAt.get(row)];
        shelfAt.set(row, undefined);
        takerAt.set(row, undefined);
        pending.dropOldest();
        if (shelf !== undefined && taker !== undefined) lost(shelf, taker, bestAt[row] as number, nowMs);
      }
    },
    async flush() {
      if (!dirty) return;
      dirty = false;
      try {
        await deps.store.putCurves(await inTurns(written()));
      } catch (error) {
        dirty = true;
        throw error;
      }
    },
    configure(next) {
      config = next;
      kept = keptOf(next);
      shelves = new Map();
    },
    *curves() {
      const views: CurveView[] = [];
      yield* visitCurves(({ pair, corridor, size }, { configured, fit }) => {
        const inUse = config.mode === 'use' && trusted(fit, configured, config) !== undefined;
        views.push({
          pair,
          corridor,
          size,
          configured,
          learned: { alpha: fit.alpha, beta: fit.beta },
          won: fit.won,
          lost: fit.lost,
          inUse,
        });
      });
      return views;
    },
  };
}

const keptOf = ({ halfLifeOutcomes }: CalibrationConfig): number => 0.5 ** (1 / halfLifeOutcomes);
const sizeName = (bucket: number): string => `${SIZE_BUCKETS[bucket - 1] ?? 0}-${SIZE_BUCKETS[bucket] ?? ''}`;

/** What an earlier life learned; what cannot be read is learned again. */
function read(stored: unknown, log: Log): Record<string, Learned> {
  if (stored === null || stored === undefined) return {};
  const parsed = zStored.safeParse(stored);
  if (!parsed.success)
    log.warn(
      { problem: parsed.error.issues[0]?.message },
      'what was learned of win rates cannot be read: learning begins anew',
    );
  return parsed.success ? parsed.data.curves : {};
}
