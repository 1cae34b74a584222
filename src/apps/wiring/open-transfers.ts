/** Figures of open transfers between chains, which a venue's floats and an LP's inventory show alike. */

import type { Gauge } from '../../ports/metrics.ts';
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

/** Every program names its own. */
export interface OpenTransferGauges {
  /** The transfers at each stage; has the label `stage`. */
  stages: Gauge;
  /** Seconds since the oldest one began. */
  oldest: Gauge;
  overdue: Gauge;
}

interface Patience {
  /** Since when each transfer waits, by id. */
  waits: ReadonlyMap<string, { sinceMs: number }>;
  nowMs: number;
  patienceMs: number;
}

interface ShownAs {
  labels?: Record<string, string>;
  isOurs?(transfer: StoredTransfer): boolean;
}

/**
 * Shows the transfers that are not over, the oldest first. `labels`: of every gauge. `isOurs`: whether this
 * process takes the next step, so that one process counts a transfer as overdue.
 */
export function showOpenTransfers(
  { stages, oldest, overdue }: OpenTransferGauges,
  open: readonly StoredTransfer[],
  patience: Patience,
  { labels = {}, isOurs = () => true }: ShownAs = {},
): void {
  for (const [stage, count] of stageCounts(open)) stages.set(count, { ...labels, stage });
  oldest.set(oldestAgeSeconds(open, patience.nowMs), labels);
  overdue.set(open.filter((each) => isOurs(each) && isOverdue(each, patience)).length, labels);
}

/** The number of transfers at every stage that is not the end. */
function stageCounts(open: readonly StoredTransfer[]): ReadonlyMap<TransferStage, number> {
  const counts = new Map(OPEN_STAGES.map((stage) => [stage, 0]));
  for (const { move, facts } of open) {
    const { stage } = foldTransfer(move.amount, facts);
    counts.set(stage, (counts.get(stage) ?? 0) + 1);
  }
  return counts;
}

/** Seconds since the first of them began; 0 without any. `open`: the oldest first. */
function oldestAgeSeconds([first]: readonly StoredTransfer[], nowMs: number): number {
  return first === undefined ? 0 : (nowMs - first.createdAtMs) / 1_000;
}

/**
 * Returns true when a transfer has waited for longer than the patience. The delay of a withdrawal does not
 * count.
 */
function isOverdue({ id, move, facts }: StoredTransfer, { waits, nowMs, patienceMs }: Patience): boolean {
  const waiting = waits.get(id);
  if (waiting === undefined) return false;
  const { stage, withdrawal } = foldTransfer(move.amount, facts);
  const ripeMs = stage === 'requested' && withdrawal !== undefined ? withdrawal.availableAt * 1_000 : 0;
  return nowMs - Math.max(waiting.sinceMs, ripeMs) > patienceMs;
}
