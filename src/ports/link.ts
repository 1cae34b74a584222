/** The LP's reconnecting connection to a venue. `protocol/link` defines the frames. */

export interface LinkListener {
  /** No state of an earlier connection applies. */
  opened(): void;
  /** In order; `waitedMs`: how long it was queued here. Must not throw. */
  frame(text: string, waitedMs: number): void;
  /** The link reconnects unless it was stopped. */
  closed(reason: string): void;
}

/** What the peer sends faster than this process handles it. */
export interface LinkLoad {
  /** Frames that wait for their turn. */
  waiting: number;
  /** Frames that waited when their connection ended, since the start. */
  dropped: number;
  /** How often the socket was not read because too many frames waited, since the start. */
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
