/**
 * A class that extends String, such as ioredis has one, makes V8 keep String.prototype as a dictionary, and
 * from then on every `length` and `charCodeAt` of the process is looked up there: reading an order id takes
 * six times as long. V8 makes a prototype fast again when a property is read through it of an object, and no
 * longer slow when the next such class comes; texts are no objects, so it takes one that is.
 */

const WRAPPED = Object('firmquote') as string;
/** V8 looks at what a place in the code reads once that has run for a little while. */
const TIMES = 1_000;

/** For whoever imports such a library, after it. */
export function keepStringsFast(): void {
  for (let left = TIMES; left > 0; left -= 1) read(WRAPPED);
}

const read = (text: string): number => text.charCodeAt(0) + text.length;
