/**
 * Executes awards: reads the chains, decides the next step, runs it. A fill requires the order open at depth
 * on its origin, the award stored, and time to prove and claim. Sending proves nothing: the next pass reads
 * the chain again.
 */

import { LRUCache } from 'lru-cache';
import type { Address, Bytes32 } from '../../domain/hex.ts';
import type { Ledger } from '../../inventory/ledger.ts';
import type { Block, ChainPort } from '../../ports/chain.ts';
import { createPasses } from '../passes.ts';
import {
  attestationOf,
  type AwardRunnerDeps,
  type AwardRunnerOptions,
  finalisationOf,
  type StepDeps,
  submitStep,
  TAKEN_NOTE,
} from './award-steps.ts';
import type { OpenAward } from './awards.ts';
import { type ListedOrders, type Provable, proveAlone, proveTogether } from './prove-fills.ts';
import { sendFill } from './send-fill.ts';
import { type AwardStep, nextStep } from './step.ts';
import { createTakenSteps } from './taken.ts';
import { stepKey } from './step-key.ts';

interface AwardRunner {
  /** Looks at every open award once and acts. Never rejects; a failed look is repeated at the next head. */
  run(): Promise<void>;
}

/** What one pass over the open awards reads and finds. */
interface RunnerPass {
  /** The final blocks that were read, by chain and number. */
  readonly finals: Map<string, Promise<Block | undefined>>;
  /** Gets the awards whose fills can be proven together with others. */
  readonly provable: Provable[];
  readonly listed: ListedOrders;
}

/** An award with the state of its chains at which its next step was decided. */
interface AwardLook {
  award: OpenAward;
  valueUsd: number | undefined;
  origin: ChainPort;
  originFinal: Block;
  dest: ChainPort;
  destHead: Block;
}

const AT_ONCE = 32;
const MOST_LISTED_ORDERS = 10_000;

export function createAwardRunner(deps: AwardRunnerDeps, options: AwardRunnerOptions): AwardRunner {
  const listed: ListedOrders = new LRUCache({ max: MOST_LISTED_ORDERS });
  const steps: StepDeps = { ...deps, taken: createTakenSteps() };
  return { run: createPasses(() => runPass(steps, options, listed)).run };
}

async function runPass(deps: StepDeps, options: AwardRunnerOptions, listed: ListedOrders): Promise<void> {
  const { awards, log } = deps;
  await flush(deps);
  const pass: RunnerPass = { finals: new Map(), provable: [], listed };
  const due = awards.open().filter(({ stage }) => stage === 'committed' || stage === 'filled');
  for (let from = 0; from < due.length; from += AT_ONCE) {
    await Promise.all(
      due
        .slice(from, from + AT_ONCE)
        .map((award) =>
          advance(deps, options, pass, award).catch((error: unknown) =>
            log.warn(
              { orderId: award.orderId, error },
              'an award could not be processed; the next head tries again',
            ),
          ),
        ),
    );
  }
  await proveTogether(deps, options.account, listed, pass.provable);
  await flush(deps);
}

const flush = ({ awards, log }: AwardRunnerDeps): Promise<void> =>
  awards.flush().catch((error: unknown) => log.error({ error }, 'awards could not be stored'));

async function advance(
  deps: StepDeps,
  { quoting, sandbox, account }: AwardRunnerOptions,
  pass: RunnerPass,
  award: OpenAward,
): Promise<void> {
  const { awards, chains } = deps;
  const { order, slice, orderId } = award;
  const origin = chains.get(slice.originChainId);
  const dest = chains.get(slice.destChainId);
  const [originHead, destHead] = [origin?.head(), dest?.head()];
  if (origin === undefined || dest === undefined || originHead === undefined || destHead === undefined)
    return;
  const issue = [origin, dest].map((port) => port.healthIssue()).find((found) => found?.kind === 'reorg');
  if (issue !== undefined) return awards.update(orderId, { note: issue.note });
  const sameChain = slice.originChainId === slice.destChainId;
  // Same chain: one transaction settles and its events report it. Act only after the deadline.
  if (sameChain && originHead.timestamp <= order.fillDeadline) return;
  const valueUsd = deps.worthUsd(award);
  const fill = fillOf(deps.ledger, orderId, sameChain);
  // The value decides how final the taker's deposit must be before we deliver. What was delivered is proven
  // and claimed at depth, also while no node names the block that a delivery would wait for.
  const [originFinal, destFinal] = await Promise.all([
    finalBlock(pass, origin, fill === 'none' ? valueUsd : 0),
    finalBlock(pass, dest, 0),
  ]);
  if (originFinal === undefined)
    return awards.update(orderId, { note: 'no node names a final block for an order of this value' });
  if (destFinal === undefined) return;
  const [status, proven] = await Promise.all([
    origin.orderStatus(orderId, originFinal.number),
    fill === 'final' && award.fill !== null ? isProven(origin, award, account, award.fill.timestamp) : false,
  ]);
  const step = nextStep({
    sameChain,
    fillDeadline: order.fillDeadline,
    expires: order.expires,
    origin: { status, now: deps.now(origin.chain.id), finalTime: originFinal.timestamp },
    dest: { now: deps.now(dest.chain.id), finalTime: destFinal.timestamp },
    fill,
    proven,
    fillMarginSeconds: quoting.fillMarginSeconds,
    claimSeconds: deps.proving?.neededSeconds(origin.chain.id, dest.chain.id) ?? quoting.claimSeconds,
  });
  if (step.do === 'fill' && sandbox.neverFills)
    return awards.update(orderId, { note: 'sandbox.neverFills: not filled' });
  return runStep(deps, account, pass, step, { award, valueUsd, origin, originFinal, dest, destHead });
}

function fillOf(ledger: Ledger, orderId: Bytes32, sameChain: boolean): 'none' | 'shallow' | 'final' {
  if (sameChain) return 'none';
  const state = ledger.quote(orderId)?.state;
  return state === 'fill_final' ? 'final' : state === 'filled' ? 'shallow' : 'none';
}

/** Reads each block once in a pass. */
function finalBlock(
  { finals }: RunnerPass,
  port: ChainPort,
  valueUsd: number | undefined,
): Promise<Block | undefined> {
  const number = port.finalNumber(valueUsd);
  if (number === undefined) return Promise.resolve(undefined);
  const key = `${port.chain.id}:${number}`;
  const known = finals.get(key) ?? port.block(number);
  finals.set(key, known);
  return known;
}

async function isProven(
  origin: ChainPort,
  award: OpenAward,
  account: Address,
  timestamp: number,
): Promise<boolean> {
  const attestation = attestationOf(award, account, timestamp);
  return (
    attestation !== undefined &&
    (await origin.isProven(
      award.order.inputOracle,
      attestation.remoteChainId,
      award.slice.output.oracle,
      attestation.application,
      attestation.payloadHash,
    ))
  );
}

async function runStep(
  deps: StepDeps,
  account: Address,
  { provable, listed }: RunnerPass,
  step: AwardStep,
  look: AwardLook,
): Promise<void> {
  const { award, origin } = look;
  const { orderId, order } = award;
  switch (step.do) {
    case 'wait':
      return deps.awards.update(orderId, { note: step.why });
    case 'end':
      return end(deps, award, step);
    case 'fill':
      return fillIfSafe(deps, account, look);
    case 'prove':
      if (order.outputs.length === 1 && !listed.has(orderId)) return void provable.push({ award, origin });
      return proveAlone(deps, account, award, origin);
    case 'claim':
      return claim(deps, account, award, origin);
  }
}

async function claim(deps: StepDeps, account: Address, award: OpenAward, origin: ChainPort): Promise<void> {
  const { orderId } = award;
  const sent = await deps.taken.unlessTaken(orderId, origin, () =>
    submitStep(deps, origin, stepKey([orderId], 'finalise'), {
      to: origin.chain.escrow,
      data: finalisationOf(award, account),
    }),
  );
  if (!sent) deps.awards.update(orderId, { note: TAKEN_NOTE });
}

function end(deps: AwardRunnerDeps, award: OpenAward, step: Extract<AwardStep, { do: 'end' }>): void {
  const { log } = deps;
  const { orderId, slice } = award;
  if (step.lost) log.fatal({ orderId }, 'delivered, not proven in time, and refunded: the input is lost');
  if (step.faded) log.error({ orderId }, 'the LP faded: the order was not filled in time');
  deps.ledger.apply({ type: 'failed', orderId });
  deps.metrics.awards.add({
    outcome: step.lost ? 'lost' : step.faded ? 'faded' : 'failed',
    kind: slice.originChainId === slice.destChainId ? 'same_chain' : 'cross_chain',
    pair: deps.pairOf(award),
  });
  deps.awards.update(orderId, { stage: 'failed', note: step.why });
  deps.failed(award, step.why);
}

/** Fills when several nodes show the order open and enough attesters can prove the fill. */
async function fillIfSafe(
  deps: AwardRunnerDeps,
  account: Address,
  { award, valueUsd, origin, originFinal, dest, destHead }: AwardLook,
): Promise<void> {
  const { awards, proving } = deps;
  const { orderId } = award;
  // Before a large payment, ask several nodes for the origin's state.
  if ((await origin.deciding(valueUsd).orderStatus(orderId, originFinal.number)) !== 'deposited')
    return awards.update(orderId, { note: 'not open at depth' });
  if (proving && !(await proving.sure(origin.chain.id)))
    return awards.update(orderId, { note: 'too few attesters answer to prove a fill' });
  return sendFill(deps, account, award, dest, destHead);
}
