/**
 * What has to be told about a transfer above a threshold, to whom it was told, and how that went: one record
 * per order and attempt.
 */

import type { Bytes32 } from '../../domain/hex.ts';

/** Decided when the order is accepted, kept with it. */
export interface TravelRuleDuty {
  /** The workspace's threshold at that moment. */
  thresholdUsd: number;
  /** null: the venue had no price, which counts as above. */
  amountUsd: number | null;
}

/**
 * due: not tried yet. failed: the other side refused it or did not answer; the next attempt is due. unknown:
 * the process died while sending, so it may have arrived; the next attempt carries the same idempotency key.
 * abandoned: the last attempt failed, and a person has to look.
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
  /** When it left; null while due. */
  startedAtMs: number | null;
  endedAtMs: number | null;
  /** Which transmitter took it. */
  transmitter: string | null;
  /** What the other side calls it; null when it says nothing. */
  reference: string | null;
  /** Why not, in a sentence without secrets. */
  detail: string | null;
  /** SHA-256 of the message that was sent, hex; the message is made of the order and can be made again. */
  messageSha256: string | null;
}

export interface TravelRuleStore {
  /** The newest record; undefined when none is required of the order. */
  travelRule(orderId: Bytes32): Promise<TravelRuleRecord | undefined>;
  /** All records of an order, first attempt first. */
  travelRuleHistory(orderId: Bytes32): Promise<TravelRuleRecord[]>;
  /** The newest record of each order whose newest is in one of these states; latest first. */
  travelRulesIn(states: readonly TravelRuleState[], limit: number): Promise<TravelRuleRecord[]>;
  /** Makes a new attempt due for an order whose last one was given up. false when it was not. */
  retryTravelRule(orderId: Bytes32, atMs: number): Promise<boolean>;
  /** Takes due records for a while; whoever dies with one leaves it `unknown` and the next attempt due. */
  takeTravelRule(nowMs: number, leaseMs: number, limit: number): Promise<TravelRuleRecord[]>;
  /**
   * Ends an attempt that is `sending`, and makes the next one due where there is to be one, in one
   * transaction. false when it ended meanwhile.
   */
  endTravelRule(record: TravelRuleRecord, next: { dueAtMs: number } | null): Promise<boolean>;
}

/** The message. Amounts in base units, decimal. */
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
  /** As records name it. */
  readonly name: string;
  /**
   * `idempotencyKey` is the same for all attempts of an order. Throws when it cannot be said that the other
   * side has it.
   */
  transmit(message: string, idempotencyKey: string): Promise<{ reference: string | null }>;
}
