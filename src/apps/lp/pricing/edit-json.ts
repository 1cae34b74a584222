/**
 * Replaces one value in JSON text and leaves every other character, so that a person's file stays theirs.
 * jsonc-parser would replace 40 of these lines by a package of 276 kB; of a name given twice it edits the
 * first, where `JSON.parse` reads the last.
 */

import { isDeepStrictEqual } from 'node:util';
import { InvariantError } from '../../../domain/errors.ts';

type Path = readonly (string | number)[];

interface Range {
  start: number;
  end: number;
}

/** The value at `path` must exist. `text` must be JSON. */
export function withValueAt(text: string, path: Path, value: unknown): string {
  const range = rangeOf(text, path);
  const wanted = JSON.parse(text) as unknown;
  if (range !== undefined) {
    put(wanted, path, value);
    const next = text.slice(0, range.start) + written(text, range, value) + text.slice(range.end);
    if (isDeepStrictEqual(JSON.parse(next), wanted)) return next;
  }
  throw new InvariantError(`The text of ${path.join('.')} was not found in the JSON.`);
}

/**
 * Writes the value on one line where the old one is, else two spaces deep from the line on which that starts.
 */
function written(text: string, { start, end }: Range, value: unknown): string {
  const json = JSON.stringify(value, null, 2);
  if (!text.slice(start, end).includes('\n')) return json.replaceAll(/\n */g, ' ');
  const line = text.slice(text.lastIndexOf('\n', start) + 1, start);
  return json.replaceAll('\n', `\n${/^\s*/.exec(line)?.[0] ?? ''}`);
}

function put(json: unknown, path: Path, value: unknown): void {
  const last = path.at(-1);
  const holder = path.slice(0, -1).reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], json);
  if (last !== undefined) (holder as Record<string | number, unknown>)[last] = value;
}

/** Finds where the value at `path` stands. Of a name given twice the last counts, as for `JSON.parse`. */
function rangeOf(text: string, wanted: Path): Range | undefined {
  let found: Range | undefined;
  let at = 0;
  const skipBlanks = () => {
    while (/\s/.test(text[at] ?? '')) at += 1;
  };
  const readString = (): string => {
    const start = at;
    at += 1;
    while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
    at += 1;
    return JSON.parse(text.slice(start, at)) as string;
  };
  const readItems = (close: string, readItem: (index: number) => void) => {
    at += 1;
    skipBlanks();
    for (let index = 0; at < text.length && text[at] !== close; index += 1) {
      readItem(index);
      skipBlanks();
      if (text[at] === ',') at += 1;
      skipBlanks();
    }
    at += 1;
  };
  function readValue(path: Path): void {
    skipBlanks();
    const start = at;
    if (text[at] === '{')
      readItems('}', () => {
        const name = readString();
        skipBlanks();
        at += 1;
        readValue([...path, name]);
      });
    else if (text[at] === '[') readItems(']', (index) => readValue([...path, index]));
    else if (text[at] === '"') readString();
    else while (at < text.length && !/[\s,\]}]/.test(text[at] ?? '')) at += 1;
    if (isDeepStrictEqual(path, wanted)) found = { start, end: at };
  }
  readValue([]);
  return found;
}
