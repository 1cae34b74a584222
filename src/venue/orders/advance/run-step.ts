/**
 * Runs one step: simulates the exact call data, then sends one transaction under a key that names the step
 * for ever. Sending proves nothing; the next observation does. A step that was taken by another party counts
 * as success.
 */

import { fillAttestation } from '../../../domain/attestation.ts';
import { addressToBytes32, type Hex } from '../../../domain/hex.ts';
import type { ChainPort } from '../../../ports/chain.ts';
import type { Attestations } from '../../../ports/attestations.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/log.ts';
import type { Counter } from '../../../ports/metrics.ts';
import type { RouteVenue } from '../../../ports/route-venue.ts';
import type { OrderRecord } from '../../../ports/stores/store.ts';
import type { Transactor } from '../../../ports/transactor.ts';
import {
  finaliseCall,
  openForCall,
  refundCall,
  settleCall,
  settleThroughCall,
  submitAttestationsCall,
} from '../../../settlement/call.ts';
import type { Progress } from '../../../settlement/lifecycle.ts';
import type { SettlementPlan } from '../../../settlement/plan.ts';
import { createSend, type Sent } from './send.ts';

export interface StepExecutorDeps {
  chains: ReadonlyMap<number, ChainPort>;
  transactors: ReadonlyMap<number, Transactor>;
  routeVenues: readonly RouteVenue[];
  attestations: Attestations;
  clock: Clock;
  log: Log;
  steps: Counter;
}

export interface StepExecutorOptions {
  /** Proving and finalising are left to the LP, which earns by them, for this long. */
  graceMs: number;
}

export type StepResult =
  /** A refused step is tried again until its time has passed. */
  | Sent
  /** Not the venue's step, not due yet, or in progress. */
  | { kind: 'nothing' };

type StepPlan = Extract<SettlementPlan, { kind: 'step' }>;

export function createStepExecutor(
  { chains, transactors, routeVenues, attestations, clock, log, steps }: StepExecutorDeps,
  { graceMs }: StepExecutorOptions,
) {
  /** When a step of the LP's was first seen to be due. */
  const dueSinceMs = new Map<string, number>();
  const delivering = new Set<Hex>();
  const send = createSend({ log, steps });

  return {
    forget(orderId: Hex): void {
      dueSinceMs.delete(orderId);
    },
    async take(record: OrderRecord, progress: Progress, step: StepPlan): Promise<StepResult> {
      const { order, orderId } = record;
      if (step.step === 'fill')
        return record.route && !record.route.through
          ? deliver(record, record.route.venueId, step.outputs)
          : { kind: 'nothing' };
      const chain = chains.get(step.chainId);
      const transactor = transactors.get(step.chainId);
      if (!chain || !transactor) return { kind: 'nothing' };
      switch (step.step) {
        case 'settle':
          if (step.by !== 'venue') return { kind: 'nothing' };
          // A settlement through pools is not bundled: the transfers of several could not be told apart.
          return send(
            chain,
            transactor,
            `${orderId}-settle`,
            chain.chain.escrow,
            settlement(record),
            step.notAfter,
            record.route === null,
          );
        case 'open':
          if (step.by !== 'venue') return { kind: 'nothing' };
          return send(
            chain,
            transactor,
            `${orderId}-open`,
            chain.chain.escrow,
            openForCall(order, record.funding),
            step.notAfter,
          );
        case 'attest':
        case 'finalise':
          return graceIsOver(orderId)
            ? proveOrFinalise(record, progress, step, chain, transactor)
            : { kind: 'nothing' };
        case 'refund':
          return send(chain, transactor, `${orderId}-refund`, chain.chain.escrow, refundCall(order), null);
      }
    },
  };

  /**
   * A route venue fills from its own account; the next observation shows whether it has. One call at a time.
   */
  async function deliver(
    { order, orderId }: OrderRecord,
    venueId: string,
    outputs: readonly number[],
  ): Promise<StepResult> {
    const venue = routeVenues.find(({ id }) => id === venueId);
    if (!venue?.deliver || delivering.has(orderId)) return { kind: 'nothing' };
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
    return { kind: 'nothing' };
  }

  function graceIsOver(orderId: Hex): boolean {
    const since = dueSinceMs.get(orderId);
    if (since === undefined) dueSinceMs.set(orderId, clock.monotonicMs());
    return clock.monotonicMs() - (since ?? clock.monotonicMs()) >= graceMs;
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
      if (!output || !fill) return { kind: 'nothing' };
      const attestation = fillAttestation({
        solver: addressToBytes32(fill.solver),
        orderId,
        timestamp: fill.timestamp,
        output,
      });
      // Read at the head: without the proof the chain just refuses to finalise.
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
    for (const { attestation } of missing) {
      const signatures = await attestations.signatures(
        attestation,
        { chainId: chain.chain.id, oracle: order.inputOracle },
        orderId,
      );
      if (!signatures) return { kind: 'nothing' };
      const data = submitAttestationsCall(attestation.remoteChainId, attestation.application, [
        { payloadHash: attestation.payloadHash, signatures },
      ]);
      const sent = await send(
        chain,
        transactor,
        `${orderId}-attest-${attestation.payloadHash.slice(2, 18)}`,
        order.inputOracle,
        data,
        null,
      );
      if (sent.kind !== 'sent') return sent;
    }
    if (missing.length > 0) return { kind: 'nothing' };
    const solved = fills.flatMap((fill) =>
      fill ? [{ timestamp: fill.timestamp, solver: fill.solver }] : [],
    );
    return send(
      chain,
      transactor,
      `${orderId}-finalise`,
      chain.chain.escrow,
      finaliseCall(order, solved),
      null,
    );
  }
}

function settlement({ order, funding, quoteId, commitments, route }: OrderRecord): Hex {
  return route?.through
    ? settleThroughCall(order, funding, route.through.filler, route.through.data)
    : settleCall(order, funding, quoteId, commitments);
}
