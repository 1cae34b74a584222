/** Every fault that is tested, in the order of its number. */

import type { Fault } from './fault.ts';
import { CHAIN } from './list/chain.ts';
import { CRASHES } from './list/crashes.ts';
import { DATA } from './list/data.ts';
import { LOAD } from './list/load.ts';
import { LP_REPLICAS } from './list/lp-replicas.ts';
import { MARKET } from './list/market.ts';
import { TRANSACTIONS } from './list/transactions.ts';
import { TRANSFERS } from './list/transfers.ts';
import { VENUE_REPLICAS } from './list/venue-replicas.ts';

const LISTS: readonly (readonly Fault[])[] = [
  CRASHES,
  CHAIN,
  TRANSACTIONS,
  VENUE_REPLICAS,
  LP_REPLICAS,
  DATA,
  LOAD,
  MARKET,
  TRANSFERS,
];

export const FAULTS: readonly Fault[] = LISTS.flat().toSorted(
  (a, b) => Number(a.id.slice(1)) - Number(b.id.slice(1)),
);
