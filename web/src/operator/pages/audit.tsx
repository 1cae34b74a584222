/** Lists who changed what and when, newest first, with the fields that a change touched. */

import { Table } from '@radix-ui/themes';
import { useState } from 'react';
import type { ChangeView } from '../../../../src/protocol/admin/admin.ts';
import { dateTime } from '../../format.ts';
import { Grid } from '../../parts/grid.tsx';
import { Opened } from '../../parts/opened.tsx';
import { Section } from '../../parts/section.tsx';
import { useAdmin } from '../api.ts';

export function AuditPage() {
  const live = useAdmin('/audit?limit=1000');
  const [opened, setOpened] = useState<ChangeView>();
  return (
    <Section title="Audit log" note="The newest 1,000 changes by administrators." live={live}>
      <Grid
        label="Changes"
        rows={live.data?.changes ?? []}
        keyOf={({ at, what, subjectId }) => `${at} ${what} ${subjectId}`}
        open={(change) => setOpened(change)}
        empty="Nobody has changed anything yet."
        columns={[
          { name: 'Time', show: ({ at }) => dateTime(Date.parse(at)), value: ({ at }) => at },
          { name: 'Who', show: ({ who }) => who, value: ({ who }) => who },
          { name: 'What', show: ({ what }) => what, value: ({ what }) => what },
          { name: 'Of', show: ({ subjectId }) => subjectId, value: ({ subjectId }) => subjectId },
          {
            name: 'Workspace',
            show: ({ workspaceId }) => workspaceId ?? '',
            value: ({ workspaceId }) => workspaceId ?? '',
          },
          { name: 'Changed', show: changedText, value: changedText },
        ]}
      />
      <Opened
        title={`${opened?.what ?? ''} ${opened?.subjectId ?? ''}`}
        open={opened !== undefined}
        close={() => setOpened(undefined)}
      >
        {opened !== undefined && <Fields change={opened} />}
      </Opened>
    </Section>
  );
}

interface Field {
  name: string;
  before: string;
  after: string;
}

function changed({ before, after }: ChangeView): Field[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return names
    .map((name) => ({ name, before: text(before?.[name]), after: text(after?.[name]) }))
    .filter((field) => field.before !== field.after);
}

const text = (value: unknown): string =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

function changedText(change: ChangeView): string {
  if (change.before === null) return 'new';
  if (change.after === null) return 'removed';
  return changed(change)
    .map(({ name, before, after }) => `${name}: ${before} → ${after}`)
    .join(', ');
}

function Fields({ change }: { change: ChangeView }) {
  return (
    <div className="scroll" role="region" aria-label="Table: fields" tabIndex={0}>
      <Table.Root size="1">
        <Table.Header>
          <Table.Row>
            {['Field', 'Before', 'After'].map((name) => (
              <Table.ColumnHeaderCell key={name}>{name}</Table.ColumnHeaderCell>
            ))}
          </Table.Row>
        </Table.Header>
        <Table.Body>
          {changed(change).map(({ name, before, after }) => (
            <Table.Row key={name}>
              <Table.RowHeaderCell>{name}</Table.RowHeaderCell>
              <Table.Cell className="breaks">{before}</Table.Cell>
              <Table.Cell className="breaks">{after}</Table.Cell>
            </Table.Row>
          ))}
        </Table.Body>
      </Table.Root>
    </div>
  );
}
