/** GET /solvers/{id}/firmness: whether a solver keeps its promises, and what stands behind them. */

import { z } from 'zod';
import { FAILURE_CODES } from '../../domain/fact.ts';
import { FADE_REASONS } from '../../domain/bond.ts';
import { zAmount } from '../wire.ts';

export const zFirmnessParams = z.strictObject({ id: z.string().max(200) });

/** Base units of the asset. */
const zBond = z.object({
  asset: z.string(),
  symbol: z.string(),
  chain: z.string(),
  amount: z.string(),
  /** What of it the solver has asked to take back. */
  leaving: z.string(),
  /** The largest promise whose whole share the rest would pay. */
  covers: z.string(),
});

const zWindow = z.object({
  /** Orders that takers submitted with its quotes; a split counts for the solver of its largest part. */
  awarded: z.int(),
  settled: z.int(),
  /** Orders that failed by its fault. */
  faded: z.int(),
  claims: z.object({ count: z.int(), paid: z.array(z.object({ asset: z.string(), amount: z.string() })) }),
  /** Within so many milliseconds came half, and 99 %, of its answers; null: no answer, or longer than 2 s. */
  answerMs: z.object({ median: z.number().nullable(), p99: z.number().nullable() }),
});

const zClaim = z.object({
  chain: z.string(),
  txHash: z.string(),
  blockNumber: zAmount,
  asset: z.string(),
  promised: z.string(),
  paid: z.string(),
  forfeited: z.string(),
});

export const zFade = z.object({
  orderId: z.string(),
  quoteId: z.string(),
  /** When the order was submitted, or its claim mined. */
  at: z.iso.datetime(),
  /** Why the order failed, or what the claim showed. */
  reason: z.enum([...FAILURE_CODES, ...FADE_REASONS]),
  /** The payment out of the bond, which anybody can look up on the chain; null: nobody has claimed. */
  claim: zClaim.nullable(),
});

export const zFirmness = z.object({
  id: z.string(),
  asOf: z.iso.datetime(),
  bonds: z.array(zBond),
  last24h: zWindow,
  last30d: zWindow,
  /** Of the last 30 days, newest first, at most 100. */
  fades: z.array(zFade),
});
export type Firmness = z.infer<typeof zFirmness>;
