/** The configuration of the risk controls; docs/lp/risk.md explains them. */

import * as z from 'zod';

const positive = z.number().positive();
const natural = z.number().min(0);
const share = z.number().min(0).max(1);

export const zLpRisk = z.strictObject({
  killFile: z.string().min(1).nullable().default(null),
  standbyAfterSeconds: natural.default(5),
  /** The longest tenor in a volatile market, and for takers who hold quotes as options. */
  leastValiditySeconds: z.int().min(1).default(5),
  totalBps: positive.nullable().default(5_000),
  /**
   * With several venues, one venue’s quotes without a trade may use at most this share of each token and cap.
   */
  venueShare: positive.max(1).default(0.5),
  volSpike: z
    .strictObject({
      sigmaTimes: positive.default(3),
      tickTimes: positive.default(6),
      /** The regime stays elevated until nothing has tripped for this long. */
      calmSeconds: natural.default(30),
      sizeFactor: share.default(0.25),
      sigmaFactor: z.number().min(1).default(1.5),
      againSeconds: natural.default(300),
      haltSeconds: natural.default(60),
    })
    .prefault({}),
  gapLoss: z
    .strictObject({
      /** The assumed jump: standard deviations over the longest validity, at least `leastBps`. */
      deviations: natural.default(4),
      leastBps: natural.default(100),
      budgetBps: positive.default(25),
    })
    .prefault({}),
  freeOption: z
    .strictObject({
      liveSeconds: positive.default(50),
      acceptShare: share.default(0.02),
      accepts: z.int().min(1).default(10),
      lateShare: share.default(0.8),
      /** Multiplies the share of the option value that is charged. */
      omegaFactor: z.number().min(1).default(3),
      memorySeconds: positive.default(3_600),
    })
    .prefault({}),
  rate: z.strictObject({ perSecond: positive.default(20), burst: z.int().min(1).default(60) }).prefault({}),
  /** Takers kept in memory; beyond this the least recent ones are forgotten. */
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
