/** Explains why there are no quotes, and what the taker can change. */

import { formatTokens } from '../../domain/amount.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { ProductUnavailable, UnavailableCode } from '../../protocol/api/quote.ts';
import type { Declined } from './fan-out.ts';

interface SizeUnit {
  decimals: number;
  symbol: string;
}

export function unavailable(
  code: UnavailableCode,
  message: string,
  corridor: string | null,
): ProductUnavailable {
  return { code, message, corridor };
}

export function whyNoQuotes(
  declines: readonly Declined[],
  { asked, invalid, corridor, unit }: { asked: number; invalid: number; corridor: string; unit: SizeUnit },
): ProductUnavailable {
  const of = (...reasons: Declined['reason'][]) => declines.filter(({ reason }) => reasons.includes(reason));
  const tooLarge = of('size_above_max', 'no_inventory', 'limit').filter(
    ({ reason, maxAmount }) =>
      reason === 'size_above_max' || (maxAmount !== null && (reason === 'no_inventory' || maxAmount > 0n)),
  );
  if (tooLarge.length > 0) {
    const most = tooLarge.reduce(
      (best, { maxAmount }) => ((maxAmount ?? 0n) > best ? (maxAmount ?? 0n) : best),
      0n,
    );
    const hint = most > 0n ? ` The most that would pass now is ${formatTokens(most, unit)}.` : '';
    return unavailable('amount_too_large', `No solver takes this much at once.${hint}`, corridor);
  }
  const tooSmall = of('size_below_min');
  if (tooSmall.length > 0) {
    const least = tooSmall.reduce<bigint | null>(
      (best, { minAmount }) => (minAmount !== null && (best === null || minAmount < best) ? minAmount : best),
      null,
    );
    const hint =
      least === null ? ' Ask for more.' : ` The least that would pass now is ${formatTokens(least, unit)}.`;
    return unavailable(
      'amount_too_small',
      `The amount does not cover the cost of settling it.${hint}`,
      corridor,
    );
  }
  if (of('validity').length > 0)
    return unavailable(
      'validity_unavailable',
      'No solver keeps a price firm for that long. Ask with an earlier minValidUntil.',
      corridor,
    );
  const silent = asked - declines.length - invalid;
  return unavailable(
    'no_quotes',
    `${asked} ${asked === 1 ? 'solver was' : 'solvers were'} asked: ${declines.length} declined, ${Math.max(0, silent)} did not answer in time. Try again shortly.`,
    corridor,
  );
}

/** An LP could take its money or its bond away before such a quote ends. */
export const backedTooBriefly = (until: UnixSeconds, corridor: string): ProductUnavailable =>
  unavailable(
    'validity_unavailable',
    `The money behind a quote is sure to stay for one that is valid until ${until} at most. Ask with an earlier minValidUntil, or with none.`,
    corridor,
  );

/** Other requests took what was offered. */
export const promisedMeanwhile = (corridor: string): ProductUnavailable =>
  unavailable(
    'no_quotes',
    'What the solvers offered has just been promised to others. Ask again, or for less.',
    corridor,
  );
