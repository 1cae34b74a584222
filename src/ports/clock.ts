/** Time as an argument, so that tests can control it. */

export interface Clock {
  /** Returns Unix ms, which may jump. Where the contract enforces a time, use chain time. */
  nowMs(): number;
  /** Returns a time that never decreases, in milliseconds; for durations only. */
  monotonicMs(): number;
  after(delayMs: number, callback: () => void): () => void;
}
