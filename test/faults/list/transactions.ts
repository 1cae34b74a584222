/** Transactions that do not go their way. */

import type { Fault } from '../fault.ts';

export const TRANSACTIONS: readonly Fault[] = [];
