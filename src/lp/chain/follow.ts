/**
 * One chain's events, folded into the ledger. At every head the window above the last final block is read
 * anew, so a fact that is no longer there was reorganised away; what sinks below the depth is said again as
 * final and never read again. The chain's clock moves in the ledger only after the events of its blocks have.
 */

import { setImmediate as turn } from 'node:timers/promises';
import { createBoundedMap } from '../../domain/bounded.ts';
import type { Address, Bytes32, Hex } from '../../domain/hex.ts';
import { addressToBytes32 } from '../../domain/hex.ts';
import type { StandardOrder } from '../../domain/order.ts';
import { min } from '../../domain/amount.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { Money } from '../../inventory/event.ts';
import type { Ledger } from '../../inventory/ledger.ts';
import type { Stage } from '../../inventory/promise.ts';
import type { Block, ChainPort, EscrowEvent } from '../../ports/chain.ts';
import type { Log } from '../../ports/log.ts';
import type { ChainCursor } from '../../ports/stores/lp-store.ts';
import type { Seen } from '../quote-log/quote-events.ts';
import { groupOf } from '../quoting/order.ts';

/** What others want to hear of a chain. Hints as far as the ledger goes: it has been told already. */
export interface FollowListener {
  /** An order of ours is open on its origin, perhaps not deeply. */
  opened(orderId: Bytes32, order: StandardOrder): void;
  /** Somebody's order names us, but we know of no promise. */
  stranger(orderId: Bytes32, order: StandardOrder): void;
  filled(orderId: Bytes32, seen: Seen & { timestamp: UnixSeconds }): void;
  unfilled(orderId: Bytes32, was: Pick<Seen, 'blockHash' | 'txHash'>): void;
  /** At depth. */
  finalised(orderId: Bytes32, seen: Seen): void;
  refunded(orderId: Bytes32): void;
  /** The owner, or somebody for us, paid in (positive) or took out (negative), at depth. Said once. */
  moved(money: Money, id: string): void;
  operator(allowed: boolean): void;
  /** Our balance has paid for it, at depth. */
  spent?(orderId: Bytes32): void;
  /** A nonce is used at depth; by an order that `winner` names, or in another way. */
  used?(group: string, winner: Bytes32 | undefined): void;
  /** Everything up to this head has been taken in. */
  followed(head: Block): void;
}

export interface Follower {
  readonly port: ChainPort;
  /** The last final block taken in. */
  cursor(): ChainCursor;
  /** Time of the newest block whose events are in the ledger. */
  time(): UnixSeconds;
  /**
   * Tokens of ours that deposits, withdrawals or requests touched since asked last, at first sight or at
   * depth.
   */
  takeTouched(): ReadonlySet<Address>;
  /** Reads again from an earlier final block: the ledger knows what it has heard. */
  rewind(to: ChainCursor): void;
  /** Takes in one head. Calls do not overlap. */
  scan(head: Block): Promise<void>;
}

export interface FollowDeps {
  port: ChainPort;
  ledger: Ledger;
  log: Log;
  listener: FollowListener;
  /** Takes a promise into the ledger that only the chain told us of; false when it is none of ours. */
  restore(orderId: Bytes32, order: StandardOrder): boolean;
  /**
   * Orders in our name that the ledger does not know: takes in what another replica wrote down about them.
   */
  learn?(orderIds: readonly Bytes32[]): Promise<void>;
}

/** Of longer than an order can be open, unless dozens of ours open a second. */
const MOST_OPENED = 50_000;

const NONE: readonly Bytes32[] = [];

/** What is kept of a fill of ours that may still vanish, with the name it has in the ledger. */
type ShallowFill = Pick<EscrowEvent, 'blockHash' | 'txHash'> & { orderId: Bytes32; fact: string };

/** `<block hash>:<transaction>`, with or without the number of its turn. */
const bare = (fact: string): string => fact.split('#')[0] as string;
const partsOf = (fact: string): Pick<EscrowEvent, 'blockHash' | 'txHash'> => {
  const [blockHash, txHash] = bare(fact).split(':') as [Hex, Hex];
  return { blockHash, txHash };
};

const ENDED: ReadonlySet<Stage | undefined> = new Set<Stage>(['lapsed', 'released', 'failed']);

export function createFollower(
  { port, ledger, log, listener, restore, learn }: FollowDeps,
  { account, operator, maxBlocks }: { account: Address; operator: Address; maxBlocks: number },
  start: ChainCursor,
): Follower {
  const { chain } = port;
  const solver = addressToBytes32(account);
  /**
   * Orders of ours that opened of late, by nonce: one, but for those that sponsors paid for, which leave the
   * user's nonce as it is.
   */
  const opened = createBoundedMap<string, readonly Bytes32[]>({ most: () => MOST_OPENED });
  let cursor = start;
  let time: UnixSeconds = 0;
  let touched = new Set<Address>();
  /**
   * Read again because something is missing: an endpoint may have left it out, so all are asked, up to this
   * block.
   */
  let doubtedTo = -1n;
  /** Events above the final block, by what names them; of our fills, what has to be unsaid if they vanish. */
  let shallow = new Map<string, { blockNumber: bigint; fill: ShallowFill | undefined }>();

  /**
   * Fills of an earlier life that may have vanished while nobody looked, until the chain has been read once;
   * by block and transaction.
   */
  let inherited: Map<string, ShallowFill> | undefined = new Map(
    ledger
      .shallow(chain.id)
      .map(({ orderId, id }) => [bare(id), { ...partsOf(id), orderId: orderId as Bytes32, fact: id }]),
  );

  /**
   * Block and transaction: a transaction that a reorganisation drops and another block mines again is another
   * fact.
   */
  const idOf = ({ blockHash, txHash }: Pick<EscrowEvent, 'blockHash' | 'txHash'>): string =>
    `${blockHash}:${txHash}`;

  /**
   * The id of a fact in the ledger. A block that vanished and is back says the same again: under another
   * name, for the first is taken back for good.
   */
  function factOf(orderId: Bytes32, id: string): string {
    for (let turn = 1; ; turn += 1) {
      const fact = turn === 1 ? id : `${id}#${turn}`;
      if (!ledger.undone(orderId, fact)) return fact;
    }
  }

  const nonceOf = ({ order }: Extract<EscrowEvent, { kind: 'open' }>): string =>
    groupOf(chain.id, order.user, order.nonce);

  const seenAt = ({ blockNumber, blockHash, txHash }: EscrowEvent): Seen => ({
    chainId: chain.id,
    blockNumber,
    blockHash,
    txHash,
  });

  /** First news of an event, whatever its depth. */
  function hear(event: EscrowEvent, id: string, orders: ReadonlyMap<Bytes32, StandardOrder>): void {
    switch (event.kind) {
      case 'open': {
        if (ledger.quote(event.orderId) === undefined) return listener.stranger(event.orderId, event.order);
        const group = nonceOf(event);
        const before = opened.get(group) ?? NONE;
        if (!before.includes(event.orderId)) opened.set(group, [...before, event.orderId]);
        ledger.apply({ type: 'accepted', orderId: event.orderId });
        if (ENDED.has(ledger.quote(event.orderId)?.stage)) {
          log.fatal(
            { orderId: event.orderId },
            'an order opened after the hold for it had ended: not honoured',
          );
          return;
        }
        return listener.opened(event.orderId, event.order);
      }
      case 'filled': {
        if (event.solver !== solver) return;
        const order = orders.get(event.orderId);
        if (
          ledger.quote(event.orderId) === undefined &&
          (order === undefined || !restore(event.orderId, order))
        ) {
          log.fatal(
            { orderId: event.orderId, txHash: event.txHash },
            'our balance paid for an order that we do not know: the next comparison will freeze that token',
          );
          return;
        }
        ledger.apply({ type: 'filled', orderId: event.orderId, id: factOf(event.orderId, id) });
        listener.filled(event.orderId, { ...seenAt(event), timestamp: event.timestamp });
        return;
      }
      case 'operator':
        if (event.account === account && event.operator === operator) listener.operator(event.allowed);
        return;
      case 'ledger':
        if (event.account === account) touched.add(event.token);
        return;
      default:
    }
  }

  /** The same event at depth. */
  function conclude(event: EscrowEvent, id: string, unused: ReadonlySet<string>): void {
    switch (event.kind) {
      case 'open': {
        const group = nonceOf(event);
        return unused.has(group) ? undefined : release(group, event.orderId);
      }
      case 'nonce':
        return release(groupOf(chain.id, event.user, event.nonce), undefined);
      case 'filled':
        if (event.solver !== solver) return;
        ledger.apply({ type: 'fill_final', orderId: event.orderId, id: factOf(event.orderId, id) });
        return listener.spent?.(event.orderId);
      case 'finalised': {
        const quote = ledger.quote(event.orderId);
        if (quote === undefined) return;
        ledger.apply({
          type: 'finalised',
          orderId: event.orderId,
          id: factOf(event.orderId, id),
          received: quote.request.input.amount,
        });
        return listener.finalised(event.orderId, seenAt(event));
      }
      case 'refunded': {
        const quote = ledger.quote(event.orderId);
        if (quote === undefined) return;
        if (quote.stage === 'filled' || quote.stage === 'final')
          log.fatal({ orderId: event.orderId }, 'an order that we filled was refunded: the input is lost');
        ledger.apply({ type: 'failed', orderId: event.orderId });
        return listener.refunded(event.orderId);
      }
      case 'ledger':
        if (event.account === account) move(event, `${id}:${event.logIndex}`);
        return;
      default:
    }
  }

  /** Money that came or went outside an order, by exactly what its event says. */
  function move({ token, amount }: Extract<EscrowEvent, { kind: 'ledger' }>, id: string): void {
    touched.add(token);
    if (amount === 0n) return;
    const place = { id, chainId: chain.id, token };
    const taken = ledger.apply(
      amount > 0n
        ? { type: 'deposited', ...place, amount }
        : { type: 'withdrawal_ended', ...place, amount: -amount },
    );
    if (!taken.applied) return;
    log.info({ chain: chain.slug, token, amount }, 'the account was paid into or out of');
    listener.moved({ chainId: chain.id, token, amount }, id);
  }

  /** The nonce is used at depth: whatever else was signed under it is dead. */
  function release(group: string, winner: Bytes32 | undefined): void {
    const standing = opened.get(group) ?? NONE;
    // Others can be told of one that stands: of several they hear nothing, and what is dead runs out there by
    // itself.
    if (standing.length < 2) listener.used?.(group, winner ?? standing[0]);
    for (const orderId of ledger.ofNonce(group))
      if (orderId !== winner && !standing.includes(orderId as Bytes32))
        ledger.apply({ type: 'released', orderId });
  }

  /**
   * Nonces of orders that opened at depth and used none: whoever pays for somebody else's order leaves that
   * user's other promises as good as they were.
   */
  async function unusedBy(events: readonly EscrowEvent[], final: bigint): Promise<ReadonlySet<string>> {
    const unused = new Set<string>();
    for (const event of events) {
      if (event.kind !== 'open' || event.blockNumber > final) continue;
      const group = nonceOf(event);
      const matters =
        listener.used !== undefined || ledger.ofNonce(group).some((orderId) => orderId !== event.orderId);
      if (matters && !(await port.isNonceUsed(event.order.user, event.order.nonce, final))) unused.add(group);
    }
    return unused;
  }

  async function scan(head: Block): Promise<void> {
    const depth = BigInt(chain.depth);
    for (;;) {
      const from = cursor.block + 1n;
      const to = min(head.number, cursor.block + BigInt(maxBlocks));
      if (to < from) return;
      const events = await port.events(from, to, from <= doubtedTo);
      const final = min(head.number - depth, to);
      // Asked after the events: a block that is final cannot change between the two.
      const [bottom, top] = await Promise.all([
        final > cursor.block ? port.block(final) : undefined,
        to === head.number ? head : port.block(to),
      ]);
      if (top === undefined || (final > cursor.block && bottom === undefined)) return;
      if (learn !== undefined) {
        const unknown = events.flatMap((event) =>
          ((event.kind === 'filled' && event.solver === solver) || event.kind === 'open') &&
          ledger.quote(event.orderId) === undefined
            ? [event.orderId]
            : [],
        );
        if (unknown.length > 0) await learn(unknown);
      }
      take(events, final, to, await unusedBy(events, final));
      if (to === head.number) settleInherited();
      if (bottom !== undefined) cursor = { chainId: chain.id, block: bottom.number, hash: bottom.hash };
      time = Math.max(time, top.timestamp);
      ledger.advance(chain.id, time);
      // A crowd that lapsed together ends in steps, with everybody else's work between them.
      for (; ledger.behind(chain.id); ledger.advance(chain.id, time)) await turn();
      if (to === head.number) return listener.followed(head);
    }
  }

  function take(
    events: readonly EscrowEvent[],
    final: bigint,
    to: bigint,
    unused: ReadonlySet<string>,
  ): void {
    const orders = new Map(
      events.flatMap((event) => (event.kind === 'open' ? [[event.orderId, event.order] as const] : [])),
    );
    const now: typeof shallow = new Map();
    const nameOf = (event: EscrowEvent) => `${idOf(event)}:${event.logIndex}`;
    const seen = new Set(events.map(nameOf));
    // What vanished is unsaid before what came in its place is heard: a fill that another block mined again
    // stands.
    for (const [name, was] of shallow) {
      if (seen.has(name)) continue;
      if (was.blockNumber > to) now.set(name, was);
      else if (was.fill !== undefined) unsay(was.fill);
    }
    for (const event of events) {
      const id = idOf(event);
      const name = nameOf(event);
      if (event.kind === 'filled') inherited?.delete(id);
      if (!shallow.has(name)) hear(event, id, orders);
      if (event.blockNumber <= final) conclude(event, id, unused);
      else
        now.set(name, {
          blockNumber: event.blockNumber,
          fill:
            event.kind === 'filled' && event.solver === solver
              ? {
                  blockHash: event.blockHash,
                  txHash: event.txHash,
                  orderId: event.orderId,
                  fact: factOf(event.orderId, id),
                }
              : undefined,
        });
    }
    shallow = now;
  }

  function unsay(event: ShallowFill): void {
    const { orderId, fact } = event;
    log.warn({ orderId, chain: chain.slug }, 'a fill was reorganised away');
    if (ledger.apply({ type: 'reorged', orderId, id: fact }).applied) listener.unfilled(orderId, event);
  }

  /** The chain has been read up to its head: what was filled in an earlier life and is not there is gone. */
  function settleInherited(): void {
    for (const was of inherited?.values() ?? []) unsay(was);
    inherited = undefined;
  }

  return {
    port,
    cursor: () => cursor,
    time: () => time,
    takeTouched() {
      const taken = touched;
      touched = new Set();
      return taken;
    },
    rewind(to) {
      doubtedTo = cursor.block;
      if (to.block < cursor.block) cursor = to;
    },
    scan,
  };
}
