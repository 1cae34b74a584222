/** What time it is on a chain, as far as we know it. */

import { toSeconds, type UnixSeconds } from '../../domain/time.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Clock } from '../../ports/clock.ts';

/** A node's head may be old, and our clock may be behind it: whichever is later. */
export const chainNow = (clock: Clock, port: ChainPort | undefined): UnixSeconds =>
  Math.max(toSeconds(clock.nowMs()), port?.head()?.timestamp ?? 0);
