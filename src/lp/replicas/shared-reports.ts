/**
 * Reports to the shared inventory: per chain, in order, what this replica read there. What a report says is
 * kept until the shared inventory has taken it in.
 */

import type { Bytes32 } from '../../domain/hex.ts';
import type { StandardOrder } from '../../domain/order.ts';
import type { HoldRequest } from '../../inventory/event.ts';
import type { Ledger } from '../../inventory/ledger.ts';
import type { Limits } from '../../inventory/limits.ts';
import type { Log } from '../../ports/log.ts';
import type { LpStore } from '../../ports/stores/lp-store.ts';
import type { BindingHold, SharedInventory } from '../../ports/shared-inventory.ts';
import type { Follower } from '../chain/follow.ts';

export interface SharingDeps {
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

export interface ReportState {
  /** Chains reported since the last join; the sums are incomplete until all are. */
  reported: Set<number>;
  /** Chains with something to report. */
  readonly due: Set<number>;
  /** The reports that are being sent. */
  telling: Promise<void> | undefined;
  /** Binding holds by order. */
  kept: Map<string, BindingHold>;
  /** Open orders that name this LP and that this replica has no hold for. */
  strangers: Map<Bytes32, StandardOrder>;
  /** Used nonces, with the order of ours that used each, or null. */
  used: Map<string, string | null>;
  /** Orders by chain whose holds have ended. */
  readonly ended: Map<number, Set<string>>;
}

export const newReports = (): ReportState => ({
  reported: new Set(),
  due: new Set(),
  telling: undefined,
  kept: new Map(),
  strangers: new Map(),
  used: new Map(),
  ended: new Map(),
});

/** The chain whose time ends the hold. */
export const holdClockOf = (request: HoldRequest): number => request.clockChainId ?? request.input.chainId;
/** The name of a token's inventory in the shared one. */
export const sharedBucketOf = ({ chainId, token }: { chainId: number; token: string }): string =>
  `${chainId}:${token}`;

/** The hold is binding: it will be reported with the next report of any chain. */
export function keepHold({ kept }: ReportState, request: HoldRequest): void {
  kept.set(request.orderId, {
    orderId: request.orderId,
    group: request.group,
    clockChainId: holdClockOf(request),
    bucket: sharedBucketOf(request),
    amount: request.amount,
  });
}

export const endedOn = ({ ended }: ReportState, chainId: number): Set<string> =>
  ended.get(chainId) ?? ended.set(chainId, new Set()).get(chainId) ?? new Set();

/** Reports the chains that are due. Never rejects; what could not be reported stays due. */
export function tell(deps: SharingDeps, state: ReportState): Promise<void> {
  state.telling ??= tellAll(deps, state)
    .catch((error: unknown) => deps.log.error({ error }, 'the shared inventory could not be updated'))
    .finally(() => (state.telling = undefined));
  return state.telling;
}

async function tellAll(deps: SharingDeps, state: ReportState): Promise<void> {
  const { due } = state;
  for (const chainId of due) {
    due.delete(chainId);
    if (await tellChain(deps, state, chainId)) continue;
    due.add(chainId);
    return;
  }
}

/** false when the shared inventory does not answer. */
async function tellChain(deps: SharingDeps, state: ReportState, chainId: number): Promise<boolean> {
  const follower = deps.followers.get(chainId);
  if (follower === undefined) return true;
  const over = [...endedOn(state, chainId)];
  const { kept, strangers, used } = state;
  state.kept = new Map();
  state.strangers = new Map();
  state.used = new Map();
  const answer = await deps.inventory.report({
    ...{
      chainId,
      block: follower.cursor().block,
      time: follower.time(),
      rooms: roomsOf(deps.ledger(), chainId),
      ended: over,
    },
    kept: [...kept.values()],
    unknownOrders: [...strangers.keys()],
    used: [...used].map(([group, winner]) => ({ group, winner })),
  });
  if (answer === undefined) {
    // What came meanwhile is newer.
    state.kept = new Map([...kept, ...state.kept]);
    state.strangers = new Map([...strangers, ...state.strangers]);
    state.used = new Map([...used, ...state.used]);
    return false;
  }
  for (const id of over) endedOn(state, chainId).delete(id);
  for (const id of answer.known) {
    const order = strangers.get(id as Bytes32);
    if (order !== undefined) deps.ours(id as Bytes32, order);
  }
  if (answer.more) state.due.add(chainId);
  if (!state.reported.has(chainId)) {
    state.reported.add(chainId);
    deps.changed();
  }
  return true;
}

const roomsOf = (ledger: Ledger, chainId: number): { bucket: string; room: bigint }[] =>
  ledger
    .buckets()
    .filter((each) => each.chainId === chainId)
    .map((each) => ({ bucket: sharedBucketOf(each), room: each.drift === null ? each.room : 0n }));
