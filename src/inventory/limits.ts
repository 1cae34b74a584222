/** Caps on live quotes: how many, and for how much, one taker, pair, side and the whole book may have outstanding. */

import type { Decline } from '../domain/decline.ts';
import type { HoldRequest } from './event.ts';

export interface Cap {
  /** Exclusion groups (several answers to one request count once). */
  count?: number;
  /** Millionths of the reference currency. */
  notional?: bigint;
}

export interface Limits {
  perTaker?: Cap;
  perTakerPair?: Cap;
  perPair?: Cap;
  perPairSide?: Cap;
  total?: Cap;
  /** Quotes that may share one nonce. Default 16; keeps every step short however a taker asks. */
  groupSize?: number;
}

/** What counts against one key: the whole book, a taker, a pair ... */
export interface Outstanding {
  readonly key: string;
  count: number;
  notional: bigint;
}

const SCOPES = ['total', 'perTaker', 'perTakerPair', 'perPair', 'perPairSide'] as const;

/** The counters a quote counts against, in the order of `SCOPES`. */
export function keysOf({ taker, pair, side }: Pick<HoldRequest, 'taker' | 'pair' | 'side'>): string[] {
  return ['', `t ${taker}`, `t ${taker} ${pair}`, `p ${pair}`, `p ${pair} ${side}`];
}

/**
 * Would this quote break a cap? `shared` tells what its group already counts against a key: a group counts once, with its
 * largest member, so only what it adds is asked for.
 */
export function overCap(request: HoldRequest, keys: readonly string[], limits: Limits, counted: (key: string) => Outstanding | undefined, shared: (key: string) => bigint | undefined): Decline | undefined {
  let room: bigint | undefined;
  let which = '';
  for (const [at, scope] of SCOPES.entries()) {
    const cap = limits[scope];
    if (cap === undefined) continue;
    const key = keys[at] as string;
    const now = counted(key);
    const own = shared(key);
    const count = (now?.count ?? 0) + (own === undefined ? 1 : 0);
    if (cap.count !== undefined && count > cap.count) return { declined: 'limit', detail: `${scope}: ${cap.count} live quotes`, maxAmount: 0n };
    if (cap.notional === undefined) continue;
    const left = cap.notional - (now?.notional ?? 0n) + (own ?? 0n);
    if (request.notional > left && (room === undefined || left < room)) {
      room = left;
      which = scope;
    }
  }
  if (room === undefined) return undefined;
  return { declined: 'limit', detail: `${which}: notional`, maxAmount: room <= 0n ? 0n : (request.amount * room) / request.notional };
}
