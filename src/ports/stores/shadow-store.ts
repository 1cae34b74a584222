/**
 * Stores the requests that a shadow LP saw and the quotes that it would have given, so that its report
 * survives a restart.
 */

export interface ShadowRequest {
  rfqId: string;
  atMs: number;
  /** null: of no pair that this LP has. */
  pair: string | null;
  /** The LP would buy or sell the base; null without a pair. */
  side: 'buy' | 'sell' | null;
  /** The amount that the request fixes. */
  fixes: 'exactInput' | 'exactOutput';
  /** Reason of the decline; null for a shadow quote. */
  declined: string | null;
  /** The control that declined, if one did. */
  control: string | null;
  /** The input of the shadow quote, in base units. All figures of the quote are null without one. */
  input: bigint | null;
  output: bigint | null;
  spreadBps: number | null;
  /** Millionths of USD at the mid of the quote. `earned` is after fees and gas, rounded down. */
  volumeMicros: bigint | null;
  earnedMicros: bigint | null;
  /** The probability by the win-rate curve that priced the quote. */
  winProbability: number | null;
  /** Quote tokens for one base token. */
  mid: number | null;
  /** Base units at which the taker accepted another quote; null: none that the venue told of. */
  acceptedInput: bigint | null;
  acceptedOutput: bigint | null;
  /** The mid's move in bps, positive when it went against the LP; null: not measured. */
  mark1: number | null;
  mark10: number | null;
  mark60: number | null;
}

/** All throw `UpstreamError` when the database does not answer. */
export interface ShadowStore {
  /** Inserts or replaces by `rfqId`, all or none. */
  put(requests: readonly ShadowRequest[]): Promise<void>;
  /** Returns at most the newest `limit` requests of the window, `untilMs` excluded, oldest first. */
  list(window: { sinceMs: number; untilMs: number | null }, limit: number): Promise<ShadowRequest[]>;
  /** Deletes all but the newest. */
  keep(newest: number): Promise<void>;
}
