/** GET /api/v1/ws: what a client may say, and what it hears. */

import { z } from 'zod';
import { zSolver } from './roster.ts';
import { zOrderStatusResponse } from './status.ts';

export const EVENTS_PATH = '/api/v1/ws';
export const EVENTS_MAX_PAYLOAD_BYTES = 16 * 1024;
export const MAX_TOPICS = 100;
/** Application range of WebSocket close codes. */
export const CLOSE = { policy: 1008, tooBig: 1009, unsupported: 1003, tryLater: 1013, goingAway: 1001 } as const;

export const zClientFrame = z.strictObject({
  op: z.enum(['subscribe', 'unsubscribe']),
  topics: z.array(z.string().min(1).max(200)).min(1).max(MAX_TOPICS),
  id: z.union([z.string().max(100), z.int()]).optional(),
});
export type ClientFrame = z.infer<typeof zClientFrame>;

export type FrameId = string | number | null;
export type ServerFrame =
  | { op: 'subscribed' | 'unsubscribed'; topics: string[]; id: FrameId }
  | { op: 'error'; error: { code: string; message: string }; id: FrameId };

export const zOrderEvent = z.object({
  topic: z.string(),
  type: z.enum(['order.created', 'order.settled', 'order.failed']),
  /** 1, 2, 3 … per order, from the database. */
  seq: z.int(),
  orderId: z.string(),
  occurredAt: z.iso.datetime(),
  data: zOrderStatusResponse,
});
export type OrderEventFrame = z.infer<typeof zOrderEvent>;

export const zSolverEvent = z.object({ topic: z.literal('solvers'), type: z.literal('solver.changed'), occurredAt: z.iso.datetime(), data: zSolver });

export type Topic = { kind: 'order'; orderId: string } | { kind: 'orders' } | { kind: 'solvers' };

/** undefined for anything that is not a topic of ours; wildcards are not. */
export function parseTopic(text: string): Topic | undefined {
  if (text === 'orders') return { kind: 'orders' };
  if (text === 'solvers') return { kind: 'solvers' };
  const match = /^orders:(0x[0-9a-f]{64})$/.exec(text);
  return match?.[1] ? { kind: 'order', orderId: match[1] } : undefined;
}
