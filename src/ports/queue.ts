/**
 * Wake-ups: a job says "look at this again", never what is true. At least once, maybe late, maybe never (a
 * sweep covers that).
 */

export interface Queue {
  /** Wakes `id` on `topic` after a delay. Asking twice for the same id may wake once. */
  wake(topic: string, id: string, delayMs?: number): Promise<void>;
  /**
   * Handles the wake-ups of a topic, `concurrency` at once. A handler that throws is called again later, with
   * back-off.
   */
  process(topic: string, concurrency: number, handler: (id: string) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}
