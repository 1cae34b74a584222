/** Prices, clocks, attesters and keys. */

import type { Fault } from '../fault.ts';

export const MARKET: readonly Fault[] = [];
