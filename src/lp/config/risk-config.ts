/** What the risk controls are told; the defaults are the model's. */

import { z } from 'zod';

const positive = z.number().positive();
const natural = z.number().min(0);
const share = z.number().min(0).max(1);

export const zLpRisk = z.strictObject({
  /** While this file exists nothing is signed. Looked at every 50 ms, so it works when nothing else does. */
  killFile: z.string().min(1).nullable().default(null),
  /** Without a price nothing is quoted at once; the roster says so after this. */
  standbyAfterSeconds: natural.default(5),
  /**
   * What validity is cut to while a market runs wild, or for a taker who holds options; a demand for more is
   * refused then.
   */
  leastValiditySeconds: z.int().min(1).default(5),
  /** Live quotes in all, in bps of net asset value; null: only `limits.total`. */
  totalBps: positive.nullable().default(5_000),
  volSpike: z
    .strictObject({
      /**
       * The last minute this many times as wild as the day, or one move of this many standard deviations of a
       * second.
       */
      sigmaTimes: positive.default(3),
      tickTimes: positive.default(6),
      /** Careful until nothing has tripped for this long. */
      calmSeconds: natural.default(30),
      sizeFactor: share.default(0.25),
      sigmaFactor: z.number().min(1).default(1.5),
      againSeconds: natural.default(300),
      haltSeconds: natural.default(60),
    })
    .prefault({}),
  gapLoss: z
    .strictObject({
      /** A jump: so many standard deviations over the longest validity, and never less than `leastBps`. */
      deviations: natural.default(4),
      leastBps: natural.default(100),
      /** What it may cost on the live quotes of one asset and side, in bps of net asset value. */
      budgetBps: positive.default(25),
    })
    .prefault({}),
  freeOption: z
    .strictObject({
      liveSeconds: positive.default(50),
      acceptShare: share.default(0.02),
      accepts: z.int().min(1).default(10),
      lateShare: share.default(0.8),
      /** The share of the option's value that is charged, times this. */
      omegaFactor: z.number().min(1).default(3),
      memorySeconds: positive.default(3_600),
    })
    .prefault({}),
  /** Requests of one taker. */
  rate: z.strictObject({ perSecond: positive.default(20), burst: z.int().min(1).default(60) }).prefault({}),
  /** Takers that are remembered; beyond it those heard of longest ago are forgotten. */
  takers: z.int().min(100).default(20_000),
  burst: z
    .strictObject({
      fills: z.int().min(1).default(4),
      deltaUsd: positive.default(500_000),
      withinSeconds: positive.default(10),
      freezeSeconds: natural.default(30),
    })
    .prefault({}),
  drawdown: z
    .strictObject({
      hourBps: positive.default(50),
      dayBps: positive.default(100),
      sizeFactor: share.default(0.5),
      killTimes: z.number().min(1).default(2),
    })
    .prefault({}),
  /** Bounds that no pair's parameters reach over: a typo there is caught here. */
  fatFinger: z
    .strictObject({
      leastBps: z.number().default(0.5),
      mostBps: positive.default(300),
      aboveMid: z.number().min(1).default(1.001),
      maxUsd: positive.default(500_000),
    })
    .prefault({}),
});

export type LpRisk = z.infer<typeof zLpRisk>;
