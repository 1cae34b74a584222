/**
 * The LP's connection to a venue: whole text frames over a connection that reconnects. `protocol/link`
 * defines the frames.
 */

export interface LinkListener {
  /** A new connection: no state of an earlier one applies. */
  opened(): void;
  /** One text frame, in order; `waitedMs` is how long it was queued here. Must not throw. */
  frame(text: string, waitedMs: number): void;
  /** The connection is gone. The link reconnects unless it was stopped. */
  closed(reason: string): void;
}

export interface Link {
  /** Short name of the venue, for logs and metrics. */
  readonly name: string;
  /** Starts connecting and returns immediately. Call once per link. */
  start(listener: LinkListener): void;
  /** Returns false and drops the frame while disconnected, because a late answer is worthless. */
  send(frame: string): boolean;
  /** Drops the connection and connects again after the back-off. */
  reconnect(reason: string): void;
  /** Closes permanently after pending frames are sent. */
  stop(): Promise<void>;
}
