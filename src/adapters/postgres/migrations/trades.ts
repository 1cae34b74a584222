/** Tables of trade history: rows derived from orders and facts, their counts, and gas. */

import type { Migration } from '../migrate.ts';

export const TRADE_MIGRATIONS: readonly Migration[] = [
  {
    id: 'venue-trades-1-history',
    sql: `
-- A workspace's trades of one mode. What follows names it by a number, because every index begins with it.
create table trade_book (
  id int generated always as identity primary key,
  workspace_id text not null,
  mode text not null,
  -- Trades in trade_count, and how many of them there were when its buckets were last drawn.
  counted bigint not null default 0,
  drawn bigint not null default 0,
  unique (workspace_id, mode)
);

-- One combination of everything that trades are grouped by and that never changes.
create table trade_family (
  id int generated always as identity primary key,
  book int not null references trade_book,
  source_chain bigint not null,
  dest_chain bigint not null,
  lp text not null,
  member text not null,
  kind text not null,
  unique (book, source_chain, dest_chain, lp, member, kind)
);

create table trade (
  order_id bytea primary key references trade_order,
  book int not null,
  -- family * 8 + stage
  cell int not null,
  created_at_ms bigint not null,
  -- -1: none. Numbers without a gap keep one index good for both directions.
  amount double precision not null,
  speed_ms bigint not null,
  terms json not null,
  state json not null
) with (fillfactor = 80);
create index trade_created on trade (book, created_at_ms, order_id) include (cell, amount);
create index trade_amount on trade (book, amount, created_at_ms, order_id) include (cell);
create index trade_speed on trade (book, speed_ms, created_at_ms, order_id) include (cell, amount);
create index trade_id on trade (book, order_id) include (cell, created_at_ms, amount);
create index trade_cell on trade (cell, created_at_ms, order_id) include (amount);
alter table trade set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02);

-- Trades that are not in trade_count yet: all open ones, and those that ended since the last fold.
create table trade_fresh (
  book int not null,
  order_id bytea not null references trade_order,
  primary key (book, order_id)
);

-- How many ended trades there are: sort 0 by cell alone, 1 to 4 by bucket of that sort's value. cell -1: every cell; -2 - stage: every cell of it.
create table trade_count (
  book int not null,
  sort smallint not null,
  cell int not null,
  bucket smallint not null,
  n bigint not null,
  primary key (book, sort, cell, bucket)
) with (fillfactor = 70);

-- Where a bucket begins; the first has no beginning.
create table trade_fence (
  book int not null,
  sort smallint not null,
  bucket smallint not null,
  low double precision not null,
  primary key (book, sort, bucket)
);

-- What was paid for each transaction of an order: observed once, never derived again.
create table order_gas (
  order_id bytea not null references trade_order,
  chain_id bigint not null,
  tx_hash bytea not null,
  due_at_ms bigint not null,
  gas_used numeric(78),
  fee_wei numeric(78),
  native_usd double precision,
  captured_at_ms bigint,
  primary key (order_id, chain_id, tx_hash)
);
create index order_gas_due on order_gas (due_at_ms) where gas_used is null;
`,
  },
  {
    id: 'venue-trades-2-covering',
    sql: `
-- Whatever a page is sorted by is in the index that finds its trades.
drop index trade_created, trade_amount, trade_cell;
create index trade_created on trade (book, created_at_ms, order_id) include (cell, amount, speed_ms);
create index trade_amount on trade (book, amount, created_at_ms, order_id) include (cell, speed_ms);
create index trade_cell on trade (cell, created_at_ms, order_id) include (amount, speed_ms);
-- Rises with every change of the counts, so that whoever has read them knows whether they still hold.
alter table trade_book add column version bigint not null default 0;
`,
  },
  {
    id: 'venue-trades-3-stage-sums',
    sql: `
-- Sums over whole stages are kept too, so what was counted without them is counted again.
delete from trade_count;
delete from trade_fence;
update trade_book set counted = 0, drawn = 0, version = version + 1;
insert into trade_fresh (book, order_id) select book, order_id from trade on conflict do nothing;
`,
  },
  {
    id: 'venue-trades-4-covering-counts',
    sql: `
-- A deep page of a filter sums some 10,000 counts: from the index alone that reads 500 pages instead of 16,000.
alter table trade_count drop constraint trade_count_pkey, add primary key (book, sort, cell, bucket) include (n);
alter table trade_count set (autovacuum_vacuum_scale_factor = 0.02);
`,
  },
  {
    id: 'venue-trades-5-positions',
    sql: `
-- In which order trades were created and last changed, for clients that synchronise. A position is given only once the trade or the change is there for all to see.
create table trade_position (
  order_id bytea primary key,
  book int not null,
  -- Given once, with the first position.
  created bigint,
  -- null: the trade has changed and has no position for that yet.
  changed bigint
) with (fillfactor = 80);
alter table trade_book add column positions bigint not null default 0;
-- A trigger, so that no writer can forget it, replicas of the previous release included.
create function trade_has_changed() returns trigger language plpgsql as $$
begin
  insert into trade_position (order_id, book) values (new.order_id, new.book) on conflict (order_id) do update set changed = null;
  return null;
end $$;
create trigger trade_added after insert on trade for each row execute function trade_has_changed();
create trigger trade_moved after update on trade for each row
  when (old.cell <> new.cell or old.created_at_ms <> new.created_at_ms or old.amount <> new.amount or old.speed_ms <> new.speed_ms
    or old.terms::text <> new.terms::text or old.state::text <> new.state::text)
  execute function trade_has_changed();
-- Behind the trigger, whose creation has waited for all writers: no trade is left out.
insert into trade_position (order_id, book, created, changed)
  select order_id, book, n, n from (select order_id, book, row_number() over (partition by book order by created_at_ms, order_id) as n from trade) t;
update trade_book b set positions = (select count(*) from trade_position p where p.book = b.id);
create unique index trade_position_created on trade_position (book, created);
create unique index trade_position_changed on trade_position (book, changed);
create index trade_position_due on trade_position (book) where changed is null;
`,
  },
];
