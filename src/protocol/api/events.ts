/** Frames of GET /api/v1/ws. */

import * as z from 'zod';
import { zSolver } from './roster.ts';
import { zOrderStatusResponse } from './status.ts';

export const EVENTS_PATH = '/api/v1/ws';
export const EVENTS_MAX_PAYLOAD_BYTES = 16 * 1024;
export const MAX_TOPICS = 100;
export const CLOSE = {
  policy: 1008,
  tooBig: 1009,
  unsupported: 1003,
  tryLater: 1013,
  restarting: 1012,
} as const;
export const PRICES_EVERY_MS = 200;

/** Position in the workspace's stream, opaque to clients. */
const zCursor = z
  .string()
  .regex(/^(?:0|[1-9][0-9]{0,14})$/, 'must be the cursor of an event or of a subscribed frame')
  .describe('Opaque. Hand back the last one you handled.');

const zFrameId = z.union([z.string().max(100), z.int()]);

export const zClientFrame = z.strictObject({
  op: z.enum(['subscribe', 'unsubscribe']),
  topics: z.array(z.string().min(1).max(200)).min(1).max(MAX_TOPICS),
  /** Resumes the topic `orders` after this cursor. "0" is from the beginning. */
  since: zCursor.optional(),
  id: zFrameId.optional(),
});

const zAnsweredId = zFrameId.nullable();

export const zSubscribed = z.object({
  op: z.literal('subscribed'),
  topics: z.array(z.string()),
  /** Start of the stream of the topic `orders`. */
  cursor: zCursor.optional(),
  id: zAnsweredId,
});
export const zUnsubscribed = z.object({
  op: z.literal('unsubscribed'),
  topics: z.array(z.string()),
  id: zAnsweredId,
});
export const zStreamError = z.object({
  op: z.literal('error'),
  error: z.object({ code: z.string(), message: z.string() }),
  id: zAnsweredId,
});

export type FrameId = z.infer<typeof zAnsweredId>;
export type ServerFrame =
  | z.infer<typeof zSubscribed>
  | z.infer<typeof zUnsubscribed>
  | z.infer<typeof zStreamError>;

export const zOrderEvent = z.object({
  topic: z.string(),
  type: z.enum(['order.created', 'order.settled', 'order.failed']),
  seq: z.int(),
  /** The cursor to resume with as `since`; on the topic `orders` only. */
  cursor: zCursor.optional(),
  orderId: z.string(),
  occurredAt: z.iso.datetime(),
  data: zOrderStatusResponse,
});
export type OrderEventFrame = z.infer<typeof zOrderEvent>;

export const zSolverEvent = z.object({
  topic: z.literal('solvers'),
  type: z.literal('solver.changed'),
  occurredAt: z.iso.datetime(),
  data: zSolver,
});

/** Base units; for an ask, the output asset goes in and the input asset comes out. */
const zPriceLevel = z.object({
  give: z.string(),
  get: z.string(),
  /** Output tokens per input token, on both sides. */
  price: z.string(),
});
const zPriceAsset = z.object({ asset: z.string(), symbol: z.string(), decimals: z.int() });

export const zPriceEvent = z.object({
  topic: z.string(),
  type: z.literal('prices.indicative'),
  occurredAt: z.iso.datetime(),
  data: z.object({
    /** Ask for a quote to get a firm price. */
    firm: z.literal(false),
    input: zPriceAsset,
    output: zPriceAsset,
    /** Taker gives the input asset: sizes rising, before platform fee and relay fee. */
    bids: z.array(zPriceLevel),
    /** Taker gives the output asset. */
    asks: z.array(zPriceLevel),
    solvers: z.int(),
    /** The time of the oldest level; null without levels. */
    asOf: z.iso.datetime().nullable(),
    ageMs: z.int().nullable(),
  }),
});
export type PriceEventFrame = z.infer<typeof zPriceEvent>;

export type Topic =
  | { kind: 'order'; orderId: string }
  | { kind: 'orders' }
  | { kind: 'solvers' }
  | { kind: 'prices'; corridor: string; pair: string };

/** Reads a topic; undefined for an invalid one. Does not check that chains and tokens exist. */
export function parseTopic(text: string): Topic | undefined {
  if (text === 'orders') return { kind: 'orders' };
  if (text === 'solvers') return { kind: 'solvers' };
  const order = /^orders:(0x[0-9a-f]{64})$/.exec(text);
  if (order?.[1]) return { kind: 'order', orderId: order[1] };
  const prices = /^prices:([a-z0-9-]{3,80}):([^:\s*]{3,80})$/.exec(text);
  return prices?.[1] && prices[2] ? { kind: 'prices', corridor: prices[1], pair: prices[2] } : undefined;
}
