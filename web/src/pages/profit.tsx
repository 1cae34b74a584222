/** Shows what was earned: totals, and rows by pair, corridor, taker or trade, in a window of time. */

import { Button, Callout, DataList, Flex, SegmentedControl, Text } from '@radix-ui/themes';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { profitCsv } from '../../../src/lp/accounting/profit-csv.ts';
import { read } from '../api.ts';
import { micros, number, short } from '../format.ts';
import { useLive } from '../live.ts';
import { download } from '../parts/download.ts';
import { Grid } from '../parts/grid.tsx';
import { Section } from '../parts/section.tsx';

const WINDOWS = { hour: 3_600_000, day: 86_400_000, week: 604_800_000, all: 0 } as const;
/** The most rows of one answer: nobody reads more in a table, and a file may hold them. */
const MOST_ROWS = 10_000;
const KEYS = ['pair', 'corridor', 'taker', 'trade'] as const;
const NAMES = { pair: 'Pair', corridor: 'Corridor', taker: 'Taker', trade: 'Trade' } as const;
const TOTALS: Readonly<Record<string, string>> = {
  spread: 'Spread at mid',
  fees: 'Fees of the venue',
  gas: 'Gas',
  lost: 'Lost',
  bridgeFees: 'Fees of bridges',
  transferGas: 'Gas of transfers',
  realised: 'Positions, realised',
  unrealised: 'Positions, unrealised',
  total: 'Total',
};
/** Reads the seconds of `markout_10s`: what trades were worth so long after their acceptance. */
const secondsOf = (total: string): string | undefined => /^markout_(\d+)s$/.exec(total)?.[1];

export function ProfitPage() {
  const [window, setWindow] = useState<keyof typeof WINDOWS>('day');
  const [by, setBy] = useState<(typeof KEYS)[number]>('pair');
  // Rounded to a minute, so that the question stays the same between two reads.
  const since = WINDOWS[window] === 0 ? 0 : Math.floor((Date.now() - WINDOWS[window]) / 60_000) * 60_000;
  const wanted = `?by=${by}&sinceMs=${since}`;
  const live = useLive('/pnl', { rest: wanted, everyMs: 5_000 });
  const exported = useMutation({
    mutationFn: () => read('/pnl', `${wanted}&limit=${MOST_ROWS}`),
    onSuccess: (profit) =>
      download(
        `profit-${by}-${window}.csv`,
        new Blob(
          [
            profitCsv(profit)
              .map((line) => `${line}\n`)
              .join(''),
          ],
          { type: 'text/csv' },
        ),
      ),
  });
  const { data } = live;
  type Row = NonNullable<typeof data>['rows'][number];
  const dollars = (name: string, of: (row: Row) => string | undefined) => ({
    name,
    end: true,
    show: (row: Row) => {
      const value = of(row);
      return value === undefined ? '' : micros(value);
    },
    value: (row: Row) => Number(of(row) ?? 0),
  });
  return (
    <Section
      title="Profit"
      live={live}
      note="Spread, fees and gas at the mids of acceptance; positions at the mid of now."
      actions={
        <Flex gap="3" wrap="wrap">
          <SegmentedControl.Root
            size="1"
            value={window}
            onValueChange={(value) => setWindow(value as keyof typeof WINDOWS)}
            aria-label="Window"
          >
            {Object.keys(WINDOWS).map((each) => (
              <SegmentedControl.Item key={each} value={each}>
                {each}
              </SegmentedControl.Item>
            ))}
          </SegmentedControl.Root>
          <SegmentedControl.Root
            size="1"
            value={by}
            onValueChange={(value) => setBy(value as (typeof KEYS)[number])}
            aria-label="A row for each"
          >
            {KEYS.map((each) => (
              <SegmentedControl.Item key={each} value={each}>
                {each}
              </SegmentedControl.Item>
            ))}
          </SegmentedControl.Root>
          <Button
            size="1"
            variant="soft"
            className="rt-high-contrast"
            loading={exported.isPending}
            onClick={() => exported.mutate()}
          >
            Export CSV
          </Button>
        </Flex>
      }
    >
      {exported.error !== null && (
        <Callout.Root color="red" size="1" mb="2" role="alert">
          <Callout.Text>{exported.error.message}</Callout.Text>
        </Callout.Root>
      )}
      {data && (
        <Flex direction="column" gap="4">
          <DataList.Root size="2" orientation={{ initial: 'vertical', sm: 'horizontal' }}>
            {Object.entries(data.totals)
              .filter(([, value]) => typeof value === 'string')
              .map(([name, value]) => (
                <DataList.Item key={name}>
                  <DataList.Label minWidth="160px">
                    {TOTALS[name] ?? `Mark-out after ${secondsOf(name) ?? name} s`}
                  </DataList.Label>
                  <DataList.Value>
                    <Text weight={name === 'total' ? 'bold' : 'regular'}>{micros(String(value))}</Text>
                  </DataList.Value>
                </DataList.Item>
              ))}
          </DataList.Root>
          <Grid
            label="Profit"
            rows={data.rows}
            keyOf={({ key }) => key}
            empty="No trade in this window."
            columns={[
              { name: NAMES[by], show: ({ key }) => short(key), value: ({ key }) => key },
              {
                name: 'Trades',
                end: true,
                show: ({ trades }) => number(trades),
                value: ({ trades }) => trades,
              },
              dollars('Volume', ({ volumeMicros }) => volumeMicros),
              dollars('Gross', ({ grossMicros }) => grossMicros),
              dollars('Fees', ({ feesMicros }) => feesMicros),
              dollars('Spread', ({ grossMicros, feesMicros }) =>
                String(BigInt(grossMicros) - BigInt(feesMicros)),
              ),
              dollars('Gas', ({ gasMicros }) => gasMicros),
              dollars('Lost', ({ lostMicros }) => lostMicros),
              ...Object.keys(data.totals)
                .flatMap((total) => secondsOf(total) ?? [])
                .map((mark) => dollars(`After ${mark} s`, ({ markMicros }) => markMicros[mark])),
            ]}
          />
        </Flex>
      )}
    </Section>
  );
}
