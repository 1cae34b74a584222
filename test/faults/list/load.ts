/** More than there is room for. */

import type { Fault } from '../fault.ts';

export const LOAD: readonly Fault[] = [];
