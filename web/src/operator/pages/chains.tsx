/**
 * Shows what the venue sends with: chains, relayer accounts, the queue of wake-ups, and limits on callers.
 */

import { Badge, DataList } from '@radix-ui/themes';
import type { ChainRow, QueueRow } from '../../../../src/protocol/admin/operations.ts';
import { age, number, short, tokens } from '../../format.ts';
import { Grid } from '../../parts/grid.tsx';
import { Section } from '../../parts/section.tsx';
import { useAdmin } from '../api.ts';

export function ChainsPage() {
  const live = useAdmin('/chains');
  const queues = useAdmin('/queues');
  const limits = useAdmin('/limits');
  const workspaces = useAdmin('/workspaces');
  const chains = live.data?.chains ?? [];
  const relayers = chains.flatMap((chain) =>
    (chain.relayers ?? []).map((each) => ({ ...each, slug: chain.slug })),
  );
  return (
    <>
      <Section title="Chains and queues" note="As the process that serves this page sees them." live={live}>
        <Grid
          label="Chains"
          rows={chains}
          keyOf={({ slug }) => slug}
          empty="No chain is configured."
          columns={[
            { name: 'Chain', show: ({ slug }) => slug, value: ({ slug }) => slug },
            { name: 'State', show: (chain) => <State bad={chainIssue(chain)} />, value: chainIssue },
            {
              name: 'Newest block',
              end: true,
              show: ({ head }) => head ?? 'none',
              value: ({ head }) => Number(head),
            },
            {
              name: 'Seen before',
              end: true,
              show: ({ headAgeSeconds }) => (headAgeSeconds === null ? 'never' : age(headAgeSeconds * 1_000)),
              value: ({ headAgeSeconds }) => headAgeSeconds ?? Infinity,
            },
            {
              name: 'Open orders',
              end: true,
              show: ({ openOrders }) => openOrders,
              value: ({ openOrders }) => openOrders,
            },
          ]}
        />
      </Section>
      <Section title="Relayers" note="Low: gas for fewer than 20 more transactions." live={live}>
        <Grid
          label="Relayers"
          rows={relayers}
          keyOf={({ slug, address }) => `${slug} ${address}`}
          empty="No relayer account is known, or its chain does not answer."
          columns={[
            { name: 'Chain', show: ({ slug }) => slug, value: ({ slug }) => slug },
            { name: 'Account', show: ({ address }) => short(address), value: ({ address }) => address },
            {
              name: 'Gas',
              show: ({ low }) => <State bad={low ? 'low: top it up' : ''} />,
              value: ({ low }) => (low ? 'low' : 'good'),
            },
            {
              name: 'Balance',
              end: true,
              show: ({ balanceWei }) => tokens(balanceWei, 18),
              value: ({ balanceWei }) => Number(balanceWei),
            },
            {
              name: 'Transactions left',
              end: true,
              show: ({ transactionsLeft }) =>
                transactionsLeft >= 10_000 ? '10,000 or more' : number(transactionsLeft),
              value: ({ transactionsLeft }) => transactionsLeft,
            },
            {
              name: 'Not mined yet',
              end: true,
              show: ({ openTransactions, oldestOpenSeconds }) =>
                oldestOpenSeconds === null
                  ? '0'
                  : `${openTransactions}, the first for ${age(oldestOpenSeconds * 1_000)}`,
              value: ({ openTransactions }) => openTransactions,
            },
          ]}
        />
      </Section>
      <Section
        title="Queue"
        note="Wake-ups of orders and webhooks. A lost one costs time only."
        live={queues}
      >
        <Grid
          label="Queue"
          rows={queues.data?.queues ?? []}
          keyOf={({ topic }) => topic}
          empty="This process has used no queue yet, or the queue's server does not answer."
          columns={[
            { name: 'Topic', show: ({ topic }) => topic, value: ({ topic }) => topic },
            {
              name: 'State',
              show: ({ behind }) => <State bad={behind ? 'behind: add workers' : ''} />,
              value: ({ behind }) => (behind ? 'behind' : 'good'),
            },
            ...(['waiting', 'active', 'delayed', 'failed'] as const).map((name) => ({
              name: `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`,
              end: true,
              show: (row: QueueRow) => row[name],
              value: (row: QueueRow) => row[name],
            })),
            {
              name: 'First due for',
              end: true,
              show: ({ oldestDueSeconds }) => age(oldestDueSeconds * 1_000),
              value: ({ oldestDueSeconds }) => oldestDueSeconds,
            },
          ]}
        />
      </Section>
      <Section title="Rate limits" live={limits}>
        {limits.data !== undefined && (
          <DataList.Root size="2" mb="3">
            {[
              [
                'Each key',
                `${limits.data.quotesPerSecond} quote requests, ${limits.data.submitsPerSecond} submissions, ${limits.data.readsPerSecond} reads per second`,
              ],
              ['Each address', `${limits.data.perIpPerSecond} requests per second`],
              ['Burst', `what its rate allows in ${limits.data.burst} s`],
              [
                'Live quotes of a key',
                `${number(limits.data.openQuotes)}, worth $${number(limits.data.openNotionalUsd)}`,
              ],
              ['Share to be submitted', `${number(limits.data.leastSubmittedShare * 100)} %`],
              ['Each admin key', `${limits.data.adminPerSecond} requests per second`],
            ].map(([label, value]) => (
              <DataList.Item key={label}>
                <DataList.Label minWidth="160px">{label}</DataList.Label>
                <DataList.Value>{value}</DataList.Value>
              </DataList.Item>
            ))}
          </DataList.Root>
        )}
        <Grid
          label="Limits of workspaces"
          rows={workspaces.data?.workspaces ?? []}
          keyOf={({ id }) => id}
          empty="There is no workspace."
          columns={[
            { name: 'Workspace', show: ({ id }) => id, value: ({ id }) => id },
            {
              name: 'Live quotes',
              end: true,
              show: ({ limits: { openQuotes } }) => (openQuotes === null ? 'default' : number(openQuotes)),
              value: ({ limits: { openQuotes } }) => openQuotes ?? -1,
            },
            {
              name: 'Notional',
              end: true,
              show: ({ limits: { openNotionalUsd } }) =>
                openNotionalUsd === null ? 'default' : `$${number(openNotionalUsd)}`,
              value: ({ limits: { openNotionalUsd } }) => openNotionalUsd ?? -1,
            },
          ]}
        />
      </Section>
    </>
  );
}

const chainIssue = ({ issue, stale, relayers }: ChainRow): string =>
  issue ?? (stale ? 'no new block' : relayers === null ? 'does not answer' : '');

function State({ bad }: { bad: string }) {
  return (
    <Badge color={bad === '' ? 'green' : 'red'} className="rt-high-contrast">
      {bad === '' ? 'good' : bad}
    </Badge>
  );
}
