/**
 * Folds the events of one chain into the inventory ledger. Each head reads the unfinal window again: an event
 * missing there was reorganised away. Events below the depth are final and read once. The ledger's chain
 * clock advances after the events of its blocks.
 */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { BondClaim } from '../../domain/bond.ts';
import type { Address, Bytes32, Hex } from '../../domain/hex.ts';
import { addressToBytes32 } from '../../domain/hex.ts';
import { nonceGroupOf, type StandardOrder } from '../../domain/order.ts';
import { formatTokens, min } from '../../domain/amount.ts';
import { tokenOrAddress } from '../../domain/chain.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { Money } from '../../inventory/event.ts';
import type { Ledger } from '../../inventory/ledger.ts';
import { hasEnded } from '../../inventory/hold-state.ts';
import type { Block, ChainPort, EscrowEvent } from '../../ports/chain.ts';
import type { Log } from '../../ports/log.ts';
import type { ChainCursor } from '../../ports/stores/lp-store.ts';
import type { RecognisedStep } from '../accounting/transfers/recognise.ts';
import type { ChainSighting } from '../quote-log/quote-events.ts';

/** Notifications about a chain. The ledger has been updated before each of them. */
export interface FollowListener {
  /** An order of this LP is open on its origin, possibly not final. */
  opened(orderId: Bytes32, order: StandardOrder): void;
  /** An open order names this LP but has no hold in the ledger. */
  stranger(orderId: Bytes32, order: StandardOrder): void;
  filled(orderId: Bytes32, seen: ChainSighting & { timestamp: UnixSeconds }): void;
  unfilled(orderId: Bytes32, was: Pick<ChainSighting, 'blockHash' | 'txHash'>): void;
  /** Final. */
  finalised(orderId: Bytes32, seen: ChainSighting): void;
  refunded(orderId: Bytes32): void;
  /** Final, sent once: a deposit (positive) or withdrawal (negative), by the owner or by a transfer. */
  moved(money: Money, id: string, step: RecognisedStep | undefined): void;
  operator(allowed: boolean): void;
  /** The account's bond has paid a claim; final. Sent once. */
  bondPaid?(token: Address, claim: BondClaim): void;
  /** The account's balance has paid for the order; final. */
  spent?(orderId: Bytes32): void;
  /** A nonce is used; final. `winner`: the order that used it, if one did. */
  used?(group: string, winner: Bytes32 | undefined): void;
  followed(head: Block): void;
}

export type Follower = ReturnType<typeof createFollower>;

interface FollowDeps {
  port: ChainPort;
  ledger: Ledger;
  log: Log;
  listener: FollowListener;
  /** Adds a hold that only the chain shows; false when the order is not of this LP. */
  restore(orderId: Bytes32, order: StandardOrder): boolean;
  learn?(orderIds: readonly Bytes32[]): Promise<void>;
  /** The transfer whose step a movement of the account is; undefined: the owner's. */
  recognise?(chainId: number, txHash: Hex): Promise<RecognisedStep | undefined>;
}

/** Enough unless dozens of orders open per second. */
const MOST_OPENED = 50_000;

const NONE: readonly Bytes32[] = [];

type ShallowFill = Pick<EscrowEvent, 'blockHash' | 'txHash'> & { orderId: Bytes32; fact: string };

/** `<block hash>:<transaction>`, without the occurrence number. */
const bare = (fact: string): string => fact.split('#')[0] as string;
const partsOf = (fact: string): Pick<EscrowEvent, 'blockHash' | 'txHash'> => {
  const [blockHash, txHash] = bare(fact).split(':') as [Hex, Hex];
  return { blockHash, txHash };
};

export function createFollower(
  { port, ledger, log, listener, restore, learn, recognise }: FollowDeps,
  { account, operator, maxBlocks }: { account: Address; operator: Address; maxBlocks: number },
  start: ChainCursor,
) {
  const { chain } = port;
  const solver = addressToBytes32(account);
  /** Recently opened orders by nonce. Usually one; a sponsor payment leaves the nonce of the user unused. */
  const opened = new LRUCache<string, readonly Bytes32[]>({ max: MOST_OPENED });
  /** Events that were logged and counted: after a difference, their blocks are read again. */
  const told = new LRUCache<string, true>({ max: MOST_OPENED });
  let cursor = start;
  let time: UnixSeconds = 0;
  let touched = new Set<Address>();
  /** Of final movements, by transaction, read before the events are applied. */
  let recognised: ReadonlyMap<Hex, RecognisedStep> = new Map();
  /** Blocks read again for a missing event: all endpoints are asked up to here. */
  let doubtedTo = -1n;
  /** Unfinal events by id, with what to undo if a fill disappears. */
  let shallow = new Map<string, { blockNumber: bigint; fill: ShallowFill | undefined }>();

  /** Unfinal fills of an earlier process by block and transaction, until the chain was read once. */
  let inherited: Map<string, ShallowFill> | undefined = new Map(
    ledger
      .unfinalFills(chain.id)
      .map(({ orderId, id }) => [bare(id), { ...partsOf(id), orderId: orderId as Bytes32, fact: id }]),
  );

  function tellOnce({ blockHash, txHash, logIndex }: EscrowEvent, tell: () => void): void {
    const event = `${blockHash}:${txHash}:${logIndex}`;
    if (told.has(event)) return;
    told.set(event, true);
    tell();
  }

  /** Block and transaction: a transaction that another block mines after a reorganisation is another fact. */
  const idOf = ({ blockHash, txHash }: Pick<EscrowEvent, 'blockHash' | 'txHash'>): string =>
    `${blockHash}:${txHash}`;

  /**
   * The id of a fact in the ledger. A block that disappears and returns gives its facts new ids, because the
   * ledger keeps the first id as reorganised.
   */
  function factOf(orderId: Bytes32, id: string): string {
    for (let occurrence = 1; ; occurrence += 1) {
      const fact = occurrence === 1 ? id : `${id}#${occurrence}`;
      if (!ledger.isReorganised(orderId, fact)) return fact;
    }
  }

  const nonceOf = ({ order }: Extract<EscrowEvent, { kind: 'open' }>): string =>
    nonceGroupOf(chain.id, order.user, order.nonce);

  const seenAt = ({ blockNumber, blockHash, txHash }: EscrowEvent): ChainSighting => ({
    chainId: chain.id,
    blockNumber,
    blockHash,
    txHash,
  });

  function applySeen(event: EscrowEvent, id: string, orders: ReadonlyMap<Bytes32, StandardOrder>): void {
    switch (event.kind) {
      case 'open': {
        if (ledger.quote(event.orderId) === undefined) return listener.stranger(event.orderId, event.order);
        const group = nonceOf(event);
        const before = opened.get(group) ?? NONE;
        if (!before.includes(event.orderId)) opened.set(group, [...before, event.orderId]);
        ledger.apply({ type: 'accepted', orderId: event.orderId });
        const quote = ledger.quote(event.orderId);
        if (quote !== undefined && hasEnded(quote.state)) {
          tellOnce(event, () =>
            log.fatal(
              { orderId: event.orderId },
              'an order opened after its hold had ended: it is not honoured',
            ),
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
          tellOnce(event, () =>
            log.fatal(
              { orderId: event.orderId, txHash: event.txHash },
              'the account paid for an unknown order: the next comparison with the chain will freeze that token',
            ),
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

  function applyFinal(event: EscrowEvent, id: string, unused: ReadonlySet<string>): void {
    switch (event.kind) {
      case 'open': {
        const group = nonceOf(event);
        return unused.has(group) ? undefined : releaseNonce(group, event.orderId);
      }
      case 'nonce':
        return releaseNonce(nonceGroupOf(chain.id, event.user, event.nonce), undefined);
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
        if (quote.state === 'filled' || quote.state === 'fill_final')
          log.fatal(
            { orderId: event.orderId },
            'a filled order was refunded to the taker: the input is lost',
          );
        ledger.apply({ type: 'failed', orderId: event.orderId });
        return listener.refunded(event.orderId);
      }
      case 'ledger':
        if (event.account === account) applyTransfer(event, `${id}:${event.logIndex}`);
        return;
      case 'bond':
        if (event.account === account && event.claim) {
          const { token, claim } = event;
          tellOnce(event, () => listener.bondPaid?.(token, claim));
        }
        return;
      default:
    }
  }

  function applyTransfer(
    { token, amount, txHash }: Extract<EscrowEvent, { kind: 'ledger' }>,
    id: string,
  ): void {
    touched.add(token);
    if (amount === 0n) return;
    const place = { id, chainId: chain.id, token };
    const taken = ledger.apply(
      amount > 0n
        ? { type: 'deposited', ...place, amount }
        : { type: 'withdrawal_ended', ...place, amount: -amount },
    );
    if (!taken.applied) return;
    log.info(
      { chain: chain.slug, amount: formatTokens(amount, tokenOrAddress(chain, token)) },
      'deposit or withdrawal of the account',
    );
    listener.moved({ chainId: chain.id, token, amount }, id, recognised.get(txHash));
  }

  /** The nonce is used and final: no other order under it can execute. */
  function releaseNonce(group: string, winner: Bytes32 | undefined): void {
    const standing = opened.get(group) ?? NONE;
    // With several live orders under the nonce other replicas are not notified: their holds expire.
    if (standing.length < 2) listener.used?.(group, winner ?? standing[0]);
    for (const orderId of ledger.ordersOfNonce(group))
      if (orderId !== winner && !standing.includes(orderId as Bytes32))
        ledger.apply({ type: 'released', orderId });
  }

  async function recogniseMoves(
    events: readonly EscrowEvent[],
    final: bigint,
  ): Promise<ReadonlyMap<Hex, RecognisedStep>> {
    const found = new Map<Hex, RecognisedStep>();
    for (const event of events) {
      const isMove = event.kind === 'ledger' && event.account === account && event.amount !== 0n;
      if (!isMove || event.blockNumber > final || event.blockNumber <= cursor.block) continue;
      const step = await recognise?.(chain.id, event.txHash);
      if (step !== undefined) found.set(event.txHash, step);
    }
    return found;
  }

  /** Nonces still unused on chain: after a sponsor payment the other orders of the user stay executable. */
  async function unusedBy(events: readonly EscrowEvent[], final: bigint): Promise<ReadonlySet<string>> {
    const unused = new Set<string>();
    for (const event of events) {
      if (event.kind !== 'open' || event.blockNumber > final) continue;
      const group = nonceOf(event);
      const matters =
        listener.used !== undefined ||
        ledger.ordersOfNonce(group).some((orderId) => orderId !== event.orderId);
      if (matters && !(await port.isNonceUsed(event.order.user, event.order.nonce, final))) unused.add(group);
    }
    return unused;
  }

  /** Processes one head. Calls must not overlap. */
  async function scan(head: Block): Promise<void> {
    const depth = BigInt(chain.depth);
    for (;;) {
      const from = cursor.block + 1n;
      const to = min(head.number, cursor.block + BigInt(maxBlocks));
      if (to < from) return;
      const events = await port.events(from, to, from <= doubtedTo);
      const final = min(head.number - depth, to);
      // Read after the events: a final block cannot change between the two reads.
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
      recognised = await recogniseMoves(events, final);
      applyEvents(events, final, to, await unusedBy(events, final));
      if (to === head.number) undoMissingInherited();
      if (bottom !== undefined) cursor = { chainId: chain.id, block: bottom.number, hash: bottom.hash };
      time = Math.max(time, top.timestamp);
      ledger.advance(chain.id, time);
      // The ledger ends a limited number of holds per call, so that quotes are answered in between.
      for (; ledger.hasBacklog(chain.id); ledger.advance(chain.id, time)) await yieldToEventLoop();
      if (to === head.number) return listener.followed(head);
    }
  }

  function applyEvents(
    events: readonly EscrowEvent[],
    final: bigint,
    to: bigint,
    unused: ReadonlySet<string>,
  ): void {
    const orders = new Map(
      events.flatMap((event) => (event.kind === 'open' ? [[event.orderId, event.order] as const] : [])),
    );
    const now: typeof shallow = new Map();
    const eventKeyOf = (event: EscrowEvent) => `${idOf(event)}:${event.logIndex}`;
    const seen = new Set(events.map(eventKeyOf));
    // Undo first, because another block may have mined the same fill.
    for (const [name, was] of shallow) {
      if (seen.has(name)) continue;
      if (was.blockNumber > to) now.set(name, was);
      else if (was.fill !== undefined) undoFill(was.fill);
    }
    for (const event of events) {
      const id = idOf(event);
      const name = eventKeyOf(event);
      if (event.kind === 'filled') inherited?.delete(id);
      if (!shallow.has(name)) applySeen(event, id, orders);
      if (event.blockNumber <= final) applyFinal(event, id, unused);
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

  function undoFill(event: ShallowFill): void {
    const { orderId, fact } = event;
    log.warn({ orderId, chain: chain.slug }, 'a fill was reorganised away');
    if (ledger.apply({ type: 'reorged', orderId, id: fact }).applied) listener.unfilled(orderId, event);
  }

  function undoMissingInherited(): void {
    for (const was of inherited?.values() ?? []) undoFill(was);
    inherited = undefined;
  }

  return {
    port,
    /** The last final block processed. */
    cursor: () => cursor,
    /** Timestamp of the newest block whose events are in the ledger. */
    time: () => time,
    takeTouched() {
      const taken = touched;
      touched = new Set();
      return taken;
    },
    /** Reads again from an earlier final block; the ledger ignores duplicates. */
    rewind(to: ChainCursor) {
      doubtedTo = cursor.block;
      if (to.block < cursor.block) cursor = to;
    },
    scan,
  };
}
