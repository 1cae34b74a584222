/** Ports for a whole demo: others may run processes on this machine. */

import { assertPortsFree, PORTS } from '../../src/apps/demo/layout.ts';

/** The first block of ports from here on that nobody uses. */
export async function freeBlock(from: number): Promise<number> {
  const block = Array.from({ length: PORTS }, (_, index) => from + index);
  const free = await assertPortsFree(block, 0).then(
    () => true,
    () => false,
  );
  return free ? from : freeBlock(from + PORTS);
}
