/** Decides the next step of an award from chain state alone. */

import type { UnixSeconds } from '../../domain/time.ts';
import type { EscrowStatus } from '../../ports/chain.ts';

export interface AwardView {
  sameChain: boolean;
  fillDeadline: UnixSeconds;
  expires: UnixSeconds;
  origin: {
    /** The order's status on its origin escrow, final. */
    status: EscrowStatus;
    now: UnixSeconds;
    /** Timestamp of the block at which `status` was read. */
    finalTime: UnixSeconds;
  };
  dest: { now: UnixSeconds; finalTime: UnixSeconds };
  fill: 'none' | 'shallow' | 'final';
  proven: boolean;
  /** Time that a fill needs to land, and that attestation and claim need before `expires`. */
  fillMarginSeconds: number;
  claimSeconds: number;
}

export type AwardStep =
  | { do: 'wait'; why: string }
  | { do: 'fill' }
  | { do: 'prove' }
  | { do: 'claim' }
  /** The award has ended. `lost`: delivered without payment; `faded`: a promise was not kept. */
  | { do: 'end'; why: string; lost?: true; faded?: true };

export function nextStep(view: AwardView): AwardStep {
  const { origin, fillDeadline } = view;
  if (origin.status === 'refunded')
    return { do: 'end', why: 'refunded to the taker', ...(view.fill === 'none' ? {} : { lost: true }) };
  if (origin.status === 'claimed') return { do: 'wait', why: 'settled, its events are on their way' };
  if (view.sameChain)
    return view.fill === 'none' && origin.finalTime > fillDeadline
      ? { do: 'end', why: 'never settled' }
      : { do: 'wait', why: 'settles in one transaction' };
  if (origin.status === 'none' && view.fill === 'none') {
    return origin.finalTime > fillDeadline
      ? { do: 'end', why: 'never opened' }
      : { do: 'wait', why: 'not open at depth' };
  }
  return view.fill === 'none' ? beforeFill(view) : afterFill(view);
}

function beforeFill(view: AwardView): AwardStep {
  const { dest, origin, fillDeadline, expires } = view;
  if (dest.finalTime > fillDeadline) return { do: 'end', why: 'not filled in time', faded: true };
  if (dest.now + view.fillMarginSeconds > fillDeadline) return { do: 'wait', why: 'too late to fill' };
  // A delivery without time to prove and claim would be a gift.
  if (origin.now + view.claimSeconds > expires || dest.now + view.claimSeconds > expires)
    return { do: 'wait', why: 'too little time to prove and claim' };
  return { do: 'fill' };
}

function afterFill(view: AwardView): AwardStep {
  if (view.fill === 'shallow') return { do: 'wait', why: 'fill not at depth' };
  return view.proven ? { do: 'claim' } : { do: 'prove' };
}
