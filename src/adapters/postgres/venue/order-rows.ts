/** Converts orders and facts to and from rows. */

import { bytesToHex, type Bytes32, type Hex } from '../../../domain/hex.ts';
import type { Evidence, Fact, RecordedFact } from '../../../domain/fact.ts';
import type { OrderMessage } from '../../../domain/order.ts';
import type { NewOrder, OrderRecord } from '../../../ports/stores/store.ts';
import { orderFromMessage, orderToMessage } from '../../../protocol/wire.ts';
import { uint } from '../../../domain/word.ts';

export const factToJson = (fact: Fact): string => toJson(fact);

/** JSON with bigints as decimal strings. */
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

export interface OrderRow {
  order_id: Buffer;
  quote_id: Buffer;
  workspace_id: string;
  key_id: string;
  member_id: string | null;
  namespace: NewOrder['namespace'];
  mode: NewOrder['mode'];
  execution_mode: NewOrder['executionMode'];
  origin_chain_id: number;
  dest_chain_ids: (number | string)[];
  message: OrderMessage;
  valid_until: number;
  commitments: NewOrder['commitments'];
  route: NewOrder['route'];
  parent_order_id: Buffer | null;
  solver_ids: string[];
  signature: Buffer;
  sign_scheme: NewOrder['signScheme'];
  funding: Buffer;
  candidate: string;
  reference_id: string | null;
  amount_usd: number | null;
  screening: NewOrder['screening'];
  travel_rule: NewOrder['travelRule'];
  created_at_ms: number;
  updated_at_ms: number;
  facts: { seq: number; at: number; fact: Stored<Fact> }[];
  [column: string]: unknown;
}

/** Columns that `orderFromRow` needs, of `trade_order o`, with the facts as one JSON array. */
export const ORDER_COLUMNS = `o.order_id, o.quote_id, o.workspace_id, o.key_id, o.member_id, o.namespace, o.mode, o.execution_mode, o.origin_chain_id, o.dest_chain_ids, o.message,
  o.valid_until, o.commitments, o.route, o.parent_order_id, o.solver_ids, o.signature, o.sign_scheme, o.funding, o.candidate, o.reference_id, o.amount_usd, o.screening, o.travel_rule, o.created_at_ms, o.updated_at_ms,
  (select jsonb_agg(jsonb_build_object('seq', f.seq, 'at', f.recorded_at_ms, 'fact', f.fact) order by f.seq) from order_fact f where f.order_id = o.order_id) as facts`;

export function orderFromRow(row: OrderRow): OrderRecord {
  return {
    orderId: toHex(row.order_id),
    quoteId: toHex(row.quote_id),
    workspaceId: row.workspace_id,
    keyId: row.key_id,
    memberId: row.member_id,
    namespace: row.namespace,
    mode: row.mode,
    executionMode: row.execution_mode,
    originChainId: row.origin_chain_id,
    destChainIds: row.dest_chain_ids.map(Number),
    order: orderFromMessage(row.message),
    validUntil: row.valid_until,
    commitments: row.commitments,
    route: row.route,
    parentOrderId: row.parent_order_id && toHex(row.parent_order_id),
    solverIds: row.solver_ids,
    signature: toHex(row.signature),
    signScheme: row.sign_scheme,
    funding: toHex(row.funding),
    candidate: row.candidate,
    referenceId: row.reference_id,
    amountUsd: row.amount_usd,
    screening: row.screening,
    travelRule: row.travel_rule,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
    facts: (row.facts ?? []).map(({ seq, at, fact }): RecordedFact => ({
      seq,
      recordedAtMs: at,
      fact: factFromJson(fact),
    })),
  };
}

/** Values of a new order, in the order of `NEW_ORDER_COLUMNS`. */
export function orderToValues(order: NewOrder): unknown[] {
  return [
    bytes(order.orderId),
    bytes(order.quoteId),
    order.workspaceId,
    order.keyId,
    order.namespace,
    order.mode,
    order.executionMode,
    order.originChainId,
    order.destChainIds,
    bytes(order.order.user),
    uintBytes(order.order.nonce),
    JSON.stringify(orderToMessage(order.order)),
    order.validUntil,
    JSON.stringify(order.commitments),
    order.route && JSON.stringify(order.route),
    order.parentOrderId && bytes(order.parentOrderId),
    order.solverIds,
    bytes(order.signature),
    order.signScheme,
    bytes(order.funding),
    order.candidate,
    order.referenceId,
    order.amountUsd,
    order.screening && JSON.stringify(order.screening),
    order.travelRule && JSON.stringify(order.travelRule),
    order.memberId,
    order.createdAtMs,
  ];
}

export const NEW_ORDER_COLUMNS = [
  'order_id',
  'quote_id',
  'workspace_id',
  'key_id',
  'namespace',
  'mode',
  'execution_mode',
  'origin_chain_id',
  'dest_chain_ids',
  'taker',
  'nonce',
  'message',
  'valid_until',
  'commitments',
  'route',
  'parent_order_id',
  'solver_ids',
  'signature',
  'sign_scheme',
  'funding',
  'candidate',
  'reference_id',
  'amount_usd',
  'screening',
  'travel_rule',
  'member_id',
  'created_at_ms',
] as const;

export const bytes = (hex: Hex): Buffer => Buffer.from(hex.slice(2), 'hex');
export const toHex = (buffer: Buffer): Bytes32 => bytesToHex(buffer);

export const uintBytes = (value: bigint): Buffer => Buffer.from(uint(value, 32), 'hex');
