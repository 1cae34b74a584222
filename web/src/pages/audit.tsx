/** Lists who did what to this LP, newest first. */

import { Text } from '@radix-ui/themes';
import { dateTime } from '../format.ts';
import { useLive } from '../live.ts';
import { Grid } from '../parts/grid.tsx';
import { Section } from '../parts/section.tsx';

export function AuditPage() {
  const live = useLive('/audit', { rest: '?limit=500', everyMs: 5_000 });
  return (
    <Section title="Audit log" live={live} note="Entries never change.">
      <Grid
        label="Entries"
        rows={live.data?.entries ?? []}
        keyOf={({ atMs, who, what }) => `${atMs} ${who} ${what}`}
        empty="No entry yet."
        columns={[
          { name: 'Time', show: ({ atMs }) => dateTime(atMs), value: ({ atMs }) => atMs },
          { name: 'Who', show: ({ who }) => who, value: ({ who }) => who },
          { name: 'What', show: ({ what }) => what, value: ({ what }) => what },
          { name: 'From', show: ({ address }) => address ?? '', value: ({ address }) => address ?? '' },
          {
            name: 'Note',
            show: ({ note, changes }) => (
              <Text>
                {[note, ...changes.map(({ path, from, to }) => `${path}: ${from || '-'} → ${to || '-'}`)]
                  .filter(Boolean)
                  .join('; ')}
              </Text>
            ),
            value: ({ note }) => note ?? '',
          },
        ]}
      />
    </Section>
  );
}
