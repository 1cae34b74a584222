/** Travel rule: transfers above a threshold are reported, one record per order and attempt. */

import type { Bytes32 } from '../../domain/hex.ts';

export interface TravelRuleDuty {
  thresholdUsd: number;
  /** null: no price, which counts as above the threshold. */
  amountUsd: number | null;
}

/**
 * failed: refused or no answer. unknown: may have arrived; the next attempt uses the same idempotency key.
 * abandoned: an operator must act.
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
  attempt: number;
  state: TravelRuleState;
  dueAtMs: number;
  startedAtMs: number | null;
  endedAtMs: number | null;
  transmitter: string | null;
  reference: string | null;
  /** Describes a failure, without secrets. */
  detail: string | null;
  messageSha256: string | null;
}

export interface TravelRuleStore {
  /** Returns the newest record; undefined when the order requires none. */
  travelRule(orderId: Bytes32): Promise<TravelRuleRecord | undefined>;
  travelRuleHistory(orderId: Bytes32): Promise<TravelRuleRecord[]>;
  /** Returns the newest record of each order, where it is in one of these states; latest first. */
  travelRulesIn(states: readonly TravelRuleState[], limit: number): Promise<TravelRuleRecord[]>;
  /** false when the order was not abandoned. */
  retryTravelRule(orderId: Bytes32, atMs: number): Promise<boolean>;
  /** Leases due records; when the process dies they become `unknown` and the next attempt is due. */
  takeTravelRule(nowMs: number, leaseMs: number, limit: number): Promise<TravelRuleRecord[]>;
  /** One transaction. false when the attempt has ended already. */
  endTravelRule(record: TravelRuleRecord, next: { dueAtMs: number } | null): Promise<boolean>;
}

/** Amounts are in base units, decimal. */
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
  readonly name: string;
  /** `idempotencyKey` is the same for all attempts of an order. Throws unless receipt was confirmed. */
  transmit(message: string, idempotencyKey: string): Promise<{ reference: string | null }>;
}
