/** A change of pricing parameters before it is applied: the differences, and recent requests priced with it. */

import { Button, Callout, Flex, Heading, Skeleton, Table, Text, TextField } from '@radix-ui/themes';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { change, type PricingPreview } from '../api.ts';
import { number } from '../format.ts';

export interface Proposal {
  title: string;
  configSha256: string;
  pairs?: object;
  /** Back to this version, instead of `pairs`. */
  version?: number;
}

export function PricingChange({ proposal, applied }: { proposal: Proposal; applied(): void }) {
  const { title: _, ...wanted } = proposal;
  const [note, setNote] = useState('');
  const client = useQueryClient();
  const preview = useQuery({
    queryKey: ['/pricing/preview', JSON.stringify(wanted)],
    queryFn: () => change('/pricing/preview', wanted),
    // Requests of the last hour: another look is another hour.
    gcTime: 0,
    refetchOnWindowFocus: false,
    retry: false,
  });
  const apply = useMutation({
    mutationFn: () => change('/pricing/apply', { ...wanted, note: note.trim() }),
    async onSuccess() {
      await client.invalidateQueries({ queryKey: ['/pricing'] });
      applied();
    },
  });
  if (preview.error !== null) return <Refused says={preview.error.message} />;
  if (preview.data === undefined) return <Skeleton height="160px" />;
  return (
    <Flex direction="column" gap="4" className="figures">
      <Differences {...preview.data} />
      <Simulated {...preview.data} />
      <Text as="label" size="2">
        Reason, for the audit log
        <TextField.Root mt="1" value={note} onChange={(event) => setNote(event.target.value)} />
      </Text>
      {apply.error !== null && <Refused says={apply.error.message} />}
      <Flex justify="end">
        <Button
          className="rt-high-contrast"
          loading={apply.isPending}
          disabled={note.trim() === ''}
          onClick={() => apply.mutate()}
        >
          Apply
        </Button>
      </Flex>
    </Flex>
  );
}

const Refused = ({ says }: { says: string }) => (
  <Callout.Root color="red" size="1" role="alert">
    <Callout.Text className="breaks">{says}</Callout.Text>
  </Callout.Root>
);

function Differences({ changes, warnings }: PricingPreview) {
  return (
    <Flex direction="column" gap="2">
      <div className="scroll" role="region" aria-label="Table: differences" tabIndex={0}>
        <Table.Root size="1">
          <Table.Header>
            <Table.Row>
              <Table.ColumnHeaderCell>Option</Table.ColumnHeaderCell>
              <Table.ColumnHeaderCell justify="end">In force</Table.ColumnHeaderCell>
              <Table.ColumnHeaderCell justify="end">New</Table.ColumnHeaderCell>
            </Table.Row>
          </Table.Header>
          <Table.Body>
            {changes.map(({ path, from, to }) => (
              <Table.Row key={path}>
                <Table.RowHeaderCell className="breaks">
                  {path.replace(/^lp\.pairs\./, '')}
                </Table.RowHeaderCell>
                <Table.Cell justify="end">{from === '-' ? 'default' : from}</Table.Cell>
                <Table.Cell justify="end">{to === '-' ? 'default' : to}</Table.Cell>
              </Table.Row>
            ))}
          </Table.Body>
        </Table.Root>
      </div>
      {warnings.map((warning) => (
        <Callout.Root key={warning} color="amber" size="1">
          <Callout.Text>{warning}</Callout.Text>
        </Callout.Root>
      ))}
    </Flex>
  );
}

const bps = (value: number | null): string => (value === null ? '–' : number(value));

function Simulated({ pairs }: PricingPreview) {
  return (
    <Flex direction="column" gap="2">
      <Heading as="h2" size="3">
        The last hour, priced again
      </Heading>
      {pairs.length === 0 ? (
        <Text size="2">
          The LP priced no request in the last hour, so nothing can be said of this change.
        </Text>
      ) : (
        <div className="scroll" role="region" aria-label="Table: the last hour, priced again" tabIndex={0}>
          <Table.Root size="1">
            <Table.Header>
              <Table.Row>
                {[
                  'Pair',
                  'Quotes',
                  'Spread was',
                  'would be',
                  'Declined',
                  'Quoted after all',
                  'Accepted',
                  'better',
                  'worse',
                ].map((name, index) => (
                  <Table.ColumnHeaderCell key={name} justify={index === 0 ? 'start' : 'end'}>
                    {name}
                  </Table.ColumnHeaderCell>
                ))}
              </Table.Row>
            </Table.Header>
            <Table.Body>
              {pairs.map(({ pair, quotes, spreadBps, newSpreadBps, declined, refused, accepted }) => (
                <Table.Row key={pair}>
                  <Table.RowHeaderCell style={{ whiteSpace: 'nowrap' }}>{pair}</Table.RowHeaderCell>
                  <Table.Cell justify="end">{number(quotes)}</Table.Cell>
                  <Table.Cell justify="end">{bps(spreadBps)}</Table.Cell>
                  <Table.Cell justify="end">{bps(newSpreadBps)}</Table.Cell>
                  <Table.Cell justify="end">
                    {Object.entries(declined)
                      .map(([reason, count]) => `${count} ${reason}`)
                      .join(', ') || '0'}
                  </Table.Cell>
                  <Table.Cell justify="end">
                    {refused.quoted} of {refused.requests}
                  </Table.Cell>
                  <Table.Cell justify="end">{number(accepted.quotes)}</Table.Cell>
                  <Table.Cell justify="end">{number(accepted.better)}</Table.Cell>
                  <Table.Cell justify="end">{number(accepted.worse)}</Table.Cell>
                </Table.Row>
              ))}
            </Table.Body>
          </Table.Root>
        </div>
      )}
      <Text size="1">
        Spreads are mean all-in bps of the quotes that both price. Declined: quotes that the new parameters
        decline. Quoted after all: requests that the price declined. Better and worse are for the takers who
        accepted.
      </Text>
    </Flex>
  );
}
