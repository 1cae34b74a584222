/**
 * Travel rule: transfers above a threshold must be reported to a counterparty. One record per order and
 * attempt.
 */

import type { Bytes32 } from '../../domain/hex.ts';

/** Decided at acceptance and stored with the order. */
export interface TravelRuleDuty {
  /** The workspace's threshold at acceptance. */
  thresholdUsd: number;
  /** null: the venue had no price, which counts as above the threshold. */
  amountUsd: number | null;
}

/**
 * due: not tried yet. failed: refused or no answer; another attempt is due. unknown: the process died while
 * sending, so the message may have arrived; the next attempt uses the same idempotency key. abandoned: the
 * last attempt failed and an operator must act.
 */
export const TRAVEL_RULE_STATES = [
  'due',
  'sending',
  'transmitted',
  'failed',
  'unknown',
  'abandoned',
] as const;
export type TravelRuleState = (typeof TRAVEL_RULE_STATES)[number];

export interface TravelRuleRecord {
  orderId: Bytes32;
  /** 1, 2, 3 … without gaps. */
  attempt: number;
  state: TravelRuleState;
  dueAtMs: number;
  /** Unix ms of sending; null while due. */
  startedAtMs: number | null;
  endedAtMs: number | null;
  /** Name of the transmitter used. */
  transmitter: string | null;
  /** The counterparty's reference; null when it gives none. */
  reference: string | null;
  /** Reason of a failure, without secrets. */
  detail: string | null;
  /** Lower-case hex SHA-256 of the message sent. The message can be rebuilt from the order. */
  messageSha256: string | null;
}

export interface TravelRuleStore {
  /** The newest record; undefined when the order requires none. */
  travelRule(orderId: Bytes32): Promise<TravelRuleRecord | undefined>;
  /** All records of an order, first attempt first. */
  travelRuleHistory(orderId: Bytes32): Promise<TravelRuleRecord[]>;
  /** The newest record of each order whose newest is in one of these states; latest first. */
  travelRulesIn(states: readonly TravelRuleState[], limit: number): Promise<TravelRuleRecord[]>;
  /** Makes a new attempt due for an abandoned order. Returns false when it was not abandoned. */
  retryTravelRule(orderId: Bytes32, atMs: number): Promise<boolean>;
  /** Leases due records. If the process dies, the record becomes `unknown` and the next attempt is due. */
  takeTravelRule(nowMs: number, leaseMs: number, limit: number): Promise<TravelRuleRecord[]>;
  /**
   * Ends an attempt that is `sending` and schedules the next one if given, in one transaction. Returns false
   * when it has ended already.
   */
  endTravelRule(record: TravelRuleRecord, next: { dueAtMs: number } | null): Promise<boolean>;
}

/** The message. Amounts are in base units, decimal. */
export interface TravelRuleMessage {
  version: 1;
  orderId: Bytes32;
  quoteId: Bytes32;
  acceptedAt: string;
  originator: { workspaceId: string; workspaceName: string; memberId: string | null; account: string };
  beneficiary: { account: string };
  sent: { asset: string; amount: string };
  received: { asset: string; amount: string };
  amountUsd: number | null;
  thresholdUsd: number;
  counterparties: readonly string[];
  referenceId: string | null;
}

export interface Transmitter {
  /** Name in records. */
  readonly name: string;
  /**
   * `idempotencyKey` is the same for all attempts of an order. Throws unless the counterparty confirmed
   * receipt.
   */
  transmit(message: string, idempotencyKey: string): Promise<{ reference: string | null }>;
}
