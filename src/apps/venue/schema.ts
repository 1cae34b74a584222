/** The venue's tables; the command line opens them too. */

import type { Migration } from '../../adapters/postgres/migrate.ts';
import { TRANSACTION_MIGRATIONS } from '../../adapters/postgres/migrations/transactions.ts';
import { VENUE_MIGRATIONS } from '../../adapters/postgres/migrations/venue.ts';

export const VENUE_SCHEMA = 'venue';
export const VENUE_TABLES: readonly Migration[] = [...VENUE_MIGRATIONS, ...TRANSACTION_MIGRATIONS];
