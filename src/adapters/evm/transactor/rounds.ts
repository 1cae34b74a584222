/**
 * Runs the work of a signer's transactor at each head: it confirms, sends again, replaces and fills nonces.
 */

import type { Block, Receipt } from '../../../ports/chain.ts';
import type { SlotEnd } from '../../../ports/stores/tx-store.ts';
import { broadcast, sendAttempts } from './attempts.ts';
import { file, type LaneDeps, type LaneState, remember } from './lane-state.ts';
import { lacksSignature, type Live, mayBeUnsent, needsNoop, receiptOf, slotEndOf } from './live-slots.ts';
import { isHealthy, readBalance } from './signer-balance.ts';
import { lostLease, requireLease } from './signer-lease.ts';

const BUMPED_AT_ONCE = 32;
const REMEMBERED = 5_000;

/** Starts a round, or another one after the round that runs. */
export function onHead(deps: LaneDeps, state: LaneState): void {
  state.headWaiting = true;
  state.working ??= runRounds(deps, state);
}

async function runRounds(deps: LaneDeps, state: LaneState): Promise<void> {
  while (state.headWaiting && !state.stopped) {
    state.headWaiting = false;
    try {
      if (state.reload && state.lease) {
        state.reload = false;
        await resumeSlots(deps, state);
      } else {
        await work(deps, state);
      }
      await readBalance(deps, state);
    } catch (error) {
      state.reload = true;
      deps.log.warn({ error }, 'checking open transactions failed; the next block tries again');
    }
    deps.metrics.healthy.set(isHealthy(deps, state) ? 1 : 0, deps.metrics.labels);
  }
  state.working = undefined;
}

/** Reads the slots of this signer from the store, and sends what no node may have. */
export async function resumeSlots(deps: LaneDeps, state: LaneState): Promise<void> {
  const { chain, store, signer, log, settings } = deps;
  const { live } = state;
  state.minedCount = await chain.transactionCount(signer.address, 'latest');
  const head = chain.head()?.number ?? 0n;
  const before = new Set(live.values());
  const reorgBlocks = BigInt(settings.reorgBlocks);
  const slots = await store.liveSlots(chain.chain.id, signer.address, {
    nonce: state.minedCount,
    block: head > reorgBlocks ? head - reorgBlocks : 0n,
  });
  // Slots submitted or signed while the store was read are newer than its answer.
  const newer = [...live.values()].filter((entry) => !before.has(entry) || entry.busy);
  live.clear();
  state.byKey.clear();
  for (const entry of newer) file(state, entry);
  for (const slot of slots) if (!live.has(slot.id)) remember(state, slot, head);
  // Nodes ignore bytes that they have.
  broadcast(
    deps,
    state,
    [...live.values()].filter((entry) => mayBeUnsent(entry, state.minedCount)),
  );
  if (slots.length > 0)
    log.info(
      { open: slots.filter(({ state: each }) => each === 'open').length },
      'open transactions of an earlier process were resumed',
    );
  await work(deps, state);
}

async function work(deps: LaneDeps, state: LaneState): Promise<void> {
  const { chain, signer, clock, metrics } = deps;
  const head = chain.head();
  if (!head || !state.lease || clock.monotonicMs() >= state.lease.untilMs) return;
  state.minedCount = await chain.transactionCount(signer.address, 'latest');
  metrics.nonce.set(state.minedCount, metrics.labels);
  await takeBackReorganised(deps, state, head);
  await confirm(deps, state, head);
  await push(deps, state, head);
  metrics.openSlots.set(
    [...state.live.values()].filter(({ slot }) => slot.state === 'open').length,
    metrics.labels,
  );
}

/**
 * Reopens mined slots whose block is no longer canonical, and sends their bytes again. It checks from the
 * newest block down, and forgets slots that no reorganisation reaches.
 */
async function takeBackReorganised(deps: LaneDeps, state: LaneState, head: Block): Promise<void> {
  const { chain, store, log, settings } = deps;
  const ended = [...state.live.values()]
    .filter(({ slot }) => slot.mined !== null)
    .sort((a, b) => Number((b.slot.mined?.blockNumber ?? 0n) - (a.slot.mined?.blockNumber ?? 0n)));
  const lost: Live[] = [];
  const checked = new Map<string, boolean>();
  for (const entry of ended) {
    const { mined } = entry.slot;
    if (!mined) continue;
    if (mined.blockNumber + BigInt(settings.reorgBlocks) < head.number) {
      state.live.delete(entry.slot.id);
      forgetOldKeys(state);
      continue;
    }
    let canonical = checked.get(mined.blockHash);
    if (canonical === undefined) {
      canonical = (await chain.block(mined.blockNumber))?.hash === mined.blockHash;
      checked.set(mined.blockHash, canonical);
    }
    // Blocks below a canonical one are canonical too.
    if (canonical) break;
    lost.push(entry);
  }
  if (lost.length === 0) return;
  log.warn({ transactions: lost.length }, 'a reorganisation removed transactions; they are sent again');
  // A void slot stays void, because its key may have a successor; its no-op is sent again.
  const reopened = lost.filter(({ slot }) => slot.state === 'mined');
  if (
    reopened.length > 0 &&
    !(await store.reopen(
      requireLease(deps, state),
      reopened.map(({ slot }) => slot.id),
    ))
  )
    throw lostLease(state);
  for (const entry of reopened) Object.assign(entry.slot, { state: 'open', reason: null, mined: null });
  for (const entry of lost) entry.receipt = undefined;
  broadcast(deps, state, lost);
}

function forgetOldKeys({ live, byKey }: LaneState): void {
  for (const [key, entry] of byKey) {
    if (byKey.size <= REMEMBERED) return;
    if (!live.has(entry.slot.id)) byKey.delete(key);
  }
}

/** Ends the slots whose nonce is used: by one of their attempts, or by a foreign transaction. */
async function confirm(deps: LaneDeps, state: LaneState, head: Block): Promise<void> {
  const { chain, store, metrics } = deps;
  const used = [...state.live.values()].filter(
    ({ slot }) => slot.state === 'open' && slot.nonce < state.minedCount,
  );
  const ends: { entry: Live; end: SlotEnd; receipt: Receipt | undefined }[] = [];
  await Promise.all(
    used.map(async (entry) => {
      const receipts = await Promise.all(
        entry.slot.attempts.map(({ hash }) => receiptOf(chain, entry.slot, hash)),
      );
      const at = receipts.findIndex((receipt) => receipt !== undefined);
      const receipt = receipts[at];
      if (receipt) {
        ends.push({ entry, receipt, end: slotEndOf(entry.slot, at, receipt) });
        return;
      }
      // A node may report the count before the receipt.
      entry.missingSince ??= head.number;
      if (head.number >= entry.missingSince + BigInt(chain.chain.depth) + 2n) {
        ends.push({ entry, receipt, end: slotEndOf(entry.slot, at, receipt) });
      }
    }),
  );
  if (ends.length === 0) return;
  if (
    !(await store.finish(
      requireLease(deps, state),
      ends.map(({ end }) => end),
    ))
  )
    throw lostLease(state);
  for (const { entry, end, receipt } of ends) {
    Object.assign(entry.slot, { state: end.state, reason: end.reason, mined: end.mined });
    entry.receipt = receipt;
    metrics.ended.add({ ...metrics.labels, state: end.state });
    if (receipt) metrics.gas.add(metrics.labels, Number(receipt.gasUsed));
    else state.live.delete(entry.slot.id);
  }
}

/** Sends no-ops, missing first attempts, replacements, and bytes that a node may have lost. */
async function push(deps: LaneDeps, state: LaneState, head: Block): Promise<void> {
  const open = [...state.live.values()]
    .filter(({ slot, busy }) => slot.state === 'open' && slot.nonce >= state.minedCount && !busy)
    .sort((a, b) => a.slot.nonce - b.slot.nonce);
  const isOver = (entry: Live) => needsNoop(entry, head.timestamp);
  const waited = ({ sentAtBlock }: Live) => head.number - sentAtBlock;
  const over = open.filter(isOver);
  const rest = open.filter((entry) => !isOver(entry));
  const unsigned = rest.filter(lacksSignature);
  broadcast(
    deps,
    state,
    rest.filter(({ mustResend, mustReplace }) => mustResend && !mustReplace),
  );
  const late = rest.filter(
    (entry) =>
      entry.slot.attempts.length > 0 &&
      (entry.mustReplace || waited(entry) >= BigInt(deps.settings.bumpAfterBlocks)),
  );
  await sendAttempts(deps, state, over, 'noop');
  await sendAttempts(deps, state, unsigned, 'first');
  const before = new Map(late.map((entry) => [entry, entry.slot.attempts.length]));
  // Nonces are mined in order, so only the first few can block the rest.
  await sendAttempts(deps, state, late.slice(0, BUMPED_AT_ONCE), 'bump');
  // The node may have forgotten the bytes of the rest.
  broadcast(
    deps,
    state,
    late.filter((entry) => before.get(entry) === entry.slot.attempts.length),
  );
}
