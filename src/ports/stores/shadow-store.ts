/** What a shadow LP saw and would have quoted, so that its report survives a restart. */

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
  /** Of the shadow quote, in base units; the other figures of the quote are null without one as well. */
  input: bigint | null;
  output: bigint | null;
  spreadBps: number | null;
  /** Millionths of USD at the mid of the quote. `earned` is after fees and gas, rounded down. */
  volumeMicros: bigint | null;
  earnedMicros: bigint | null;
  /** By the win-rate curve that priced it. */
  winProbability: number | null;
  /** Quote tokens for one base token. */
  mid: number | null;
  /** Base units at which the taker accepted another quote; null: none that the venue told of. */
  acceptedInput: bigint | null;
  acceptedOutput: bigint | null;
  /** In bps, positive when the mid moved against the LP; null: not measured. */
  mark1: number | null;
  mark10: number | null;
  mark60: number | null;
}

/** All throw `UpstreamError` when the database does not answer. */
export interface ShadowStore {
  /** Inserts or replaces by `rfqId`, all or none. */
  put(requests: readonly ShadowRequest[]): Promise<void>;
  /** At most the newest `limit` of the window, `untilMs` excluded, oldest first. */
  list(window: { sinceMs: number; untilMs: number | null }, limit: number): Promise<ShadowRequest[]>;
  /** Deletes all but the newest. */
  keep(newest: number): Promise<void>;
}
