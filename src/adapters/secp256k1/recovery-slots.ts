/**
 * The memory that the thread which recovers signers shares with whoever asks it: counters, and slots taken by
 * turns.
 */

/**
 * As many as may wait at once; a power of two, so that the counters may run over. Whoever has more to ask has
 * as much time as the thread.
 */
export const SLOTS = 64;

/**
 * Places of the counters. ASKED is written by whoever asks, ANSWERED by the thread, each after the bytes it
 * speaks of; READY is 1 once the thread can be asked.
 */
export const [ASKED, ANSWERED, READY] = [0, 1, 2] as const;

export interface Slot {
  /** 32 bytes. */
  digest: Uint8Array;
  /** 65 bytes, of which the first `length[0]` count. */
  signature: Uint8Array;
  length: Uint8Array;
  /** 20 bytes, when `found[0]` is 1. */
  signer: Uint8Array;
  found: Uint8Array;
}

export interface Slots {
  counters: Int32Array<SharedArrayBuffer>;
  /** The slot of the question with this count. */
  at(count: number): Slot;
}

const HEAD_BYTES = 64;
const SLOT_BYTES = 128;

export const newMemory = (): SharedArrayBuffer => new SharedArrayBuffer(HEAD_BYTES + SLOTS * SLOT_BYTES);

export function openSlots(memory: SharedArrayBuffer): Slots {
  const slots = Array.from({ length: SLOTS }, (_, n): Slot => {
    const part = (at: number, length: number) =>
      new Uint8Array(memory, HEAD_BYTES + n * SLOT_BYTES + at, length);
    return {
      digest: part(0, 32),
      signature: part(32, 65),
      length: part(97, 1),
      signer: part(98, 20),
      found: part(118, 1),
    };
  });
  return { counters: new Int32Array(memory, 0, 3), at: (count) => slots[count & (SLOTS - 1)] as Slot };
}
