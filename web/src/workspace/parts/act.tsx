/** Changes the workspace: a dialog says what will happen, then what the venue answered. */

import { AlertDialog, Button, Callout, Flex, Text, TextField } from '@radix-ui/themes';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';

export function Act({
  label,
  title,
  says,
  color,
  disabled = false,
  children,
  run,
}: {
  label: string;
  title: string;
  says: string;
  color?: 'red';
  disabled?: boolean;
  /** Fields. */
  children?: ReactNode;
  /** The secret in its answer is shown once. */
  run(): Promise<{ secret?: string }>;
}) {
  const [open, setOpen] = useState(false);
  const client = useQueryClient();
  const send = useMutation({
    mutationFn: run,
    async onSuccess({ secret }) {
      await client.invalidateQueries({ predicate: ({ meta }) => meta?.['streamed'] === true });
      if (secret === undefined) setOpen(false);
    },
  });
  const secret = send.data?.secret;
  const shows = (next: boolean) => {
    // The secret must not stay in memory behind a closed dialog.
    send.reset();
    setOpen(next);
  };
  return (
    <AlertDialog.Root open={open} onOpenChange={shows}>
      <AlertDialog.Trigger>
        <Button
          size="1"
          variant="soft"
          className="rt-high-contrast"
          disabled={disabled}
          {...(color === undefined ? {} : { color })}
        >
          {label}
        </Button>
      </AlertDialog.Trigger>
      <AlertDialog.Content maxWidth="480px">
        <AlertDialog.Title>{title}</AlertDialog.Title>
        <AlertDialog.Description size="2">
          {secret === undefined ? says : 'Copy it now: nobody can show it again.'}
        </AlertDialog.Description>
        {secret === undefined ? (
          children !== undefined && (
            <Flex direction="column" gap="3" mt="3">
              {children}
            </Flex>
          )
        ) : (
          <Text as="label" size="2" mt="3">
            Secret
            <TextField.Root mt="1" readOnly value={secret} onFocus={({ target }) => target.select()} />
          </Text>
        )}
        {send.error !== null && (
          <Callout.Root color="red" size="1" mt="3" role="alert">
            <Callout.Text>{send.error.message}</Callout.Text>
          </Callout.Root>
        )}
        <Flex gap="3" mt="4" justify="end">
          <AlertDialog.Cancel>
            <Button variant="soft" color="gray">
              {secret === undefined ? 'Back' : 'Done'}
            </Button>
          </AlertDialog.Cancel>
          {secret === undefined && (
            <Button
              className="rt-high-contrast"
              loading={send.isPending}
              {...(color === undefined ? {} : { color })}
              onClick={() => send.mutate()}
            >
              {label}
            </Button>
          )}
        </Flex>
      </AlertDialog.Content>
    </AlertDialog.Root>
  );
}
