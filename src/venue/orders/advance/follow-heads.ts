/** Reads a chain after each new block; blocks during a reading share the next. */

import type { ChainPort } from '../../../ports/chain.ts';
import type { Log } from '../../../ports/log.ts';

export function followHeads(port: ChainPort, log: Log, read: () => Promise<void>) {
  let again = false;
  let stopped = false;
  let reading: Promise<void> | undefined;

  async function readNewest() {
    while (again && !stopped) {
      again = false;
      await read().catch((error: unknown) =>
        log.warn(
          { chain: port.chain.slug, error },
          'a block could not be processed; the next block tries again',
        ),
      );
    }
    reading = undefined;
  }

  function onHead() {
    again = true;
    reading ??= readNewest();
  }

  const unfollow = port.onHead(onHead);
  return {
    readNow: onHead,
    async stop() {
      stopped = true;
      unfollow();
      await reading;
    },
  };
}
