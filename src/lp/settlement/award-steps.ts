/** What the steps of an award share: their dependencies, and how a step is sent and traced. */

import { type Attestation, fillAttestation } from '../../domain/attestation.ts';
import { type Address, addressToBytes32, type Bytes32, type Hex } from '../../domain/hex.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { Ledger } from '../../inventory/ledger.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { orderSpan, type Tracer } from '../../ports/tracer.ts';
import type { Transactor } from '../../ports/transactor.ts';
import { finaliseCall } from '../../settlement/call.ts';
import type { LpConfig } from '../config/config.ts';
import type { LpMetrics } from '../metrics.ts';
import type { Awards, OpenAward } from './awards.ts';
import type { Proving } from './proving.ts';
import type { TakenSteps } from './taken.ts';

export interface AwardRunnerDeps {
  awards: Awards;
  ledger: Ledger;
  chains: ReadonlyMap<number, ChainPort>;
  transactors: ReadonlyMap<number, Transactor>;
  /** Absent: another party brings the proofs to the origin. */
  proving: Proving | undefined;
  metrics: LpMetrics;
  clock: Clock;
  log: Log;
  tracer?: Tracer | undefined;
  /** The latest it can be on the chain, also when its head is old: a fill that may be late is not sent. */
  now(chainId: number): UnixSeconds;
  /** Value of the award's output in whole USD; undefined without a price. */
  worthUsd(award: OpenAward): number | undefined;
  pairOf(award: OpenAward): string;
  tell(orderId: Bytes32, stage: string, txHash: Hex | null): void;
  failed(award: OpenAward, why: string): void;
}

export interface StepDeps extends AwardRunnerDeps {
  taken: TakenSteps;
}

/** What the LP does when another party has paid the input out before it. */
export const TAKEN_NOTE = 'paid out by another party; final blocks will show it';

export type AwardRunnerOptions = Pick<LpConfig, 'quoting' | 'sandbox'> & { account: Address };

/** Most tries of a step, the first among them; each uses a key of its own. */
export const MOST_TRIES = 5;

/** The payload of our fill that attesters sign; undefined when the order has no such output. */
export const attestationOf = (
  { order, slice, orderId }: OpenAward,
  account: Address,
  timestamp: number,
): Attestation | undefined =>
  order.outputs[slice.index] &&
  fillAttestation({ solver: addressToBytes32(account), orderId, timestamp, output: slice.output });

/** The call that pays us the input of a proven order. */
export const finalisationOf = ({ order, fill }: OpenAward, account: Address): Hex =>
  finaliseCall(order, [{ timestamp: fill?.timestamp ?? 0, solver: account }]);

/** Sends a step; when the chain refuses it, again with a further key. */
export async function submitStep(
  { transactors, log }: AwardRunnerDeps,
  chain: ChainPort,
  key: string,
  call: { to: Address; data: Hex },
): Promise<void> {
  const transactor = transactors.get(chain.chain.id);
  if (transactor === undefined) return;
  for (let attempt = 0; attempt < MOST_TRIES; attempt += 1) {
    const sent = await transactor.submit({ ...call, key: attempt === 0 ? key : `${key}-${attempt}` });
    // A revert usually means that another party was faster; the next look shows it. Otherwise try again.
    if (!(sent.state === 'mined' && sent.receipt.status === 'reverted')) return;
  }
  log.error({ key }, 'the chain refused a step repeatedly');
}

export function recordStepSpan(
  { tracer, clock }: AwardRunnerDeps,
  name: string,
  orderId: Bytes32,
  startMs: number,
  chainId: number,
  failed?: string,
): void {
  tracer?.record({
    name,
    parent: orderSpan(orderId),
    ...{ startMs, endMs: clock.nowMs(), failed },
    attributes: { 'firmquote.chain_id': chainId },
  });
}
