/**
 * Moves inventory from one chain's ledger to another's, over a bridge, by the mover's key. Each turn reads
 * the facts of every open transfer and takes its one next step. Facts are read from final blocks only, and
 * every transaction has a permanent key, so a process that died anywhere is replaced by planning again.
 *
 * Hazard: a quote promises what is being moved. Rule: the amount is reserved before the transfer is stored,
 * reserved again by each process before it acts, and let go only once the ledger has seen it leave.
 */

import type { BridgeEstimate, BridgeMove, BridgeRefusal } from '../ports/bridge.ts';
import type { StoredTransfer } from '../ports/stores/transfers.ts';
import { foldTransfer, nextTransferStep } from '../settlement/transfer.ts';
import {
  chainWith,
  type Executor,
  type TransfersDeps,
  type TransfersMemory,
  type TransfersOptions,
  type Wait,
  waitFor,
} from './execution.ts';
import { depositStep, followStep, requestStep, sendStep, withdrawStep } from './steps.ts';

export type TransferPlan =
  | { bridge: string; estimate: BridgeEstimate }
  | BridgeRefusal
  | { refused: 'no_bridge'; detail: string };

type NotBegun = BridgeRefusal | { refused: 'no_bridge' | 'not_free' | 'one_is_open'; detail: string };

export interface Transfers {
  /** The cheapest of the bridges that carry it. */
  plan(move: BridgeMove): Promise<TransferPlan>;
  /** Stores a transfer; `id` is new and permanent. Nothing is sent yet: the next turn does. */
  begin(id: string, move: BridgeMove, reason: string): Promise<StoredTransfer | NotBegun>;
  /**
   * Reserves what open transfers need. Call before the first quote is signed; `turn` does it too. Throws
   * `UpstreamError` of the store.
   */
  restore(): Promise<StoredTransfer[]>;
  /** Takes one step of each open transfer; calls must not overlap. Throws `UpstreamError` of the store. */
  turn(): Promise<void>;
  /** Returns the current wait of each open transfer. */
  waits(): ReadonlyMap<string, Wait>;
}

export function createTransfers(deps: TransfersDeps, options: TransfersOptions): Transfers {
  const executor: Executor = { ...deps, ...options };
  const memory: TransfersMemory = { waits: new Map(), doubtful: new Map() };
  return {
    plan: (move) => plan(executor, move),
    begin: (id, move, reason) => begin(executor, memory, id, move, reason),
    restore: () => restore(executor, memory),
    turn: () => turn(executor, memory),
    waits: () => memory.waits,
  };
}

async function plan(executor: Executor, move: BridgeMove): Promise<TransferPlan> {
  const { bridges } = executor;
  const answers = await Promise.all(
    bridges
      .filter((bridge) => bridge.serves(move))
      .map(async (bridge) => ({ bridge: bridge.id, answer: await bridge.estimate(move) })),
  );
  const offers = answers.flatMap(({ bridge, answer }) =>
    'refused' in answer ? [] : [{ bridge, estimate: answer }],
  );
  const [best] = offers.toSorted((a, b) => (a.estimate.leastReceived > b.estimate.leastReceived ? -1 : 1));
  if (best) return best;
  const refusal = answers.map(({ answer }) => answer).find((answer) => 'refused' in answer);
  return refusal ?? { refused: 'no_bridge', detail: 'No configured bridge carries this token there.' };
}

async function begin(
  executor: Executor,
  memory: TransfersMemory,
  id: string,
  move: BridgeMove,
  reason: string,
): Promise<StoredTransfer | NotBegun> {
  const { reservations, clock, store, log } = executor;
  const planned = await plan(executor, move);
  if ('refused' in planned) return planned;
  if (!reservations.take(id, move.from, move.amount))
    return { refused: 'not_free', detail: 'Live quotes and open orders need it.' };
  const { bridge, estimate } = planned;
  const createdAtMs = clock.nowMs();
  const transfer = { id, bridge, move, reason, createdAtMs, estimate: null, sent: null, facts: [] };
  const added = await store.add(transfer).catch((error: unknown) => {
    memory.doubtful.set(id, move.from);
    throw error;
  });
  if (added) {
    log.info({ transfer: id, bridge, seconds: estimate.seconds, reason }, 'transfer: begun');
    return transfer;
  }
  reservations.release(id, move.from, undefined);
  return { refused: 'one_is_open', detail: 'A transfer of this token from this chain is not over.' };
}

async function restore(executor: Executor, memory: TransfersMemory): Promise<StoredTransfer[]> {
  const { store, reservations } = executor;
  const unsure = [...memory.doubtful];
  const open = await store.open();
  for (const [id, place] of unsure)
    if (memory.doubtful.delete(id)) reservations.release(id, place, undefined);
  for (const { id, move, facts } of open) {
    const { isReserved } = foldTransfer(move.amount, facts);
    if (isReserved) reservations.restore(id, move.from, move.amount);
  }
  return open;
}

async function turn(executor: Executor, memory: TransfersMemory): Promise<void> {
  const open = await restore(executor, memory);
  for (const id of memory.waits.keys()) if (!open.some((each) => each.id === id)) memory.waits.delete(id);
  for (const transfer of open)
    try {
      await step(executor, memory, transfer);
    } catch (error) {
      waitFor(executor, memory, transfer, error instanceof Error ? error.message : String(error));
    }
}

async function step(executor: Executor, memory: TransfersMemory, transfer: StoredTransfer): Promise<void> {
  const { move, facts } = transfer;
  const state = foldTransfer(move.amount, facts);
  const source = chainWith(executor, move.from.chainId);
  const todo = nextTransferStep(state, source.head()?.timestamp ?? 0);
  switch (todo.do) {
    case 'request':
      return requestStep(executor, memory, transfer, source);
    case 'wait_until':
      return waitFor(
        executor,
        memory,
        transfer,
        `The withdrawal is possible from ${new Date(todo.at * 1000).toISOString()}.`,
      );
    case 'withdraw':
    case 'note_lapse':
      return withdrawStep(executor, memory, transfer, state, source);
    case 'send':
      return sendStep(executor, memory, transfer, state);
    case 'follow':
      return followStep(executor, memory, transfer, state);
    case 'deposit':
      return depositStep(executor, memory, transfer, state, 'deposit', 'deposited');
    case 'give_back':
      return depositStep(executor, memory, transfer, state, 'give_back', 'given_back');
    case 'deliver':
    case 'nothing':
  }
}
