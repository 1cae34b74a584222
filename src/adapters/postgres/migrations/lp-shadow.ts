/** Creates the table of what a shadow LP saw. Only the schema of the shadow mode has it. */

import type { Migration } from '../migrate.ts';

export const LP_SHADOW_MIGRATIONS: readonly Migration[] = [
  {
    id: 'lp-shadow-1-requests',
    sql: `
      create table lp_shadow_request (
        rfq_id text primary key,
        at_ms bigint not null,
        pair text,
        side text,
        fixes text not null,
        declined text,
        control text,
        input numeric(78),
        output numeric(78),
        spread_bps int,
        volume_micros numeric(40),
        earned_micros numeric(40),
        win_probability double precision,
        mid double precision,
        accepted_input numeric(78),
        accepted_output numeric(78),
        mark1 double precision,
        mark10 double precision,
        mark60 double precision
      );
      create index lp_shadow_request_at on lp_shadow_request (at_ms desc, rfq_id);
    `,
  },
];
