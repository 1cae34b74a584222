/** First in, first out, for very many: a plain array moves all of its rest for each that is taken from its front. */

export interface Queue<T> {
  push(thing: T): void;
  first(): T | undefined;
  /** Takes the first away. */
  take(): void;
  readonly size: number;
}

/** Of this many things at once; no list that is larger has ever to be copied. */
const CHUNK = 1_024;

export function createQueue<T>(): Queue<T> {
  const chunks: T[][] = [];
  let taken = 0;
  let size = 0;
  return {
    push(thing) {
      const last = chunks.at(-1);
      if (last === undefined || last.length === CHUNK) chunks.push([thing]);
      else last.push(thing);
      size += 1;
    },
    first: () => chunks[0]?.[taken],
    take() {
      if (size === 0) return;
      taken += 1;
      size -= 1;
      if (taken < CHUNK && size > 0) return;
      chunks.shift();
      taken = 0;
    },
    get size() {
      return size;
    },
  };
}
