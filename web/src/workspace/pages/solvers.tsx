/** Shows the roster: who quotes now, why not, and whether each keeps its promises. */

import { Badge, Callout, DataList, Flex, Heading, Text } from '@radix-ui/themes';
import { useState } from 'react';
import type { Firmness } from '../../../../src/protocol/api/firmness.ts';
import { dateTime, number, short } from '../../format.ts';
import { Grid } from '../../parts/grid.tsx';
import { Opened } from '../../parts/opened.tsx';
import { Section } from '../../parts/section.tsx';
import { type Access, readFirmness, readSolvers } from '../api.ts';
import { useRead } from '../live.ts';
import { useSession } from '../session.ts';

const COLORS = { active: 'green', standby: 'amber', offline: 'red' } as const;

export function SolversPage() {
  const { service } = useSession();
  return service === undefined ? null : <Roster access={service} />;
}

function Roster({ access }: { access: Access }) {
  const live = useRead(['solvers'], () => readSolvers(access));
  const [opened, setOpened] = useState<string>();
  return (
    <Section
      title="Solvers"
      live={live}
      note="Those that this workspace may trade with. Open one to see whether it keeps its promises."
    >
      <Grid
        label="Solvers"
        rows={live.data?.solvers ?? []}
        keyOf={({ id }) => id}
        open={({ id }) => setOpened(id)}
        empty="No solver is onboarded for this workspace."
        columns={[
          { name: 'Solver', show: ({ id }) => id, value: ({ id }) => id },
          {
            name: 'Status',
            show: ({ status }) => (
              <Badge className="rt-high-contrast" color={COLORS[status]}>
                {status}
              </Badge>
            ),
            value: ({ status }) => status,
          },
          {
            name: 'Why',
            show: ({ eligibilityNote }) => eligibilityNote ?? '',
            value: ({ eligibilityNote }) => eligibilityNote ?? '',
          },
          { name: 'Kind', show: ({ kind }) => kind, value: ({ kind }) => kind },
          {
            name: 'Corridors',
            show: ({ corridors }) => corridors.join(', '),
            value: ({ corridors }) => corridors.join(' '),
          },
          {
            name: 'Last quote',
            show: ({ lastQuoteAt }) =>
              lastQuoteAt === undefined ? 'never' : dateTime(Date.parse(lastQuoteAt)),
            value: ({ lastQuoteAt }) => lastQuoteAt ?? '',
          },
        ]}
      />
      <Opened
        title={`Firmness of ${opened ?? ''}`}
        open={opened !== undefined}
        close={() => setOpened(undefined)}
      >
        {opened !== undefined && <Promises access={access} id={opened} />}
      </Opened>
    </Section>
  );
}

function Promises({ access, id }: { access: Access; id: string }) {
  const { data, error, old } = useRead(['firmness', id], () => readFirmness(access, id));
  if (data === undefined)
    return error === null ? (
      <Text size="2">Reading …</Text>
    ) : (
      <Callout.Root color="red" size="1" role="alert">
        <Callout.Text>{error.message}</Callout.Text>
      </Callout.Root>
    );
  return (
    <Flex direction="column" gap="4" className={old ? 'old figures' : 'figures'}>
      <Window title="Last 24 hours" counted={data.last24h} />
      <Window title="Last 30 days" counted={data.last30d} />
      <div>
        <Heading as="h2" size="3" mb="1">
          Bonds
        </Heading>
        <Grid
          label="Bonds"
          rows={data.bonds}
          keyOf={({ asset, chain }) => `${chain} ${asset}`}
          empty="It answers with no bond."
          columns={[
            { name: 'Chain', show: ({ chain }) => chain, value: ({ chain }) => chain },
            { name: 'Token', show: ({ symbol }) => symbol, value: ({ symbol }) => symbol },
            {
              name: 'Base units',
              end: true,
              show: ({ amount }) => amount,
              value: ({ amount }) => Number(amount),
            },
            {
              name: 'Covers',
              end: true,
              show: ({ covers }) => covers,
              value: ({ covers }) => Number(covers),
            },
          ]}
        />
      </div>
      <div>
        <Heading as="h2" size="3" mb="1">
          Broken promises of 30 days
        </Heading>
        <Grid
          label="Broken promises"
          rows={data.fades}
          keyOf={({ orderId, at }) => `${orderId} ${at}`}
          empty="None."
          columns={[
            { name: 'Time', show: ({ at }) => dateTime(Date.parse(at)), value: ({ at }) => at },
            { name: 'Order', show: ({ orderId }) => short(orderId), value: ({ orderId }) => orderId },
            { name: 'Why', show: ({ reason }) => reason, value: ({ reason }) => reason },
            {
              name: 'Claim',
              show: ({ claim }) => (claim === null ? 'nobody has claimed' : `paid ${claim.paid} base units`),
              value: ({ claim }) => claim?.paid ?? '',
            },
          ]}
        />
      </div>
    </Flex>
  );
}

function Window({ title, counted }: { title: string; counted: Firmness['last24h'] }) {
  const { awarded, settled, faded, claims, answerMs } = counted;
  const ms = (value: number | null) => (value === null ? 'unknown' : `${number(value)} ms`);
  const rows = [
    ['Orders', `${awarded} awarded, ${settled} settled, ${faded} failed by its fault`],
    ['Claims paid', String(claims.count)],
    ['Answers within', `${ms(answerMs.median)} half of the time, ${ms(answerMs.p99)} for 99 %`],
  ];
  return (
    <div>
      <Heading as="h2" size="3" mb="2">
        {title}
      </Heading>
      <DataList.Root size="2">
        {rows.map(([label, value]) => (
          <DataList.Item key={label}>
            <DataList.Label minWidth="110px">{label}</DataList.Label>
            <DataList.Value>{value}</DataList.Value>
          </DataList.Item>
        ))}
      </DataList.Root>
    </div>
  );
}
