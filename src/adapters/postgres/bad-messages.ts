/**
 * A message that `pg` cannot read breaks its connection. `pg` alone throws it out of the socket's listener,
 * which ends the process.
 */

import type { Socket } from 'node:net';
import pg from 'pg';

interface Reader {
  attachListeners(stream: { on(event: string, listener: (data: Buffer) => void): unknown }): void;
}

/** Guards every connection of the process, BullMQ's included. */
export function containBadMessages(): void {
  const reader = pg.Connection.prototype as unknown as Reader;
  const attach = reader.attachListeners;
  reader.attachListeners = function (this: Reader, stream: Socket) {
    attach.call(this, {
      on: (event: string, listener: (data: Buffer) => void) =>
        stream.on(event, (data: Buffer) => {
          try {
            listener(data);
          } catch (error) {
            stream.destroy(error as Error);
          }
        }),
    });
  };
}
