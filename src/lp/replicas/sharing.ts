/**
 * Shares one inventory between replicas. A hold is made there before its quote is signed, and each replica
 * reports chain facts per chain, in order. The LP signs nothing while the shared inventory is unavailable or
 * incomplete.
 */

import { max } from '../../domain/amount.ts';
import type { Bytes32 } from '../../domain/hex.ts';
import type { Decline } from '../../domain/decline.ts';
import type { StandardOrder } from '../../domain/order.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { HoldRequest, LedgerEvent } from '../../inventory/event.ts';
import type { BucketView, Ledger } from '../../inventory/ledger.ts';
import { capRefusal, claimsOf, type Limits } from '../../inventory/limits.ts';
import type { Log } from '../../ports/log.ts';
import type { LpStore } from '../../ports/stores/lp-store.ts';
import type { BindingHold, SharedInventory, Verdict } from '../../ports/shared-inventory.ts';
import type { Follower } from '../chain/follow.ts';

export type Sharing = ReturnType<typeof createSharing>;

export interface SharedBucket extends BucketView {
  /**
   * The time at which `held` was read, in milliseconds. When it is absent, `held` is exact and comes from
   * this process.
   */
  heldAtMs?: number;
}

interface SharingDeps {
  inventory: SharedInventory;
  store: Pick<LpStore, 'signedUpTo'>;
  ledger(): Ledger;
  followers: ReadonlyMap<number, Pick<Follower, 'port' | 'cursor' | 'time'>>;
  limits(): Limits;
  graceSeconds(chainId: number): number;
  log: Log;
  /** A replica quoted the order that opened unexpectedly. */
  ours(orderId: Bytes32, order: StandardOrder): void;
  changed(): void;
}

const AWAY: Decline = { declined: 'standby', detail: 'the shared inventory does not answer' };
const LATE: Decline = { declined: 'validity', detail: 'over before it begins' };
const UNKNOWN: Decline = { declined: 'standby', detail: 'the shared inventory has not been initialised yet' };
/** Ticks between two sweeps. */
const SWEEP_EVERY = 40;

const clockOf = (request: HoldRequest): number => request.clockChainId ?? request.input.chainId;
const bucketOf = ({ chainId, token }: { chainId: number; token: string }): string => `${chainId}:${token}`;

export function createSharing(
  deps: SharingDeps,
  { generation, chains }: { generation: string; chains: readonly number[] },
) {
  const { inventory, followers, log } = deps;
  let joining: Promise<void> | undefined;
  let waits = new Map<number, UnixSeconds>();
  /** Chains reported since the last join; the sums are incomplete until all are. */
  let reported = new Set<number>();
  let quiet = false;
  let ticks = 0;

  /* Pending reports, kept until acknowledged. */
  let kept = new Map<string, BindingHold>();
  let strangers = new Map<Bytes32, StandardOrder>();
  let used = new Map<string, string | null>();
  const ended = new Map<number, Set<string>>();
  const due = new Set<number>();
  let telling: Promise<void> | undefined;

  const endedOn = (chainId: number): Set<string> =>
    ended.get(chainId) ?? ended.set(chainId, new Set()).get(chainId) ?? new Set();

  function keep(request: HoldRequest): void {
    kept.set(request.orderId, {
      orderId: request.orderId,
      group: request.group,
      clockChainId: clockOf(request),
      bucket: bucketOf(request),
      amount: request.amount,
    });
  }

  function headroomsOf(chainId: number): { bucket: string; room: bigint }[] {
    return deps
      .ledger()
      .buckets()
      .filter((each) => each.chainId === chainId)
      .map((each) => ({ bucket: bucketOf(each), room: each.drift === null ? each.room : 0n }));
  }

  async function tellChain(chainId: number): Promise<boolean> {
    const follower = followers.get(chainId);
    if (follower === undefined) return true;
    const over = [...endedOn(chainId)];
    const [keeping, asking, using] = [kept, strangers, used];
    [kept, strangers, used] = [new Map(), new Map(), new Map()];
    const answer = await inventory.report({
      ...{
        chainId,
        block: follower.cursor().block,
        time: follower.time(),
        rooms: headroomsOf(chainId),
        ended: over,
      },
      kept: [...keeping.values()],
      unknownOrders: [...asking.keys()],
      used: [...using].map(([group, winner]) => ({ group, winner })),
    });
    if (answer === undefined) {
      kept = new Map([...keeping, ...kept]);
      strangers = new Map([...asking, ...strangers]);
      used = new Map([...using, ...used]);
      return false;
    }
    for (const id of over) endedOn(chainId).delete(id);
    for (const id of answer.known) {
      const order = asking.get(id as Bytes32);
      if (order !== undefined) deps.ours(id as Bytes32, order);
    }
    if (answer.more) due.add(chainId);
    if (!reported.has(chainId)) {
      reported.add(chainId);
      deps.changed();
    }
    return true;
  }

  async function tellAll(): Promise<void> {
    for (const chainId of due) {
      due.delete(chainId);
      if (await tellChain(chainId)) continue;
      due.add(chainId);
      return;
    }
  }

  function tell(): Promise<void> {
    telling ??= tellAll()
      .catch((error: unknown) => log.error({ error }, 'the shared inventory could not be updated'))
      .finally(() => (telling = undefined));
    return telling;
  }

  async function join(): Promise<void> {
    const until = new Map(
      [...(await deps.store.signedUpTo())].map(([chainId, signedUpTo]): [number, UnixSeconds] => [
        chainId,
        signedUpTo + deps.graceSeconds(chainId),
      ]),
    );
    const joined = await inventory.join(generation, until);
    waits = new Map([...joined.until].filter(([chainId]) => chains.includes(chainId)));
    // The shared inventory may have lost binding holds: report all of them before the next quote.
    reported = new Set();
    for (const request of deps.ledger().openPromises()) keep(request);
    for (const chainId of chains) due.add(chainId);
    await telling;
    await tell();
    deps.changed();
  }

  async function sweep(): Promise<void> {
    const found = await inventory.kept();
    for (const { orderId, bucket, group } of found ?? []) {
      const chainId = Number(bucket.split(':')[0]);
      const state = deps.ledger().quote(orderId)?.state;
      let over = state === 'fill_final' || state === 'received' || state === 'failed' || state === 'released';
      const origin = followers.get(Number(group.split(':')[0]));
      if (state === undefined && origin !== undefined) {
        const status = await origin.port
          .orderStatus(orderId as Bytes32, origin.cursor().block)
          .catch(() => undefined);
        over = status === 'claimed' || status === 'refunded';
      }
      if (!over) continue;
      endedOn(chainId).add(orderId);
      due.add(chainId);
    }
  }

  function quarantine(): string | undefined {
    for (const [chainId, until] of waits) {
      const now = followers.get(chainId)?.time() ?? 0;
      if (now > until) waits.delete(chainId);
      else return `what was promised is not known any more: quotes signed before may be live until ${until}`;
    }
    return undefined;
  }

  function trouble(): { kind: 'shared' | 'quarantine'; note: string } | undefined {
    const state = inventory.state();
    if (state.state !== 'ready') return { kind: 'shared', note: state.note };
    if (chains.some((chainId) => !reported.has(chainId)))
      return { kind: 'shared', note: 'this replica is still reporting its chains to the shared inventory' };
    const wait = quarantine();
    return wait === undefined ? undefined : { kind: 'quarantine', note: wait };
  }

  inventory.onState(() => deps.changed());

  return {
    /**
     * Makes in the shared inventory these holds, which are of one nonce and already held locally. Per hold:
     * undefined when made, else the reason.
     */
    async hold(requests: readonly HoldRequest[]) {
      const [first] = requests;
      if (first === undefined) return [];
      // Standby has asked before, but the lease may have been extended since.
      const stopped = trouble();
      if (stopped !== undefined)
        return requests.map(() => ({ declined: 'standby', detail: stopped.note }) satisfies Decline);
      const ledger = deps.ledger();
      const limits = deps.limits();
      const asked = requests.map((request) => {
        const place = request.side === 'buy' ? request.input : request;
        return claimsOf(request, ledger.bucket(place.chainId, place.token)?.asset ?? '', limits);
      });
      const clockChainId = clockOf(first);
      const verdicts = await inventory.reserve({
        ...{ group: first.group, clockChainId },
        promises: requests.map((request, at) => ({
          orderId: request.orderId,
          bucket: bucketOf(request),
          amount: request.amount,
          endsAt: request.lapsesAt + deps.graceSeconds(clockChainId) + 1,
          caps: asked[at] ?? [],
        })),
      });
      return requests.map((request, at) => refusalOf(request, asked[at] ?? [], verdicts?.[at]));
    },
    /** Releases a local hold whose quote was never signed. */
    unsigned({ orderId }: HoldRequest) {
      // Not reported: if an unanswered request did arrive, the shared hold expires by itself.
      quiet = true;
      deps.ledger().apply({ type: 'released', orderId });
      quiet = false;
    },
    seen(bucket: BucketView) {
      const known = inventory.seen(bucketOf(bucket));
      if (known === undefined) return bucket;
      // Binding amounts are counted in both; one that just left may be missing in either.
      const held = max(known.sum - bucket.committed - bucket.pendingOut, bucket.held);
      return { ...bucket, held, free: max(bucket.free + bucket.held - held, 0n), heldAtMs: known.atMs };
    },
    trouble,
    heard(event: LedgerEvent) {
      switch (event.type) {
        case 'restored':
          return keep(event.request);
        case 'accepted':
        case 'filled': {
          const quote = deps.ledger().quote(event.orderId);
          if (quote !== undefined && (quote.state === 'accepted' || quote.state === 'filled'))
            keep(quote.request);
          return;
        }
        case 'released':
        case 'failed': {
          const quote = quiet ? undefined : deps.ledger().quote(event.orderId);
          if (quote === undefined) return;
          kept.delete(event.orderId);
          endedOn(quote.request.chainId).add(event.orderId);
          due.add(quote.request.chainId);
          return;
        }
        case 'withdrawal_requested':
        case 'withdrawal_ended':
        case 'reconciled':
          // Less may be promised from now on; the chain's next head reports an increase.
          due.add(event.chainId);
          return void tell();
        default:
      }
    },
    /** An open order names this LP; another replica may have quoted it. */
    stranger: (orderId: Bytes32, order: StandardOrder) => void strangers.set(orderId, order),
    /** The balance on this chain has paid for the order; final. */
    spent: (chainId: number, orderId: Bytes32) => void endedOn(chainId).add(orderId),
    /** The nonce is used; final. */
    used: (group: string, winner: Bytes32 | undefined) => void used.set(group, winner ?? null),
    followed(chainId: number) {
      due.add(chainId);
      void tell();
    },
    /** Joins when needed and releases unreported ended holds. Never rejects. */
    async tick() {
      ticks += 1;
      try {
        if (inventory.state().state === 'forgotten')
          await (joining ??= join().finally(() => (joining = undefined)));
        if (ticks % SWEEP_EVERY === 0) await sweep();
      } catch (error) {
        log.warn({ error }, 'the shared inventory could not be joined; the next tick tries again');
      }
      if (due.size > 0) await tell();
    },
    async flush() {
      await telling;
      await tell();
    },
  };
}

function refusalOf(
  request: HoldRequest,
  claims: ReturnType<typeof claimsOf>,
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
