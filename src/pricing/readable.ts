/**
 * Tracks whether the answers of a price feed can be read: a feed that sends only unreadable messages is not
 * live.
 */

/** Reasons to refuse a message that could not be read, as opposed to one that was read and is wrong. */
const UNREADABLE: ReadonlySet<string> = new Set(['malformed', 'out_of_range']);

export const isUnreadable = (why: string): boolean => UNREADABLE.has(why);

export interface Readability {
  /** A connection was made: nothing is known of what it will say. */
  connected(): void;
  /** Records a message of this symbol that could be read. */
  delivered(symbol: string): void;
  /** Records a refused message. Without a symbol, the message may have been about any of them. */
  refused(why: string, symbol: string | null): void;
  /** false: since it was connected, or since its last price, the feed has said only what cannot be read. */
  yes(): boolean;
}

export function createReadable(): Readability {
  /** Symbols whose last message could be read. */
  const read = new Set<string>();
  let refused = false;
  return {
    connected() {
      read.clear();
      refused = false;
    },
    delivered(symbol) {
      read.add(symbol);
    },
    refused(why, symbol) {
      if (!isUnreadable(why)) return;
      refused = true;
      if (symbol === null) read.clear();
      else read.delete(symbol);
    },
    yes: () => !refused || read.size > 0,
  };
}
