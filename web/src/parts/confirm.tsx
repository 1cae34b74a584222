/** An act that asks for a reason first and says what the server answered. */

import { AlertDialog, Button, Callout, Flex, Text, TextField } from '@radix-ui/themes';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { act, type Role } from '../api.ts';

export function Confirm({
  label,
  title,
  says,
  path,
  command = {},
  role,
  color,
  needsReason = false,
  children,
}: {
  label: string;
  title: string;
  says: string;
  path: string;
  command?: Readonly<Record<string, string>>;
  role: Role;
  color?: 'red' | 'green';
  /** True when the server refuses the act without a reason. */
  needsReason?: boolean;
  /** Fields. */
  children?: ReactNode;
}) {
  const [open, setOpen] = useState(false);
  const [note, setNote] = useState('');
  const client = useQueryClient();
  const send = useMutation({
    mutationFn: () => act(path, { ...command, ...(note.trim() === '' ? {} : { note: note.trim() }) }),
    async onSuccess() {
      await client.invalidateQueries();
      setOpen(false);
      setNote('');
    },
  });
  return (
    <AlertDialog.Root open={open} onOpenChange={setOpen}>
      <AlertDialog.Trigger>
        <Button
          size="2"
          variant="soft"
          className="rt-high-contrast"
          disabled={role !== 'operator'}
          {...(color === undefined ? {} : { color })}
          {...(role === 'operator' ? {} : { title: 'A viewer changes nothing.' })}
        >
          {label}
        </Button>
      </AlertDialog.Trigger>
      <AlertDialog.Content maxWidth="480px">
        <AlertDialog.Title>{title}</AlertDialog.Title>
        <AlertDialog.Description size="2">{says}</AlertDialog.Description>
        {children}
        <Text as="label" size="2" mt="3">
          Reason, for the audit log
          <TextField.Root mt="1" value={note} onChange={(event) => setNote(event.target.value)} />
        </Text>
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
            disabled={needsReason && note.trim() === ''}
            {...(color === undefined ? {} : { color })}
            onClick={() => send.mutate()}
          >
            {label}
          </Button>
        </Flex>
      </AlertDialog.Content>
    </AlertDialog.Root>
  );
}
