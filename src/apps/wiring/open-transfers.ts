/** Figures of open transfers between chains, which a venue's floats and an LP's inventory show alike. */

import type { StoredTransfer } from '../../ports/stores/transfers.ts';
import { foldTransfer, type TransferStage } from '../../settlement/transfer.ts';

const OPEN_STAGES: readonly TransferStage[] = [
  'planned',
  'requested',
  'withdrawn',
  'burned',
  'attested',
  'minted',
  'refused',
];

/** The number of transfers at every stage that is not the end. */
export function stageCounts(open: readonly StoredTransfer[]): ReadonlyMap<TransferStage, number> {
  const counts = new Map(OPEN_STAGES.map((stage) => [stage, 0]));
  for (const { move, facts } of open) {
    const { stage } = foldTransfer(move.amount, facts);
    counts.set(stage, (counts.get(stage) ?? 0) + 1);
  }
  return counts;
}

/** Seconds since the first of them began; 0 without any. `open`: the oldest first. */
export function oldestAgeSeconds([first]: readonly StoredTransfer[], nowMs: number): number {
  return first === undefined ? 0 : (nowMs - first.createdAtMs) / 1_000;
}

/**
 * Returns true when a transfer has waited for longer than the patience. The delay of a withdrawal does not
 * count. `waits`: since when each transfer waits, by id.
 */
export function isOverdue(
  { id, move, facts }: StoredTransfer,
  waits: ReadonlyMap<string, { sinceMs: number }>,
  { nowMs, patienceMs }: { nowMs: number; patienceMs: number },
): boolean {
  const waiting = waits.get(id);
  if (waiting === undefined) return false;
  const { stage, withdrawal } = foldTransfer(move.amount, facts);
  const ripeMs = stage === 'requested' && withdrawal !== undefined ? withdrawal.availableAt * 1_000 : 0;
  return nowMs - Math.max(waiting.sinceMs, ripeMs) > patienceMs;
}
