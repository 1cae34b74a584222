/** Wake-up jobs, delivered at least once, possibly late or never; a sweep covers that. */

export interface Queue {
  /** Repeated calls for one id may be merged. Throws `UpstreamError` `queue_unavailable`. */
  wake(topic: string, id: string, delayMs?: number): Promise<void>;
  /** A handler that throws is retried with back-off. */
  process(topic: string, concurrency: number, handler: (id: string) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

/** The depth of one topic when this process last read it. */
export interface QueueDepth {
  topic: string;
  waiting: number;
  active: number;
  delayed: number;
  /** Given up after every try. */
  failed: number;
  oldestDueSeconds: number;
}
