/** Writes the files that a simulation leaves. */

import { writeFile } from 'node:fs/promises';
import { badRequest } from '../../wiring/bad-request.ts';

/** Throws `RequestError` when the file cannot be written. */
export async function save(file: string, text: string): Promise<void> {
  await writeFile(file, text).catch((cause: unknown) => {
    throw badRequest(
      `${file} cannot be written: ${cause instanceof Error ? cause.message : String(cause)}.`,
      cause,
    );
  });
}
