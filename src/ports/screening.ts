/**
 * Whether the venue may serve an address: somebody's list says so, and what it said is kept with the order.
 */

import type { Address } from '../domain/hex.ts';

/** `unknown`: the one who knows could not be asked, and its owner chose not to trade without an answer. */
export type ScreeningDecision = 'allowed' | 'denied' | 'unknown';

/** Never says which entry of a list matched. */
export const SCREENING_REASONS = ['listed', 'not_listed', 'unavailable', 'unavailable_let_through'] as const;
export type ScreeningReason = (typeof SCREENING_REASONS)[number];

/** One answer of one provider about one address. */
export interface ScreeningCheck {
  provider: string;
  /** Which edition of the list was asked; null: the provider names none. */
  listVersion: string | null;
  decision: ScreeningDecision;
  reason: ScreeningReason;
  /** When the provider answered; an answer out of a cache keeps its own time. */
  atMs: number;
}

export interface Screener {
  /** As records name it. */
  readonly provider: string;
  /** Answers within the screener's own deadline and never rejects. */
  screen(address: Address): Promise<ScreeningCheck>;
}

export interface ScreenedParty {
  address: Address;
  /** `not_screened`: the venue runs without any screener. */
  decision: ScreeningDecision | 'not_screened';
  checks: readonly ScreeningCheck[];
}

/** Both ends of a trade; a receiver that is the taker was asked about once. */
export interface Screened {
  decision: ScreenedParty['decision'];
  taker: ScreenedParty;
  receiver: ScreenedParty;
}
