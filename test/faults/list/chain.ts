/** Nodes that lie and chains that turn back. */

import type { Fault } from '../fault.ts';

export const CHAIN: readonly Fault[] = [];
