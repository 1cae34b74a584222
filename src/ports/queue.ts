/**
 * Wake-up jobs. A job means "check this id again" and carries no truth. Delivery is at least once, possibly
 * late, possibly never (a sweep covers that).
 */

export interface Queue {
  /**
   * Wakes `id` on `topic` after a delay in ms. Repeated calls for one id may be merged. Throws
   * `UpstreamError` `queue_unavailable`.
   */
  wake(topic: string, id: string, delayMs?: number): Promise<void>;
  /**
   * Handles wake-ups of a topic, at most `concurrency` in parallel. A handler that throws is retried with
   * back-off.
   */
  process(topic: string, concurrency: number, handler: (id: string) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}
