/** Time as an argument, so that tests can control it. */

export interface Clock {
  /** Unix milliseconds. May jump. Where the contract enforces a time, use chain time. */
  nowMs(): number;
  /** Milliseconds, never decreasing; for durations only. */
  monotonicMs(): number;
  /** Calls back once after a delay. Returns a cancel function. */
  after(delayMs: number, callback: () => void): () => void;
}
