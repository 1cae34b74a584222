/** Shows open orders: how many wait at which stage, stuck ones first, each with its next step. */

import { Badge, Callout, DataList, Flex, Text } from '@radix-ui/themes';
import { useState } from 'react';
import type { OpenOrderView } from '../../../../src/protocol/admin/operations.ts';
import { STAGE_MEANINGS } from '../../../../src/protocol/api/stages.ts';
import { age, dateTime, number, short } from '../../format.ts';
import { Grid } from '../../parts/grid.tsx';
import { Opened } from '../../parts/opened.tsx';
import { Section } from '../../parts/section.tsx';
import { useAdmin } from '../api.ts';

const STAGES = ['awaiting_escrow', 'escrowed', 'delivered', 'proven', 'refund_pending'] as const;

export function OrdersPage() {
  const live = useAdmin('/orders');
  const [opened, setOpened] = useState<string>();
  const orders = live.data?.orders ?? [];
  const stuck = orders.filter((order) => order.stuck);
  return (
    <>
      <Section title="Stages" live={live}>
        <Grid
          label="Open orders by stage"
          rows={STAGES}
          keyOf={(stage) => stage}
          empty=""
          columns={[
            { name: 'Stage', show: (stage) => stageText(stage), value: (stage) => stageText(stage) },
            { name: 'Open', end: true, ...counted(orders) },
            { name: 'Stuck', end: true, ...counted(stuck) },
            {
              name: 'Meaning',
              show: (stage) => STAGE_MEANINGS[stage],
              value: (stage) => STAGE_MEANINGS[stage],
            },
          ]}
        />
      </Section>
      <Section
        title="Orders"
        note="Stuck: open for longer than the objective of settlement time, 34 s on one chain and 300 s across chains."
        live={live}
      >
        {stuck.slice(0, 3).map((order) => (
          <Callout.Root key={order.id} color="red" size="1" mb="2">
            <Callout.Text className="breaks">
              {short(order.id)} has been {stageText(order.stage)} for {age(order.ageSeconds * 1_000)}.{' '}
              {order.nextStep} {order.problems.join(' ')}
            </Callout.Text>
          </Callout.Root>
        ))}
        <Grid
          label="Open orders"
          rows={orders}
          keyOf={({ id }) => id}
          open={({ id }) => setOpened(id)}
          empty="No order is open."
          columns={[
            { name: 'Order', show: ({ id }) => short(id), value: ({ id }) => id },
            { name: 'State', show: state, value: ({ stuck: late }) => (late ? 'stuck' : 'in time') },
            { name: 'Stage', show: ({ stage }) => stageText(stage), value: ({ stage }) => stage },
            {
              name: 'Age',
              end: true,
              show: ({ ageSeconds }) => age(ageSeconds * 1_000),
              value: ({ ageSeconds }) => ageSeconds,
            },
            { name: 'Waits for', show: waitsFor, value: waitsFor },
            { name: 'Chains', show: chains, value: chains },
            {
              name: 'USD',
              end: true,
              show: ({ amountUsd }) => (amountUsd === null ? 'unknown' : number(amountUsd)),
              value: ({ amountUsd }) => amountUsd ?? 0,
            },
            {
              name: 'Workspace',
              show: ({ workspaceId }) => workspaceId,
              value: ({ workspaceId }) => workspaceId,
            },
          ]}
        />
        {live.data?.more === true && (
          <Text as="p" size="2" mt="2">
            Only the oldest 500 are shown.
          </Text>
        )}
      </Section>
      <Order
        order={orders.find(({ id }) => id === opened)}
        opened={opened}
        close={() => setOpened(undefined)}
      />
    </>
  );
}

const stageText = (stage: string) => stage.replaceAll('_', ' ');
const waitsFor = (order: OpenOrderView) =>
  order.waitsFor === 'lp' ? order.solverIds.join(', ') : order.waitsFor;
const chains = ({ origin, destinations }: OpenOrderView) =>
  [origin, ...destinations.filter((each) => each !== origin)].join(' → ');
const counted = (orders: readonly OpenOrderView[]) => {
  const value = (stage: (typeof STAGES)[number]) => orders.filter((order) => order.stage === stage).length;
  return { show: value, value };
};

function state({ stuck }: OpenOrderView) {
  return (
    <Badge color={stuck ? 'red' : 'green'} className="rt-high-contrast">
      {stuck ? 'stuck' : 'in time'}
    </Badge>
  );
}

function Order({
  order,
  opened,
  close,
}: {
  order: OpenOrderView | undefined;
  opened: string | undefined;
  close(): void;
}) {
  return (
    <Opened title={`Order ${short(opened ?? '')}`} open={opened !== undefined} close={close}>
      {order === undefined ? (
        <Text size="2">The order has ended. The workspace's history says how.</Text>
      ) : (
        <Flex direction="column" gap="3">
          {order.problems.map((problem) => (
            <Callout.Root key={problem} color="red" size="1">
              <Callout.Text>{problem}</Callout.Text>
            </Callout.Root>
          ))}
          <DataList.Root size="2">
            {[
              ['Next step', order.nextStep],
              ['Stage', `${stageText(order.stage)}: ${STAGE_MEANINGS[order.stage]}`],
              ['Accepted', dateTime(Date.parse(order.createdAt))],
              ['Solvers', order.solverIds.join(', ')],
              ['Order id', order.id],
            ].map(([label, value]) => (
              <DataList.Item key={label}>
                <DataList.Label minWidth="90px">{label}</DataList.Label>
                <DataList.Value className="breaks">{value}</DataList.Value>
              </DataList.Item>
            ))}
          </DataList.Root>
        </Flex>
      )}
    </Opened>
  );
}
