/** Schema and migrations of an LP's database, shared with the command line. */

import type { Migration } from '../../adapters/postgres/migrate.ts';
import { LP_MIGRATIONS } from '../../adapters/postgres/migrations/lp.ts';
import { TRANSFER_MIGRATIONS } from '../../adapters/postgres/migrations/transfers.ts';
import { TRANSACTION_MIGRATIONS } from '../../adapters/postgres/migrations/transactions.ts';

export const LP_SCHEMA = 'lp';
export const LP_TABLES: readonly Migration[] = [
  ...LP_MIGRATIONS,
  ...TRANSACTION_MIGRATIONS,
  ...TRANSFER_MIGRATIONS,
];
