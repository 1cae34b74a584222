/**
 * The LP's pipe to a venue: whole text frames over a connection that comes back by itself. What the frames
 * mean is `protocol/link`.
 */

export interface LinkListener {
  /** Connected anew: nothing of an earlier connection's conversation holds. */
  opened(): void;
  /** One text frame, in order, which has waited here so many milliseconds since it came. Must not throw. */
  frame(text: string, waitedMs: number): void;
  /** The connection is gone; the next attempt follows by itself unless the link was stopped. */
  closed(reason: string): void;
}

export interface Link {
  /** Which venue it leads to: a short name for logs and metrics. */
  readonly name: string;
  /** Starts dialling; returns at once. Once per link. */
  start(listener: LinkListener): void;
  /** false, and nothing is sent, while there is no connection: a late answer is worth nothing. */
  send(frame: string): boolean;
  /** Drops the connection (a dead peer, a refused handshake) and dials again after the back-off. */
  reconnect(reason: string): void;
  /** Closes for good, after what was sent has left. */
  stop(): Promise<void>;
}
