/** An LP that dies, and LPs of several replicas. */

import type { Fault } from '../fault.ts';

export const LP_REPLICAS: readonly Fault[] = [];
