/** The database and its disk. */

import type { Fault } from '../fault.ts';

export const DATA: readonly Fault[] = [];
