/** An open order that this worker has claimed: what is recorded about it, and what it waits for. */

import { fillPayloadHash } from '../../../domain/attestation.ts';
import { addressToBytes32, type Bytes32 } from '../../../domain/hex.ts';
import type { Claim, OrderRecord } from '../../../ports/stores/store.ts';
import { foldFacts, type Progress } from '../../../settlement/lifecycle.ts';
import type { SettlementPlan } from '../../../settlement/plan.ts';
import type { Revert } from '../../../settlement/revert.ts';

export interface OpenOrder {
  record: OrderRecord;
  progress: Progress;
  claim: Claim;
  running: boolean;
  /** Advance it once more after the run in progress. */
  again: boolean;
  /** When the last look began, by the monotonic clock. */
  lookedAtMs: number;
  /** Advance it when this chain's time has passed. */
  waitFor: Extract<SettlementPlan, { kind: 'wait' }> | undefined;
  /** Advance it when this transaction has failed. */
  sent: { key: string; chainId: number } | undefined;
  /** Advance it when one of these fills is proven on the origin. */
  proofs: Bytes32[];
  /** Why the chain refused the last transaction in simulation. */
  refusal: Revert | undefined;
  /** Since when a step that the LP should run is due, by the monotonic clock. */
  lpStepDueMs: number | undefined;
}

export function openOrder(record: OrderRecord, claim: Claim): OpenOrder {
  const facts = record.facts.map(({ fact }) => fact);
  const progress = foldFacts(record.order, facts);
  return {
    record,
    progress,
    claim,
    running: false,
    again: false,
    lookedAtMs: Number.NEGATIVE_INFINITY,
    waitFor: undefined,
    sent: undefined,
    proofs: proofsOf(record, progress),
    refusal: undefined,
    lpStepDueMs: undefined,
  };
}

/** Payload hashes of the order's fills on other chains. */
export function proofsOf({ order, orderId }: OrderRecord, { flow, fills }: Progress): Bytes32[] {
  if (flow !== 'cross_chain') return [];
  return order.outputs.flatMap((output, index) => {
    const fill = fills[index];
    if (!fill) return [];
    const { timestamp } = fill;
    return fillPayloadHash({ solver: addressToBytes32(fill.solver), orderId, timestamp, output });
  });
}
