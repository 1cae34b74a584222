/** Allows one slot per key over all signers of a chain, and slots with several keys (bundles). */

import type { Migration } from '../migrate.ts';

export const TX_LANE_MIGRATIONS: readonly Migration[] = [
  {
    id: 'tx-002-lanes',
    sql: `
-- The newest slot of each key, in whichever lane it is; n: its place in the slot's bundle.
create table tx_key (
  chain_id bigint not null,
  key text not null,
  slot_id bigint not null references tx_slot on delete cascade,
  n int not null,
  primary key (chain_id, key)
);
create index tx_key_slot on tx_key (slot_id, n);
insert into tx_key (chain_id, key, slot_id, n) select chain_id, key, max(id), 0 from tx_slot group by chain_id, key;
`,
  },
];
