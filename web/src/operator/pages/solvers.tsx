/** Shows the roster: onboarding, status and breaker of each solver; a solver is disabled and enabled here. */

import { AlertDialog, Badge, Button, Callout, Flex } from '@radix-ui/themes';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useContext, useState } from 'react';
import type { RosterRow } from '../../../../src/protocol/admin/operations.ts';
import { clock, dateTime } from '../../format.ts';
import { Grid } from '../../parts/grid.tsx';
import { Section } from '../../parts/section.tsx';
import { KeyContext, setDisabled, useAdmin } from '../api.ts';

const ONBOARDING: Readonly<Record<RosterRow['onboarding'], string>> = {
  issue_key: 'issue its key',
  connect: 'waits for its first connection',
  quote: 'waits for its first quote',
  done: 'done',
};
const COLORS = { active: 'green', standby: 'amber', offline: 'gray' } as const;

export function SolversPage() {
  const live = useAdmin('/roster');
  const solvers = live.data?.solvers ?? [];
  return (
    <Section
      title="Solvers"
      note="Status, breaker and counts are those of this process; counts begin with its start."
      live={live}
    >
      <Grid
        label="Solvers"
        rows={solvers}
        keyOf={({ id }) => id}
        empty="No solver is onboarded: firmquote solver add."
        columns={[
          { name: 'Solver', show: ({ id }) => id, value: ({ id }) => id },
          { name: 'Status', show: status, value: statusText },
          { name: 'Change', show: (solver) => <Turn solver={solver} />, value: statusText },
          { name: 'Breaker', show: breaker, value: breaker },
          {
            name: 'Onboarding',
            show: ({ onboarding }) => ONBOARDING[onboarding],
            value: ({ onboarding }) => ONBOARDING[onboarding],
          },
          { name: 'Note', show: ({ note }) => note ?? '', value: ({ note }) => note ?? '' },
          {
            name: 'Connections',
            end: true,
            show: ({ connections }) => connections,
            value: ({ connections }) => connections,
          },
          { name: 'Settled', end: true, show: ({ settled }) => settled, value: ({ settled }) => settled },
          { name: 'Broken', end: true, show: ({ faded }) => faded, value: ({ faded }) => faded },
          {
            name: 'Last quote',
            show: ({ lastQuoteAt }) => (lastQuoteAt === null ? 'never' : dateTime(Date.parse(lastQuoteAt))),
            value: ({ lastQuoteAt }) => lastQuoteAt ?? '',
          },
        ]}
      />
    </Section>
  );
}

const statusText = ({ disabled, status: now }: RosterRow) => (disabled ? 'disabled' : now);

function status(solver: RosterRow) {
  return (
    <Badge color={solver.disabled ? 'red' : COLORS[solver.status]} className="rt-high-contrast">
      {statusText(solver)}
    </Badge>
  );
}

function breaker({ breaker: { openUntil, reason, underWatch } }: RosterRow): string {
  const why = reason === 'fade' ? 'broken promises' : 'invalid answers';
  if (openUntil !== null) return `open until ${clock(Date.parse(openUntil))}: ${why}`;
  return underWatch && reason !== null ? `closed, watched: ${why}` : 'closed';
}

function Turn({ solver: { id, disabled } }: { solver: RosterRow }) {
  const [open, setOpen] = useState(false);
  const key = useContext(KeyContext);
  const client = useQueryClient();
  const send = useMutation({
    mutationFn: () => setDisabled(key, id, !disabled),
    async onSuccess() {
      await client.invalidateQueries();
      setOpen(false);
    },
  });
  const verb = disabled ? 'Enable' : 'Disable';
  const color = disabled ? 'green' : 'red';
  return (
    <AlertDialog.Root open={open} onOpenChange={setOpen}>
      <AlertDialog.Trigger>
        <Button size="1" variant="soft" className="rt-high-contrast" color={color}>
          {verb} {id}
        </Button>
      </AlertDialog.Trigger>
      <AlertDialog.Content maxWidth="480px">
        <AlertDialog.Title>
          {verb} {id}
        </AlertDialog.Title>
        <AlertDialog.Description size="2">
          {disabled
            ? 'It may connect again, and is then asked for quotes. The audit log records it.'
            : 'Its connections close at every process of the venue, and it is not asked again. Quotes that it has given stay firm, and its open orders go on. The audit log records it.'}
        </AlertDialog.Description>
        {send.error !== null && (
          <Callout.Root color="red" size="1" mt="3" role="alert">
            <Callout.Text>{send.error.message}</Callout.Text>
          </Callout.Root>
        )}
        <Flex gap="3" mt="4" justify="end">
          <AlertDialog.Cancel>
            <Button variant="soft" color="gray">
              Back
            </Button>
          </AlertDialog.Cancel>
          <Button
            className="rt-high-contrast"
            loading={send.isPending}
            color={color}
            onClick={() => send.mutate()}
          >
            {verb}
          </Button>
        </Flex>
      </AlertDialog.Content>
    </AlertDialog.Root>
  );
}
