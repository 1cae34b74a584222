/** An open order that this worker has claimed. */

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
  again: boolean;
  /** The monotonic time of the last evaluation. */
  advancedAtMs: number;
  /** Advance when this chain's time has passed. */
  waitFor: Extract<SettlementPlan, { kind: 'wait' }> | undefined;
  sent: { key: string; chainId: number } | undefined;
  /** Advance when one of these fills is proven. */
  proofs: Bytes32[];
  refusal: Revert | undefined;
  /** The monotonic time since which a step left to the LP is due. */
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
    advancedAtMs: Number.NEGATIVE_INFINITY,
    waitFor: undefined,
    sent: undefined,
    proofs: proofsOf(record, progress),
    refusal: undefined,
    lpStepDueMs: undefined,
  };
}

export function proofsOf({ order, orderId }: OrderRecord, { flow, fills }: Progress): Bytes32[] {
  if (flow !== 'cross_chain') return [];
  return order.outputs.flatMap((output, index) => {
    const fill = fills[index];
    if (!fill) return [];
    const { timestamp } = fill;
    return fillPayloadHash({ solver: addressToBytes32(fill.solver), orderId, timestamp, output });
  });
}
