/** Shows every limit with its distance to its end, what is tripped, and the ways to stop. */

import { Badge, DataList, Flex, Progress } from '@radix-ui/themes';
import { age, number, short } from '../format.ts';
import { useLive, useNow } from '../live.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Grid } from '../parts/grid.tsx';
import { Section } from '../parts/section.tsx';
import { useRole } from '../role.ts';

/** Names what a limit counts together. */
const SCOPES: Readonly<Record<string, string>> = {
  perTaker: 'one taker',
  perTakerPair: 'one taker in one pair',
  perPair: 'one pair',
  perPairSide: 'one side of a pair',
  perAssetSide: 'one side of an asset',
  total: 'everything',
};

export function RiskPage() {
  const risk = useLive('/risk');
  const limits = useLive('/limits');
  const status = useLive('/status');
  const role = useRole();
  const nowMs = useNow();
  return (
    <>
      <Section
        title="Stop"
        note="Each acts at once. Signed quotes stay valid and are honoured whatever you press."
        actions={
          <Flex gap="2" wrap="wrap">
            <Confirm
              {...{ role, label: 'Stop all quotes', path: '/pause', color: 'red' }}
              title="Engage the kill switch?"
              says="Nothing is signed until somebody resumes."
            />
            <Confirm
              {...{ role, label: 'Hold transactions', path: '/fills/pause', color: 'red' }}
              title="Hold every transaction?"
              says="Nothing is sent on any chain, promised fills included: an order that is not filled in time is refunded and counts as broken."
            />
            <Confirm
              {...{ role, label: 'Send transactions', path: '/fills/resume', color: 'green' }}
              title="Send transactions again?"
              says="What waits is sent now."
            />
            <Confirm
              {...{ role, label: 'Resume quotes', path: '/resume', color: 'green' }}
              title="Quote again?"
              says="Releases the kill switch and every pause of a pair or chain."
            />
          </Flex>
        }
      >
        <Grid
          label="Pairs"
          rows={status.data?.pairs ?? []}
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
            {
              name: 'Stop or go',
              show: ({ pair }) => (
                <Flex gap="2">
                  <Confirm
                    {...{ role, label: `Pause ${pair}`, path: '/pause', command: { pair }, color: 'red' }}
                    title={`Pause ${pair}?`}
                    says="This pair is not quoted until somebody resumes it."
                  />
                  <Confirm
                    {...{ role, label: `Resume ${pair}`, path: '/resume', command: { pair }, color: 'green' }}
                    title={`Resume ${pair}?`}
                    says="This pair is quoted again, unless something else stops it."
                  />
                </Flex>
              ),
              value: ({ pair }) => pair,
            },
          ]}
        />
      </Section>
      <Section title="Tripped" live={risk}>
        {risk.data && (
          <Flex direction="column" gap="4">
            <DataList.Root size="2">
              <DataList.Item>
                <DataList.Label minWidth="120px">Value of all inventory</DataList.Label>
                <DataList.Value>
                  {risk.data.navUsd === null ? 'unknown: a price is missing' : `$${number(risk.data.navUsd)}`}
                </DataList.Value>
              </DataList.Item>
              <DataList.Item>
                <DataList.Label minWidth="120px">Loss</DataList.Label>
                <DataList.Value>
                  {risk.data.loss === null
                    ? 'unknown'
                    : `${number(risk.data.loss.hourBps)} bps this hour, ${number(risk.data.loss.dayBps)} bps today; negative is a gain`}
                </DataList.Value>
              </DataList.Item>
            </DataList.Root>
            <Grid
              label="Tripped controls"
              rows={risk.data.tripped}
              keyOf={({ control, about }) => `${control} ${about}`}
              empty="No control is tripped."
              columns={[
                { name: 'Control', show: ({ control }) => control, value: ({ control }) => control },
                { name: 'About', show: ({ about }) => about, value: ({ about }) => about },
                { name: 'Why', show: ({ detail }) => detail, value: ({ detail }) => detail },
                {
                  name: 'For',
                  end: true,
                  show: ({ sinceMs }) => age(nowMs - sinceMs),
                  value: ({ sinceMs }) => -sinceMs,
                },
              ]}
            />
            <Grid
              label="Suspect takers"
              rows={risk.data.suspects}
              keyOf={({ taker }) => taker}
              empty="No taker is suspect."
              columns={[
                { name: 'Taker', show: ({ taker }) => short(taker), value: ({ taker }) => taker },
                { name: 'Step', show: ({ step }) => step, value: ({ step }) => step },
                {
                  name: 'Quotes',
                  end: true,
                  show: ({ quotes }) => number(quotes),
                  value: ({ quotes }) => quotes,
                },
                {
                  name: 'Accepted',
                  end: true,
                  show: ({ accepts }) => number(accepts),
                  value: ({ accepts }) => accepts,
                },
              ]}
            />
          </Flex>
        )}
      </Section>
      <Section
        title="Limits"
        live={limits}
        note="The fullest of each kind. At 100 % nothing more is quoted there."
      >
        <Grid
          label="Limits"
          rows={limits.data?.limits ?? []}
          keyOf={({ scope, of }) => `${scope} ${of}`}
          empty="No limit counts anything now."
          sortedBy={{ by: 'Used', down: true }}
          columns={[
            { name: 'Limit', show: ({ scope }) => SCOPES[scope] ?? scope, value: ({ scope }) => scope },
            { name: 'Of', show: ({ of }) => (of === '' ? 'all' : short(of)), value: ({ of }) => of },
            {
              name: 'Quotes',
              end: true,
              show: ({ count, maxCount }) => `${count} of ${maxCount ?? '∞'}`,
              value: ({ count }) => count,
            },
            {
              name: 'Value',
              end: true,
              show: ({ notionalUsd, maxNotionalUsd }) =>
                `$${number(notionalUsd, 0)} of ${maxNotionalUsd === null ? '∞' : `$${number(maxNotionalUsd, 0)}`}`,
              value: ({ notionalUsd }) => notionalUsd,
            },
            {
              name: 'Used',
              show: ({ used, scope, of }) => (
                <Progress
                  value={Math.min(100, Math.round(used * 100))}
                  color={used >= 0.8 ? 'red' : 'indigo'}
                  aria-label={`${scope} ${of}: ${Math.round(used * 100)} % used`}
                />
              ),
              value: ({ used }) => used,
            },
          ]}
        />
      </Section>
    </>
  );
}
