/** The trace of an order: a span for each fact since the one before, and one for the whole at its end. */

import type { Fact, RecordedFact } from '../../../domain/fact.ts';
import type { OrderRecord } from '../../../ports/stores/store.ts';
import { orderSpan, type Tracer } from '../../../ports/tracer.ts';
import type { Progress } from '../../../settlement/lifecycle.ts';

/** `added` are the last facts of `record`. */
export function recordFactSpans(
  tracer: Tracer | undefined,
  { orderId, createdAtMs, facts }: Pick<OrderRecord, 'orderId' | 'createdAtMs' | 'facts'>,
  added: readonly RecordedFact[],
): void {
  const before = facts[facts.length - added.length - 1];
  for (const { fact, recordedAtMs } of added)
    tracer?.record({
      name: `order ${fact.kind}`,
      parent: orderSpan(orderId),
      startMs: before?.recordedAtMs ?? createdAtMs,
      endMs: recordedAtMs,
      attributes: attributesOf(fact),
      failed: fact.kind === 'failed' ? fact.failure.message : undefined,
    });
}

export function recordOrderSpan(
  tracer: Tracer | undefined,
  { orderId, quoteId, createdAtMs }: Pick<OrderRecord, 'orderId' | 'quoteId' | 'createdAtMs'>,
  { stage, flow, failure }: Progress,
  endMs: number,
): void {
  tracer?.record({
    name: 'order',
    ids: orderSpan(orderId),
    startMs: createdAtMs,
    endMs,
    attributes: {
      'firmquote.order_id': orderId,
      'firmquote.quote_id': quoteId,
      'firmquote.stage': stage,
      'firmquote.flow': flow,
    },
    failed: failure?.message,
  });
}

function attributesOf(fact: Fact): Record<string, string | number> {
  if (fact.kind === 'sent')
    return {
      'firmquote.step': fact.step,
      'firmquote.chain_id': fact.chainId,
      'firmquote.tx_hash': fact.txHash,
    };
  if (!('evidence' in fact)) return {};
  const { chainId, txHash } = fact.evidence;
  return { 'firmquote.chain_id': chainId, 'firmquote.tx_hash': txHash };
}
