/** Outputs credited to the escrow's ledger, folded from facts. */

import type { Fact, FactOf } from '../domain/fact.ts';
import type { Hex } from '../domain/hex.ts';
import type { UnixSeconds } from '../domain/time.ts';

/** Plain JSON; amounts are decimal base units. */
export interface LedgerCredit {
  outputIndex: number;
  autoWithdraw: boolean;
  creditedAt: UnixSeconds;
  windowSeconds: number;
  amount: string;
  /** The amount withdrawn so far, at most `amount`. */
  withdrawn: string;
  requested: string;
  requestAvailableAt: UnixSeconds | null;
  requestLapsesAt: UnixSeconds | null;
  /** The latest payout transaction. */
  payoutTx: Hex | null;
  /** The escrow will not pay it out automatically any more. */
  ended: boolean;
  withdrawalTx: Hex | null;
}

const DEFERRED_STAGES = ['executed', 'available', 'requested', 'withdrawn'] as const;
type DeferredStage = (typeof DEFERRED_STAGES)[number];

export interface DeferredSettlement {
  /**
   * executed: in the ledger until the window ends. available: may be requested, or is due. requested:
   * asked for, or the payout is on its way. withdrawn: left the ledger.
   */
  stage: DeferredStage;
  autoWithdraw: boolean;
  executedAt: string;
  /** null until a payout that is not automatic is requested. */
  estimatedSettlementAvailableAt: string | null;
  /** Rounded up. */
  settlementWindowHours: number;
  withdrawalStatus: 'none' | 'scheduled' | 'due' | 'submitted' | 'requested' | 'kept_in_ledger' | 'completed';
  withdrawalTrackingId: string | null;
  withdrawalTxHash: Hex | null;
}

/** Folds facts into credits by output index; empty for deliveries to wallets. */
export function foldCredits(facts: Iterable<Fact>): LedgerCredit[] {
  const credits = new Map<number, LedgerCredit>();
  const later: FactOf<'payout_sent' | 'withdrawal_requested' | 'withdrawn'>[] = [];
  for (const fact of facts) {
    if (fact.kind === 'credited') {
      if (!credits.has(fact.outputIndex)) credits.set(fact.outputIndex, creditOf(fact));
    } else if (
      fact.kind === 'payout_sent' ||
      fact.kind === 'withdrawal_requested' ||
      fact.kind === 'withdrawn'
    )
      later.push(fact);
  }
  // A slow worker may record the delivery after another has recorded that it left.
  for (const fact of later) {
    const credit = credits.get(fact.outputIndex);
    if (credit) take(credit, fact);
  }
  return [...credits.values()].sort((a, b) => a.outputIndex - b.outputIndex);
}

const creditOf = ({
  outputIndex,
  autoWithdraw,
  windowSeconds,
  amount,
  evidence,
}: FactOf<'credited'>): LedgerCredit => ({
  outputIndex,
  autoWithdraw,
  creditedAt: evidence.at,
  windowSeconds,
  amount: amount.toString(),
  withdrawn: '0',
  requested: '0',
  requestAvailableAt: null,
  requestLapsesAt: null,
  payoutTx: null,
  ended: false,
  withdrawalTx: null,
});

function take(
  credit: LedgerCredit,
  fact: FactOf<'payout_sent' | 'withdrawal_requested' | 'withdrawn'>,
): void {
  switch (fact.kind) {
    case 'payout_sent':
      credit.payoutTx = fact.txHash;
      return;
    case 'withdrawal_requested':
      credit.requested = fact.amount.toString();
      credit.requestAvailableAt = fact.amount === 0n ? null : fact.availableAt;
      credit.requestLapsesAt = fact.amount === 0n ? null : fact.lapsesAt;
      return;
    case 'withdrawn': {
      const sum = BigInt(credit.withdrawn) + fact.amount;
      credit.withdrawn = (sum < BigInt(credit.amount) ? sum : BigInt(credit.amount)).toString();
      credit.ended ||= fact.ended;
      if (fact.amount > 0n) credit.withdrawalTx = fact.evidence.txHash;
      // A withdrawal ends its request; an automatic payout does not.
      if (!fact.ended) credit.requested = '0';
    }
  }
}

/**
 * Returns the deferred settlement; null unless all outputs went into the ledger. `now` is chain time where
 * available, else the clock's.
 */
export function deferredSettlement(
  { orderId, outputs, credits }: { orderId: Hex; outputs: number; credits: readonly LedgerCredit[] },
  now: UnixSeconds,
): DeferredSettlement | null {
  const [first] = credits;
  if (!first || credits.length < outputs) return null;
  const shown = credits.map((credit) => ({ credit, ...standing(credit, now) }));
  // A split delivery is as far as its last slice.
  const last = shown.reduce((behind, each) =>
    DEFERRED_STAGES.indexOf(each.stage) < DEFERRED_STAGES.indexOf(behind.stage) ? each : behind,
  );
  const executedAt = Math.max(...credits.map(({ creditedAt }) => creditedAt));
  const known = credits.flatMap(
    ({ autoWithdraw, creditedAt, windowSeconds, requestAvailableAt }) =>
      requestAvailableAt ?? (autoWithdraw ? creditedAt + windowSeconds : []),
  );
  const asked = last.stage === 'requested' || last.stage === 'withdrawn';
  return {
    stage: last.stage,
    autoWithdraw: first.autoWithdraw,
    executedAt: iso(executedAt),
    estimatedSettlementAvailableAt: known.length < credits.length ? null : iso(Math.max(...known)),
    settlementWindowHours: Math.ceil(first.windowSeconds / 3_600),
    withdrawalStatus: last.status,
    withdrawalTrackingId: asked ? payoutKey(orderId, last.credit.outputIndex) : null,
    withdrawalTxHash: last.credit.withdrawalTx ?? last.credit.payoutTx,
  };
}

/** Returns a key that is unique per output. */
export const payoutKey = (orderId: Hex, outputIndex: number): string => `${orderId}-withdraw-${outputIndex}`;

function standing(
  credit: LedgerCredit,
  now: UnixSeconds,
): { stage: DeferredStage; status: DeferredSettlement['withdrawalStatus'] } {
  if (BigInt(credit.withdrawn) >= BigInt(credit.amount)) return { stage: 'withdrawn', status: 'completed' };
  if (credit.requested !== '0' && now <= (credit.requestLapsesAt ?? 0))
    return { stage: 'requested', status: 'requested' };
  if (!credit.autoWithdraw) return { stage: 'available', status: 'none' };
  if (credit.ended) return { stage: 'available', status: 'kept_in_ledger' };
  if (credit.payoutTx) return { stage: 'requested', status: 'submitted' };
  return now < credit.creditedAt + credit.windowSeconds
    ? { stage: 'executed', status: 'scheduled' }
    : { stage: 'available', status: 'due' };
}

const iso = (at: UnixSeconds): string => new Date(at * 1_000).toISOString();

/** Takes a withdrawal or a request from an account's credits, oldest first, automatic ones last. */
export function allocate<C extends { autoWithdraw: boolean; left: bigint }>(
  amount: bigint,
  credits: readonly C[],
): { credit: C; amount: bigint }[] {
  let remaining = amount;
  return [
    ...credits.filter(({ autoWithdraw }) => !autoWithdraw),
    ...credits.filter(({ autoWithdraw }) => autoWithdraw),
  ].map((credit) => {
    const part = remaining < credit.left ? remaining : credit.left;
    remaining -= part;
    return { credit, amount: part };
  });
}
