/** The current time of a chain. */

import { toSeconds, type UnixSeconds } from '../../domain/time.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Clock } from '../../ports/clock.ts';

/** The block may be old, and our clock may be slow. */
export const chainNow = (clock: Clock, port: ChainPort | undefined): UnixSeconds =>
  Math.max(toSeconds(clock.nowMs()), port?.head()?.timestamp ?? 0);
