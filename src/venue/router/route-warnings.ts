/** Warnings that say which legs of a candidate are firm, and what holds for the others. */

import { formatTokens } from '../../domain/amount.ts';
import { type Chain, tokenOf } from '../../domain/chain.ts';
import { toIso } from '../../domain/time.ts';
import { WARNINGS } from '../../protocol/api/candidate.ts';
import type { RouterTerms } from '../../protocol/api/router.ts';
import type { RouteCandidate } from './gather.ts';
import type { RouteLeg } from './source.ts';

/** `before`: number of legs that are already delivered; leg numbers count them. */
export function routeWarnings(
  { first, legs, before }: Pick<RouteCandidate, 'first' | 'legs'> & { before: number },
  chains: readonly Chain[],
): RouterTerms['warnings'] {
  const count = first.legs.length;
  const own = named(legs.slice(0, count), before);
  const later = named(legs.slice(count), before + count);
  const last = first.legs.at(-1);
  const { expires, fillDeadline } = first.order;
  const committed = first.settledBy === null || first.settledBy.through !== null;
  const estimated = last !== undefined && first.minimumOutput < last.output.amount;
  const warnings: RouterTerms['warnings'] = [];
  if (later !== '')
    warnings.push({
      code: WARNINGS.laterLegNotFirm,
      message: `Only ${own} is ${committed && !estimated ? 'firm' : 'agreed now'}. ${upper(later)} is an estimate: it is quoted afresh, as an order of its own, when ${own} has been delivered to your own wallet.`,
    });
  if (!committed)
    warnings.push({
      code: WARNINGS.legNotCommitted,
      message: `${upper(own)} has a fixed amount, but no LP's signature and balance stand behind it. If nothing is delivered by ${at(fillDeadline)}, the input is refunded from ${at(expires + 1)} on.`,
    });
  if (estimated)
    warnings.push({
      code: WARNINGS.legEstimated,
      message: `The amount of ${own} is an estimate at the present price. The escrow accepts no delivery below ${amountOf(first.minimumOutput, last, chains)}.`,
    });
  return warnings;
}

const at = (seconds: number): string => toIso(seconds * 1_000);
const upper = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/** Names legs, such as "leg 0 (dex, uniswap-v2)". */
const named = (legs: readonly RouteLeg[], from: number): string =>
  legs.map(({ kind, solverId }, index) => `leg ${from + index} (${kind}, ${solverId})`).join(' with ');

function amountOf(amount: bigint, { output: { asset } }: RouteLeg, chains: readonly Chain[]): string {
  const chain = chains.find(({ id }) => id === asset.chainId);
  const token = chain && tokenOf(chain, asset.token);
  return token ? formatTokens(amount, token) : `${amount} base units`;
}
