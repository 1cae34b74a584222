/**
 * Shows money between chains: what is worth moving, what the policy says of it, and each transfer with its
 * step.
 */

import { Badge, Card, DataList, Flex, Heading, Text, TextField } from '@radix-ui/themes';
import { useState } from 'react';
import type { Answers } from '../api.ts';
import { age, dateTime, number, short } from '../format.ts';
import { useLive, useNow } from '../live.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Grid } from '../parts/grid.tsx';
import { Opened } from '../parts/opened.tsx';
import { Section } from '../parts/section.tsx';
import { useRole } from '../role.ts';

type Plan = Answers['/transfers/plan']['plans'][number];
type Transfer = Answers['/transfers']['transfers'][number];

/** The interval of reading the plans: each reading asks the bridges for their fees. */
const PLANS_EVERY_MS = 10_000;
const MODES = {
  off: 'Transfers are off (transfers.mode).',
  by_hand: 'Every transfer is begun by hand (transfers.mode).',
  automatic: 'Within the limits a transfer begins by itself (transfers.mode).',
} as const;

/** Groups whole tokens such as "40000.5" in threes. */
const grouped = (whole: string): string => whole.replace(/\B(?=(?:\d{3})+(?:\.|$))(?<!\.\d*)/g, '\u202f');
const moved = (amount: string, { asset, from, to }: { asset: string; from: string; to: string }) =>
  `${grouped(amount)} ${asset} from ${from} to ${to}`;

/** Shows the transfers. `advice`: what to show while transfers are off. */
export function TransferSections({ advice }: { advice: React.ReactNode }) {
  const live = useLive('/transfers', { rest: '?limit=200' });
  const [openedId, setOpenedId] = useState<string>();
  const mode = live.data?.mode;
  const transfers = live.data?.transfers ?? [];
  const under = transfers.filter(({ isOver }) => !isOver);
  const opened = transfers.find(({ id }) => id === openedId);
  return (
    <>
      {mode === 'off' ? advice : <Plans enabled={mode !== undefined} />}
      <Section title="Transfers" live={live} {...(mode !== undefined && { note: MODES[mode] })}>
        <Flex direction="column" gap="3">
          {under.length === 0 ? (
            <Text as="p" size="2" color="gray">
              No transfer is under way.
            </Text>
          ) : (
            under.map((each) => (
              <Card key={each.id} asChild>
                <article aria-label={`Transfer ${each.id}`}>
                  <Heading as="h3" size="3" mb="2">
                    {moved(each.planned, each)}
                  </Heading>
                  <Details of={each} />
                </article>
              </Card>
            ))
          )}
          <Grid
            label="Transfers that are over"
            rows={transfers.filter(({ isOver }) => isOver)}
            keyOf={({ id }) => id}
            open={({ id }) => setOpenedId(id)}
            empty="No transfer is over."
            columns={[
              { name: 'Transfer', show: ({ id }) => short(id), value: ({ id }) => id },
              {
                name: 'Began',
                show: ({ createdAtMs }) => dateTime(createdAtMs),
                value: ({ createdAtMs }) => createdAtMs,
              },
              { name: 'Asset', show: ({ asset }) => asset, value: ({ asset }) => asset },
              { name: 'From', show: ({ from }) => from, value: ({ from }) => from },
              { name: 'To', show: ({ to }) => to, value: ({ to }) => to },
              {
                name: 'Amount',
                end: true,
                show: ({ amount }) => grouped(amount),
                value: ({ amount }) => Number(amount),
              },
              { name: 'Step', show: (each) => <Step of={each} />, value: ({ stage }) => stage },
              { name: 'Why', show: ({ reason }) => reason, value: ({ reason }) => reason },
            ]}
          />
        </Flex>
        <Opened
          title={opened === undefined ? '' : moved(opened.planned, opened)}
          open={opened !== undefined}
          close={() => setOpenedId(undefined)}
        >
          {opened && <Details of={opened} />}
        </Opened>
      </Section>
    </>
  );
}

const Step = ({ of: { stage, isOver } }: { of: Transfer }) => (
  <Badge
    className="rt-high-contrast"
    color={stage === 'deposited' ? 'green' : stage === 'refused' || isOver ? 'amber' : 'indigo'}
  >
    {stage}
  </Badge>
);

function Details({ of }: { of: Transfer }) {
  const nowMs = useNow();
  const { id, bridge, reason, createdAtMs, amount, asset, where, waits, facts, isOver } = of;
  const rows: [string, React.ReactNode][] = [
    ['Step', <Step key="step" of={of} />],
    ['Now', `${grouped(amount)} ${asset}: ${where}`],
    ['Began', `${dateTime(createdAtMs)}${isOver ? '' : `, ${age(nowMs - createdAtMs)} ago`}`],
    ...(waits === null
      ? []
      : ([['Waits', `${waits.detail} Waiting for ${age(nowMs - waits.sinceMs)}.`]] as [string, string][])),
    ['Why', reason],
    ['Bridge', bridge],
    ...(facts.length === 0
      ? []
      : ([['Done', facts.map(({ kind }) => kind).join(', ')]] as [string, string][])),
    ['Transfer', id],
  ];
  return <Figures rows={rows} />;
}

const Figures = ({ rows }: { rows: readonly (readonly [string, React.ReactNode])[] }) => (
  <DataList.Root size="2" orientation={{ initial: 'vertical', sm: 'horizontal' }}>
    {rows.map(([name, value]) => (
      <DataList.Item key={name}>
        <DataList.Label minWidth="90px">{name}</DataList.Label>
        <DataList.Value>
          <span className="breaks">{value}</span>
        </DataList.Value>
      </DataList.Item>
    ))}
  </DataList.Root>
);

function Plans({ enabled }: { enabled: boolean }) {
  const live = useLive('/transfers/plan', { everyMs: PLANS_EVERY_MS, enabled });
  const plans = live.data?.plans ?? [];
  return (
    <Section
      title="Worth moving"
      live={live}
      note="Moves that cost less than a day of what draining costs, and what the policy says of each."
    >
      <Flex direction="column" gap="3">
        {plans.length === 0 ? (
          <Text as="p" size="2" color="gray">
            Nothing is worth moving.
          </Text>
        ) : (
          plans.map((each) => <PlanCard key={`${each.asset} ${each.from} ${each.to}`} of={each} />)
        )}
      </Flex>
    </Section>
  );
}

function PlanCard({ of }: { of: Plan }) {
  const role = useRole();
  const { asset, from, to, plan, fee, begins, why, reason } = of;
  /** The amount that the operator wrote; undefined: what is advised at the time. */
  const [written, setWritten] = useState<string>();
  const amount = written ?? of.amount;
  const isRefused = 'refused' in plan;
  const title = moved(of.amount, of);
  return (
    <Card asChild>
      <article aria-label={title}>
        <Flex justify="between" align="start" gap="3" wrap="wrap" mb="2">
          <Heading as="h3" size="3">
            {title}
          </Heading>
          {!isRefused && (
            <Confirm
              {...{ role, label: 'Begin', path: '/transfers', color: 'green', needsReason: true }}
              command={{ asset, from, to, amount: amount.trim() }}
              title={`Move ${asset} from ${from} to ${to}?`}
              says="It is kept back from quotes at once, withdrawn after the delay of the escrow, and sent over the bridge. It cannot be called back."
            >
              <Text as="label" size="2" mt="3">
                Amount of {asset}
                <TextField.Root
                  mt="1"
                  inputMode="decimal"
                  value={amount}
                  onChange={(event) => setWritten(event.target.value)}
                />
              </Text>
            </Confirm>
          )}
        </Flex>
        <Figures
          rows={[
            ['Why', reason],
            ['Fee', fee === null ? 'unknown' : `up to ${grouped(fee)} ${asset}`],
            [
              'Bridge',
              isRefused
                ? plan.detail
                : `${plan.bridge}, about ${number(plan.seconds)} s; at least ${grouped(plan.leastReceived)} ${asset} arrive`,
            ],
            [
              'Policy',
              <Flex key="policy" gap="2" wrap="wrap" align="center">
                <Badge className="rt-high-contrast" color={begins === 'by_itself' ? 'green' : 'amber'}>
                  {begins === 'by_itself' ? 'begins by itself' : 'by hand'}
                </Badge>
                {why}
              </Flex>,
            ],
          ]}
        />
      </article>
    </Card>
  );
}
