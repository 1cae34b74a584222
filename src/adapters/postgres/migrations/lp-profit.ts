/** Profit by time: the database writes down each change of the figures of a trade or position. */

import type { Migration } from '../migrate.ts';

/**
 * The columns of `lp_trade_figures`. `gross` less `fees` is the spread. All but the first two are millionths
 * of USD.
 */
const FIGURES = 'trades, late, volume, gross, fees, gas, lost, realised, mark_1, mark_10, mark_60';

const mark = (horizon: number): string =>
  `case when t.counted then coalesce(div(-t.paid_micros * round((t.marks -> '${horizon}' ->> 'bps')::numeric * 1000000), 10000000000), 0) else 0 end`;

export const LP_PROFIT_MIGRATIONS: readonly Migration[] = [
  {
    id: 'lp-11-profit-by-time',
    sql: `
      -- What each figure changed by, so that the figures of windows add up. Triggers write it: programs of the previous release do not know it.
      create table lp_profit (
        n bigint generated always as identity primary key,
        -- When its batch was booked, Unix ms; 0: before the database kept the time.
        at_ms bigint not null,
        -- Of a trade, or of a position.
        order_id bytea,
        asset text,
        trades int not null default 0,
        late int not null default 0,
        volume numeric(40) not null default 0,
        gross numeric(40) not null default 0,
        fees numeric(40) not null default 0,
        gas numeric(40) not null default 0,
        lost numeric(40) not null default 0,
        realised numeric(40) not null default 0,
        mark_1 numeric(40) not null default 0,
        mark_10 numeric(40) not null default 0,
        mark_60 numeric(40) not null default 0,
        unrealised numeric(40) not null default 0,
        owner numeric(40) not null default 0
      );
      create index lp_profit_at on lp_profit (at_ms);
      -- Value less cost when it was last valued; null: never yet.
      alter table lp_position add column unrealised_micros numeric(40);

      create function lp_booked_at() returns bigint language sql stable as $$ select (extract(epoch from now()) * 1000)::bigint $$;
      create function lp_trade_figures(t lp_trade) returns numeric[] language sql immutable as $$
        select array[
          t.counted::int,
          (t.counted and (t.late or t.marks @? '$.*.late ? (@ == true)'))::int,
          case when t.counted then t.paid_micros else 0 end,
          case when t.counted then t.earned_micros + t.fees_micros - t.paid_micros else 0 end,
          case when t.counted then t.fees_micros else 0 end,
          t.gas_micros,
          case when t.counted and t.stage = 'lost' then t.earned_micros else 0 end,
          case when t.counted then t.realised_micros else 0 end,
          ${[1, 10, 60].map(mark).join(',\n          ')}
        ]::numeric[]
      $$;
      create function lp_trade_profit() returns trigger language plpgsql as $$
      declare
        f numeric[] := lp_trade_figures(new);
        g numeric[] := array_fill(0::numeric, array[11]);
      begin
        if tg_op = 'UPDATE' then g := lp_trade_figures(old); end if;
        if f is distinct from g then
          insert into lp_profit (at_ms, order_id, ${FIGURES}) values (lp_booked_at(), new.order_id, ${Array.from({ length: 11 }, (_, n) => `f[${n + 1}] - g[${n + 1}]`).join(', ')});
        end if;
        return null;
      end $$;
      create function lp_position_profit() returns trigger language plpgsql as $$
      declare
        realised numeric := new.realised_micros;
        owner numeric := new.owner_micros;
        unrealised numeric := coalesce(new.unrealised_micros, 0);
      begin
        if tg_op = 'UPDATE' then
          realised := realised - old.realised_micros;
          owner := owner - old.owner_micros;
          if old.unrealised_micros is null then
            -- Gained while nobody valued it, so it is of no window.
            insert into lp_profit (at_ms, asset, unrealised) select 0, new.asset, unrealised where unrealised <> 0;
            unrealised := 0;
          else
            unrealised := unrealised - old.unrealised_micros;
          end if;
        end if;
        if realised <> 0 or owner <> 0 or unrealised <> 0 then
          insert into lp_profit (at_ms, asset, realised, owner, unrealised) values (lp_booked_at(), new.asset, realised, owner, unrealised);
        end if;
        return null;
      end $$;

      insert into lp_profit (at_ms, order_id, ${FIGURES})
        select 0, t.order_id, ${Array.from({ length: 11 }, (_, n) => `f[${n + 1}]`).join(', ')} from lp_trade t, lp_trade_figures(t) f where t.counted or t.gas_micros <> 0;
      insert into lp_profit (at_ms, asset, realised, owner)
        select 0, asset, realised_micros, owner_micros from lp_position;
      create trigger lp_trade_profit after insert or update on lp_trade for each row execute function lp_trade_profit();
      create trigger lp_position_profit after insert or update on lp_position for each row execute function lp_position_profit();
    `,
  },
];
