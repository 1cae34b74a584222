/**
 * Quotes without a trade lock inventory, and a venue can invent takers and awards. Each of several venues
 * gets a share of every token and cap. It shrinks while almost none of its quotes is filled, and recovers
 * with fills and time.
 */

import { nonceGroupOf } from '../../domain/order.ts';
import type { Decline } from '../../domain/decline.ts';
import type { HoldRequest } from '../../inventory/event.ts';
import type { Ledger } from '../../inventory/ledger.ts';
import { claimsOf, type Limits, within } from '../../inventory/limits.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Rfq } from '../../protocol/link/link.ts';
import type { OpenAward } from '../settlement/awards.ts';
import type { LimitUse } from './limit-use.ts';

/** `venue`: who vouches for the taker; absent while the LP serves one venue only. */
export type VenueRfq = Rfq & { venue?: string };

/** A taker is known as its venue's: another venue can invent the same address. */
export const takerOf = ({ taker, venue }: Pick<VenueRfq, 'taker' | 'venue'>): string =>
  venue === undefined ? taker : `${venue} ${taker}`;

/** A smaller share of the requests quoted that was filled shrinks the budget. */
const LEAST_FILL_SHARE = 0.005;
/** Every venue is credited with these: a new one may request a thousand quotes before its budget shrinks. */
const CREDITED_FILLS = 5;
const LEAST_FACTOR = 1 / 8;
const MEMORY_MS = 600_000;
const SWEEP_INTERVAL_MS = 1_000;
const SHARE_UNITS = 1_000_000;

interface Claim {
  key: string;
  amount: bigint;
  most: bigint;
}

interface VenueUse {
  /** The largest hold of each nonce group and token. */
  holds: Map<string, { request: HoldRequest; claims: readonly Claim[] }>;
  used: Map<string, bigint>;
  quoted: number;
  fills: number;
  atMs: number;
  sweptAtMs: number;
}

export interface VenueBudgets {
  /** Returns why the venue gets no such hold. On the quote path. */
  refusal(venue: string | undefined, request: HoldRequest): Decline | undefined;
  /** Counts a hold that the ledger made. */
  held(venue: string | undefined, request: HoldRequest): void;
  /** Credits the fill to every venue that was quoted in the order's nonce group. */
  filled(award: Pick<OpenAward, 'order' | 'slice'>): void;
  uses(): LimitUse[];
}

interface VenueBudgetDeps {
  ledger: Ledger;
  clock: Clock;
  limits(): Limits;
}

interface BudgetDeps extends VenueBudgetDeps {
  /** The share of every token and cap that a venue gets at most, from 0 to 1. */
  share(): number;
}

export function createVenueBudgets(given: VenueBudgetDeps, share: () => number): VenueBudgets {
  const deps: BudgetDeps = { ...given, share };
  const venues = new Map<string, VenueUse>();
  return {
    refusal: (venue, request) =>
      venue === undefined ? undefined : refusal(deps, useOf(deps.clock, venues, venue), request, venue),
    held(venue, request) {
      if (venue !== undefined) held(deps, useOf(deps.clock, venues, venue), request);
    },
    filled: (award) => filled(venues, award),
    uses: () => [...venues.keys()].map((venue) => limitUseOf(deps, useOf(deps.clock, venues, venue), venue)),
  };
}

/** What the venue uses as of now: the older its quotes and fills are, the less they count. */
function useOf(clock: Clock, venues: Map<string, VenueUse>, venue: string): VenueUse {
  const nowMs = clock.nowMs();
  let use = venues.get(venue);
  if (use === undefined) {
    use = { holds: new Map(), used: new Map(), quoted: 0, fills: 0, atMs: nowMs, sweptAtMs: 0 };
    venues.set(venue, use);
  }
  const kept = Math.exp(-Math.max(0, nowMs - use.atMs) / MEMORY_MS);
  use.quoted *= kept;
  use.fills *= kept;
  use.atMs = nowMs;
  return use;
}

function refusal(deps: BudgetDeps, use: VenueUse, request: HoldRequest, venue: string): Decline | undefined {
  const found = exceeded(deps, use, request, venue);
  if (found === undefined || use.atMs - use.sweptAtMs < SWEEP_INTERVAL_MS) return found;
  use.sweptAtMs = use.atMs;
  sweep(deps.ledger, use, true);
  return exceeded(deps, use, request, venue);
}

function exceeded(deps: BudgetDeps, use: VenueUse, request: HoldRequest, venue: string): Decline | undefined {
  const own = use.holds.get(keyOf(request))?.claims;
  for (const { key, amount, most } of claimsOn(deps, request, use)) {
    const before = own?.find((claim) => claim.key === key)?.amount ?? 0n;
    const room = partOf(deps, use, most) - (use.used.get(key) ?? 0n) + before;
    if (amount > room)
      return {
        declined: 'limit',
        control: 'limit_venue',
        detail: `${venue}: quotes without a trade`,
        maxAmount: key.startsWith('count') ? 0n : within(request.amount, room, amount),
      };
  }
  return undefined;
}

const keyOf = ({ group, chainId, token }: HoldRequest): string => `${group} ${chainId} ${token}`;

/** What a hold takes of its token and of each cap. */
function claimsOn({ ledger, limits }: BudgetDeps, request: HoldRequest, { used }: VenueUse): Claim[] {
  const { chainId, token, amount, input, side } = request;
  const bought = side === 'buy' ? input : request;
  const asset = ledger.bucket(bought.chainId, bought.token)?.asset ?? '';
  const key = `${chainId} ${token}`;
  const caps = claimsOf(request, asset, limits()).filter(({ scope }) => !scope.startsWith('perTaker'));
  return [{ key, amount, most: ledger.free(chainId, token) + (used.get(key) ?? 0n) }, ...caps];
}

/** The part of a token or cap that the venue may use now. */
function partOf({ share }: BudgetDeps, { quoted, fills }: VenueUse, most: bigint): bigint {
  const expected = Math.max(CREDITED_FILLS, quoted * LEAST_FILL_SHARE);
  const factor = Math.max(LEAST_FACTOR, Math.min(1, (fills + CREDITED_FILLS) / expected));
  return (most * BigInt(Math.floor(share() * factor * SHARE_UNITS))) / BigInt(SHARE_UNITS);
}

/** Removes what has ended in the ledger, from the oldest on; all of it only when the budget is exceeded. */
function sweep(ledger: Ledger, use: VenueUse, all: boolean): void {
  for (const [key, { request }] of use.holds) {
    if (ledger.ordersOfNonce(request.group).length === 0) remove(use, key);
    else if (!all) return;
  }
}

function remove(use: VenueUse, key: string): void {
  const hold = use.holds.get(key);
  if (hold === undefined) return;
  use.holds.delete(key);
  add(use, hold.claims, -1n);
}

function add({ used }: VenueUse, list: readonly Claim[], sign: 1n | -1n): void {
  for (const { key, amount } of list) used.set(key, (used.get(key) ?? 0n) + sign * amount);
}

function held(deps: BudgetDeps, use: VenueUse, request: HoldRequest): void {
  sweep(deps.ledger, use, false);
  const key = keyOf(request);
  const before = use.holds.get(key);
  if (before === undefined) use.quoted += 1;
  if (before !== undefined && before.request.amount >= request.amount) return;
  remove(use, key);
  // Not those of `refusal`: since then the ledger has taken the hold and the group's former one is gone.
  const claims = claimsOn(deps, request, use);
  add(use, claims, 1n);
  use.holds.set(key, { request, claims });
}

function filled(
  venues: ReadonlyMap<string, VenueUse>,
  { order, slice }: Pick<OpenAward, 'order' | 'slice'>,
): void {
  const { chainId, token } = slice.pays;
  const key = `${nonceGroupOf(order.originChainId, order.user, order.nonce)} ${chainId} ${token}`;
  for (const use of venues.values()) {
    if (use.holds.has(key)) use.fills += 1;
    remove(use, key);
  }
}

function limitUseOf(deps: BudgetDeps, use: VenueUse, venue: string): LimitUse {
  sweep(deps.ledger, use, true);
  const { count, notional } = deps.limits().total ?? {};
  let used = 0;
  for (const { claims } of use.holds.values())
    for (const { key, most } of claims)
      used = Math.max(used, Number(use.used.get(key)) / Math.max(1, Number(partOf(deps, use, most))));
  return {
    scope: 'perVenue',
    of: venue,
    count: use.holds.size,
    maxCount: count === undefined ? null : Number(partOf(deps, use, BigInt(count))),
    notionalUsd: Number(use.used.get('notional ') ?? 0n) / 1e6,
    maxNotionalUsd: notional === undefined ? null : Number(partOf(deps, use, notional)) / 1e6,
    gapLossUsd: 0,
    maxGapLossUsd: null,
    used,
  };
}
