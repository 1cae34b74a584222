/** Time as an argument: the shells ask this clock, so that tests can play time. */

export interface Clock {
  /** Unix milliseconds. May jump; chain time decides whatever the chain enforces. */
  nowMs(): number;
  /** Never jumps backwards; for durations only. */
  monotonicMs(): number;
  /** Calls back once after a delay. Returns how to cancel it. */
  after(delayMs: number, callback: () => void): () => void;
}
