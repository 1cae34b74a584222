/**
 * Travel-rule messages appended to a file of our own, one JSON line each, on disk before it is said that they
 * are there: for a process that picks them up.
 */

import { open } from 'node:fs/promises';
import type { Transmitter } from '../../ports/stores/travel-rule.ts';

export function createFileTransmitter({ path }: { path: string }): Transmitter {
  let turn: Promise<unknown> = Promise.resolve();

  async function append(line: string): Promise<void> {
    const file = await open(path, 'a', 0o600);
    try {
      await file.writeFile(line);
      await file.datasync();
    } finally {
      await file.close();
    }
  }

  return {
    name: 'file',
    /** A line may be there twice after a crash: readers go by `idempotencyKey`. */
    async transmit(message, idempotencyKey) {
      const written = turn.then(() =>
        append(`{"idempotencyKey":${JSON.stringify(idempotencyKey)},"message":${message}}\n`),
      );
      turn = written.catch(() => {});
      await written;
      return { reference: null };
    },
  };
}
