/** Replicas of the venue, its queue and its streams. */

import type { Fault } from '../fault.ts';

export const VENUE_REPLICAS: readonly Fault[] = [];
