/** Who may fill an order: its exclusive accounts, their commitments, and the route that the venue sealed. */

import type { SignedCommitment } from '../../domain/commitment.ts';
import { decodeContext, FULL_PORTION_BPS, type OutputContext } from '../../domain/context.ts';
import type { MandateOutput, StandardOrder } from '../../domain/order.ts';
import { type SealedRoute, zSealedRoute } from '../../protocol/api/router.ts';
import { decodeCommitments, parseSeal } from '../../protocol/seal-wire.ts';
import type { Candidate, ReadCandidate } from '../candidate.ts';
import { must } from './must.ts';

/**
 * Checks that each output is exclusive to one account for the order's whole life, that shares sum to the
 * whole, and that there is one fee.
 */
export function matchContexts({ executionMode }: ReadCandidate, order: StandardOrder): OutputContext[] {
  const contexts = order.outputs.map(({ context }) => {
    const decoded = decodeContext(context);
    must(decoded !== undefined, 'context', `The context ${context.slice(0, 20)}… is not a quote's.`);
    return decoded;
  });
  must(
    contexts.every(({ startTime }) => startTime === order.fillDeadline + 1),
    'exclusivity',
    'Another account could fill an output before the fill deadline.',
  );
  must(
    contexts.reduce((sum, { portionBps }) => sum + portionBps, 0) === FULL_PORTION_BPS &&
      contexts.every(({ portionBps }) => portionBps > 0),
    'context',
    "The outputs' shares do not sum to the whole input.",
  );
  must(
    new Set(contexts.map(({ feeBps }) => feeBps)).size === 1,
    'context',
    'The outputs name different platform fees.',
  );
  must(
    executionMode === 'apiSubmit' || contexts.every(({ relayFee }) => relayFee === 0n),
    'relay_fee',
    'The taker sends the transaction and would still pay a relay fee.',
  );
  return contexts;
}

/** Throws `DistrustError` when the slices shown are not those of the order. */
export function matchSplit(
  { splitFill, composite }: ReadCandidate,
  contexts: OutputContext[],
  outputs: readonly MandateOutput[],
): void {
  if (!splitFill)
    return must(
      outputs.length === 1 || (composite !== null && composite.legs.length >= outputs.length),
      'split',
      `The candidate shows none of the order's ${outputs.length} slices.`,
    );
  const same =
    splitFill.fills.length === outputs.length &&
    splitFill.fills.every(
      ({ portionBps, outputAmount }, index) =>
        portionBps === contexts[index]?.portionBps &&
        (outputAmount === undefined || outputAmount === outputs[index]?.amount.toString()),
    );
  must(same, 'split', "The slices shown are not the order's.");
}

/** Matches one commitment per output, by the account it is exclusive to, until the fill deadline. */
export function matchCommitments(
  { integrityChecksum }: ReadCandidate,
  order: StandardOrder,
  contexts: OutputContext[],
  route: SealedRoute | null,
): SignedCommitment[] {
  const commitments = decodeCommitments(parseSeal(integrityChecksum)?.commitments ?? '');
  if (route?.venue) {
    must(commitments?.length === 0, 'commitments', "A route venue's candidate has commitments of LPs.");
    must(
      !route.through || contexts.every(({ exclusiveFor }) => exclusiveFor === route.through?.filler),
      'exclusivity',
      `The order is not exclusive to its filler ${route.through?.filler}.`,
    );
    return [];
  }
  must(
    commitments !== undefined && commitments.length === order.outputs.length,
    'commitments',
    'The candidate lacks one LP commitment per output.',
  );
  commitments.forEach(({ lp, deadline }, index) => {
    must(
      lp === contexts[index]?.exclusiveFor,
      'exclusivity',
      `Output ${index} is exclusive to ${contexts[index]?.exclusiveFor} but committed by ${lp}.`,
    );
    must(
      deadline === order.fillDeadline,
      'clock_law',
      `The LP of output ${index} commits until ${deadline}, not until the fill deadline ${order.fillDeadline}.`,
    );
  });
  return commitments;
}

/** Reads the route that the venue sealed; null: none. Throws `DistrustError`. */
export function readSealedRoute(
  { integrityChecksum }: Candidate,
  namespace: 'rfq' | 'router',
): SealedRoute | null {
  const text = parseSeal(integrityChecksum)?.route ?? null;
  if (text === null) return null;
  const parsed = zSealedRoute.safeParse(jsonOf(text));
  must(
    parsed.success && (namespace === 'router' || isReferenceAlone(parsed.data)),
    'commitments',
    "The checksum's route is unexpected or unreadable.",
  );
  return parsed.data;
}

/**
 * Returns true for a reference alone, which is all that an RFQ candidate may carry beside its commitments.
 */
const isReferenceAlone = ({ venue, through, parent, next }: SealedRoute): boolean =>
  venue === null && through === null && parent === null && next === null;

function jsonOf(base64url: string): unknown {
  try {
    const bytes = Uint8Array.from(atob(base64url.replaceAll('-', '+').replaceAll('_', '/')), (letter) =>
      letter.charCodeAt(0),
    );
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}
