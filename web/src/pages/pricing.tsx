/**
 * Shows the pricing parameters: those in force, a change of them with what it would have done, and earlier
 * versions.
 */

import { Badge, Button, Callout, Flex, Text } from '@radix-ui/themes';
import { useState } from 'react';
import type { Answers } from '../api.ts';
import { dateTime } from '../format.ts';
import { useLive } from '../live.ts';
import { Grid } from '../parts/grid.tsx';
import { Opened } from '../parts/opened.tsx';
import { type Drafts, ParameterTable, pairChanges } from '../parts/parameter-table.tsx';
import { PricingChange, type Proposal } from '../parts/pricing-change.tsx';
import { Section } from '../parts/section.tsx';
import { useRole } from '../role.ts';

/** The choice of the whole pair instead of one corridor. */
const EVERYWHERE = '';

export function PricingPage() {
  const live = useLive('/pricing', { everyMs: 5_000 });
  const [drafts, setDrafts] = useState<Drafts>({});
  const [proposal, setProposal] = useState<Proposal>();
  const isOperator = useRole() === 'operator';
  const { data } = live;
  const count = Object.keys(drafts).length;
  const open = (change: Omit<Proposal, 'configSha256'>) =>
    data !== undefined && setProposal({ configSha256: data.configSha256, ...change });
  return (
    <>
      <Section
        title="Parameters"
        live={live}
        note="As they are in force. New values count from the next request on; signed quotes keep their price."
        actions={
          <Flex gap="2" wrap="wrap">
            <Button
              variant="soft"
              color="gray"
              className="rt-high-contrast"
              disabled={count === 0}
              onClick={() => setDrafts({})}
            >
              Discard
            </Button>
            <Button
              className="rt-high-contrast"
              disabled={!isOperator || count === 0 || data?.blocked !== null}
              {...(isOperator ? {} : { title: 'A viewer changes nothing.' })}
              onClick={() => open({ title: 'Change these parameters?', pairs: pairChanges(drafts) })}
            >
              {count === 0 ? 'Simulate' : `Simulate ${count} ${count === 1 ? 'change' : 'changes'}`}
            </Button>
          </Flex>
        }
      >
        {data && <Parameters {...{ data, drafts, setDrafts, isOperator }} />}
      </Section>
      <Section title="Versions" note="Each set of parameters that was in force, whoever changed it.">
        <Grid
          label="Versions"
          rows={data?.versions ?? []}
          keyOf={({ n }) => String(n)}
          empty="No version yet."
          columns={[
            { name: 'Version', show: ({ n }) => n, value: ({ n }) => n },
            { name: 'Since', show: ({ atMs }) => dateTime(atMs), value: ({ atMs }) => atMs },
            {
              name: 'Go back',
              show: ({ n, current }) =>
                current ? (
                  <Badge className="rt-high-contrast" color="green">
                    in force
                  </Badge>
                ) : (
                  <Button
                    size="1"
                    variant="soft"
                    className="rt-high-contrast"
                    disabled={!isOperator || data?.blocked !== null}
                    onClick={() => open({ title: `Go back to version ${n}?`, version: n })}
                  >
                    To version {n}
                  </Button>
                ),
              value: ({ n }) => n,
            },
            { name: 'By', show: ({ who }) => who, value: ({ who }) => who },
            { name: 'Reason', show: ({ note }) => note ?? '', value: ({ note }) => note ?? '' },
            {
              name: 'Changed',
              show: ({ changes }) =>
                changes.map(({ path, from, to }) => `${path}: ${from} → ${to}`).join('; '),
              value: ({ changes }) => changes.map(({ path }) => path).join(' '),
            },
          ]}
        />
      </Section>
      <Opened
        title={proposal?.title ?? ''}
        open={proposal !== undefined}
        close={() => setProposal(undefined)}
      >
        {proposal !== undefined && (
          <PricingChange
            proposal={proposal}
            applied={() => {
              setProposal(undefined);
              setDrafts({});
            }}
          />
        )}
      </Opened>
    </>
  );
}

function Parameters({
  data,
  drafts,
  setDrafts,
  isOperator,
}: {
  data: Answers['/pricing'];
  drafts: Drafts;
  setDrafts(drafts: Drafts): void;
  isOperator: boolean;
}) {
  const [name, setName] = useState(data.pairs[0]?.pair);
  const [corridor, setCorridor] = useState(EVERYWHERE);
  const pair = data.pairs.find((each) => each.pair === name) ?? data.pairs[0];
  if (pair === undefined) return <Text size="2">This LP has no pair.</Text>;
  const place = pair.corridors.find((each) => each.corridor === corridor);
  return (
    <Flex direction="column" gap="3">
      {data.blocked !== null && (
        <Callout.Root color="amber" size="1" role="status">
          <Callout.Text className="breaks">{data.blocked.message}</Callout.Text>
        </Callout.Root>
      )}
      <Flex gap="3" wrap="wrap">
        <Text as="label" size="2">
          Pair
          <select className="choice" value={pair.pair} onChange={(event) => setName(event.target.value)}>
            {data.pairs.map((each) => (
              <option key={each.pair}>{each.pair}</option>
            ))}
          </select>
        </Text>
        <Text as="label" size="2">
          Where
          <select
            className="choice"
            value={place?.corridor ?? EVERYWHERE}
            onChange={(event) => setCorridor(event.target.value)}
          >
            <option value={EVERYWHERE}>every corridor</option>
            {pair.corridors.map((each) => (
              <option key={each.corridor} value={each.corridor}>
                only {each.corridor}
              </option>
            ))}
          </select>
        </Text>
      </Flex>
      <ParameterTable
        rows={data.parameters.filter(({ corridorOnly }) => place !== undefined || !corridorOnly)}
        own={place?.own ?? pair.own}
        effective={place?.effective ?? pair.effective}
        place={{ pair: pair.pair, corridor: place?.corridor ?? EVERYWHERE }}
        {...{ drafts, setDrafts, isOperator }}
      />
    </Flex>
  );
}
