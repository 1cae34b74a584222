/** Appends travel-rule messages to a file, one JSON line each, synced to disk. */

import { open } from 'node:fs/promises';
import type { Transmitter } from '../../ports/stores/travel-rule.ts';
import { requireTrustedPath } from '../system/trusted-path.ts';

export function createFileTransmitter({ path }: { path: string }): Transmitter {
  let turn: Promise<unknown> = Promise.resolve();

  async function append(line: string): Promise<void> {
    await requireTrustedPath(path);
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
    /** After a crash a line may appear twice: readers deduplicate by `idempotencyKey`. */
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
