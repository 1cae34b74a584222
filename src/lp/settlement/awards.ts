/**
 * Orders to honour: awarded by a venue, or seen open on a chain. An award binds only if its quote is in the
 * ledger or, after a crash, proven by our signature.
 */

import { LRUCache } from 'lru-cache';
import { signedPart } from '../../domain/commitment.ts';
import type { Chain } from '../../domain/chain.ts';
import { type Address, type Bytes32, ZERO_BYTES32 } from '../../domain/hex.ts';
import { orderId as idOf, type StandardOrder } from '../../domain/order.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { Ledger } from '../../inventory/ledger.ts';
import type { HoldState } from '../../inventory/hold-state.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { AwardStage, LpAward, LpStore } from '../../ports/stores/lp-store.ts';
import type { Recovery } from '../../ports/signer.ts';
import type { Award } from '../../protocol/link/link.ts';
import { orderFromMessage } from '../../protocol/wire.ts';
import { holdOf, ownSlice, type OwnSlice } from '../routes/order.ts';

export interface OpenAward extends LpAward {
  slice: OwnSlice;
  /** Stored in this state. Irreversible steps require it. */
  stored: boolean;
}

type AwardMessage = Omit<Award, 'type'>;
type AwardAnswer = 'taken' | 'known' | 'late' | 'not_ours' | 'malformed';

export interface Awards {
  /** Takes in an award that a venue sent. */
  take(message: AwardMessage): AwardAnswer;
  /** Adds an order that is open on its origin: it binds whatever the venue says. */
  opened(orderId: Bytes32, order: StandardOrder): void;
  /** Adds an order that another process quoted to the ledger; true when the ledger did not know it. */
  restore(orderId: Bytes32, order: StandardOrder): boolean;
  /** Loads a stored award at start; the caller updates the ledger. */
  load(award: LpAward): void;
  /** Loads an award of another replica; the ledger has it already. */
  heard(award: LpAward): void;
  /** Marks every award for writing, because the previous leader may not have written it. */
  rewrite(): void;
  /** The awards that have not ended, or whose end is not stored yet. */
  open(): OpenAward[];
  get(orderId: Bytes32): OpenAward | undefined;
  update(orderId: Bytes32, change: AwardChange): void;
  /** Writes what changed. Rejects when the store does; what was not written stays due. */
  flush(): Promise<void>;
}

type AwardChange = Partial<Pick<LpAward, 'stage' | 'fill' | 'note'>>;

interface AwardDeps {
  ledger: Ledger;
  store: Pick<LpStore, 'putAward'>;
  recovery: Recovery;
  clock: Clock;
  log: Log;
  chains: ReadonlyMap<number, Chain>;
  /** Earlier keys of this LP that may still sign for its account on a chain. */
  formerOperators(chainId: number): ReadonlySet<Address>;
  time(chainId: number): UnixSeconds;
  /** Called for a new award, not for one that `load` brings. */
  taken(award: OpenAward): void;
}

/** An award whose order names this LP. */
interface OwnAward {
  message: AwardMessage;
  order: StandardOrder;
  slice: OwnSlice;
}

interface Owner {
  account: Address;
  operator: Address;
}

interface AwardState {
  readonly awards: Map<Bytes32, OpenAward>;
  /** The awards that changed since they were written. */
  readonly dirty: Set<Bytes32>;
  /** Awards whose refusal was logged: a venue may repeat them. */
  readonly refused: LRUCache<Bytes32, true>;
}

const MAX_REFUSED = 10_000;
const FINAL: ReadonlySet<AwardStage> = new Set<AwardStage>(['finalised', 'failed']);
/** Placeholder fields of a restored quote: it counts in full and against no size limit. */
const FORGOTTEN = { pair: 'restored', side: 'buy', notional: 0n } as const;

export function createAwards(deps: AwardDeps, owner: Owner): Awards {
  const { account } = owner;
  const state: AwardState = {
    awards: new Map(),
    dirty: new Set(),
    refused: new LRUCache({ max: MAX_REFUSED }),
  };
  const { awards, dirty } = state;
  return {
    take: (message) => take(deps, owner, state, message),
    opened(orderId, order) {
      const slice = awards.has(orderId) ? undefined : ownSlice(order, account, deps.chains);
      if (slice !== undefined) addNew(deps, state, orderId, ZERO_BYTES32, order, slice, null);
    },
    restore: (orderId, order) => restore(deps, account, orderId, order),
    load: (award) => load(deps, account, state, award),
    heard(award) {
      const slice = ownSlice(award.order, account, deps.chains);
      if (slice !== undefined) deps.taken(add(state, award, slice, true));
    },
    rewrite() {
      for (const orderId of awards.keys()) dirty.add(orderId);
    },
    open: () => [...awards.values()],
    get: (orderId) => awards.get(orderId),
    update: (orderId, change) => update(deps, state, orderId, change),
    flush: () => flush(deps, state),
  };
}

function take(deps: AwardDeps, owner: Owner, state: AwardState, message: AwardMessage): AwardAnswer {
  const { chains } = deps;
  const order = orderFromMessage(message.order);
  const origin = chains.get(Number(order.originChainId));
  const slice = ownSlice(order, owner.account, chains);
  if (
    origin === undefined ||
    slice === undefined ||
    idOf({ chainId: origin.id, escrow: origin.escrow }, order) !== message.orderId
  )
    return 'malformed';
  const known = state.awards.get(message.orderId);
  if (known !== undefined) {
    if (known.commitment === null)
      Object.assign(known, { quoteId: message.quoteId, commitment: message.commitment });
    return 'known';
  }
  return bind(deps, owner, state, { message, order, slice });
}

/** What the award of an order binds us to follows from the hold of its quote. */
function bind(deps: AwardDeps, owner: Owner, state: AwardState, award: OwnAward): AwardAnswer {
  const { order, slice } = award;
  const { orderId, quoteId, commitment } = award.message;
  const hold = deps.ledger.quote(orderId)?.state;
  switch (hold) {
    case 'held':
    case 'accepted':
    case 'filled':
    case 'fill_final':
      deps.ledger.apply({ type: 'accepted', orderId });
      addNew(deps, state, orderId, quoteId, order, slice, commitment);
      return 'taken';
    case 'received':
    case 'failed':
      return 'known';
    case 'expired':
    case 'released':
      // The ledger records the late fact; the inventory may be promised again.
      deps.ledger.apply({ type: 'accepted', orderId });
      refuse(deps, state, orderId, hold, isOver(deps, slice, order));
      return 'late';
    case undefined:
      return bindForgotten(deps, owner, state, award);
  }
}

/** Honours a quote that the ledger does not know if our signature proves it. */
function bindForgotten(deps: AwardDeps, owner: Owner, state: AwardState, award: OwnAward): AwardAnswer {
  const { message, order, slice } = award;
  const { orderId, quoteId, commitment } = message;
  if (message.status !== 'pending') return 'known';
  if (!isSignedByUs(deps, owner, award)) return 'not_ours';
  if (isOver(deps, slice, order)) {
    refuse(deps, state, orderId, undefined, true);
    return 'late';
  }
  deps.log.warn({ orderId }, 'a quote lost in a crash was proven by its signature: it is honoured');
  deps.ledger.apply({ type: 'restored', request: holdOf(slice, order, orderId, FORGOTTEN) });
  addNew(deps, state, orderId, quoteId, order, slice, commitment);
  return 'taken';
}

function isSignedByUs(
  { recovery, chains, formerOperators }: AwardDeps,
  { account, operator }: Owner,
  { message: { orderId, quoteId, commitment }, order, slice }: OwnAward,
): boolean {
  const signed = signedPart(
    { chainId: slice.originChainId, escrow: chains.get(slice.originChainId)?.escrow ?? account },
    { orderId, quoteId, lp: account, deadline: order.fillDeadline },
    commitment.signature,
  );
  const signer = recovery.recover(signed.digest, signed.signature);
  return (
    commitment.lp === account &&
    commitment.deadline === order.fillDeadline &&
    (signer === operator || signer === account || formerOperators(slice.originChainId).has(signer as Address))
  );
}

/** After its deadline by the origin's clock an order cannot be opened. */
const isOver = ({ time }: AwardDeps, slice: OwnSlice, order: StandardOrder): boolean =>
  time(slice.originChainId) > order.fillDeadline;

/** Logs a refused award. It is harmless when its order can no longer be opened. */
function refuse(
  { log }: AwardDeps,
  { refused }: AwardState,
  orderId: Bytes32,
  state: HoldState | undefined,
  harmless: boolean,
): void {
  if (refused.has(orderId)) return;
  refused.set(orderId, true);
  if (harmless) log.warn({ orderId, state }, 'refused an award whose order can no longer be opened');
  else log.fatal({ orderId, state }, 'refused an award for a quote whose hold has ended');
}

function addNew(
  deps: AwardDeps,
  state: AwardState,
  orderId: Bytes32,
  quoteId: Bytes32,
  order: StandardOrder,
  slice: OwnSlice,
  commitment: LpAward['commitment'],
): void {
  const nowMs = deps.clock.nowMs();
  const award: LpAward = {
    orderId,
    quoteId,
    order,
    outputIndex: slice.index,
    commitment,
    stage: 'committed',
    fill: null,
    note: null,
    acceptedAtMs: nowMs,
    updatedAtMs: nowMs,
  };
  deps.taken(add(state, award, slice, false));
}

function add({ awards, dirty }: AwardState, award: LpAward, slice: OwnSlice, stored: boolean): OpenAward {
  const open: OpenAward = { ...award, slice, stored };
  awards.set(award.orderId, open);
  if (!stored) dirty.add(award.orderId);
  return open;
}

function restore(deps: AwardDeps, account: Address, orderId: Bytes32, order: StandardOrder): boolean {
  const slice = ownSlice(order, account, deps.chains);
  if (slice === undefined) return false;
  deps.log.warn(
    { orderId },
    'an order quoted by an earlier process or another replica was added to the ledger',
  );
  return deps.ledger.apply({ type: 'restored', request: holdOf(slice, order, orderId, FORGOTTEN) }).applied;
}

function load({ chains, log }: AwardDeps, account: Address, state: AwardState, award: LpAward): void {
  const slice = ownSlice(award.order, account, chains);
  if (slice !== undefined) add(state, award, slice, true);
  else
    log.error(
      { orderId: award.orderId },
      'a stored award names a chain or account that is no longer configured: it is left unchanged',
    );
}

function update(
  { clock }: AwardDeps,
  { awards, dirty }: AwardState,
  orderId: Bytes32,
  change: AwardChange,
): void {
  const award = awards.get(orderId);
  if (award === undefined) return;
  const same = Object.entries(change).every(([key, value]) => award[key as keyof LpAward] === value);
  if (same) return;
  Object.assign(award, change, { updatedAtMs: clock.nowMs(), stored: false });
  dirty.add(orderId);
}

async function flush({ store }: AwardDeps, { awards, dirty }: AwardState): Promise<void> {
  for (const orderId of [...dirty]) {
    const award = awards.get(orderId);
    dirty.delete(orderId);
    if (award === undefined) continue;
    const { slice: _, stored: __, ...plain } = award;
    const written = await store.putAward(plain).catch((error: unknown) => {
      dirty.add(orderId);
      throw error;
    });
    if (!written) return;
    if (dirty.has(orderId)) continue;
    award.stored = true;
    if (FINAL.has(award.stage)) awards.delete(orderId);
  }
}
