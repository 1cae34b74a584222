/** Signs attempts of slots, stores their bytes, and only then sends them to the nodes. */

import { UpstreamError } from '../../../domain/errors.ts';
import type { Hex } from '../../../domain/hex.ts';
import type { Fees, SendOutcome } from '../../../ports/chain.ts';
import type { TxAttempt } from '../../../ports/stores/tx-store.ts';
import { belowCap, bumpFees, firstFees, type TxFees } from './fees.ts';
import type { LaneDeps, LaneState } from './lane-state.ts';
import { type Live, noteOutcome } from './live-slots.ts';
import { signTransaction } from './sign.ts';
import { countNeeded } from './signer-balance.ts';
import { lostLease, requireLease } from './signer-lease.ts';

type AttemptKind = 'first' | 'bump' | 'noop';

const NOOP_GAS = 21_000n;
/** Refusals to sign before a no-op takes the nonce. */
const MOST_UNSIGNED = 3;

export async function sendAttempts(
  deps: LaneDeps,
  state: LaneState,
  entries: readonly Live[],
  kind: AttemptKind,
): Promise<void> {
  const { chain, store, clock, metrics } = deps;
  if (entries.length === 0) return;
  const held = requireLease(deps, state);
  const now = await chain.fees();
  const signed = await Promise.all(entries.map((entry) => signAttempt(deps, entry, kind, now)));
  const made = signed.filter((one) => one !== undefined);
  if (made.length === 0) return;
  if (
    !(await store.addAttempts(
      held,
      made.map(({ entry, bytes }) => ({ ...bytes, slotId: entry.slot.id })),
    ))
  )
    throw lostLease(state);
  for (const { entry, bytes } of made) {
    entry.slot.attempts.push({ ...bytes, createdAtMs: clock.nowMs() });
    entry.mustReplace = false;
    metrics.attempts.add({ ...metrics.labels, kind });
  }
  countNeeded(deps, state);
  broadcast(
    deps,
    state,
    made.map(({ entry }) => entry),
  );
}

/** Returns undefined when there is nothing to send now, at these fees or without a signature. */
async function signAttempt(
  { chain, signer, log, settings }: LaneDeps,
  entry: Live,
  kind: AttemptKind,
  now: Fees,
): Promise<{ entry: Live; bytes: Omit<TxAttempt, 'createdAtMs'> } | undefined> {
  const { slot } = entry;
  const noop = kind === 'noop' || (slot.attempts.at(-1)?.noop ?? false);
  const fees = feesFor(entry, now, noop, settings.maxFeePerGasCap);
  // While its key service is down, each block would only add to the requests that fail.
  if (!fees || signer.issue?.() !== undefined) return undefined;
  const gas = noop ? NOOP_GAS : (slot.gas ?? 0n);
  try {
    const signed = await signTransaction(signer, {
      chainId: chain.chain.id,
      nonce: slot.nonce,
      gas,
      ...fees,
      ...(noop
        ? { to: signer.address, data: '0x' as Hex, value: 0n }
        : { to: slot.to, data: slot.data, value: slot.value }),
    });
    entry.unsigned = 0;
    return { entry, bytes: { ...signed, ...fees, gas, noop } };
  } catch (error) {
    // Later slots wait for this nonce, so a refused one ends. A key service that is down refuses nothing.
    const isAway = error instanceof UpstreamError && error.retry === 'later';
    if (!isAway) entry.unsigned += 1;
    if (entry.unsigned >= MOST_UNSIGNED) entry.mustEnd = true;
    log.warn({ key: slot.key, error, times: entry.unsigned }, 'a transaction could not be signed');
    return undefined;
  }
}

/** A no-op may cost as much as the cap; an intent stays below it, so that its no-op can replace it. */
function feesFor({ slot }: Live, now: Fees, noop: boolean, maxFeePerGasCap: bigint): TxFees | undefined {
  const last = slot.attempts.at(-1);
  const cap = noop ? maxFeePerGasCap : belowCap(maxFeePerGasCap);
  return last ? bumpFees(last, now, cap) : firstFees(now, cap);
}

/** Sends the last bytes of each slot. Not awaited: the next head checks again. */
export function broadcast(deps: LaneDeps, state: LaneState, entries: readonly Live[]): void {
  const head = deps.chain.head()?.number ?? 0n;
  for (const entry of entries) {
    const last = entry.slot.attempts.at(-1);
    if (!last) continue;
    entry.sentAtBlock = head;
    const repeated = entry.mustResend;
    entry.mustResend = false;
    deps.chain.sendRaw(last.raw).then(
      (outcome) => noteSent(deps, state, { entry, last, repeated, outcome }),
      () => {},
    );
  }
}

function noteSent(
  { log }: LaneDeps,
  state: LaneState,
  sent: { entry: Live; last: TxAttempt; repeated: boolean; outcome: SendOutcome },
): void {
  const { entry, last, repeated, outcome } = sent;
  if (outcome.kind === 'out_of_funds') state.unpaidAtWei = state.balanceWei ?? 0n;
  else if (outcome.kind === 'sent') state.unpaidAtWei = undefined;
  noteOutcome(entry, last, outcome);
  if (outcome.kind === 'rejected' && entry.mustEnd)
    log.warn(
      { key: entry.slot.key, reason: outcome.message },
      'the chain refuses a transaction; its nonce goes to a no-op',
    );
  if (outcome.kind === 'not_now' && !repeated)
    log.warn(
      { key: entry.slot.key, reason: outcome.message },
      'no node takes a transaction now; the same bytes are sent again at the next block',
    );
}
