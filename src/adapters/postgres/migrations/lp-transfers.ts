/** Transfers between chains in the books: what each moved and cost, and when each figure was booked. */

import type { Migration } from '../migrate.ts';

export const LP_TRANSFER_MIGRATIONS: readonly Migration[] = [
  {
    id: 'lp-14-transfers',
    sql: `
      create table lp_transfer (
        id text primary key,
        asset text not null,
        from_chain text not null,
        to_chain text not null,
        bridge text not null,
        stage text not null,
        departed numeric(78) not null,
        ended numeric(78) not null,
        departed_at_ms bigint,
        ended_at_ms bigint,
        moved_micros numeric(40) not null,
        fee_micros numeric(40) not null,
        gas_micros numeric(40) not null
      );
      -- A change of a transfer is a row of profit with its figures in \`trades\`, \`volume\`, \`fees\` and \`gas\`.
      alter table lp_profit add column transfer_id text, add column under_way_ms bigint not null default 0;
      create index lp_profit_transfer on lp_profit (transfer_id) where transfer_id is not null;
      create function lp_transfer_figures(t lp_transfer) returns numeric[] language sql immutable as $$
        select case when t.ended_at_ms is null
          then array[0, 0, t.fee_micros, t.gas_micros, 0]
          else array[1, t.moved_micros, t.fee_micros, t.gas_micros, greatest(0, t.ended_at_ms - coalesce(t.departed_at_ms, t.ended_at_ms))]
        end::numeric[]
      $$;
      create function lp_transfer_profit() returns trigger language plpgsql as $$
      declare
        f numeric[] := lp_transfer_figures(new);
        g numeric[] := array_fill(0::numeric, array[5]);
      begin
        if tg_op = 'UPDATE' then g := lp_transfer_figures(old); end if;
        if f is distinct from g then
          insert into lp_profit (at_ms, transfer_id, trades, volume, fees, gas, under_way_ms)
            values (lp_booked_at(), new.id, f[1] - g[1], f[2] - g[2], f[3] - g[3], f[4] - g[4], f[5] - g[5]);
        end if;
        return null;
      end $$;
      create trigger lp_transfer_profit after insert or update on lp_transfer for each row execute function lp_transfer_profit();
    `,
  },
];
