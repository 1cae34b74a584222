/** The LP's reconnecting connection to a venue. `protocol/link` defines the frames. */

export interface LinkListener {
  /** No state of an earlier connection applies. */
  opened(): void;
  /** Receives frames in order. `waitedMs`: how long the frame was queued here. Must not throw. */
  frame(text: string, waitedMs: number): void;
  /** The link reconnects unless it was stopped. */
  closed(reason: string): void;
}

/** Counts the frames that the peer sends faster than this process handles them. */
export interface LinkLoad {
  /** The frames that are queued. */
  waiting: number;
  /** Frames that waited when their connection ended, since the start. */
  dropped: number;
  /**
   * The number of times since the start that the socket was not read, because too many frames were queued.
   */
  pauses: number;
}

export interface Link {
  readonly name: string;
  /** The only id that this venue may name: our proof is for that venue. Absent: any. */
  readonly venueId?: string | undefined;
  /** Returns immediately. Call once. */
  start(listener: LinkListener): void;
  /** false while disconnected: the frame is dropped, because a late answer is worthless. */
  send(frame: string): boolean;
  reconnect(reason: string): void;
  load(): LinkLoad;
  stop(): Promise<void>;
}
