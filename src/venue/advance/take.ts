/**
 * Taking a step: simulate the exact calldata, then one transaction under a key that names the step for ever. Having sent something
 * proves nothing; the next observation does. Somebody else having taken the step is success.
 */

import { fillAttestation } from '../../domain/attestation.ts';
import { addressToBytes32, type Address, type Hex } from '../../domain/hex.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Attestations } from '../../ports/attestations.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Counter } from '../../ports/metrics.ts';
import type { OrderRecord } from '../../ports/store.ts';
import type { Transactor, TxStatus } from '../../ports/transactor.ts';
import { finaliseCall, openForCall, refundCall, settleCall, submitAttestationsCall } from '../../settlement/call.ts';
import type { Progress } from '../../settlement/lifecycle.ts';
import type { Plan } from '../../settlement/plan.ts';
import { decodeRevert, type Revert } from '../../settlement/revert.ts';

export interface TakeDeps {
  chains: ReadonlyMap<number, ChainPort>;
  transactors: ReadonlyMap<number, Transactor>;
  attestations: Attestations;
  clock: Clock;
  log: Log;
  steps: Counter;
}

export interface TakeOptions {
  /** The LP earns by proving and finalising, so it goes first; after this long we do it. */
  graceMs: number;
}

export type Taken =
  /** Under this key a transaction is on its way or mined. */
  | { kind: 'sent'; key: string; chainId: number; hash: Hex | undefined }
  /** The chain would refuse it now; it will be tried again until its time is over. */
  | { kind: 'refused'; revert: Revert }
  /** Not ours, not yet, or somebody is at it. */
  | { kind: 'nothing' };

/** Every reverted try costs gas, and each is under a key of its own. */
const MOST_TRIES = 5;
/** Estimates hold for the state they saw; other orders of the same block change it. */
const GAS_MARGIN_PERCENT = 130n;

type StepPlan = Extract<Plan, { kind: 'step' }>;

export function createTaker({ chains, transactors, attestations, clock, log, steps }: TakeDeps, { graceMs }: TakeOptions) {
  /** When we first saw that a step of the LP's was due. */
  const dueSinceMs = new Map<string, number>();

  return {
    forget(orderId: Hex): void {
      dueSinceMs.delete(orderId);
    },
    async take(record: OrderRecord, progress: Progress, step: StepPlan): Promise<Taken> {
      const { order, orderId } = record;
      const chain = chains.get(step.chainId);
      const transactor = transactors.get(step.chainId);
      if (!chain || !transactor) return { kind: 'nothing' };
      switch (step.step) {
        case 'settle':
          if (step.by !== 'venue') return { kind: 'nothing' };
          return send(chain, transactor, `${orderId}-settle`, chain.chain.escrow, settleCall(order, record.funding, record.quoteId, record.commitments), step.notAfter);
        case 'open':
          if (step.by !== 'venue') return { kind: 'nothing' };
          return send(chain, transactor, `${orderId}-open`, chain.chain.escrow, openForCall(order, record.funding), step.notAfter);
        case 'fill':
          return { kind: 'nothing' };
        case 'attest':
        case 'finalise':
          return graceIsOver(orderId) ? proveOrFinalise(record, progress, step, chain, transactor) : { kind: 'nothing' };
        case 'refund':
          return send(chain, transactor, `${orderId}-refund`, chain.chain.escrow, refundCall(order), null);
      }
    },
  };

  function graceIsOver(orderId: Hex): boolean {
    const since = dueSinceMs.get(orderId);
    if (since === undefined) dueSinceMs.set(orderId, clock.monotonicMs());
    return clock.monotonicMs() - (since ?? clock.monotonicMs()) >= graceMs;
  }

  async function proveOrFinalise({ order, orderId }: OrderRecord, { fills }: Progress, step: StepPlan, chain: ChainPort, transactor: Transactor): Promise<Taken> {
    const missing: { attestation: ReturnType<typeof fillAttestation>; oracle: Hex }[] = [];
    for (const index of step.step === 'attest' ? step.outputs : []) {
      const [output, fill] = [order.outputs[index], fills[index]];
      if (!output || !fill) return { kind: 'nothing' };
      const attestation = fillAttestation({ solver: addressToBytes32(fill.solver), orderId, timestamp: fill.timestamp, output });
      // At the head, not at depth: finalising right after a proof is harmless, since without it the chain just refuses.
      if (!(await chain.isProven(order.inputOracle, output.chainId, output.oracle, output.settler, attestation.payloadHash))) missing.push({ attestation, oracle: output.oracle });
    }
    for (const { attestation } of missing) {
      const signatures = await attestations.signatures(attestation, { chainId: chain.chain.id, oracle: order.inputOracle }, orderId);
      if (!signatures) return { kind: 'nothing' };
      const data = submitAttestationsCall(attestation.remoteChainId, attestation.application, [{ payloadHash: attestation.payloadHash, signatures }]);
      const sent = await send(chain, transactor, `${orderId}-attest-${attestation.payloadHash.slice(2, 18)}`, order.inputOracle, data, null);
      if (sent.kind !== 'sent') return sent;
    }
    if (missing.length > 0) return { kind: 'nothing' };
    const solved = fills.flatMap((fill) => (fill ? [{ timestamp: fill.timestamp, solver: fill.solver }] : []));
    return send(chain, transactor, `${orderId}-finalise`, chain.chain.escrow, finaliseCall(order, solved), null);
  }

  async function send(chain: ChainPort, transactor: Transactor, name: string, to: Address, data: Hex, notAfter: number | null): Promise<Taken> {
    for (let attempt = 1; attempt <= MOST_TRIES; attempt += 1) {
      const key = attempt === 1 ? name : `${name}-${attempt}`;
      const known = await transactor.status(key);
      if (known?.state === 'mined' && known.receipt.status === 'reverted') continue;
      if (known && known.state !== 'void') return { kind: 'sent', key, chainId: chain.chain.id, hash: newest(known) };
      const simulated = await chain.simulate({ from: transactor.address, to, data });
      if (!simulated.ok) return { kind: 'refused', revert: decodeRevert(simulated.data) };
      const sent = await transactor.submit({ key, to, data, gas: (simulated.gasUsed * GAS_MARGIN_PERCENT) / 100n, ...(notAfter !== null && { notAfter }) });
      steps.add({ step: name.split('-')[1] ?? '', chain: chain.chain.slug });
      return { kind: 'sent', key, chainId: chain.chain.id, hash: newest(sent) };
    }
    log.error({ step: name }, 'the chain refused a step again and again, though simulations passed');
    return { kind: 'refused', revert: { name: 'reverted', text: `${MOST_TRIES} transactions reverted` } };
  }
}

const newest = (status: TxStatus): Hex | undefined => (status.state === 'mined' ? status.receipt.txHash : status.hashes.at(-1));
