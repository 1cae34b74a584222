/**
 * Shares one inventory between replicas. A hold is made there before its quote is signed, and each replica
 * reports chain facts per chain, in order. The LP signs nothing while the shared inventory is unavailable or
 * incomplete.
 */

import { max } from '../../domain/amount.ts';
import type { Bytes32 } from '../../domain/hex.ts';
import type { Decline } from '../../domain/decline.ts';
import type { StandardOrder } from '../../domain/order.ts';
import { toIso, type UnixSeconds } from '../../domain/time.ts';
import type { HoldRequest, LedgerEvent } from '../../inventory/event.ts';
import type { BucketView } from '../../inventory/ledger.ts';
import { capRefusal, type CapClaim, claimsOf } from '../../inventory/limits.ts';
import type { SharedInventory, Verdict } from '../../ports/shared-inventory.ts';
import {
  endedOn,
  holdClockOf,
  keepHold,
  newReports,
  type ReportState,
  sharedBucketOf,
  type SharingDeps,
  tell,
} from './shared-reports.ts';

export interface Sharing {
  /**
   * Makes in the shared inventory these holds, which are of one nonce and already held locally. Per hold:
   * undefined when made, else the reason.
   */
  hold(requests: readonly HoldRequest[]): Promise<readonly (Decline | undefined)[]>;
  /** Releases a local hold whose quote was never signed. */
  unsigned(request: HoldRequest): void;
  /** Adds to a bucket of this replica what the other replicas hold. */
  seen(bucket: BucketView): SharedBucket;
  /** Returns why nothing may be signed. Cheap: called for every quote. */
  trouble(): SharingTrouble | undefined;
  /** Follows an event of the local ledger. */
  heard(event: LedgerEvent): void;
  /** An open order names this LP; another replica may have quoted it. */
  stranger(orderId: Bytes32, order: StandardOrder): void;
  /** The balance on this chain has paid for the order; final. */
  spent(chainId: number, orderId: Bytes32): void;
  /** The nonce is used; final. */
  used(group: string, winner: Bytes32 | undefined): void;
  /** This replica has read further on this chain. */
  followed(chainId: number): void;
  /** Joins when needed and releases unreported ended holds. Never rejects. */
  tick(): Promise<void>;
  /** Reports everything. Never rejects. */
  flush(): Promise<void>;
}

interface SharingTrouble {
  kind: 'shared' | 'quarantine';
  note: string;
}

export interface SharedBucket extends BucketView {
  /**
   * The time at which `held` was read, in milliseconds. When it is absent, `held` is exact and comes from
   * this process.
   */
  heldAtMs?: number;
}

interface SharingOptions {
  generation: string;
  chains: readonly number[];
}

interface SharingState {
  readonly reports: ReportState;
  joining: Promise<void> | undefined;
  /** Chain times before which nothing is signed: quotes whose holds are lost may be live until then. */
  waits: Map<number, UnixSeconds>;
  /** A hold is being released that the shared inventory does not have. */
  quiet: boolean;
  ticks: number;
}

const AWAY: Decline = { declined: 'standby', detail: 'the shared inventory does not answer' };
const LATE: Decline = { declined: 'validity', detail: 'over before it begins' };
const UNKNOWN: Decline = { declined: 'standby', detail: 'the shared inventory has not been initialised yet' };
/** Ticks between two sweeps. */
const SWEEP_EVERY = 40;

export function createSharing(deps: SharingDeps, options: SharingOptions): Sharing {
  const reports = newReports();
  const state: SharingState = { reports, joining: undefined, waits: new Map(), quiet: false, ticks: 0 };
  deps.inventory.onState(() => deps.changed());
  return {
    hold: (requests) => hold(deps, options, state, requests),
    unsigned: (request) => unsigned(deps, state, request),
    seen: (bucket) => seen(deps.inventory, bucket),
    trouble: () => trouble(deps, options, state),
    heard: (event) => heard(deps, state, event),
    stranger: (orderId, order) => void reports.strangers.set(orderId, order),
    spent: (chainId, orderId) => void endedOn(reports, chainId).add(orderId),
    used: (group, winner) => void reports.used.set(group, winner ?? null),
    followed: (chainId) => report(deps, reports, chainId),
    tick: () => tick(deps, options, state),
    async flush() {
      await reports.telling;
      await tell(deps, reports);
    },
  };
}

async function hold(
  deps: SharingDeps,
  options: SharingOptions,
  state: SharingState,
  requests: readonly HoldRequest[],
): Promise<readonly (Decline | undefined)[]> {
  const [first] = requests;
  if (first === undefined) return [];
  // Standby has asked before, but the lease may have been extended since.
  const stopped = trouble(deps, options, state);
  if (stopped !== undefined)
    return requests.map(() => ({ declined: 'standby', detail: stopped.note }) satisfies Decline);
  const ledger = deps.ledger();
  const limits = deps.limits();
  const asked = requests.map((request) => {
    const place = request.side === 'buy' ? request.input : request;
    return claimsOf(request, ledger.bucket(place.chainId, place.token)?.asset ?? '', limits);
  });
  const clockChainId = holdClockOf(first);
  const verdicts = await deps.inventory.reserve({
    ...{ group: first.group, clockChainId },
    promises: requests.map((request, at) => ({
      orderId: request.orderId,
      bucket: sharedBucketOf(request),
      amount: request.amount,
      endsAt: request.lapsesAt + deps.graceSeconds(clockChainId) + 1,
      caps: asked[at] ?? [],
    })),
  });
  return requests.map((request, at) => refusalOf(request, asked[at] ?? [], verdicts?.[at]));
}

function trouble(
  deps: SharingDeps,
  { chains }: SharingOptions,
  state: SharingState,
): SharingTrouble | undefined {
  const known = deps.inventory.state();
  if (known.state !== 'ready') return { kind: 'shared', note: known.note };
  const { reported } = state.reports;
  for (const chainId of chains)
    if (!reported.has(chainId))
      return { kind: 'shared', note: 'this replica is still reporting its chains to the shared inventory' };
  const wait = quarantine(deps, state);
  return wait === undefined ? undefined : { kind: 'quarantine', note: wait };
}

function quarantine({ followers }: SharingDeps, { waits }: SharingState): string | undefined {
  for (const [chainId, until] of waits) {
    const now = followers.get(chainId)?.time() ?? 0;
    if (now > until) waits.delete(chainId);
    else
      return `what was promised is not known any more: quotes signed before may be live until ${toIso(until * 1_000)}`;
  }
  return undefined;
}

function refusalOf(
  request: HoldRequest,
  claims: readonly CapClaim[],
  verdict: Verdict | undefined,
): Decline | undefined {
  if (verdict === undefined) return AWAY;
  if (verdict.held) return undefined;
  if (verdict.why !== 'full') return verdict.why === 'late' ? LATE : UNKNOWN;
  const claim = claims.find(({ key }) => key === verdict.key);
  return claim === undefined
    ? { declined: 'no_inventory', maxAmount: verdict.room }
    : capRefusal(request, claim, verdict.room);
}

function unsigned(deps: SharingDeps, state: SharingState, { orderId }: HoldRequest): void {
  // Not reported: if an unanswered request did arrive, the shared hold expires by itself.
  state.quiet = true;
  deps.ledger().apply({ type: 'released', orderId });
  state.quiet = false;
}

function seen(inventory: SharedInventory, bucket: BucketView): SharedBucket {
  const known = inventory.seen(sharedBucketOf(bucket));
  if (known === undefined) return bucket;
  // Binding amounts are counted in both; one that just left may be missing in either.
  const held = max(known.sum - bucket.committed - bucket.pendingOut, bucket.held);
  return { ...bucket, held, free: max(bucket.free + bucket.held - held, 0n), heldAtMs: known.atMs };
}

function heard(deps: SharingDeps, { reports, quiet }: SharingState, event: LedgerEvent): void {
  switch (event.type) {
    case 'restored':
      return keepHold(reports, event.request);
    case 'accepted':
    case 'filled': {
      const quote = deps.ledger().quote(event.orderId);
      if (quote !== undefined && (quote.state === 'accepted' || quote.state === 'filled'))
        keepHold(reports, quote.request);
      return;
    }
    case 'released':
    case 'failed': {
      const quote = quiet ? undefined : deps.ledger().quote(event.orderId);
      if (quote === undefined) return;
      reports.kept.delete(event.orderId);
      return end(reports, quote.request.chainId, event.orderId);
    }
    case 'withdrawal_requested':
    case 'withdrawal_ended':
    case 'reconciled':
      // Less may be promised from now on; the chain's next head reports an increase.
      return report(deps, reports, event.chainId);
    default:
  }
}

/** The hold of the order has ended: the next report says so. */
function end(reports: ReportState, chainId: number, orderId: string): void {
  endedOn(reports, chainId).add(orderId);
  reports.due.add(chainId);
}

/** Reports this chain now. */
function report(deps: SharingDeps, reports: ReportState, chainId: number): void {
  reports.due.add(chainId);
  void tell(deps, reports);
}

async function tick(deps: SharingDeps, options: SharingOptions, state: SharingState): Promise<void> {
  const { reports } = state;
  state.ticks += 1;
  try {
    if (deps.inventory.state().state === 'forgotten')
      await (state.joining ??= join(deps, options, state).finally(() => (state.joining = undefined)));
    if (state.ticks % SWEEP_EVERY === 0) await sweep(deps, reports);
  } catch (error) {
    deps.log.warn({ error }, 'the shared inventory could not be joined; the next tick tries again');
  }
  if (reports.due.size > 0) await tell(deps, reports);
}

async function join(
  deps: SharingDeps,
  { generation, chains }: SharingOptions,
  state: SharingState,
): Promise<void> {
  const { reports } = state;
  const until = new Map(
    [...(await deps.store.signedUpTo())].map(([chainId, signedUpTo]): [number, UnixSeconds] => [
      chainId,
      signedUpTo + deps.graceSeconds(chainId),
    ]),
  );
  const joined = await deps.inventory.join(generation, until);
  state.waits = new Map([...joined.until].filter(([chainId]) => chains.includes(chainId)));
  // The shared inventory may have lost binding holds: report all of them before the next quote.
  reports.reported = new Set();
  for (const request of deps.ledger().openPromises()) keepHold(reports, request);
  for (const chainId of chains) reports.due.add(chainId);
  await reports.telling;
  await tell(deps, reports);
  deps.changed();
}

/** Ends shared holds of orders that are over, in the ledger or, where it does not know them, on the chain. */
async function sweep(deps: SharingDeps, reports: ReportState): Promise<void> {
  const found = await deps.inventory.kept();
  for (const { orderId, bucket, group } of found ?? []) {
    const known = deps.ledger().quote(orderId)?.state;
    let over = known === 'fill_final' || known === 'received' || known === 'failed' || known === 'released';
    const origin = deps.followers.get(Number(group.split(':')[0]));
    if (known === undefined && origin !== undefined) {
      const status = await origin.port
        .orderStatus(orderId as Bytes32, origin.cursor().block)
        .catch(() => undefined);
      over = status === 'claimed' || status === 'refunded';
    }
    if (over) end(reports, Number(bucket.split(':')[0]), orderId);
  }
}
