/**
 * The orders we have to honour: awarded by a venue, or seen open on a chain. An award binds us only if the
 * promise in it is ours: held in the ledger, or, when a crash took that memory, proven by our own signature
 * handed back.
 */

import { commitmentDigest } from '../../domain/commitment.ts';
import type { Chain } from '../../domain/chain.ts';
import { type Address, type Bytes32, ZERO_BYTES32 } from '../../domain/hex.ts';
import { orderId as idOf, type StandardOrder } from '../../domain/order.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { Ledger } from '../../inventory/ledger.ts';
import type { Stage } from '../../inventory/promise.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { AwardStage, LpAward, LpStore } from '../../ports/stores/lp-store.ts';
import type { Recovery } from '../../ports/signer.ts';
import type { Award } from '../../protocol/link/link.ts';
import { orderFromMessage } from '../../protocol/wire.ts';
import { holdOf, ownSlice, type OwnSlice } from '../quoting/order.ts';

export interface OpenAward extends LpAward {
  slice: OwnSlice;
  /** Is this state in the store? Nothing irreversible is done for an award that is not. */
  stored: boolean;
}

export type Taken = 'taken' | 'known' | 'late' | 'not_ours' | 'malformed';

export interface Awards {
  /** A venue's award, or its answer to a resync. */
  take(award: Omit<Award, 'type'>): Taken;
  /** Seen on its origin: binding whatever the venue says. */
  opened(orderId: Bytes32, order: StandardOrder): void;
  /** Takes a promise into the ledger that only the chain told us of. */
  restore(orderId: Bytes32, order: StandardOrder): boolean;
  /** From the store at start; the ledger has to be told by the caller. */
  load(award: LpAward): OpenAward | undefined;
  /** Another replica wrote it down; the ledger has been told. */
  heard(award: LpAward): void;
  /** Everything is to be written again: whoever wrote before may not have come to it. */
  rewrite(): void;
  open(): readonly OpenAward[];
  get(orderId: Bytes32): OpenAward | undefined;
  update(orderId: Bytes32, change: Partial<Pick<LpAward, 'stage' | 'fill' | 'note'>>): void;
  /** Writes what changed. Throws what the store throws; what was not written stays due. */
  flush(): Promise<void>;
}

export interface AwardDeps {
  ledger: Ledger;
  store: Pick<LpStore, 'putAward'>;
  recovery: Recovery;
  clock: Clock;
  log: Log;
  chains: ReadonlyMap<number, Chain>;
  /** Time of the newest block taken in. */
  time(chainId: number): UnixSeconds;
  /** A new one. Those of an earlier life come through `load` and are not said again. */
  taken(award: OpenAward): void;
}

const FINAL: ReadonlySet<AwardStage> = new Set<AwardStage>(['finalised', 'failed']);

export function createAwards(
  deps: AwardDeps,
  { account, operator }: { account: Address; operator: Address },
): Awards {
  const { ledger, log, chains } = deps;
  const awards = new Map<Bytes32, OpenAward>();
  const dirty = new Set<Bytes32>();

  function add(award: LpAward, slice: OwnSlice, stored: boolean): OpenAward {
    const open: OpenAward = { ...award, slice, stored };
    awards.set(award.orderId, open);
    if (!stored) dirty.add(award.orderId);
    return open;
  }

  function fresh(
    orderId: Bytes32,
    quoteId: Bytes32,
    order: StandardOrder,
    slice: OwnSlice,
    commitment: LpAward['commitment'],
  ): OpenAward {
    const nowMs = deps.clock.nowMs();
    const award = add(
      {
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
      },
      slice,
      false,
    );
    deps.taken(award);
    return award;
  }

  function take(message: Omit<Award, 'type'>): Taken {
    const order = orderFromMessage(message.order);
    const origin = chains.get(Number(order.originChainId));
    const slice = ownSlice(order, account, chains);
    if (
      origin === undefined ||
      slice === undefined ||
      idOf({ chainId: origin.id, escrow: origin.escrow }, order) !== message.orderId
    ) {
      log.warn({ orderId: message.orderId }, 'an award that is no order of ours was ignored');
      return 'malformed';
    }
    const known = awards.get(message.orderId);
    if (known !== undefined) {
      if (known.commitment === null)
        Object.assign(known, { quoteId: message.quoteId, commitment: message.commitment });
      return 'known';
    }
    return bind(message, order, slice, ledger.quote(message.orderId)?.stage);
  }

  const over = (slice: OwnSlice, order: StandardOrder) => deps.time(slice.originChainId) > order.fillDeadline;

  /**
   * By its origin's clock an order whose deadline has passed cannot be opened any more: then it is a message
   * that took its time, and nobody's money.
   */
  function refuse(orderId: Bytes32, stage: Stage | undefined, harmless: boolean): void {
    if (harmless)
      log.warn({ orderId, stage }, 'an award came when its order could not be opened any more: refused');
    else log.fatal({ orderId, stage }, 'an award came for a quote whose hold has ended: refused');
  }

  function bind(
    message: Omit<Award, 'type'>,
    order: StandardOrder,
    slice: OwnSlice,
    stage: Stage | undefined,
  ): Taken {
    const { orderId, quoteId, commitment } = message;
    switch (stage) {
      case 'held':
      case 'accepted':
      case 'filled':
      case 'final':
        ledger.apply({ type: 'accepted', orderId });
        fresh(orderId, quoteId, order, slice, commitment);
        return 'taken';
      case 'finalised':
      case 'failed':
        return 'known';
      case 'lapsed':
      case 'released':
        // The ledger keeps the fact and answers "late, critical": the money may be promised to somebody else
        // by now.
        ledger.apply({ type: 'accepted', orderId });
        refuse(orderId, stage, over(slice, order));
        return 'late';
      case undefined: {
        if (message.status !== 'pending') return 'known';
        const digest = commitmentDigest(
          { chainId: slice.originChainId, escrow: chains.get(slice.originChainId)?.escrow ?? account },
          { orderId, quoteId, lp: account, deadline: order.fillDeadline },
        );
        const signer = deps.recovery.recover(digest, commitment.signature);
        if (
          commitment.lp !== account ||
          commitment.deadline !== order.fillDeadline ||
          (signer !== operator && signer !== account)
        ) {
          log.warn({ orderId }, 'an award without a promise of ours was ignored');
          return 'not_ours';
        }
        if (over(slice, order)) {
          refuse(orderId, stage, true);
          return 'late';
        }
        log.warn({ orderId }, 'a promise that we had forgotten was handed back: honoured');
        ledger.apply({ type: 'restored', request: holdOf(slice, order, orderId, FORGOTTEN) });
        fresh(orderId, quoteId, order, slice, commitment);
        return 'taken';
      }
    }
  }

  return {
    take,
    opened(orderId, order) {
      const slice = awards.has(orderId) ? undefined : ownSlice(order, account, chains);
      if (slice !== undefined) fresh(orderId, ZERO_BYTES32, order, slice, null);
    },
    restore(orderId, order) {
      const slice = ownSlice(order, account, chains);
      if (slice === undefined) return false;
      log.warn({ orderId }, 'an order of ours that this process did not know of is taken in');
      return ledger.apply({ type: 'restored', request: holdOf(slice, order, orderId, FORGOTTEN) }).applied;
    },
    load(award) {
      const slice = ownSlice(award.order, account, chains);
      if (slice === undefined)
        log.error(
          { orderId: award.orderId },
          'a stored award is for chains or an account that are not configured any more: left alone',
        );
      return slice && add(award, slice, true);
    },
    heard(award) {
      const slice = ownSlice(award.order, account, chains);
      if (slice !== undefined) deps.taken(add(award, slice, true));
    },
    rewrite() {
      for (const orderId of awards.keys()) dirty.add(orderId);
    },
    open: () => [...awards.values()],
    get: (orderId) => awards.get(orderId),
    update(orderId, change) {
      const award = awards.get(orderId);
      if (award === undefined) return;
      const same = Object.entries(change).every(([key, value]) => award[key as keyof LpAward] === value);
      if (same) return;
      Object.assign(award, change, { updatedAtMs: deps.clock.nowMs(), stored: false });
      dirty.add(orderId);
    },
    async flush() {
      for (const orderId of [...dirty]) {
        const award = awards.get(orderId);
        dirty.delete(orderId);
        if (award === undefined) continue;
        const { slice: _, stored: __, ...plain } = award;
        const written = await deps.store.putAward(plain).catch((error: unknown) => {
          dirty.add(orderId);
          throw error;
        });
        if (!written) return;
        if (dirty.has(orderId)) continue;
        award.stored = true;
        if (FINAL.has(award.stage)) awards.delete(orderId);
      }
    },
  };
}

/** What a forgotten promise was for is forgotten too; it counts fully and against no limit of size. */
const FORGOTTEN = { pair: 'restored', side: 'buy', notional: 0n } as const;
