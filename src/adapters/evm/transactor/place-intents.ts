/** Gives waiting intents their slots: prepares them, reserves nonces, and signs first attempts. */

import { InvariantError } from '../../../domain/errors.ts';
import type { NewSlot, TxSlot } from '../../../ports/stores/tx-store.ts';
import { sendAttempts } from './attempts.ts';
import { type LaneDeps, type LaneState, remember, type Waiting } from './lane-state.ts';
import { liveOf, slotStatus } from './live-slots.ts';
import { BUNDLE_FROM, type Preparation } from './prepare.ts';
import { lostLease, requireLease } from './signer-lease.ts';

const BATCH = 64;
/** Wait for more intents to bundle; an eighth of a block where that is shorter. */
const LINGER_MS = 150;

/** Places the queue in batches until it is empty. */
export async function drain(deps: LaneDeps, state: LaneState, prepare: Preparation): Promise<void> {
  const { chain, clock, settings } = deps;
  const { queue } = state;
  const lingerMs = Math.min(LINGER_MS, chain.chain.blockTimeMs / 8);
  for (let shared = false; queue.length > 0;) {
    // Orders that are advanced together submit their intents in one tick.
    await new Promise((done) => setImmediate(done));
    const many =
      settings.batch && (shared || queue.filter(({ intent }) => intent.together).length >= BUNDLE_FROM);
    if (many) await new Promise<void>((done) => clock.after(lingerMs, done));
    const batch = queue.splice(0, BATCH);
    try {
      shared = await place(deps, state, prepare, batch);
    } catch (error) {
      state.reload = true;
      for (const { reject } of batch) reject(error);
    }
  }
  state.draining = undefined;
}

/** Returns whether some of the intents share a transaction. */
async function place(
  deps: LaneDeps,
  state: LaneState,
  prepare: Preparation,
  batch: readonly Waiting[],
): Promise<boolean> {
  const held = requireLease(deps, state);
  const waiting = new Map<string, Waiting[]>();
  for (const each of batch) waiting.set(each.intent.key, [...(waiting.get(each.intent.key) ?? []), each]);
  const { slots: wanted, refused } = await prepare(
    [...waiting.values()].map(([each]) => (each as Waiting).intent),
    new Set(batch.filter(({ apart }) => apart).map(({ intent }) => intent.key)),
  );
  for (const [key, error] of refused) for (const { reject } of waiting.get(key) ?? []) reject(error);
  if (wanted.length === 0) return false;
  const slots = await deps.store.reserve(held, state.minedCount, wanted, deps.settings.lanes);
  if (!slots) throw lostLease(state);
  const head = deps.chain.head()?.number ?? 0n;
  const mine = slots.flatMap((slot) =>
    slot?.signer === deps.signer.address ? [state.live.get(slot.id) ?? remember(state, slot, head)] : [],
  );
  const unsigned = mine.filter(
    ({ slot, busy }) => slot.state === 'open' && slot.attempts.length === 0 && !busy,
  );
  // The rounds leave these slots alone meanwhile.
  for (const entry of unsigned) entry.busy = true;
  try {
    await sendAttempts(deps, state, unsigned, 'first');
  } finally {
    for (const entry of unsigned) entry.busy = false;
  }
  answer(deps, state, { waiting, wanted, slots, head });
  return wanted.some(({ keys }) => keys.length > 1);
}

/** Resolves each caller with the status of its slot; `slots` are in the order of `wanted`. */
function answer(
  { metrics }: LaneDeps,
  { live, queue }: LaneState,
  placed: {
    waiting: ReadonlyMap<string, readonly Waiting[]>;
    wanted: readonly NewSlot[];
    slots: readonly (TxSlot | undefined)[];
    head: bigint;
  },
): void {
  for (const [n, { keys }] of placed.wanted.entries()) {
    const slot = placed.slots[n];
    const entry = slot && (live.get(slot.id) ?? liveOf(slot, placed.head));
    if (slot && keys.length > 1) metrics.shared.add(metrics.labels, keys.length);
    for (const each of keys.flatMap((key) => placed.waiting.get(key) ?? [])) {
      if (entry) each.resolve(slotStatus(entry, each.intent.key));
      // Another signer has one of these keys: submit each alone to find out which.
      else if (keys.length > 1) queue.push({ ...each, apart: true });
      else
        each.reject(
          new InvariantError('A reserved slot got no answer.', { facts: { key: each.intent.key } }),
        );
    }
  }
}
