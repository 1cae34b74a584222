/** Shows one trade in full: its terms, every step on chain with links, its cost, and who traded. */

import { Badge, Callout, DataList, Flex, Heading, Link, Table, Text } from '@radix-ui/themes';
import type { TradeDossier } from '../../../../src/protocol/api/trades/dossier.ts';
import { dateTime, number, short } from '../../format.ts';
import { Opened } from '../../parts/opened.tsx';
import { type Access, readDossier } from '../api.ts';
import { useRead } from '../live.ts';
import { TONES } from '../parts/tone.ts';
import { legText } from '../parts/leg.ts';

type Explorers = ReadonlyMap<number, string | null>;

export function Dossier({
  access,
  orderId,
  explorers,
  close,
}: {
  access: Access;
  orderId: string | undefined;
  explorers: Explorers;
  close(): void;
}) {
  return (
    <Opened
      title={`Trade ${orderId === undefined ? '' : short(orderId)}`}
      open={orderId !== undefined}
      close={close}
    >
      {orderId !== undefined && <Read {...{ access, orderId, explorers }} />}
    </Opened>
  );
}

function Read({ access, orderId, explorers }: { access: Access; orderId: string; explorers: Explorers }) {
  const { data, error, old } = useRead(['dossier', orderId], () => readDossier(access, orderId));
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
      <Summary dossier={data} />
      <Timeline dossier={data} explorers={explorers} />
      {data.fees && <Fees fees={data.fees} />}
    </Flex>
  );
}

function Summary({ dossier: { trade, lp, member, substatusMessage } }: { dossier: TradeDossier }) {
  const { primary } = trade.lifecycleStatus;
  const rows: [string, React.ReactNode][] = [
    [
      'Order',
      <Text key="order" className="breaks">
        {trade.orderId}
      </Text>,
    ],
    [
      'Status',
      <Badge key="status" className="rt-high-contrast" color={TONES[primary.tone]}>
        {primary.label}
      </Badge>,
    ],
    ['Now', substatusMessage],
    ['Gives', `${legText(trade.route.input)} on ${trade.sourceChain}`],
    ['Gets', `${legText(trade.route.output)} on ${trade.destChain}`],
    ['LP', lp.spreadBps === null ? lp.name : `${lp.name}, spread ${lp.spreadBps} bps`],
    ...(member
      ? [['Member', `${member.firstName} ${member.lastName} (${member.email})`] as [string, string]]
      : []),
  ];
  return (
    <DataList.Root size="2">
      {rows.map(([label, value]) => (
        <DataList.Item key={label}>
          <DataList.Label minWidth="80px">{label}</DataList.Label>
          <DataList.Value>{value}</DataList.Value>
        </DataList.Item>
      ))}
    </DataList.Root>
  );
}

/** Lists the steps by transaction: one may take several. */
function stepsOf({ stages: { submit, fill, proof, finalise }, transactions }: TradeDossier['settlement']) {
  const steps = [
    ['on chain', submit],
    ['delivered', fill],
    ['delivery proven', proof],
    ['paid out', finalise],
    ['refunded', transactions.find(({ kind }) => kind === 'refund') ?? null],
  ] as const;
  return steps.flatMap(([step, transaction]) => (transaction === null ? [] : [[step, transaction] as const]));
}

function Timeline({
  dossier: { trade, settlement },
  explorers,
}: {
  dossier: TradeDossier;
  explorers: Explorers;
}) {
  const link = (chainId: number, hash: string) => {
    const explorer = explorers.get(chainId);
    return explorer ? (
      <Link href={`${explorer.replace(/\/$/, '')}/tx/${hash}`} target="_blank" rel="noreferrer">
        {short(hash)}
      </Link>
    ) : (
      <span title={hash}>{short(hash)}</span>
    );
  };
  return (
    <div>
      <Heading as="h2" size="3" mb="1">
        Timeline
      </Heading>
      <div className="scroll" role="region" aria-label="Table: timeline" tabIndex={0}>
        <Table.Root size="1">
          <Table.Header>
            <Table.Row>
              <Table.ColumnHeaderCell>Step</Table.ColumnHeaderCell>
              <Table.ColumnHeaderCell>Time</Table.ColumnHeaderCell>
              <Table.ColumnHeaderCell>Chain</Table.ColumnHeaderCell>
              <Table.ColumnHeaderCell>Transaction</Table.ColumnHeaderCell>
            </Table.Row>
          </Table.Header>
          <Table.Body>
            <Table.Row>
              <Table.RowHeaderCell>accepted</Table.RowHeaderCell>
              <Table.Cell>{dateTime(Date.parse(trade.createdAt))}</Table.Cell>
              <Table.Cell />
              <Table.Cell />
            </Table.Row>
            {stepsOf(settlement).map(([step, { at, chainId, txHash }]) => (
              <Table.Row key={step}>
                <Table.RowHeaderCell>{step}</Table.RowHeaderCell>
                <Table.Cell>{dateTime(Date.parse(at))}</Table.Cell>
                <Table.Cell>{chainId}</Table.Cell>
                <Table.Cell>{link(chainId, txHash)}</Table.Cell>
              </Table.Row>
            ))}
          </Table.Body>
        </Table.Root>
      </div>
    </div>
  );
}

function Fees({ fees }: { fees: NonNullable<TradeDossier['fees']> }) {
  const rows = [
    ['Gas, whoever paid', fees.gas],
    ['Platform fee', fees.protocolFee],
    ['Spread of the LP', fees.solverFee],
    ['To the relayer', fees.relayerTip],
  ] as const;
  return (
    <div>
      <Heading as="h2" size="3" mb="2">
        Cost
      </Heading>
      <DataList.Root size="2">
        {rows.map(([label, { amount, usd }]) => (
          <DataList.Item key={label}>
            <DataList.Label minWidth="120px">{label}</DataList.Label>
            <DataList.Value>{usd === null ? `${amount} base units` : `$${number(usd, 4)}`}</DataList.Value>
          </DataList.Item>
        ))}
      </DataList.Root>
    </div>
  );
}
