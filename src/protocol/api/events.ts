/**
 * GET /api/v1/ws: the frames that a client sends and receives. The AsyncAPI document is generated from these
 * schemas.
 */

import { z } from 'zod';
import { zSolver } from './roster.ts';
import { zOrderStatusResponse } from './status.ts';

export const EVENTS_PATH = '/api/v1/ws';
export const EVENTS_MAX_PAYLOAD_BYTES = 16 * 1024;
export const MAX_TOPICS = 100;
/** Application range of WebSocket close codes. */
export const CLOSE = {
  policy: 1008,
  tooBig: 1009,
  unsupported: 1003,
  tryLater: 1013,
  restarting: 1012,
} as const;
/** Price events of one topic are at least this far apart. */
export const PRICES_EVERY_MS = 200;

/** Where a client stands in its workspace's stream. Opaque to clients: only ever handed back. */
export const zCursor = z
  .string()
  .regex(/^(?:0|[1-9][0-9]{0,14})$/, 'must be the cursor of an event or of a subscribed frame')
  .describe('Opaque. Hand back the last one you handled.');

const zFrameId = z.union([z.string().max(100), z.int()]);

export const zClientFrame = z.strictObject({
  op: z.enum(['subscribe', 'unsubscribe']),
  topics: z.array(z.string().min(1).max(200)).min(1).max(MAX_TOPICS),
  /** For the topic `orders`: what happened after this cursor comes first. "0" is from the beginning. */
  since: zCursor.optional(),
  id: zFrameId.optional(),
});
export type ClientFrame = z.infer<typeof zClientFrame>;

const zAnsweredId = zFrameId.nullable();

export const zSubscribed = z.object({
  op: z.literal('subscribed'),
  topics: z.array(z.string()),
  /** Where the stream of the topic `orders` begins; only when that is among the topics. */
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
  /** 1, 2, 3 … per order, from the database. */
  seq: z.int(),
  /** On the topic `orders` only: subscribe with it as `since` and nothing after this event is missed. */
  cursor: zCursor.optional(),
  orderId: z.string(),
  occurredAt: z.iso.datetime(),
  /** The order as it was then. */
  data: zOrderStatusResponse,
});
export type OrderEventFrame = z.infer<typeof zOrderEvent>;

export const zSolverEvent = z.object({
  topic: z.literal('solvers'),
  type: z.literal('solver.changed'),
  occurredAt: z.iso.datetime(),
  data: zSolver,
});

/**
 * In base units; for an ask the amounts are what goes in of the output asset and comes out of the input
 * asset.
 */
export const zPriceLevel = z.object({
  give: z.string(),
  get: z.string(),
  /** Output tokens per input token, decimal text, for both sides. */
  price: z.string(),
});
const zPriceAsset = z.object({ asset: z.string(), symbol: z.string(), decimals: z.int() });

export const zPriceEvent = z.object({
  topic: z.string(),
  type: z.literal('prices.indicative'),
  occurredAt: z.iso.datetime(),
  data: z.object({
    /** Always: nothing here can be executed. Ask for a quote to get a firm price. */
    firm: z.literal(false),
    input: zPriceAsset,
    output: zPriceAsset,
    /**
     * Taker gives the input asset and gets the output asset: sizes rising, before platform fee and relay fee.
     */
    bids: z.array(zPriceLevel),
    /** Taker gives the output asset (on its chain) and gets the input asset. */
    asks: z.array(zPriceLevel),
    /** Solvers whose levels are in it. */
    solvers: z.int(),
    /** When the oldest of these levels was made, and how old it is; null without levels. */
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

/**
 * undefined for anything that is not a topic of ours; wildcards are not. Which chains and tokens there are is
 * for the venue to say.
 */
export function parseTopic(text: string): Topic | undefined {
  if (text === 'orders') return { kind: 'orders' };
  if (text === 'solvers') return { kind: 'solvers' };
  const order = /^orders:(0x[0-9a-f]{64})$/.exec(text);
  if (order?.[1]) return { kind: 'order', orderId: order[1] };
  const prices = /^prices:([a-z0-9-]{3,80}):([^:\s*]{3,80})$/.exec(text);
  return prices?.[1] && prices[2] ? { kind: 'prices', corridor: prices[1], pair: prices[2] } : undefined;
}
