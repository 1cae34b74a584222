/**
 * Runs one step: simulates the exact call data, then sends it under a key that names the step forever. The
 * next observation decides. A step that another party took counts as success.
 */

import { fillAttestation } from '../../../domain/attestation.ts';
import { addressToBytes32, type Hex } from '../../../domain/hex.ts';
import type { ChainPort } from '../../../ports/chain.ts';
import type { Attestations } from '../../../ports/attestations.ts';
import type { OrderRecord } from '../../../ports/stores/store.ts';
import type { Transactor } from '../../../ports/transactor.ts';
import {
  finaliseCall,
  openForCall,
  refundCall,
  settleCall,
  settleOrClaimCall,
  settleThroughCall,
  submitAndFinaliseCall,
  submitAttestationsCall,
} from '../../../settlement/call.ts';
import { orderSignatureOf } from '../../../settlement/funding.ts';
import type { Progress } from '../../../settlement/lifecycle.ts';
import type { SettlementPlan } from '../../../settlement/plan.ts';
import type { VenueDeps } from '../../deps.ts';
import type { OpenOrder } from './open-order.ts';
import { scenarioOfCandidate } from '../../../protocol/api/scenarios.ts';
import { createSend, type Sent } from './send.ts';

type RunStepDeps = Pick<VenueDeps, 'chains' | 'routeVenues' | 'clock' | 'log' | 'metrics'> & {
  transactors: ReadonlyMap<number, Transactor>;
  attestations: Attestations;
};

export type StepResult = Sent | { kind: 'nothing' };

export type StepPlan = Extract<SettlementPlan, { kind: 'step' }>;

const SENT_STEPS = ['settle', 'claim', 'open', 'attest', 'finalise', 'refund'] as const;
const NOTHING: StepResult = { kind: 'nothing' };

/** The LP earns by proving and finalising, so these are left to it for `graceMs`. */
export function createRunStep(
  { chains, transactors, routeVenues, attestations, clock, log, metrics }: RunStepDeps,
  { graceMs }: { graceMs: number },
) {
  const steps = metrics.counter('firmquote_venue_steps_total', 'Steps handed to a relayer', {
    step: SENT_STEPS,
    chain: [...chains.values()].map(({ chain }) => chain.slug),
  });
  for (const { id } of routeVenues) steps.add({ step: 'fill', chain: id }, 0);
  const delivering = new Set<Hex>();
  const send = createSend({ log, steps });

  return async function runStep(item: OpenOrder, step: StepPlan): Promise<StepResult> {
    const { record, progress } = item;
    const { order, orderId, route } = record;
    if (step.step === 'fill') {
      if (route && !route.through) deliver(record, route.venueId, step.outputs);
      return NOTHING;
    }
    const chain = chains.get(step.chainId);
    const transactor = transactors.get(step.chainId);
    if (!chain || !transactor) return NOTHING;
    const { escrow } = chain.chain;
    switch (step.step) {
      case 'settle': {
        if (step.by !== 'venue') return NOTHING;
        return settle(record, step, chain, transactor);
      }
      case 'open': {
        if (step.by !== 'venue') return NOTHING;
        const data = openForCall(order, record.funding);
        return send(chain, transactor, `${orderId}-open`, escrow, data, step.notAfter, true);
      }
      case 'attest':
      case 'finalise':
        item.lpStepDueMs ??= clock.monotonicMs();
        if (clock.monotonicMs() - item.lpStepDueMs < graceMs) return NOTHING;
        return proveOrFinalise(record, progress, step, chain, transactor);
      case 'refund':
        return send(chain, transactor, `${orderId}-refund`, escrow, refundCall(order), null);
    }
  };

  /**
   * Settles an order. When the chain refuses that, or in the last seconds, when a promise that is broken
   * meanwhile could not be claimed any more, the bond contract settles it or claims for the taker.
   */
  async function settle(
    record: OrderRecord,
    { notAfter }: StepPlan,
    chain: ChainPort,
    transactor: Transactor,
  ): Promise<StepResult> {
    const { orderId, route } = record;
    const { escrow, quoteBond, landingMarginSeconds } = chain.chain;
    const bonded = claimable(record);
    const name = `${orderId}-settle`;
    const now = chain.head()?.timestamp ?? 0;
    const isLast = notAfter !== null && now + landingMarginSeconds >= notAfter;
    if (quoteBond && bonded && isLast && !(await transactor.status(name))) {
      const sent = await send(chain, transactor, name, quoteBond, bonded, notAfter);
      if (sent.kind === 'sent') return sent;
    }
    // Transfers of several settlements through pools could not be told apart.
    const mayBundle = route === null;
    const settled = await send(chain, transactor, name, escrow, settlement(record), notAfter, mayBundle);
    if (settled.kind === 'sent' || !quoteBond || !bonded) return settled;
    const claimed = await send(chain, transactor, `${orderId}-claim`, quoteBond, bonded, notAfter);
    if (claimed.kind === 'sent')
      log.warn(
        { orderId, hash: claimed.hash },
        'the chain refuses the settlement: the bond contract settles it or pays the taker',
      );
    // The reason of the refusal explains the order's failure; a claim does not settle it.
    return settled;
  }

  /** A route venue fills from its own account. One call at a time. */
  function deliver({ order, orderId }: OrderRecord, venueId: string, outputs: readonly number[]) {
    const venue = routeVenues.find(({ id }) => id === venueId);
    if (!venue?.deliver || delivering.has(orderId)) return;
    delivering.add(orderId);
    steps.add({ step: 'fill', chain: venueId });
    venue
      .deliver({ orderId, order, outputs })
      .catch((error: unknown) =>
        log.warn(
          { orderId, venue: venueId, error },
          'a route venue could not deliver; it will be asked again',
        ),
      )
      .finally(() => delivering.delete(orderId));
  }

  async function proveOrFinalise(
    { order, orderId }: OrderRecord,
    { fills }: Progress,
    step: StepPlan,
    chain: ChainPort,
    transactor: Transactor,
  ): Promise<StepResult> {
    const missing: { attestation: ReturnType<typeof fillAttestation>; oracle: Hex }[] = [];
    for (const index of step.step === 'attest' ? step.outputs : []) {
      const [output, fill] = [order.outputs[index], fills[index]];
      if (!output || !fill) return NOTHING;
      const attestation = fillAttestation({
        solver: addressToBytes32(fill.solver),
        orderId,
        timestamp: fill.timestamp,
        output,
      });
      // Read at the head: without the proof the chain refuses to finalise.
      if (
        !(await chain.isProven(
          order.inputOracle,
          output.chainId,
          output.oracle,
          output.settler,
          attestation.payloadHash,
        ))
      )
        missing.push({ attestation, oracle: output.oracle });
    }
    const solved = fills.flatMap((fill) =>
      fill ? [{ timestamp: fill.timestamp, solver: fill.solver }] : [],
    );
    const { escrow } = chain.chain;
    const finalisation = () => finaliseCall(order, solved);
    // The proof of a single delivery is all that the order needs.
    const alone = order.outputs.length === 1;
    for (const { attestation } of missing) {
      const signatures = await attestations.signatures(
        attestation,
        { chainId: chain.chain.id, oracle: order.inputOracle },
        orderId,
      );
      if (!signatures) return NOTHING;
      const data = alone
        ? submitAndFinaliseCall(
            { ...attestation, payloadHashes: [attestation.payloadHash] },
            signatures,
            escrow,
            [finalisation()],
          )
        : submitAttestationsCall(attestation.remoteChainId, attestation.application, [
            { payloadHash: attestation.payloadHash, signatures },
          ]);
      const sent = await send(
        chain,
        transactor,
        `${orderId}-attest-${alone ? 'finalise-' : ''}${attestation.payloadHash.slice(2, 18)}`,
        order.inputOracle,
        data,
        null,
      );
      if (sent.kind !== 'sent') return sent;
    }
    if (missing.length > 0) return NOTHING;
    return send(chain, transactor, `${orderId}-finalise`, escrow, finalisation(), null);
  }
}

/** The call that settles or claims; undefined without LPs, or without the taker's signature. */
function claimable(record: OrderRecord): Hex | undefined {
  const { order, funding, quoteId, commitments, route } = record;
  const signature = orderSignatureOf(funding);
  if (route?.through || commitments.length === 0 || signature === undefined || isRefused(record))
    return undefined;
  return settleOrClaimCall(order, funding, signature, quoteId, commitments);
}

/** The sandbox's scenario in which the chain refuses the settlement. */
const isRefused = ({ mode, candidate }: OrderRecord): boolean =>
  mode === 'test' && scenarioOfCandidate(candidate) === 105;

function settlement(record: OrderRecord): Hex {
  const { order, funding, quoteId, commitments, route } = record;
  // The chain itself refuses an order without its LP's signature.
  if (isRefused(record)) return settleCall(order, funding, quoteId, []);
  return route?.through
    ? settleThroughCall(order, funding, route.through.filler, route.through.data)
    : settleCall(order, funding, quoteId, commitments);
}
