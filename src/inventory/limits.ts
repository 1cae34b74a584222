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
interface CapitalShares {
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

const CAP_CONTROLS = {
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

/** What a cap counts. Refusals and shares are looked for in this order. */
export const CAP_KINDS = ['count', 'notional', 'gapLoss'] as const;
type CapKind = (typeof CAP_KINDS)[number];

export interface FullestCap {
  scope: Scope;
  what: CapKind;
  used: bigint;
  cap: bigint;
}

/** The fullest cap of these counters, which are in the order of `SCOPES`. Called for every quote. */
export function fullestCap(limits: Limits, counters: readonly Outstanding[]): FullestCap | undefined {
  let fullest = -1;
  let scope: Scope = 'total';
  let what: CapKind = 'count';
  let used: bigint | number = 0;
  let most: bigint | number = 0;
  for (let at = 0; at < SCOPES.length; at++) {
    const cap = limits[SCOPES[at] as Scope];
    const now = counters[at] as Outstanding;
    if (cap === undefined || now.count === 0) continue;
    for (const each of CAP_KINDS) {
      const limit = cap[each];
      if (limit === undefined) continue;
      const share = shareOf(now[each], limit);
      if (share <= fullest) continue;
      fullest = share;
      scope = SCOPES[at] as Scope;
      what = each;
      used = now[each];
      most = limit;
    }
  }
  return fullest < 0 ? undefined : { scope, what, used: BigInt(used), cap: BigInt(most) };
}

/** The part of a cap that is used; 1 is full. A cap of zero is full. */
const shareOf = (used: bigint | number, most: bigint | number): number =>
  Number(most) === 0 ? 1 : Number(used) / Number(most);

/** The fullest of the three counts of one cap. */
export function fullness(cap: Cap, counter: Readonly<Outstanding>): number {
  let most = 0;
  for (const what of CAP_KINDS) {
    const limit = cap[what];
    if (limit !== undefined) most = Math.max(most, shareOf(counter[what], limit));
  }
  return most;
}

/** What one request counts against a cap of this kind. */
export const claimed = (request: HoldRequest, what: CapKind): bigint =>
  what === 'count' ? 1n : what === 'notional' ? request.notional : (request.gapLoss ?? 0n);

/** One count of one cap, to be checked against the counters of all replicas by its key. */
export interface CapClaim {
  key: string;
  amount: bigint;
  most: bigint;
  scope: Scope;
  what: CapKind;
}

/** Lists what a request claims, for counters outside this process. `overCap` checks the same in it. */
export function claimsOf(request: HoldRequest, asset: string, limits: Limits): CapClaim[] {
  const claims: CapClaim[] = [];
  const keys = keysOf(request, asset);
  for (const [at, scope] of SCOPES.entries()) {
    const cap = limits[scope];
    if (cap === undefined) continue;
    for (const what of CAP_KINDS) {
      const most = cap[what];
      if (most === undefined) continue;
      const amount = claimed(request, what);
      claims.push({ key: `${what} ${keys[at]}`, amount, most: BigInt(most), scope, what });
    }
  }
  return claims;
}

/** Declines a request that claims more than the `room` of one cap: with the amount that would fit. */
export function capRefusal(
  request: HoldRequest,
  { scope, what, most }: Pick<CapClaim, 'scope' | 'what'> & { most: bigint | number },
  room: bigint,
): Decline {
  return {
    declined: 'limit',
    control: what === 'gapLoss' ? 'gap_loss' : CAP_CONTROLS[scope],
    detail: `${scope}: ${what === 'count' ? `${most} live quotes` : WORDS[what]}`,
    maxAmount: what === 'count' ? 0n : within(request.amount, room, claimed(request, what)),
  };
}

const WORDS = { notional: 'notional', gapLoss: 'loss by a jump' } as const;

/** The part of `amount` whose share of `whole` fits in `room`, rounded down. */
export const within = (amount: bigint, room: bigint, whole: bigint): bigint =>
  room <= 0n || whole <= 0n ? 0n : (amount * room) / whole;
