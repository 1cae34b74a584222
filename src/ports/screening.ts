/** Screening of addresses. The result is stored with the order. */

import type { Address } from '../domain/hex.ts';

/** `unknown`: the provider did not answer and the venue then does not trade. */
type ScreeningDecision = 'allowed' | 'denied' | 'unknown';

/** Never reveals which list entry matched. */
const SCREENING_REASONS = ['listed', 'not_listed', 'unavailable', 'unavailable_let_through'] as const;
type ScreeningReason = (typeof SCREENING_REASONS)[number];

export interface ScreeningCheck {
  provider: string;
  listVersion: string | null;
  decision: ScreeningDecision;
  reason: ScreeningReason;
  /** Unix ms of the provider's answer, cached or not. */
  atMs: number;
}

export interface Screener {
  readonly provider: string;
  /** Answers within its own deadline and never rejects. */
  screen(address: Address): Promise<ScreeningCheck>;
}

export interface ScreenedParty {
  address: Address;
  /** `not_screened`: the venue runs without a screener. */
  decision: ScreeningDecision | 'not_screened';
  checks: readonly ScreeningCheck[];
}

/** A receiver that is also the taker is screened once. */
export interface Screened {
  decision: ScreenedParty['decision'];
  taker: ScreenedParty;
  receiver: ScreenedParty;
}
