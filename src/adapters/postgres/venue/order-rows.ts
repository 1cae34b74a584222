/** Converts orders and facts to and from rows. */

import type { Evidence, Fact } from '../../../domain/fact.ts';
import { type OrderMessage, orderToMessage } from '../../../domain/order.ts';
import type { NewOrder, OrderRecord } from '../../../ports/stores/store.ts';
import { orderFromMessage } from '../../../protocol/wire.ts';
import type { Row } from '../pool.ts';
import { bytes, fromRow, uintBytes } from '../rows.ts';

export function toJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? each.toString() : each));
}

type Stored<F> = F extends bigint ? string : F extends object ? { [K in keyof F]: Stored<F[K]> } : F;

export function factFromJson(stored: Stored<Fact>): Fact {
  if (!('evidence' in stored)) return stored;
  const evidence: Evidence = { ...stored.evidence, blockNumber: BigInt(stored.evidence.blockNumber) };
  if ('amount' in stored)
    return {
      ...stored,
      amount: BigInt(stored.amount),
      ...('surplus' in stored && stored.surplus !== undefined && { surplus: BigInt(stored.surplus) }),
      evidence,
    } as Fact;
  return { ...stored, evidence };
}

export const ORDER_COLUMNS = `o.order_id, o.quote_id, o.workspace_id, o.key_id, o.member_id, o.namespace, o.mode, o.execution_mode, o.origin_chain_id, o.dest_chain_ids, o.message,
  o.valid_until, o.commitments, o.route, o.parent_order_id, o.solver_ids, o.signature, o.sign_scheme, o.funding, o.candidate, o.reference_id, o.amount_usd, o.screening, o.travel_rule, o.created_at_ms, o.updated_at_ms,
  (select jsonb_agg(jsonb_build_object('seq', f.seq, 'at', f.recorded_at_ms, 'fact', f.fact) order by f.seq) from order_fact f where f.order_id = o.order_id) as facts`;

interface StoredOrder extends Omit<OrderRecord, 'order' | 'facts'> {
  message: OrderMessage;
  facts: { seq: number; at: number; fact: Stored<Fact> }[] | null;
}

export function orderFromRow(row: Row): OrderRecord {
  const { message, facts, ...record } = fromRow<StoredOrder>(row);
  return {
    ...record,
    destChainIds: record.destChainIds.map(Number),
    order: orderFromMessage(message),
    facts: (facts ?? []).map(({ seq, at, fact }) => ({ seq, recordedAtMs: at, fact: factFromJson(fact) })),
  };
}

const NEW_ORDER: Record<string, [type: string, value: (order: NewOrder) => unknown]> = {
  order_id: ['bytea', ({ orderId }) => bytes(orderId)],
  quote_id: ['bytea', ({ quoteId }) => bytes(quoteId)],
  workspace_id: ['text', ({ workspaceId }) => workspaceId],
  key_id: ['text', ({ keyId }) => keyId],
  namespace: ['text', ({ namespace }) => namespace],
  mode: ['text', ({ mode }) => mode],
  execution_mode: ['text', ({ executionMode }) => executionMode],
  origin_chain_id: ['bigint', ({ originChainId }) => originChainId],
  dest_chain_ids: ['bigint[]', ({ destChainIds }) => destChainIds],
  taker: ['bytea', ({ order }) => bytes(order.user)],
  nonce: ['bytea', ({ order }) => uintBytes(order.nonce)],
  message: ['jsonb', ({ order }) => JSON.stringify(orderToMessage(order))],
  valid_until: ['bigint', ({ validUntil }) => validUntil],
  commitments: ['jsonb', ({ commitments }) => JSON.stringify(commitments)],
  route: ['jsonb', ({ route }) => route && JSON.stringify(route)],
  parent_order_id: ['bytea', ({ parentOrderId }) => parentOrderId && bytes(parentOrderId)],
  solver_ids: ['text[]', ({ solverIds }) => solverIds],
  signature: ['bytea', ({ signature }) => bytes(signature)],
  sign_scheme: ['text', ({ signScheme }) => signScheme],
  funding: ['bytea', ({ funding }) => bytes(funding)],
  candidate: ['text', ({ candidate }) => candidate],
  reference_id: ['text', ({ referenceId }) => referenceId],
  amount_usd: ['double precision', ({ amountUsd }) => amountUsd],
  screening: ['jsonb', ({ screening }) => screening && JSON.stringify(screening)],
  travel_rule: ['jsonb', ({ travelRule }) => travelRule && JSON.stringify(travelRule)],
  member_id: ['text', ({ memberId }) => memberId],
  created_at_ms: ['bigint', ({ createdAtMs }) => createdAtMs],
};

export const NEW_ORDER_COLUMNS = Object.keys(NEW_ORDER);
export const NEW_ORDER_TYPES = Object.values(NEW_ORDER).map(([type]) => type);
export const orderToValues = (order: NewOrder): unknown[] =>
  Object.values(NEW_ORDER).map(([, valueOf]) => valueOf(order));
