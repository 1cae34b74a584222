/** Processes that die or stop. */

import type { Fault } from '../fault.ts';

export const CRASHES: readonly Fault[] = [];
