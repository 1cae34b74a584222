/** Recordings of a stream: lines of `<receive time in ns> <message as sent>`, plain or gzipped. */

import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { UpstreamError } from '../../domain/errors.ts';

interface RecordedLine {
  atMs: number | undefined;
  text: string;
}

const LINE = /^([0-9]{13,19}) (.+)$/;

/** Messages that arrive together may be written in another order; more is a clock that was set back. */
const REORDERED_MS = 1_000;

export const isClockStep = (beforeMs: number, atMs: number): boolean => atMs < beforeMs - REORDERED_MS;

/** Writes one line of a recording. Line breaks in JSON lie between its tokens. */
export const recordedLine = (atMs: number, text: string): string =>
  `${BigInt(Math.round(atMs * 1_000)) * 1_000n} ${text.replace(/[\r\n]+/g, ' ')}\n`;

/** Reads a recording in constant memory. Throws `UpstreamError` when the file cannot be read to its end. */
export async function* readRecording(path: string): AsyncGenerator<RecordedLine> {
  const file = createReadStream(path);
  const plain = path.endsWith('.gz') ? file.pipe(createGunzip()) : file;
  let broken: { cause: unknown } | undefined;
  const fail = (cause: unknown) => {
    broken ??= { cause };
    plain.destroy();
  };
  file.on('error', fail);
  plain.on('error', fail);
  const lines = createInterface({ input: plain, crlfDelay: Number.POSITIVE_INFINITY });
  try {
    for await (const line of lines) {
      if (line === '') continue;
      const match = LINE.exec(line);
      yield match === null
        ? { atMs: undefined, text: line }
        : { atMs: Number(BigInt(match[1] as string) / 1_000n) / 1_000, text: match[2] as string };
    }
  } catch (cause) {
    broken ??= { cause };
  } finally {
    lines.close();
    file.destroy();
  }
  if (broken !== undefined)
    throw new UpstreamError('The recording could not be read to its end.', {
      code: 'recording',
      retry: 'never',
      facts: { path },
      cause: broken.cause,
    });
}
