/**
 * Folds the events of one chain into the inventory ledger. Each head reads the unfinal window again: an event
 * missing there was reorganised away. Events below the depth are final and read once. The ledger's chain
 * clock advances after the events of its blocks.
 */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { min } from '../../domain/amount.ts';
import { type Address, addressToBytes32, type Bytes32, type Hex } from '../../domain/hex.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { Block, ChainPort, EscrowEvent } from '../../ports/chain.ts';
import type { ChainCursor } from '../../ports/stores/lp-store.ts';
import type { RecognisedStep } from '../accounting/transfers/recognise.ts';
import {
  applyFinal,
  applySeen,
  eventKeyOf,
  factOf,
  type FollowDeps,
  type FollowState,
  type FollowerOptions,
  minedAs,
  nonceOf,
  type ShallowEvents,
  undoFill,
} from './apply-event.ts';

/** Keeps the inventory ledger at what one chain shows. */
export interface Follower {
  port: ChainPort;
  /** The last final block processed. */
  cursor(): ChainCursor;
  /** Returns the timestamp of the newest block whose events are in the ledger. */
  time(): UnixSeconds;
  /** Returns the tokens whose balance has changed since the last call. */
  takeTouched(): Set<Address>;
  /** Reads again from an earlier final block; the ledger ignores duplicates. */
  rewind(to: ChainCursor): void;
  /** Processes one head. Calls must not overlap. */
  scan(head: Block): Promise<void>;
}

/** Enough unless dozens of orders open per second. */
const MOST_OPENED = 50_000;

/** `<block hash>:<transaction>`, without the occurrence number. */
const bare = (fact: string): string => fact.split('#')[0] as string;
const partsOf = (fact: string): Pick<EscrowEvent, 'blockHash' | 'txHash'> => {
  const [blockHash, txHash] = bare(fact).split(':') as [Hex, Hex];
  return { blockHash, txHash };
};

export function createFollower(deps: FollowDeps, options: FollowerOptions, start: ChainCursor): Follower {
  const { port, ledger } = deps;
  const { chain } = port;
  const state: FollowState = {
    ...{ deps, options, chain, solver: addressToBytes32(options.account) },
    opened: new LRUCache({ max: MOST_OPENED }),
    told: new LRUCache({ max: MOST_OPENED }),
    cursor: start,
    time: 0,
    touched: new Set(),
    recognised: new Map(),
    doubtedTo: -1n,
    shallow: new Map(),
    inherited: new Map(
      ledger
        .unfinalFills(chain.id)
        .map(({ orderId, id }) => [bare(id), { ...partsOf(id), orderId: orderId as Bytes32, fact: id }]),
    ),
  };
  return {
    port,
    cursor: () => state.cursor,
    time: () => state.time,
    takeTouched() {
      const taken = state.touched;
      state.touched = new Set();
      return taken;
    },
    rewind(to) {
      state.doubtedTo = state.cursor.block;
      if (to.block < state.cursor.block) state.cursor = to;
    },
    scan: (head) => scan(state, head),
  };
}

async function scan(state: FollowState, head: Block): Promise<void> {
  const { chain, deps, options, solver } = state;
  const { port, ledger, learn, listener } = deps;
  const depth = BigInt(chain.depth);
  for (;;) {
    const from = state.cursor.block + 1n;
    const to = min(head.number, state.cursor.block + BigInt(options.maxBlocks));
    if (to < from) return;
    const events = await port.events(from, to, from <= state.doubtedTo);
    const final = min(head.number - depth, to);
    // Read after the events: a final block cannot change between the two reads.
    const [bottom, top] = await Promise.all([
      final > state.cursor.block ? port.block(final) : undefined,
      to === head.number ? head : port.block(to),
    ]);
    if (top === undefined || (final > state.cursor.block && bottom === undefined)) return;
    if (learn !== undefined) {
      const unknown = events.flatMap((event) =>
        ((event.kind === 'filled' && event.solver === solver) || event.kind === 'open') &&
        ledger.quote(event.orderId) === undefined
          ? [event.orderId]
          : [],
      );
      if (unknown.length > 0) await learn(unknown);
    }
    state.recognised = await recogniseMoves(state, events, final);
    applyEvents(state, events, { final, to, unused: await unusedBy(state, events, final) });
    if (to === head.number) undoMissingInherited(state);
    if (bottom !== undefined) state.cursor = { chainId: chain.id, block: bottom.number, hash: bottom.hash };
    state.time = Math.max(state.time, top.timestamp);
    ledger.advance(chain.id, state.time);
    // The ledger ends a limited number of holds per call, so that quotes are answered in between.
    for (; ledger.hasBacklog(chain.id); ledger.advance(chain.id, state.time)) await yieldToEventLoop();
    if (to === head.number) return listener.followed(head);
  }
}

async function recogniseMoves(
  state: FollowState,
  events: readonly EscrowEvent[],
  final: bigint,
): Promise<ReadonlyMap<Hex, RecognisedStep>> {
  const { deps, options, chain } = state;
  const found = new Map<Hex, RecognisedStep>();
  for (const event of events) {
    const isMove = event.kind === 'ledger' && event.account === options.account && event.amount !== 0n;
    if (!isMove || event.blockNumber > final || event.blockNumber <= state.cursor.block) continue;
    const step = await deps.recognise?.(chain.id, event.txHash);
    if (step !== undefined) found.set(event.txHash, step);
  }
  return found;
}

/**
 * Returns the nonces that are unused on chain: after a sponsor payment the other orders of the user stay
 * executable.
 */
async function unusedBy(
  { deps: { port, ledger, listener }, chain }: FollowState,
  events: readonly EscrowEvent[],
  final: bigint,
): Promise<ReadonlySet<string>> {
  const unused = new Set<string>();
  for (const event of events) {
    if (event.kind !== 'open' || event.blockNumber > final) continue;
    const group = nonceOf(chain, event);
    const matters =
      listener.used !== undefined || ledger.ordersOfNonce(group).some((orderId) => orderId !== event.orderId);
    if (matters && !(await port.isNonceUsed(event.order.user, event.order.nonce, final))) unused.add(group);
  }
  return unused;
}

/** `final`: the last final block. `to`: the last block read. `unused`: nonce groups still unused on chain. */
function applyEvents(
  state: FollowState,
  events: readonly EscrowEvent[],
  { final, to, unused }: { final: bigint; to: bigint; unused: ReadonlySet<string> },
): void {
  const orders = new Map(
    events.flatMap((event) => (event.kind === 'open' ? [[event.orderId, event.order] as const] : [])),
  );
  const now: ShallowEvents = new Map();
  const seen = new Set(events.map(eventKeyOf));
  // Undo first, because another block may have mined the same fill.
  for (const [name, was] of state.shallow) {
    if (seen.has(name)) continue;
    if (was.blockNumber > to) now.set(name, was);
    else if (was.fill !== undefined) undoFill(state, was.fill);
  }
  for (const event of events) {
    const id = minedAs(event);
    const name = eventKeyOf(event);
    if (event.kind === 'filled') state.inherited?.delete(id);
    if (!state.shallow.has(name)) applySeen(state, event, id, orders);
    if (event.blockNumber <= final) applyFinal(state, event, id, unused);
    else
      now.set(name, {
        blockNumber: event.blockNumber,
        fill:
          event.kind === 'filled' && event.solver === state.solver
            ? {
                blockHash: event.blockHash,
                txHash: event.txHash,
                orderId: event.orderId,
                fact: factOf(state, event.orderId, id),
              }
            : undefined,
      });
  }
  state.shallow = now;
}

function undoMissingInherited(state: FollowState): void {
  for (const was of state.inherited?.values() ?? []) undoFill(state, was);
  state.inherited = undefined;
}
