/**
 * Very many bigints by number, without an object for each: two words of a typed array, which a collector of
 * memory does not look into. What needs more room is kept as it is.
 */

export interface BigintRows {
  get(at: number): bigint | undefined;
  set(at: number, value: bigint | undefined): void;
}

const WORD = 64n;
const WIDEST_WORD = 2n ** 64n;
const WIDEST = 2n ** 128n;
const ABSENT = 0;
const HERE = 1;
const WIDE = 2;

export function createBigintRows(rows: number): BigintRows {
  /** Low and high. */
  const words = new BigUint64Array(2 * rows);
  const kinds = new Uint8Array(rows);
  /** Negative ones, and those of more than 128 bits. */
  const wide = new Map<number, bigint>();

  return {
    get(at) {
      if (kinds[at] === ABSENT) return undefined;
      if (kinds[at] === WIDE) return wide.get(at);
      const [low, high] = [words[2 * at] as bigint, words[2 * at + 1] as bigint];
      return high === 0n ? low : (high << WORD) | low;
    },
    set(at, value) {
      if (kinds[at] === WIDE) wide.delete(at);
      if (value === undefined) {
        kinds[at] = ABSENT;
      } else if (value < 0n || value >= WIDEST) {
        kinds[at] = WIDE;
        wide.set(at, value);
      } else {
        kinds[at] = HERE;
        // A store keeps the low 64 bits.
        words[2 * at] = value;
        words[2 * at + 1] = value < WIDEST_WORD ? 0n : value >> WORD;
      }
    },
  };
}
