/**
 * A queue in which keys take turns: no key waits longer because another asks more. Requests of one key start
 * in order of age. Beyond a burst, a key's line may hold only as much as starts within a target time (the
 * rule of CoDel: Nichols and Jacobson, "Controlling Queue Delay", 2012), so what would wait too long is
 * refused at once, and what waits is served. Time comes from the caller.
 */

/** A line that has not been empty for so long is no burst. */
const BURST_MS = 100;
/** The weight of the newest gap between two starts in their mean. */
const NEWEST = 0.05;
const BIN_MS = 20;
/** The share of what could start that is promised to those who come back. */
const PROMISED = 0.8;
const MOST_RETRY_SECONDS = 30;

/** The waiting requests of one key. A line exists while something waits in it. */
interface Line<T> {
  readonly keyId: string;
  readonly sinceMs: number;
  /** The oldest first. */
  readonly waiting: T[];
  /** The refused requests that were told to come back, by the time in which they come. */
  readonly booked: Map<number, number>;
}

export interface FairQueue<T> {
  /**
   * Returns the seconds after which to ask again when the key's line is full, and books that; undefined when
   * there is room.
   */
  refuse(keyId: string, nowMs: number): number | undefined;
  /** Adds a request at the end of its key's line. */
  enter(keyId: string, item: T, nowMs: number): void;
  /** Takes out the oldest request of the key whose turn it is, among keys that may start one. */
  next(nowMs: number, mayStart: (keyId: string) => boolean): T | undefined;
  /** Takes a request out that waits no longer. */
  remove(keyId: string, item: T): void;
  size(): number;
}

interface FairQueueOptions {
  /** How long a request may wait, once the line is no burst. */
  targetMs: number;
  /** A line may hold so much however slowly it moves: what starts together. */
  leastHeld: number;
}

export function createFairQueue<T>({ targetMs, leastHeld }: FairQueueOptions): FairQueue<T> {
  /** In the order of their turns. */
  const lines = new Map<string, Line<T>>();
  let size = 0;
  /** The mean time between two starts while something waited. */
  let msPerStart = 0;
  /** When the last request started, if something has waited ever since. */
  let lastStartMs: number | undefined;

  function left(line: Line<T>): void {
    size -= 1;
    if (line.waiting.length === 0) lines.delete(line.keyId);
    if (size === 0) lastStartMs = undefined;
  }

  /** The time of one turn of every key. */
  const msPerTurn = (): number => msPerStart * Math.max(1, lines.size);

  const isFull = ({ sinceMs, waiting }: Line<T>, nowMs: number): boolean =>
    nowMs - sinceMs > BURST_MS && waiting.length >= Math.max(leastHeld, targetMs / msPerTurn());

  /** Books the first second after which what comes back still fits. */
  function book({ booked }: Line<T>, nowMs: number): number {
    const bin = Math.floor(nowMs / BIN_MS);
    const most = Math.max(1, Math.floor((PROMISED * BIN_MS) / msPerTurn()));
    if (booked.size > (2 * MOST_RETRY_SECONDS * 1_000) / BIN_MS)
      for (const passed of booked.keys()) if (passed < bin) booked.delete(passed);
    for (let seconds = 1; seconds < MOST_RETRY_SECONDS; seconds += 1) {
      const then = bin + (seconds * 1_000) / BIN_MS;
      const others = booked.get(then) ?? 0;
      if (others >= most) continue;
      booked.set(then, others + 1);
      return seconds;
    }
    return MOST_RETRY_SECONDS;
  }

  return {
    refuse(keyId, nowMs) {
      const line = lines.get(keyId);
      return line && isFull(line, nowMs) ? book(line, nowMs) : undefined;
    },
    enter(keyId, item, nowMs) {
      let line = lines.get(keyId);
      if (!line) lines.set(keyId, (line = { keyId, sinceMs: nowMs, waiting: [], booked: new Map() }));
      line.waiting.push(item);
      size += 1;
    },
    next(nowMs, mayStart) {
      for (const line of lines.values()) {
        if (!mayStart(line.keyId)) continue;
        const first = line.waiting.shift() as T;
        if (lastStartMs !== undefined) msPerStart += NEWEST * (nowMs - lastStartMs - msPerStart);
        lastStartMs = nowMs;
        // Its next turn comes after all others.
        lines.delete(line.keyId);
        lines.set(line.keyId, line);
        left(line);
        return first;
      }
      return undefined;
    },
    remove(keyId, item) {
      const line = lines.get(keyId);
      const at = line?.waiting.indexOf(item) ?? -1;
      if (!line || at < 0) return;
      line.waiting.splice(at, 1);
      left(line);
    },
    size: () => size,
  };
}
