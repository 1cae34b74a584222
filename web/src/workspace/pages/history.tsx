/** The workspace's trades: filters, totals, one trade in full, and the same trades as CSV. */

import { Badge, Button, Callout, DataList, Text, TextField } from '@radix-ui/themes';
import { useMutation, useQueries, useQuery } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import type { TradeItem } from '../../../../src/protocol/api/trades/trades.ts';
import { dateTime, number, short } from '../../format.ts';
import { download } from '../../parts/download.ts';
import { Section } from '../../parts/section.tsx';
import { RowsTable, type Sorted } from '../../parts/table.tsx';
import { type Access, type Daily, exportTrades, readDaily, readSetup, readTrades } from '../api.ts';
import { useRead } from '../live.ts';
import { Choice } from '../parts/choice.tsx';
import { legText } from '../parts/leg.ts';
import { TONES } from '../parts/tone.ts';
import { mayManage, useSession } from '../session.ts';
import { Dossier } from './dossier.tsx';

const PAGE = 100;
const STATUSES = [
  ['all', 'all'],
  ['pending', 'pending'],
  ['settled', 'settled'],
  ['failed', 'failed'],
  ['refunded', 'refunded'],
] as const;
const ANY = {
  status: 'all',
  corridor: '',
  lp: '',
  member: '',
  from: '',
  to: '',
  minAmountUsd: '',
  maxAmountUsd: '',
};

export function HistoryPage() {
  const { workspace } = useSession();
  return workspace === undefined ? null : <History access={workspace} />;
}

function History({ access }: { access: Access }) {
  const [fields, setFields] = useState(ANY);
  const [sorted, setSorted] = useState<Sorted>({ by: 'created_at', down: true });
  const [range, setRange] = useState({ from: 0, until: PAGE });
  const [opened, setOpened] = useState<string>();
  const seen = useCallback((from: number, until: number) => setRange({ from, until }), []);
  const { data: setup } = useQuery({ queryKey: ['setup'], queryFn: readSetup, staleTime: Infinity });
  const { from, to, ...rest } = fields;
  const kept: Record<string, string> = { ...rest, createdAfter: timeOf(from), createdBefore: timeOf(to) };
  const filter: Record<string, string> = {
    ...kept,
    sort: sorted.by,
    direction: sorted.down ? 'desc' : 'asc',
  };

  const first = useRead(['trades', filter, 0], () => readTrades(access, filter, 0, PAGE), { keep: true });
  const totals = useRead(['daily', kept], () => readDaily(access, kept));
  /** The table keeps its height, and its rows wait, while another filter or order is read. */
  const total = first.data?.total ?? 0;
  const wanted = pagesOf(range, total);
  const pages = useQueries({
    queries: wanted.map((page) => ({
      queryKey: ['trades', filter, page],
      queryFn: () => readTrades(access, filter, page * PAGE, PAGE),
      meta: { streamed: true },
    })),
  });
  const rowAt = (index: number): TradeItem | undefined => {
    if (first.isOther) return undefined;
    const page = Math.floor(index / PAGE);
    const items = page === 0 ? first.data?.items : pages[wanted.indexOf(page)]?.data?.items;
    return items?.[index % PAGE];
  };

  const exported = useMutation({
    mutationFn: () => exportTrades(access, filter),
    onSuccess: (blob) => download('trades.csv', blob),
  });
  const change = (name: keyof typeof ANY) => (value: string) => setFields({ ...fields, [name]: value });
  const text = (name: keyof typeof ANY, label: string, type: 'text' | 'number' | 'date' = 'text') => (
    <Text as="label" size="2">
      {label}
      <TextField.Root
        mt="1"
        type={type}
        value={fields[name]}
        onChange={(event) => change(name)(event.target.value)}
      />
    </Text>
  );
  const corridors = (setup?.chains ?? []).flatMap((a) =>
    (setup?.chains ?? []).map((b) => [`${a.slug}-${b.slug}`, `${a.slug} to ${b.slug}`] as const),
  );

  const refused = first.data === undefined && first.error !== null;
  const note =
    first.isOther || first.data === undefined
      ? 'Reading …'
      : `${number(total)} trades match. Open one for its timeline.`;

  return (
    <>
      <Section
        title="History"
        live={first}
        {...(refused ? {} : { note })}
        actions={
          <Button
            variant="soft"
            className="rt-high-contrast"
            loading={exported.isPending}
            onClick={() => exported.mutate()}
          >
            Export CSV
          </Button>
        }
        controls={
          <>
            <div className="filters">
              <Choice label="Status" value={fields.status} options={STATUSES} onChange={change('status')} />
              <Choice
                label="Corridor"
                value={fields.corridor}
                options={[['', 'all'], ...corridors]}
                onChange={change('corridor')}
              />
              {text('lp', 'LP')}
              {mayManage(access.holder) && text('member', 'Member')}
              {text('from', 'From', 'date')}
              {text('to', 'Until', 'date')}
              {text('minAmountUsd', 'Least USD', 'number')}
              {text('maxAmountUsd', 'Most USD', 'number')}
              <Button variant="ghost" color="gray" onClick={() => setFields(ANY)}>
                Clear
              </Button>
            </div>
            {exported.error !== null && (
              <Callout.Root color="red" size="1" mb="2" role="alert">
                <Callout.Text>{exported.error.message}</Callout.Text>
              </Callout.Root>
            )}
          </>
        }
      >
        <RowsTable
          label="Trades"
          total={total}
          rowAt={rowAt}
          onRange={seen}
          keyOf={({ orderId }) => orderId}
          open={({ orderId }) => setOpened(orderId)}
          sorted={sorted}
          onSort={(by) => setSorted({ by, down: sorted.by === by ? !sorted.down : true })}
          empty="No trade matches."
          columns={[
            { name: 'Order', sort: 'order_id', show: ({ orderId }) => short(orderId) },
            { name: 'Time', sort: 'created_at', show: ({ createdAt }) => dateTime(Date.parse(createdAt)) },
            {
              name: 'Status',
              sort: 'settlement_status',
              show: ({ lifecycleStatus: { primary } }) => (
                <Badge className="rt-high-contrast" color={TONES[primary.tone]}>
                  {primary.label}
                </Badge>
              ),
            },
            {
              name: 'Corridor',
              sort: 'corridor',
              show: ({ sourceChain, destChain }) => `${sourceChain}-${destChain}`,
            },
            { name: 'Gives', end: true, show: ({ route }) => legText(route.input) },
            { name: 'Gets', end: true, show: ({ route }) => legText(route.output) },
            {
              name: 'USD',
              sort: 'amount_usd',
              end: true,
              show: ({ amountUsd }) => (amountUsd === null ? '' : `$${number(amountUsd)}`),
            },
            { name: 'LP', sort: 'lp_name', show: ({ lpName }) => lpName },
            {
              name: 'Settled in',
              sort: 'settlement_speed_ms',
              end: true,
              show: ({ settlementSpeedMs: ms }) => (ms === null ? '' : `${number(ms / 1_000, 1)} s`),
            },
            ...(mayManage(access.holder)
              ? [
                  {
                    name: 'Member',
                    sort: 'member',
                    show: ({ member }: TradeItem) => (member ? `${member.firstName} ${member.lastName}` : ''),
                  },
                ]
              : []),
          ]}
        />
      </Section>
      <Section
        title="Totals"
        live={totals}
        note={
          totals.data === undefined
            ? 'By status, for the same filters.'
            : `By status, for the same filters, from ${dateTime(Date.parse(totals.data.from))} to ${dateTime(Date.parse(totals.data.to))}.`
        }
      >
        {totals.data && <Totals days={totals.data.items} />}
      </Section>
      <Dossier
        access={access}
        orderId={opened}
        explorers={new Map(setup?.chains.map(({ id, explorer }) => [id, explorer]))}
        close={() => setOpened(undefined)}
      />
    </>
  );
}

function Totals({ days }: { days: Daily['items'] }) {
  const sum = (of: (day: Daily['items'][number]) => number) => days.reduce((all, day) => all + of(day), 0);
  const unpriced = sum(({ withoutUsd }) => withoutUsd);
  return (
    <DataList.Root size="2">
      {(['pending', 'settled', 'failed', 'refunded'] as const).map((status) => (
        <DataList.Item key={status}>
          <DataList.Label minWidth="100px">{status}</DataList.Label>
          <DataList.Value>
            {number(sum(({ trades }) => trades[status]))} trades, $
            {number(sum(({ amountUsd }) => amountUsd[status]))}
          </DataList.Value>
        </DataList.Item>
      ))}
      {unpriced > 0 && (
        <DataList.Item>
          <DataList.Label minWidth="100px">without a price</DataList.Label>
          <DataList.Value>{number(unpriced)} trades, which the sums in USD leave out</DataList.Value>
        </DataList.Item>
      )}
    </DataList.Root>
  );
}

/** Lists every page but the first, which is always read. */
function pagesOf({ from, until }: { from: number; until: number }, total: number): number[] {
  const [first, last] = [Math.floor(from / PAGE), Math.floor((Math.min(until, total) - 1) / PAGE)];
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index).filter(
    (page) => page > 0,
  );
}

/** The start of a day where the reader is. */
const timeOf = (day: string): string => (day === '' ? '' : new Date(`${day}T00:00:00`).toISOString());
