/**
 * Sends transactions so that no crash loses or doubles one: the database stores the nonce, then the signed
 * bytes, before any node sees them. A slot ends as `mined` when its intent is mined. It ends as `void` when a
 * no-op is mined, or when the chain shows for long enough that a foreign transaction used its nonce.
 */

import type { Address } from '../../../domain/hex.ts';
import type { ChainPort } from '../../../ports/chain.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/log.ts';
import type { Metrics } from '../../../ports/metrics.ts';
import type { Signer } from '../../../ports/signer.ts';
import type { TxStore } from '../../../ports/stores/tx-store.ts';
import type { TxIntent, TxStatus } from '../../../ports/transactor.ts';
import { createLaneMetrics } from './lane-metrics.ts';
import { type LaneDeps, type LaneState, newLaneState } from './lane-state.ts';
import type { SignerLane } from './lanes.ts';
import { type Live, liveOf, receiptOf, slotStatus } from './live-slots.ts';
import { drain } from './place-intents.ts';
import { createPreparation, type Preparation } from './prepare.ts';
import { onHead, resumeSlots } from './rounds.ts';
import { isHealthy, readBalance, spendable } from './signer-balance.ts';
import { holdsLease, takeLease } from './signer-lease.ts';
import { createSlotLookup, type SlotLookup } from './slot-lookup.ts';

interface TransactorCapabilities {
  chain: ChainPort;
  store: TxStore;
  signer: Signer;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

export interface TransactorOptions {
  /** The name of this process in the lease. */
  owner: string;
  leaseMs?: number;
  /** Wei, replacements included. */
  maxFeePerGasCap?: bigint;
  bumpAfterBlocks?: number;
  /** The signer counts as unable to pay unless its balance pays for this on top of what it has sent. */
  spareGas?: bigint;
  /** The signer counts as unable to pay below this balance, wei, whatever gas costs. */
  leastBalance?: bigint;
  /** Ended slots are watched for reorganisations for this long. */
  reorgBlocks?: number;
  /** The number of this signer in metrics. */
  lane?: string;
  /** All signers of the chain, whose slots are looked up too. */
  lanes?: readonly Address[];
  /** The Batch contract, through which several intents share a transaction. */
  batch?: Address | null;
}

/** Gas of one more settlement, whatever its kind. */
export const SPARE_GAS = 300_000n;
const DEFAULT_CAP = 500_000_000_000n;

export function createTransactor(
  { chain, store, signer, clock, log, metrics }: TransactorCapabilities,
  { lane = '0', ...options }: TransactorOptions,
): SignerLane {
  const deps: LaneDeps = {
    ...{ chain, store, signer, clock },
    log: log.child({ chain: chain.chain.slug, signer: signer.address }),
    metrics: createLaneMetrics(metrics, { chain: chain.chain.slug, lane }),
    settings: {
      owner: options.owner,
      leaseMs: options.leaseMs ?? 6_000,
      maxFeePerGasCap: options.maxFeePerGasCap ?? DEFAULT_CAP,
      bumpAfterBlocks: options.bumpAfterBlocks ?? 3,
      spareGas: options.spareGas ?? SPARE_GAS,
      leastBalance: options.leastBalance ?? 0n,
      reorgBlocks: options.reorgBlocks ?? 64,
      lanes: options.lanes ?? [signer.address],
      batch: options.batch ?? null,
    },
  };
  const state = newLaneState();
  const lookUp = createSlotLookup(store, chain.chain.id, deps.settings.lanes);
  const prepare = createPreparation({
    ...{ chain, signer: signer.address, batch: deps.settings.batch, log: deps.log },
    funds: () => spendable(deps, state),
  });
  return {
    address: signer.address,
    submit: (intent) => submit(deps, state, { lookUp, prepare }, intent),
    status: (key) => statusOf(deps, state, lookUp, key),
    holds: () => holdsLease(deps, state),
    knows: (key) => known(deps, state, key) !== undefined,
    healthy: () => isHealthy(deps, state),
    start: () => start(deps, state),
    stop: () => stop(deps, state),
  };
}

async function submit(
  deps: LaneDeps,
  state: LaneState,
  { lookUp, prepare }: { lookUp: SlotLookup; prepare: Preparation },
  intent: TxIntent,
): Promise<TxStatus> {
  const entry = known(deps, state, intent.key);
  if (entry && entry.slot.state !== 'void')
    return (await statusOf(deps, state, lookUp, intent.key)) as TxStatus;
  return new Promise((resolve, reject) => {
    state.queue.push({ intent, resolve, reject });
    state.draining ??= drain(deps, state, prepare);
  });
}

async function statusOf(
  deps: LaneDeps,
  state: LaneState,
  lookUp: SlotLookup,
  key: string,
): Promise<TxStatus | undefined> {
  let entry = known(deps, state, key);
  if (!entry) {
    const slot = await lookUp(key);
    if (!slot) return undefined;
    entry = liveOf(slot, 0n);
  }
  const { slot } = entry;
  if (slot.mined && !entry.receipt) entry.receipt = await receiptOf(deps.chain, slot, slot.mined.txHash);
  return slotStatus(entry, key);
}

/** Memory counts only while we hold the lease; otherwise another process works on our slots. */
const known = (deps: LaneDeps, state: LaneState, key: string): Live | undefined =>
  holdsLease(deps, state) ? state.byKey.get(key) : undefined;

async function start(deps: LaneDeps, state: LaneState): Promise<void> {
  state.stopped = false;
  await takeLease(deps, state);
  if (state.lease) await resumeSlots(deps, state);
  else deps.log.warn({}, 'another process holds this signer; standing by');
  state.reload = false;
  await readBalance(deps, state);
  keepLease(deps, state);
  state.unfollow = deps.chain.onHead(() => onHead(deps, state));
}

/** Renews the lease three times in its duration, until the transactor stops. */
function keepLease(deps: LaneDeps, state: LaneState): void {
  const { clock, log, settings } = deps;
  state.cancelRenewal = clock.after(settings.leaseMs / 3, () => {
    state.renewing = renewLease(deps, state)
      .catch((error: unknown) => log.warn({ error }, 'the lease on the signer could not be renewed'))
      .finally(() => {
        if (!state.stopped) keepLease(deps, state);
      });
  });
}

/** Renews the lease, or takes it again when this process has lost it. */
async function renewLease(deps: LaneDeps, state: LaneState): Promise<void> {
  const { store, clock, log, settings } = deps;
  if (!state.lease) {
    await takeLease(deps, state);
    return onHead(deps, state);
  }
  const startedMs = clock.monotonicMs();
  const renewed = await store.renewSigner(state.lease, settings.leaseMs);
  if (renewed && state.lease) {
    // The answer may be late.
    const lapsed = clock.monotonicMs() >= state.lease.untilMs;
    state.lease.untilMs = startedMs + settings.leaseMs;
    // Heads were skipped while the lease had lapsed, and a quiet chain may bring no other soon.
    if (lapsed || state.reload) onHead(deps, state);
    return;
  }
  log.warn({}, 'the lease on the signer was lost');
  state.lease = undefined;
  await takeLease(deps, state);
  onHead(deps, state);
}

async function stop({ store }: LaneDeps, state: LaneState): Promise<void> {
  state.stopped = true;
  state.unfollow();
  state.cancelRenewal();
  // A renewal under way would retake the lease right after its release.
  await state.renewing;
  await state.draining;
  await state.working;
  if (state.lease) await store.releaseSigner(state.lease).catch(() => {});
  state.lease = undefined;
}
