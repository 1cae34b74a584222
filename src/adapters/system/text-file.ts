/** Reads text that other people's editors and systems wrote, or says exactly what is odd about it. */

import { readFile } from 'node:fs/promises';
import { RequestError } from '../../domain/errors.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Rejects with the error of the file system, or with `OddTextError`. */
export async function readTextFile(path: string): Promise<string> {
  return decodeText(await readFile(path), path);
}

/** Decodes UTF-8, with or without a byte order mark. `name` is what the bytes are, for `OddTextError`. */
export function decodeText(bytes: Uint8Array, name: string): string {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff))
    throw new OddTextError(name, 'is UTF-16, as Notepad\'s "Unicode" and PowerShell\'s > write it');
  const nul = bytes.indexOf(0);
  if (nul !== -1)
    throw new OddTextError(name, `has a NUL as byte ${nul + 1}: it is UTF-16 without a mark, or not text`);
  try {
    return utf8.decode(bytes);
  } catch {
    // Without the byte itself: the text may be a secret.
    throw new OddTextError(
      name,
      `is not UTF-8: byte ${firstBroken(bytes) + 1} is not part of a character, as in a Windows or Latin-1 encoding`,
    );
  }
}

/** Index of the first byte that is not part of a whole UTF-8 character. */
function firstBroken(bytes: Uint8Array): number {
  const lenient = new TextDecoder('utf-8', { ignoreBOM: true });
  const replaced = lenient.decode(bytes);
  const whole = Buffer.from(replaced, 'utf8');
  const differs = whole.findIndex((byte, at) => byte !== bytes[at]);
  return differs === -1 ? bytes.length - 1 : differs;
}

export class OddTextError extends RequestError {
  /** The same sentence without the name. */
  readonly what: string;

  constructor(name: string, what: string) {
    super(`${name} ${what}. Save it as UTF-8.`, { code: 'odd_text' });
    this.what = `${what}. Save it as UTF-8.`;
  }
}
