/** Caps on live quotes, by count, notional and loss by a jump: per taker, pair, side, asset and in total. */

import type { Control, Decline } from '../domain/decline.ts';
import type { HoldRequest } from './event.ts';

export interface Cap {
  /** Nonce groups: several quotes for one request count once. */
  count?: number;
  /** Millionths of the reference currency. */
  notional?: bigint;
  /** Loss on all of them together by one jump of the mid, same unit. */
  gapLoss?: bigint;
}

export interface Limits {
  perTaker?: Cap;
  perTakerPair?: Cap;
  perPair?: Cap;
  perPairSide?: Cap;
  perAssetSide?: Cap;
  total?: Cap;
  /** Quotes that may share one nonce. Default 16. */
  groupSize?: number;
}

/** Shares of net asset value, in bps. `totalBps` null: only the configured limit counts. */
export interface CapitalShares {
  totalBps: number | null;
  gapLossBps: number;
}

const MICRO = 1e6;

/** The configured limits, where they are smaller than the shares of net asset value. */
export function limitsByCapital(
  configured: Limits,
  navUsd: number,
  { totalBps, gapLossBps }: CapitalShares,
): Limits {
  const share = (bps: number): bigint => BigInt(Math.floor((Math.max(0, navUsd) * bps * MICRO) / 1e4));
  const { total, perAssetSide } = configured;
  return {
    ...configured,
    total: { ...total, ...(totalBps !== null && { notional: smaller(total?.notional, share(totalBps)) }) },
    perAssetSide: { ...perAssetSide, gapLoss: smaller(perAssetSide?.gapLoss, share(gapLossBps)) },
  };
}

const smaller = (a: bigint | undefined, b: bigint): bigint => (a !== undefined && a < b ? a : b);

export interface CapAmounts {
  notional: bigint;
  gapLoss: bigint;
}

export interface Outstanding extends CapAmounts {
  count: number;
}

/** The scopes of caps. Lists of counters have this order. */
export const SCOPES = [
  'total',
  'perTaker',
  'perTakerPair',
  'perPair',
  'perPairSide',
  'perAssetSide',
] as const;
export type Scope = (typeof SCOPES)[number];

export const CAP_CONTROLS = {
  total: 'limit_total',
  perTaker: 'limit_taker',
  perTakerPair: 'limit_taker_pair',
  perPair: 'limit_pair',
  perPairSide: 'limit_side',
  perAssetSide: 'limit_side',
} as const satisfies Record<Scope, Control>;

/**
 * Names of a request's counters in the order of `SCOPES`, as replicas share them in Redis. `asset` is the one
 * we would buy or sell.
 */
function keysOf(
  { taker, pair, side }: Pick<HoldRequest, 'taker' | 'pair' | 'side'>,
  asset: string,
): readonly string[] {
  return ['', `t ${taker}`, `t ${taker} ${pair}`, `p ${pair}`, `p ${pair} ${side}`, `a ${asset} ${side}`];
}

export interface FullestCap {
  scope: Scope;
  what: 'count' | 'notional' | 'gapLoss';
  used: bigint;
  cap: bigint;
}

/** The fullest cap of these counters, which are in the order of `SCOPES`. Called for every quote. */
export function fullestCap(limits: Limits, counters: readonly Outstanding[]): FullestCap | undefined {
  let fullest = -1;
  let scope: FullestCap['scope'] = 'total';
  let what: FullestCap['what'] = 'count';
  let used: bigint | number = 0;
  let most: bigint | number = 0;
  for (let at = 0; at < SCOPES.length; at++) {
    const cap = limits[SCOPES[at] as Scope];
    const now = counters[at] as Outstanding;
    if (cap === undefined || now.count === 0) continue;
    for (const each of KINDS) {
      const limit = cap[each];
      if (limit === undefined) continue;
      const share = Number(now[each]) / Number(limit);
      if (share <= fullest) continue;
      fullest = share;
      scope = SCOPES[at] as FullestCap['scope'];
      what = each;
      used = now[each];
      most = limit;
    }
  }
  return fullest < 0 ? undefined : { scope, what, used: BigInt(used), cap: BigInt(most) };
}

const KINDS = ['count', 'notional', 'gapLoss'] as const;

export interface CapClaim {
  key: string;
  amount: bigint;
  most: bigint;
  scope: Scope;
  what: 'count' | 'notional' | 'gapLoss';
}

export function claimsOf(request: HoldRequest, asset: string, limits: Limits): CapClaim[] {
  const claims: CapClaim[] = [];
  const keys = keysOf(request, asset);
  for (const [at, scope] of SCOPES.entries()) {
    const cap = limits[scope];
    if (cap === undefined) continue;
    for (const what of KINDS) {
      const most = cap[what];
      if (most === undefined) continue;
      const amount = what === 'count' ? 1n : what === 'notional' ? request.notional : (request.gapLoss ?? 0n);
      claims.push({ key: `${what} ${keys[at]}`, amount, most: BigInt(most), scope, what });
    }
  }
  return claims;
}

export function capRefusal(
  { amount }: Pick<HoldRequest, 'amount'>,
  { scope, what, amount: claimed }: CapClaim,
  room: bigint,
): Decline {
  const words = { count: 'count', notional: 'notional', gapLoss: 'loss by a jump' };
  return {
    declined: 'limit',
    control: what === 'gapLoss' ? 'gap_loss' : CAP_CONTROLS[scope],
    detail: `${scope}: ${words[what]}`,
    maxAmount: what === 'count' ? 0n : within(amount, room, claimed),
  };
}

/** The part of `amount` whose share of `whole` fits in `room`, rounded down. */
export const within = (amount: bigint, room: bigint, whole: bigint): bigint =>
  room <= 0n || whole <= 0n ? 0n : (amount * room) / whole;
