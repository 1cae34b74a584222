/** Shows recent requests and their outcomes; one request opens with every term of its price. */

import { Badge, Button, Callout, Flex, Heading, Table, Text } from '@radix-ui/themes';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Answers, read } from '../api.ts';
import { clock, number, short, tokens } from '../format.ts';
import { useLive } from '../live.ts';
import { Grid } from '../parts/grid.tsx';
import { Opened } from '../parts/opened.tsx';
import { Section } from '../parts/section.tsx';

const COLORS = { accepted: 'green', expired: 'gray', declined: 'amber', live: 'blue' } as const;

export function QuotesPage() {
  /** Where each page behind the newest begins. */
  const [pages, setPages] = useState<readonly number[]>([]);
  const live = useLive('/rfqs', { rest: `?before=${pages.at(-1) ?? 'now'}` });
  const decimalsOf = useDecimals();
  const [opened, setOpened] = useState<string>();
  const { rfqs: rows = [], next = null } = live.data ?? {};
  return (
    <Section
      title="Quotes"
      live={live}
      note="The newest requests first. Open one to see every term of its price, or why it was declined."
    >
      <Flex gap="2" mb="2">
        <Button variant="soft" disabled={pages.length === 0} onClick={() => setPages(pages.slice(0, -1))}>
          Newer
        </Button>
        <Button
          variant="soft"
          disabled={next === null}
          onClick={() => next !== null && setPages([...pages, next])}
        >
          Older
        </Button>
      </Flex>
      <Grid
        label="Requests"
        rows={rows}
        keyOf={({ id }) => id}
        open={({ id }) => setOpened(id)}
        empty="No request yet."
        columns={[
          { name: 'Request', show: ({ id }) => short(id), value: ({ id }) => id },
          { name: 'Time', show: ({ atMs }) => clock(atMs), value: ({ atMs }) => atMs },
          { name: 'Corridor', show: ({ corridor }) => corridor, value: ({ corridor }) => corridor },
          {
            name: 'Asked',
            show: ({ input, output, side }) =>
              side === 'exactInput' ? `sell ${input} for ${output}` : `buy ${output} with ${input}`,
            value: ({ input, output }) => `${input} ${output}`,
          },
          {
            name: 'Amount',
            end: true,
            show: (row) => written(row.amount, fixed(row), decimalsOf),
            value: ({ amount }) => Number(amount),
          },
          {
            name: 'Quoted',
            end: true,
            show: (row) => (row.quoted === null ? '' : written(row.quoted, given(row), decimalsOf)),
            value: ({ quoted }) => Number(quoted ?? 0),
          },
          {
            name: 'Outcome',
            show: ({ outcome }) => (
              <Badge className="rt-high-contrast" color={COLORS[outcome ?? 'live']}>
                {outcome ?? 'live'}
              </Badge>
            ),
            value: ({ outcome }) => outcome ?? 'live',
          },
        ]}
      />
      <Opened
        title={`Request ${opened === undefined ? '' : short(opened)}`}
        open={opened !== undefined}
        close={() => setOpened(undefined)}
      >
        {opened !== undefined && <Explained id={opened} />}
      </Opened>
    </Section>
  );
}

type Request = Answers['/rfqs']['rfqs'][number];
interface Token {
  chain: string;
  symbol: string;
}

/** Corridors are named by where the input is and where the output is. */
const inputOf = ({ corridor, input }: Request): Token => ({
  chain: corridor.split('-')[0] ?? '',
  symbol: input,
});
const outputOf = ({ corridor, output }: Request): Token => ({
  chain: corridor.split('-').at(-1) ?? '',
  symbol: output,
});
const fixed = (row: Request): Token => (row.side === 'exactInput' ? inputOf(row) : outputOf(row));
const given = (row: Request): Token => (row.side === 'exactInput' ? outputOf(row) : inputOf(row));

function written(base: string, token: Token, decimalsOf: ReturnType<typeof useDecimals>): string {
  const decimals = decimalsOf(token);
  return decimals === undefined ? `${base} base units` : `${tokens(base, decimals, 8)} ${token.symbol}`;
}

function useDecimals() {
  const { data } = useLive('/inventory', { everyMs: 30_000 });
  const slugs = new Map(
    data?.positions.flatMap(({ places }) => places.map(({ chainId, slug }) => [chainId, slug] as const)),
  );
  const known = new Map(
    data?.buckets.map(({ asset, chainId, decimals }) => [`${asset} ${slugs.get(chainId)}`, decimals]),
  );
  return ({ chain, symbol }: Token): number | undefined => known.get(`${symbol} ${chain}`);
}

function Explained({ id }: { id: string }) {
  const { data, error } = useQuery({
    queryKey: ['/explain', id],
    queryFn: () => read('/explain/:id', `/${encodeURIComponent(id)}`),
  });
  if (error !== null)
    return (
      <Callout.Root color="red" size="1" role="alert">
        <Callout.Text>{error.message}</Callout.Text>
      </Callout.Root>
    );
  return (
    <Flex direction="column" gap="4" className="figures">
      {data?.explanations.map((each) =>
        each.kind === 'quote' ? (
          <Flex key={each.orderId} direction="column" gap="2">
            <Text size="2">{each.summary}</Text>
            <Heading as="h2" size="3">
              From the mid to the quote: {number(each.price.allInBps, 4)} bps
            </Heading>
            <div className="scroll" role="region" aria-label="Table: terms of the price" tabIndex={0}>
              <Table.Root size="1">
                <Table.Header>
                  <Table.Row>
                    <Table.ColumnHeaderCell>Term</Table.ColumnHeaderCell>
                    <Table.ColumnHeaderCell justify="end">bps</Table.ColumnHeaderCell>
                    <Table.ColumnHeaderCell justify="end">{each.request.output.token}</Table.ColumnHeaderCell>
                  </Table.Row>
                </Table.Header>
                <Table.Body>
                  {each.terms.map(({ name, label, bps, amount }) => (
                    <Table.Row key={name}>
                      <Table.RowHeaderCell>{label}</Table.RowHeaderCell>
                      <Table.Cell justify="end">{number(bps, 4)}</Table.Cell>
                      <Table.Cell justify="end">{amount.units}</Table.Cell>
                    </Table.Row>
                  ))}
                </Table.Body>
              </Table.Root>
            </div>
            <Text size="2">
              Mid {number(each.price.mid, 6)}, spread {number(each.price.spreadBps, 4)} bps, firm for{' '}
              {each.inputs.firmSeconds} s, inventory at {number(each.inputs.q, 3)} soft bands, volatility{' '}
              {number(each.inputs.sigma * 100, 1)} % a year.
            </Text>
          </Flex>
        ) : (
          <Text key={each.rfqId} size="2">
            {each.summary}
          </Text>
        ),
      )}
    </Flex>
  );
}
