/** Applies deposits, withdrawals and balance comparisons to buckets, each of them once. */

import type { Bucket } from './bucket.ts';
import type { LedgerEvent, Money } from './event.ts';
import type { SavedBooks } from './snapshot.ts';
import { type Applied, DUPLICATE } from './views.ts';

const DONE: Applied = { applied: true, state: null };

export type MoneyEvent = Extract<
  LedgerEvent,
  { type: 'deposited' | 'withdrawal_requested' | 'withdrawal_ended' | 'reconciled' }
>;

type SavedMoney = Pick<SavedBooks, 'deposits' | 'withdrawals'>;

export interface MoneyBook {
  /** Applies an event to its bucket, unless the book has it. */
  apply(event: MoneyEvent, bucket: Bucket): Applied;
  saved(): SavedMoney;
  /** `bucketOf` throws for a bucket that is not configured. */
  load(saved: SavedMoney, bucketOf: (place: Pick<Money, 'chainId' | 'token'>) => Bucket): void;
}

export function createMoneyBook(): MoneyBook {
  const deposits = new Set<string>();
  const withdrawals = new Map<string, { bucket: Bucket; requested: bigint | null; ended: bigint | null }>();

  function deposit(bucket: Bucket, id: string, amount: bigint): Applied {
    if (deposits.has(id)) return DUPLICATE;
    deposits.add(id);
    bucket.base += amount;
    return DONE;
  }

  function withdraw(
    bucket: Bucket,
    event: { type: 'withdrawal_requested' | 'withdrawal_ended'; id: string; amount: bigint },
  ): Applied {
    const part = event.type === 'withdrawal_requested' ? 'requested' : 'ended';
    const known = withdrawals.get(event.id) ?? { bucket, requested: null, ended: null };
    if (known[part] !== null) return DUPLICATE;
    const open = known.ended === null ? (known.requested ?? 0n) : 0n;
    known[part] = event.amount;
    withdrawals.set(event.id, known);
    bucket.withdrawing += (known.ended === null ? (known.requested ?? 0n) : 0n) - open;
    if (part === 'ended') bucket.base -= event.amount;
    return DONE;
  }

  function reconcile(bucket: Bucket, balance: bigint): Applied {
    const drift = balance - bucket.base - bucket.moved;
    const next = (drift < 0n ? -drift : drift) > bucket.dust ? drift : null;
    if (next === bucket.drift) return DUPLICATE;
    bucket.drift = next;
    return DONE;
  }

  return {
    apply(event, bucket) {
      if (event.type === 'deposited') return deposit(bucket, event.id, event.amount);
      if (event.type === 'reconciled') return reconcile(bucket, event.amount);
      return withdraw(bucket, event);
    },
    saved: () => ({
      deposits: [...deposits],
      withdrawals: [...withdrawals].map(([id, { bucket, requested, ended }]) => [
        id,
        { chainId: bucket.chainId, token: bucket.token, requested, ended },
      ]),
    }),
    load(saved, bucketOf) {
      for (const id of saved.deposits) deposits.add(id);
      for (const [id, { chainId, token, requested, ended }] of saved.withdrawals) {
        const bucket = bucketOf({ chainId, token });
        withdrawals.set(id, { bucket, requested, ended });
        if (ended === null) bucket.withdrawing += requested ?? 0n;
      }
    },
  };
}
