/** Reads a candidate of either namespace into one shape; null where a namespace lacks a field. */

import type { QuoteCandidate } from '../protocol/api/candidate.ts';
import type { Composite, Leg, RouterCandidate, SealedRoute } from '../protocol/api/router.ts';
import { DistrustError } from './errors.ts';

export type Candidate = QuoteCandidate | RouterCandidate;

export interface ReadCandidate extends RouterCandidate {
  splitFill: NonNullable<QuoteCandidate['splitFill']> | null;
  validity: NonNullable<QuoteCandidate['validity']> | null;
  composite: Composite | null;
  sequential: boolean;
}

export function shownBy(
  candidate: Candidate,
  route: Pick<SealedRoute, 'next' | 'parent'> | null,
  input: string,
): ReadCandidate {
  const { splitFill = null, validity = null } = candidate as Partial<QuoteCandidate>;
  const { composite = null } = candidate as Partial<RouterCandidate>;
  return {
    ...candidate,
    splitFill,
    validity,
    composite:
      composite && route?.parent ? { ...composite, legs: legsFrom(composite.legs, input) } : composite,
    sequential: route?.next != null,
  };
}

function legsFrom(legs: readonly Leg[], input: string): Leg[] {
  const done = legs.findIndex((leg) => leg.input.asset === input);
  return legs
    .slice(Math.max(done, 0))
    .map((leg, index) => ({
      ...leg,
      index,
      dependsOn: leg.dependsOn.filter((other) => other >= done).map((other) => other - done),
    }));
}

/**
 * Throws "composite" unless the legs lead from input to output. `enforced`: by the escrow, of all outputs
 * or of the first leg of a sequential route.
 */
export function matchLegs(
  shown: ReadCandidate,
  {
    input,
    output,
    inputAmount,
    enforced,
  }: { input: string; output: string; inputAmount: bigint; enforced: bigint },
): void {
  const { composite, preview, sequential } = shown;
  if (!composite) return;
  const { legs } = composite;
  const must = (holds: boolean, what: string): void => {
    if (!holds) throw new DistrustError('composite', `The legs are not those of this trade: ${what}.`);
  };
  must(sequential ? legs.length > 1 : legs.length > 0, 'there are too few');
  must(
    legs.every(
      ({ index, dependsOn }, at) => index === at && dependsOn.every((other) => other < at && other >= 0),
    ),
    'their order makes no sense',
  );
  const first = legs.filter(({ dependsOn }) => dependsOn.length === 0);
  const last = legs.filter(({ index }) => !legs.some(({ dependsOn }) => dependsOn.includes(index)));
  must(
    first.every((leg) => leg.input.asset === input) && last.every((leg) => leg.output.asset === output),
    'they begin or end with another asset',
  );
  must(
    legs.every((leg) => leg.dependsOn.every((other) => legs[other]?.output.asset === leg.input.asset)),
    'one does not take what the one before it gives',
  );
  must(legs.every(hasPossibleFees), 'a fee is in another asset, or more than the leg moves');
  must(sum(first.map((leg) => leg.input.amount)) === inputAmount, 'they take another amount than the order');
  must(
    sum(last.map((leg) => leg.output.amount)) === BigInt(preview.outputs[0]?.amount ?? '0'),
    'they give another amount than the preview shows',
  );
  const floors = (sequential ? legs.slice(0, 1) : last).map((leg) => leg.output.minimumAmount);
  must(
    floors.every((floor) => floor !== null) && sum(floors as string[]) === enforced,
    'they promise another minimum than the escrow enforces',
  );
}

/**
 * Returns true when each fee is in the input or output of the leg, and those of the input are no more than
 * goes in.
 */
const hasPossibleFees = ({ fees, input, output }: Leg): boolean =>
  (fees ?? []).every(
    ({ asset, amount }) =>
      AMOUNT.test(amount) &&
      (asset === output.asset || (asset === input.asset && BigInt(amount) <= BigInt(input.amount))),
  );

const AMOUNT = /^[0-9]{1,78}$/;

const sum = (amounts: readonly string[]): bigint =>
  amounts.reduce((total, amount) => total + (AMOUNT.test(amount) ? BigInt(amount) : 0n), 0n);
