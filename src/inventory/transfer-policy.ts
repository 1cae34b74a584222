/**
 * Decides which of the transfers that are advised begin by themselves. The LP process and the simulation ask
 * the same function.
 */

import { formatUnits } from '../domain/amount.ts';
import { fromAttoDown, fromAttoUp } from './bucket.ts';

export interface TransferPolicy {
  mode: 'by_hand' | 'automatic';
  /** The limit of one transfer; `mostUsdPerDay` limits all automatic ones that began in 24 hours. In USD. */
  mostUsd: number;
  mostUsdPerDay: number;
}

export interface WantedTransfer {
  asset: string;
  /** Chain that it leaves: one transfer of an asset at a time leaves a chain. */
  from: string;
  /** The amount in 1e-18 of a whole token. `decimals` are those of the token on the chain that it leaves. */
  amount: bigint;
  decimals: number;
  /** undefined: not known now. */
  usd: number | undefined;
  /**
   * `fee`: the most that the bridge may keep. `cost`: the cost that the advice assumes. Both in 1e-18 of a
   * whole token.
   */
  fee: bigint;
  cost: bigint;
  /** Says why it cannot begin now, whether automatically or by hand; undefined when it can. */
  obstacle?: string | undefined;
}

/** Says why the operator must begin a transfer. */
interface ByHand {
  /** The same text for all transfers that this rule stops. */
  rule: string;
  /** The rule, with the amounts of this transfer in tokens and USD. */
  detail: string;
}

/**
 * Returns for each transfer that one evaluation wants, in order, why the operator must begin it; undefined:
 * it begins automatically, and counts against the limit of the day for the transfers after it. `begunUsd`:
 * the automatic transfers of the last 24 hours; undefined: not known, which counts as the limit reached.
 */
export function whyEachByHand(
  policy: TransferPolicy,
  wanted: readonly WantedTransfer[],
  begunUsd: number | undefined,
): (ByHand | undefined)[] {
  let spentUsd = begunUsd;
  const leaving = new Set<string>();
  return wanted.map((each) => {
    const source = `${each.asset} ${each.from}`;
    const why = leaving.has(source)
      ? rule(`another transfer of ${each.asset} leaves ${each.from} first`)
      : whyByHand(policy, each, spentUsd);
    if (why !== undefined) return why;
    leaving.add(source);
    // A transfer of unknown value waits for the operator, so this one has a value.
    spentUsd = (spentUsd ?? 0) + (each.usd ?? 0);
    return undefined;
  });
}

function whyByHand(
  { mode, mostUsd, mostUsdPerDay }: TransferPolicy,
  { asset, amount, decimals, usd, fee, cost, obstacle }: WantedTransfer,
  spentUsd: number | undefined,
): ByHand | undefined {
  if (obstacle !== undefined) return rule('it cannot begin now', obstacle);
  if (mode !== 'automatic') return rule('transfers.mode is by_hand');
  if (fee > cost)
    return rule(
      `the bridge may take more than transportBps of ${asset} reckons with`,
      `up to ${formatUnits(fromAttoUp(fee, decimals), decimals)} ${asset}, not ${formatUnits(fromAttoDown(cost, decimals), decimals)} ${asset}`,
    );
  if (usd === undefined || !Number.isFinite(usd))
    return rule('its value is not known now', `there is no price of ${asset}`);
  const worth = `${formatUnits(fromAttoDown(amount, decimals), decimals)} ${asset} are worth ${inCents(usd)} USD`;
  if (usd > mostUsd) return rule(`it is worth more than transfers.mostUsd (${mostUsd})`, worth);
  const day = `the transfers of 24 hours would be worth more than transfers.mostUsdPerDay (${mostUsdPerDay})`;
  if (spentUsd === undefined) return rule(day, `${worth}; how much has begun is not known now`);
  if (spentUsd + usd > mostUsdPerDay)
    return rule(day, `${worth}; transfers worth ${inCents(spentUsd)} USD begin before it`);
  return undefined;
}

const inCents = (usd: number): string => usd.toFixed(2);

const rule = (text: string, amounts?: string): ByHand => ({
  rule: text,
  detail: amounts === undefined ? text : `${text}: ${amounts}`,
});

/** The part of a begun transfer that the policy has to know. */
interface Begun {
  createdAtMs: number;
  isAutomatic: boolean;
  /** undefined: not known now. */
  usd: number | undefined;
}

/**
 * Worth of the automatic transfers since `sinceMs`. `newest`: newest first, at most `cap`. undefined: not
 * known, because one has no price now, or because the cap may have cut some off.
 */
export function begunUsdSince(sinceMs: number, newest: readonly Begun[], cap: number): number | undefined {
  const recent = newest.filter(({ createdAtMs }) => createdAtMs > sinceMs);
  if (recent.length >= cap) return undefined;
  return recent
    .filter(({ isAutomatic }) => isAutomatic)
    .reduce<number | undefined>(
      (sum, { usd }) => (sum === undefined || usd === undefined ? undefined : sum + usd),
      0,
    );
}
