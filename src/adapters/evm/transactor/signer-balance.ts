/**
 * Tracks what a signer has in native currency, what its open transactions may cost, and whether it can pay.
 */

import { formatUnits } from '../../../domain/amount.ts';
import { belowCap, firstFees } from './fees.ts';
import type { LaneDeps, LaneState } from './lane-state.ts';
import { holdsLease } from './signer-lease.ts';

/** A warning is logged when the signer can pay for fewer transactions, as in `ops/rules.yml`. */
const LOW_TRANSACTIONS = 20n;
const BALANCE_AGE_MS = 5_000;

/** Returns true when this process holds the signer, its key is available, and it can pay. */
export const isHealthy = (deps: LaneDeps, state: LaneState): boolean =>
  holdsLease(deps, state) &&
  deps.signer.issue?.() === undefined &&
  state.unpaidAtWei === undefined &&
  (state.balanceWei === undefined || state.balanceWei >= state.neededWei);

/** Reads what new transactions can spend, wei, and what the signer would bid for gas, wei per gas. */
export async function spendable(
  { chain, signer, settings }: LaneDeps,
  state: LaneState,
): Promise<{ free: bigint; maxFeePerGas: bigint }> {
  const [balance, fees] = await Promise.all([chain.nativeBalance(signer.address), chain.fees()]);
  const { maxFeePerGas } = firstFees(fees, belowCap(settings.maxFeePerGasCap));
  return { free: balance - openCost(state), maxFeePerGas };
}

/**
 * Counts what open transactions may cost, and one more; no less than `leastBalance`. Nodes ask for as much
 * (geth: "overshot").
 */
export function countNeeded({ settings }: LaneDeps, state: LaneState): void {
  state.neededWei = state.costWei + openCost(state);
  if (state.neededWei < settings.leastBalance) state.neededWei = settings.leastBalance;
}

/** Sums the most that the open transactions take from the signer, value included, wei. */
function openCost({ live, minedCount }: LaneState): bigint {
  let cost = 0n;
  for (const { slot } of live.values()) {
    if (slot.state !== 'open' || slot.nonce < minedCount) continue;
    const last = slot.attempts.at(-1);
    if (last) cost += last.gas * last.maxFeePerGas;
    if (!last?.noop) cost += slot.value;
  }
  return cost;
}

/** Reads the balance at most every five seconds, and warns once when it becomes low. */
export async function readBalance(deps: LaneDeps, state: LaneState): Promise<void> {
  const { chain, signer, clock, log, metrics, settings } = deps;
  if (clock.monotonicMs() - state.balanceReadMs < BALANCE_AGE_MS) return;
  const [balanceWei, fees] = await Promise.all([
    chain.nativeBalance(signer.address),
    chain.fees().catch(() => undefined),
  ]);
  const wasLow = state.isLow;
  state.balanceWei = balanceWei;
  state.balanceReadMs = clock.monotonicMs();
  metrics.balance.set(Number(balanceWei), metrics.labels);
  if (fees) {
    state.costWei = settings.spareGas * firstFees(fees, settings.maxFeePerGasCap).maxFeePerGas;
    metrics.cost.set(Number(state.costWei), metrics.labels);
    countNeeded(deps, state);
    state.isLow = balanceWei < state.neededWei + (LOW_TRANSACTIONS - 1n) * state.costWei;
  }
  if (state.isLow && !wasLow)
    log.warn(
      { balance: formatUnits(balanceWei, 18), needed: formatUnits(state.neededWei, 18) },
      `the signer can pay for fewer than ${LOW_TRANSACTIONS} more transactions: top it up`,
    );
  if (state.unpaidAtWei !== undefined && balanceWei > state.unpaidAtWei) state.unpaidAtWei = undefined;
}
