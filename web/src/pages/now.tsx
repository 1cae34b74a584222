/** Shows whether the LP quotes, and if not, why. */

import { Badge, Callout, DataList, Flex, Grid as Columns, Text } from '@radix-ui/themes';
import { age, number } from '../format.ts';
import { useLive } from '../live.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Grid } from '../parts/grid.tsx';
import { Section } from '../parts/section.tsx';
import { useRole } from '../role.ts';

export function NowPage() {
  const live = useLive('/status');
  const role = useRole();
  const { data } = live;
  return (
    <>
      <Section
        title="Status"
        live={live}
        actions={
          <Flex gap="2">
            <Confirm
              {...{ role, label: 'Pause', path: '/pause', color: 'red' }}
              title="Stop signing quotes?"
              says="No quote is signed until somebody resumes. Quotes that are signed stay valid and are honoured."
            />
            <Confirm
              {...{ role, label: 'Resume', path: '/resume', color: 'green' }}
              title="Quote again?"
              says="Releases the kill switch and every pause of a pair or chain."
            />
          </Flex>
        }
      >
        {data && (
          <Flex direction="column" gap="3">
            {data.reasons.map(({ kind, note }) => (
              <Callout.Root key={`${kind} ${note}`} color="amber" size="1">
                <Callout.Text>
                  <strong>{kind}</strong>: {note}
                </Callout.Text>
              </Callout.Root>
            ))}
            <Columns columns={{ initial: '1', sm: '2' }} gap="4">
              <DataList.Root size="2">
                <Item
                  name="Status"
                  value={data.note === null ? data.status : `${data.status}: ${data.note}`}
                />
                <Item name="Live quotes" value={number(data.liveQuotes)} />
                <Item name="Open awards" value={number(data.openAwards)} />
                <Item name="Transactions" value={data.sending === 'held' ? 'held by the operator' : 'sent'} />
              </DataList.Root>
              <DataList.Root size="2">
                {data.replica !== null && (
                  <Item
                    name="Replica"
                    value={`${data.replica.name}${data.replica.leads ? ', leads' : ', follows'}`}
                  />
                )}
                {data.venues.map(({ name, welcome }) => (
                  <Item key={name} name={`Venue ${name}`} value={welcome ? 'connected' : 'not connected'} />
                ))}
                <Item
                  name="Signals"
                  value={data.signals.length === 0 ? 'none in force' : `${data.signals.length} in force`}
                />
              </DataList.Root>
            </Columns>
          </Flex>
        )}
      </Section>
      <Section title="Pairs" live={live}>
        <Grid
          label="Pairs"
          rows={data?.pairs ?? []}
          keyOf={({ pair }) => pair}
          empty="This LP has no pair."
          columns={[
            { name: 'Pair', show: ({ pair }) => pair, value: ({ pair }) => pair },
            {
              name: 'Quoting',
              show: ({ quoting }) => (
                <Badge className="rt-high-contrast" color={quoting ? 'green' : 'amber'}>
                  {quoting ? 'yes' : 'no'}
                </Badge>
              ),
              value: ({ quoting }) => (quoting ? 1 : 0),
            },
            { name: 'Why not', show: ({ reason }) => reason ?? '', value: ({ reason }) => reason ?? '' },
          ]}
        />
      </Section>
      <Section title="Chains" live={live} note="The newest block, and the newest that counts as final.">
        <Grid
          label="Chains"
          rows={data?.chains ?? []}
          keyOf={({ slug }) => slug}
          empty="This LP has no chain."
          columns={[
            { name: 'Chain', show: ({ slug }) => slug, value: ({ slug }) => slug },
            {
              name: 'Block',
              end: true,
              show: ({ head }) => head ?? 'unknown',
              value: ({ head }) => Number(head ?? 0),
            },
            { name: 'Final', end: true, show: ({ final }) => final, value: ({ final }) => Number(final) },
            {
              name: 'Gas',
              end: true,
              show: ({ gasWei, gasSymbol }) =>
                gasWei === null ? 'unknown' : `${number(Number(gasWei) / 1e18, 4)} ${gasSymbol}`,
              value: ({ gasWei }) => Number(gasWei ?? 0),
            },
          ]}
        />
      </Section>
      <Section title="Prices" live={live} note="Each source of a price, and why it is left out where it is.">
        <Grid
          label="Sources"
          rows={data?.sources ?? []}
          keyOf={({ price, feed, symbol, role: of }) => `${price} ${feed} ${symbol} ${of}`}
          empty="No price needs a feed."
          columns={[
            { name: 'Price', show: ({ price }) => price, value: ({ price }) => price },
            { name: 'Source', show: ({ feed, symbol }) => `${feed} ${symbol}`, value: ({ feed }) => feed },
            { name: 'Is', show: ({ role: of }) => of, value: ({ role: of }) => of },
            {
              name: 'Value',
              end: true,
              show: ({ value }) => (value === undefined ? '' : number(value, 6)),
              value: ({ value }) => value ?? 0,
            },
            {
              name: 'Age',
              end: true,
              show: ({ ageMs }) => (ageMs === undefined ? 'never' : age(ageMs)),
              value: ({ ageMs }) => ageMs ?? Number.MAX_VALUE,
            },
            {
              name: 'Use',
              show: ({ use }) => (
                <Badge
                  className="rt-high-contrast"
                  color={use === 'used' || use === 'checks' ? 'green' : 'amber'}
                >
                  {use}
                </Badge>
              ),
              value: ({ use }) => use,
            },
          ]}
        />
      </Section>
    </>
  );
}

function Item({ name, value }: { name: string; value: string }) {
  return (
    <DataList.Item>
      <DataList.Label minWidth="120px">{name}</DataList.Label>
      <DataList.Value>
        <Text>{value}</Text>
      </DataList.Value>
    </DataList.Item>
  );
}
