/**
 * Spans of quote requests and of orders, for a tracing system. Ids follow from ids that venue, worker and LP
 * know anyway, so no message carries them and any process can add to a trace.
 */

import type { Bytes32 } from '../domain/hex.ts';

export interface SpanIds {
  /** 32 hex digits. */
  traceId: string;
  /** 16 hex digits. */
  spanId: string;
}

export interface Span {
  name: string;
  /** The ids of this span, when it is the root of its trace; otherwise `parent` is given. */
  ids?: SpanIds | undefined;
  parent?: SpanIds | undefined;
  /** Wall clock, ms. */
  startMs: number;
  endMs: number;
  attributes?: Readonly<Record<string, string | number>>;
  /** Says why the work of the span failed. */
  failed?: string | undefined;
}

export interface Tracer {
  /** Never throws and never waits. */
  record(span: Span): void;
}

/** Returns the root span of a quote request; undefined when a venue of another kind named the request. */
export const requestSpan = (rfqId: string): SpanIds | undefined =>
  /^[0-9a-f]{32}$/.test(rfqId) ? { traceId: rfqId, spanId: rfqId.slice(16) } : undefined;

/** Returns the root span of an order. */
export const orderSpan = (orderId: Bytes32): SpanIds => ({
  traceId: orderId.slice(2, 34),
  spanId: orderId.slice(34, 50),
});
