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

type AwardAnswer = 'taken' | 'known' | 'late' | 'not_ours' | 'malformed';

export type Awards = ReturnType<typeof createAwards>;

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

const MAX_REFUSED = 10_000;
const FINAL: ReadonlySet<AwardStage> = new Set<AwardStage>(['finalised', 'failed']);

export function createAwards(
  deps: AwardDeps,
  { account, operator }: { account: Address; operator: Address },
) {
  const { ledger, log, chains } = deps;
  const awards = new Map<Bytes32, OpenAward>();
  const dirty = new Set<Bytes32>();
  /** Logged once each: a venue may repeat an award. */
  const refused = new LRUCache<Bytes32, true>({ max: MAX_REFUSED });

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

  function take(message: Omit<Award, 'type'>): AwardAnswer {
    const order = orderFromMessage(message.order);
    const origin = chains.get(Number(order.originChainId));
    const slice = ownSlice(order, account, chains);
    if (
      origin === undefined ||
      slice === undefined ||
      idOf({ chainId: origin.id, escrow: origin.escrow }, order) !== message.orderId
    )
      return 'malformed';
    const known = awards.get(message.orderId);
    if (known !== undefined) {
      if (known.commitment === null)
        Object.assign(known, { quoteId: message.quoteId, commitment: message.commitment });
      return 'known';
    }
    return bind(message, order, slice, ledger.quote(message.orderId)?.state);
  }

  const over = (slice: OwnSlice, order: StandardOrder) => deps.time(slice.originChainId) > order.fillDeadline;

  /**
   * Logs a refused award. A late award is harmless: after its deadline by the origin's clock its order cannot
   * be opened.
   */
  function refuse(orderId: Bytes32, state: HoldState | undefined, harmless: boolean): void {
    if (refused.has(orderId)) return;
    refused.set(orderId, true);
    if (harmless) log.warn({ orderId, state }, 'refused an award whose order can no longer be opened');
    else log.fatal({ orderId, state }, 'refused an award for a quote whose hold has ended');
  }

  function bind(
    message: Omit<Award, 'type'>,
    order: StandardOrder,
    slice: OwnSlice,
    state: HoldState | undefined,
  ): AwardAnswer {
    const { orderId, quoteId, commitment } = message;
    switch (state) {
      case 'held':
      case 'accepted':
      case 'filled':
      case 'fill_final':
        ledger.apply({ type: 'accepted', orderId });
        fresh(orderId, quoteId, order, slice, commitment);
        return 'taken';
      case 'received':
      case 'failed':
        return 'known';
      case 'expired':
      case 'released':
        // The ledger records the late fact; the inventory may be promised again.
        ledger.apply({ type: 'accepted', orderId });
        refuse(orderId, state, over(slice, order));
        return 'late';
      case undefined: {
        if (message.status !== 'pending') return 'known';
        const signed = signedPart(
          { chainId: slice.originChainId, escrow: chains.get(slice.originChainId)?.escrow ?? account },
          { orderId, quoteId, lp: account, deadline: order.fillDeadline },
          commitment.signature,
        );
        const signer = deps.recovery.recover(signed.digest, signed.signature);
        if (
          commitment.lp !== account ||
          commitment.deadline !== order.fillDeadline ||
          (signer !== operator &&
            signer !== account &&
            !deps.formerOperators(slice.originChainId).has(signer as Address))
        )
          return 'not_ours';
        if (over(slice, order)) {
          refuse(orderId, state, true);
          return 'late';
        }
        log.warn({ orderId }, 'a quote lost in a crash was proven by its signature: it is honoured');
        ledger.apply({ type: 'restored', request: holdOf(slice, order, orderId, FORGOTTEN) });
        fresh(orderId, quoteId, order, slice, commitment);
        return 'taken';
      }
    }
  }

  return {
    take,
    /** Seen on its origin: binding whatever the venue says. */
    opened(orderId: Bytes32, order: StandardOrder) {
      const slice = awards.has(orderId) ? undefined : ownSlice(order, account, chains);
      if (slice !== undefined) fresh(orderId, ZERO_BYTES32, order, slice, null);
    },
    restore(orderId: Bytes32, order: StandardOrder) {
      const slice = ownSlice(order, account, chains);
      if (slice === undefined) return false;
      log.warn(
        { orderId },
        'an order quoted by an earlier process or another replica was added to the ledger',
      );
      return ledger.apply({ type: 'restored', request: holdOf(slice, order, orderId, FORGOTTEN) }).applied;
    },
    /** Loads a stored award at start; the caller updates the ledger. */
    load(award: LpAward) {
      const slice = ownSlice(award.order, account, chains);
      if (slice === undefined)
        log.error(
          { orderId: award.orderId },
          'a stored award names a chain or account that is no longer configured: it is left unchanged',
        );
      return slice && add(award, slice, true);
    },
    /** Loads an award of another replica; the ledger has it already. */
    heard(award: LpAward) {
      const slice = ownSlice(award.order, account, chains);
      if (slice !== undefined) deps.taken(add(award, slice, true));
    },
    /** Marks every award for writing, because the previous leader may not have written it. */
    rewrite() {
      for (const orderId of awards.keys()) dirty.add(orderId);
    },
    open: () => [...awards.values()],
    get: (orderId: Bytes32) => awards.get(orderId),
    update(orderId: Bytes32, change: Partial<Pick<LpAward, 'stage' | 'fill' | 'note'>>) {
      const award = awards.get(orderId);
      if (award === undefined) return;
      const same = Object.entries(change).every(([key, value]) => award[key as keyof LpAward] === value);
      if (same) return;
      Object.assign(award, change, { updatedAtMs: deps.clock.nowMs(), stored: false });
      dirty.add(orderId);
    },
    /** Writes what changed. Rejects when the store does; what was not written stays due. */
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

/** Placeholder fields of a restored quote: it counts in full and against no size limit. */
const FORGOTTEN = { pair: 'restored', side: 'buy', notional: 0n } as const;
