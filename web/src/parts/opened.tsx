/** A dialog over the page for what was opened in a table. */

import { Button, Dialog, Flex } from '@radix-ui/themes';
import type { ReactNode } from 'react';

export function Opened({
  title,
  open,
  close,
  children,
}: {
  title: string;
  open: boolean;
  close(): void;
  children: ReactNode;
}) {
  return (
    <Dialog.Root open={open} onOpenChange={(stays) => stays || close()}>
      <Dialog.Content maxWidth="min(760px, calc(100vw - 32px))" aria-describedby={undefined}>
        <Dialog.Title>{title}</Dialog.Title>
        {children}
        <Flex justify="end" mt="4">
          <Dialog.Close>
            <Button variant="soft">Close</Button>
          </Dialog.Close>
        </Flex>
      </Dialog.Content>
    </Dialog.Root>
  );
}
