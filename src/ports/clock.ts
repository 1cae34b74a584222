/** Time as an argument, so that tests can control it. */

export interface Clock {
  /** Unix ms; may jump. Where the contract enforces a time, use chain time. */
  nowMs(): number;
  /** Never decreases; for durations only. */
  monotonicMs(): number;
  after(delayMs: number, callback: () => void): () => void;
}
