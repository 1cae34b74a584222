/** Cryptographic randomness, drawn in pages because a system call per nonce shows on the hot path. */

import { randomFillSync } from 'node:crypto';
import type { Random } from '../../ports/random.ts';

const page = Buffer.alloc(4096);
let used = page.length;

export const systemRandom: Random = {
  bytes32() {
    if (used === page.length) {
      randomFillSync(page);
      used = 0;
    }
    const bytes = page.toString('hex', used, used + 32);
    // Must not stay in memory.
    page.fill(0, used, used + 32);
    used += 32;
    return `0x${bytes}`;
  },
};
