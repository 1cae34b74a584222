/**
 * Applies one event of a chain to the inventory ledger: as soon as it is in a block, and again once it is
 * final.
 */

import type { LRUCache } from 'lru-cache';
import { formatTokens } from '../../domain/amount.ts';
import type { BondClaim } from '../../domain/bond.ts';
import { type Chain, tokenOrAddress } from '../../domain/chain.ts';
import type { Address, Bytes32, Hex } from '../../domain/hex.ts';
import { nonceGroupOf, type StandardOrder } from '../../domain/order.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { Money } from '../../inventory/event.ts';
import { hasEnded } from '../../inventory/hold-state.ts';
import type { Ledger } from '../../inventory/ledger.ts';
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
  /** The order's input is the LP's, and final. */
  finalised(orderId: Bytes32, seen: ChainSighting): void;
  refunded(orderId: Bytes32): void;
  /** Sent once for each final deposit (positive) or withdrawal (negative), by the owner or by a transfer. */
  moved(money: Money, id: string, step: RecognisedStep | undefined): void;
  operator(allowed: boolean): void;
  /** The account's bond has paid a claim, and that is final. Sent once. */
  bondPaid?(token: Address, claim: BondClaim): void;
  /** The account's balance has paid for the order, and that is final. */
  spent?(orderId: Bytes32): void;
  /** A nonce is used, and that is final. `winner`: the order that used it, if one did. */
  used?(group: string, winner: Bytes32 | undefined): void;
  followed(head: Block): void;
}

export interface FollowerOptions {
  account: Address;
  operator: Address;
  maxBlocks: number;
}

export interface FollowDeps {
  port: ChainPort;
  ledger: Ledger;
  log: Log;
  listener: FollowListener;
  /** Adds a hold that only the chain shows; false when the order is not of this LP. */
  restore(orderId: Bytes32, order: StandardOrder): boolean;
  learn?(orderIds: readonly Bytes32[]): Promise<void>;
  /** Returns the transfer whose step moved the money; undefined when the owner moved it. */
  recognise?(chainId: number, txHash: Hex): Promise<RecognisedStep | undefined>;
}

/** A fill of this LP that is not final, with its fact in the ledger. */
type ShallowFill = Pick<EscrowEvent, 'blockHash' | 'txHash'> & { orderId: Bytes32; fact: string };

/** Unfinal events by `eventKeyOf`, with what to undo if a fill disappears. */
export type ShallowEvents = Map<string, { blockNumber: bigint; fill: ShallowFill | undefined }>;

/** The state of one chain's follower. */
export interface FollowState {
  readonly deps: FollowDeps;
  readonly options: FollowerOptions;
  readonly chain: Chain;
  /** The LP's account, as fills name it. */
  readonly solver: Bytes32;
  /** Recently opened orders by nonce. Usually one; a sponsor payment leaves the nonce of the user unused. */
  readonly opened: LRUCache<string, readonly Bytes32[]>;
  /** Events that were logged and counted: after a difference, their blocks are read again. */
  readonly told: LRUCache<string, true>;
  cursor: ChainCursor;
  time: UnixSeconds;
  touched: Set<Address>;
  /** The steps of transfers that final movements are, by transaction, read before the events are applied. */
  recognised: ReadonlyMap<Hex, RecognisedStep>;
  /** Blocks read again for a missing event: all endpoints are asked up to here. */
  doubtedTo: bigint;
  shallow: ShallowEvents;
  /** Unfinal fills of an earlier process by block and transaction, until the chain was read once. */
  inherited: Map<string, ShallowFill> | undefined;
}

const NONE: readonly Bytes32[] = [];

/** Applies an event as soon as it is in a block; it may disappear again. */
export function applySeen(
  state: FollowState,
  event: EscrowEvent,
  id: string,
  orders: ReadonlyMap<Bytes32, StandardOrder>,
): void {
  const { deps, options, solver } = state;
  const { ledger, listener, log, restore } = deps;
  switch (event.kind) {
    case 'open':
      return applyOpened(state, event);
    case 'filled': {
      if (event.solver !== solver) return;
      const order = orders.get(event.orderId);
      if (
        ledger.quote(event.orderId) === undefined &&
        (order === undefined || !restore(event.orderId, order))
      ) {
        tellOnce(state, event, () =>
          log.fatal(
            { orderId: event.orderId, txHash: event.txHash },
            'the account paid for an unknown order: the next comparison with the chain will freeze that token',
          ),
        );
        return;
      }
      ledger.apply({ type: 'filled', orderId: event.orderId, id: factOf(state, event.orderId, id) });
      listener.filled(event.orderId, { ...seenAt(state, event), timestamp: event.timestamp });
      return;
    }
    case 'operator':
      if (event.account === options.account && event.operator === options.operator)
        listener.operator(event.allowed);
      return;
    case 'ledger':
      if (event.account === options.account) state.touched.add(event.token);
      return;
    default:
  }
}

function applyOpened(state: FollowState, event: Extract<EscrowEvent, { kind: 'open' }>): void {
  const { deps, opened, chain } = state;
  const { ledger, listener, log } = deps;
  if (ledger.quote(event.orderId) === undefined) return listener.stranger(event.orderId, event.order);
  const group = nonceOf(chain, event);
  const before = opened.get(group) ?? NONE;
  if (!before.includes(event.orderId)) opened.set(group, [...before, event.orderId]);
  ledger.apply({ type: 'accepted', orderId: event.orderId });
  const quote = ledger.quote(event.orderId);
  if (quote !== undefined && hasEnded(quote.state)) {
    tellOnce(state, event, () =>
      log.fatal({ orderId: event.orderId }, 'an order opened after its hold had ended: it is not honoured'),
    );
    return;
  }
  return listener.opened(event.orderId, event.order);
}

/** Applies an event once it is final. */
export function applyFinal(
  state: FollowState,
  event: EscrowEvent,
  id: string,
  unused: ReadonlySet<string>,
): void {
  const { deps, options, chain } = state;
  const { ledger, listener, log } = deps;
  switch (event.kind) {
    case 'open': {
      const group = nonceOf(chain, event);
      return unused.has(group) ? undefined : releaseNonce(state, group, event.orderId);
    }
    case 'nonce':
      return releaseNonce(state, nonceGroupOf(chain.id, event.user, event.nonce), undefined);
    case 'filled':
      if (event.solver !== state.solver) return;
      ledger.apply({ type: 'fill_final', orderId: event.orderId, id: factOf(state, event.orderId, id) });
      return listener.spent?.(event.orderId);
    case 'finalised': {
      const quote = ledger.quote(event.orderId);
      if (quote === undefined) return;
      ledger.apply({
        type: 'finalised',
        orderId: event.orderId,
        id: factOf(state, event.orderId, id),
        received: quote.request.input.amount,
      });
      return listener.finalised(event.orderId, seenAt(state, event));
    }
    case 'refunded': {
      const quote = ledger.quote(event.orderId);
      if (quote === undefined) return;
      if (quote.state === 'filled' || quote.state === 'fill_final')
        log.fatal({ orderId: event.orderId }, 'a filled order was refunded to the taker: the input is lost');
      ledger.apply({ type: 'failed', orderId: event.orderId });
      return listener.refunded(event.orderId);
    }
    case 'ledger':
      if (event.account === options.account) applyMovement(state, event, `${id}:${event.logIndex}`);
      return;
    case 'bond':
      if (event.account === options.account && event.claim) {
        const { token, claim } = event;
        tellOnce(state, event, () => listener.bondPaid?.(token, claim));
      }
      return;
    default:
  }
}

/** Applies a final deposit or withdrawal of the account. */
function applyMovement(
  { deps, chain, touched, recognised }: FollowState,
  { token, amount, txHash }: Extract<EscrowEvent, { kind: 'ledger' }>,
  id: string,
): void {
  touched.add(token);
  if (amount === 0n) return;
  const place = { id, chainId: chain.id, token };
  const taken = deps.ledger.apply(
    amount > 0n
      ? { type: 'deposited', ...place, amount }
      : { type: 'withdrawal_ended', ...place, amount: -amount },
  );
  if (!taken.applied) return;
  deps.log.info(
    { chain: chain.slug, amount: formatTokens(amount, tokenOrAddress(chain, token)) },
    'deposit or withdrawal of the account',
  );
  deps.listener.moved({ chainId: chain.id, token, amount }, id, recognised.get(txHash));
}

/** The nonce is used and final: no other order under it can execute. */
function releaseNonce(
  { deps: { ledger, listener }, opened }: FollowState,
  group: string,
  winner: Bytes32 | undefined,
): void {
  const standing = opened.get(group) ?? NONE;
  // With several live orders under the nonce other replicas are not notified: their holds expire.
  if (standing.length < 2) listener.used?.(group, winner ?? standing[0]);
  for (const orderId of ledger.ordersOfNonce(group))
    if (orderId !== winner && !standing.includes(orderId as Bytes32))
      ledger.apply({ type: 'released', orderId });
}

export function undoFill({ deps: { ledger, listener, log }, chain }: FollowState, event: ShallowFill): void {
  const { orderId, fact } = event;
  log.warn({ orderId, chain: chain.slug }, 'a fill was reorganised away');
  if (ledger.apply({ type: 'reorged', orderId, id: fact }).applied) listener.unfilled(orderId, event);
}

/** Tells of an event the first time it is read. */
function tellOnce({ told }: FollowState, event: EscrowEvent, tell: () => void): void {
  const key = eventKeyOf(event);
  if (told.has(key)) return;
  told.set(key, true);
  tell();
}

/**
 * Names an event's block and transaction: a transaction that another block mines after a reorganisation is
 * another fact.
 */
export const minedAs = ({ blockHash, txHash }: Pick<EscrowEvent, 'blockHash' | 'txHash'>): string =>
  `${blockHash}:${txHash}`;

export const eventKeyOf = (event: EscrowEvent): string => `${minedAs(event)}:${event.logIndex}`;

/**
 * The id of a fact in the ledger. A block that disappears and returns gives its facts new ids, because the
 * ledger keeps the first id as reorganised.
 */
export function factOf({ deps: { ledger } }: FollowState, orderId: Bytes32, id: string): string {
  for (let occurrence = 1; ; occurrence += 1) {
    const fact = occurrence === 1 ? id : `${id}#${occurrence}`;
    if (!ledger.isReorganised(orderId, fact)) return fact;
  }
}

export const nonceOf = (
  { id }: Pick<Chain, 'id'>,
  { order }: Extract<EscrowEvent, { kind: 'open' }>,
): string => nonceGroupOf(id, order.user, order.nonce);

const seenAt = ({ chain }: FollowState, { blockNumber, blockHash, txHash }: EscrowEvent): ChainSighting => ({
  chainId: chain.id,
  blockNumber,
  blockHash,
  txHash,
});
