/**
 * Keeps reading of strings fast in a process that imports ioredis. One of its classes extends String. V8 then
 * stores String.prototype as a dictionary, and each `length` and `charCodeAt` in the process searches it: a
 * venue answers about a fifth fewer quotes (`npm run bench -- venue`).
 */

/** A String object: V8 optimises a prototype that objects are read through, and plain strings are none. */
const OBJECT = Object('firmquote') as string;
/** Enough for V8 to start optimising the place that reads. */
const READS = 1_000;

const read = (text: string): number => text.charCodeAt(0) + text.length;

/** Call it after the import. The effect lasts as long as the process. */
export function keepStringsFast(): void {
  for (let left = READS; left > 0; left -= 1) read(OBJECT);
}
