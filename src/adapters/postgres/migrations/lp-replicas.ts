/** Shared state of an LP's replicas: who leads, and up to when each may have signed. */

import type { Migration } from '../migrate.ts';

export const LP_REPLICA_MIGRATIONS: readonly Migration[] = [
  {
    id: 'lp-8-replicas',
    sql: `
      -- The owner's row, while replicas share the LP: led_epoch is the epoch at which one of them took the lead. An epoch that is another
      -- one was raised by a process that runs the LP alone. shared_since: every promise since that epoch went through the shared inventory.
      alter table lp_owner
        add column led_epoch bigint,
        add column shared_since bigint,
        add column leader text,
        add column leads_until timestamptz;
      create table lp_replica_lease (
        replica text not null,
        chain_id bigint not null,
        signed_up_to bigint not null,
        primary key (replica, chain_id)
      );
    `,
  },
];
