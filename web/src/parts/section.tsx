/** Shows a titled part of a page: dims old figures and says since when they are old. */

import { Box, Callout, Flex, Heading, Skeleton, Text } from '@radix-ui/themes';
import type { ReactNode } from 'react';
import { age } from '../format.ts';
import { useNow } from '../live.ts';

interface Live {
  data: unknown;
  error: Error | null;
  readAtMs: number;
  old: boolean;
}

export function Section({
  title,
  note,
  live,
  actions,
  controls,
  children,
}: {
  title: string;
  note?: string;
  live?: Live;
  actions?: ReactNode;
  /** Controls that choose the figures: they stay when a choice is refused. */
  controls?: ReactNode;
  children: ReactNode;
}) {
  const nowMs = useNow();
  const id = `section-${title.toLowerCase().replaceAll(/\W+/g, '-')}`;
  return (
    <Box asChild mb="6">
      <section aria-labelledby={id}>
        <Flex justify="between" align="end" gap="3" wrap="wrap" mb="2">
          <Box>
            <Heading as="h2" size="4" id={id}>
              {title}
            </Heading>
            {note !== undefined && (
              <Text as="p" size="2" color="gray">
                {note}
              </Text>
            )}
          </Box>
          {actions}
        </Flex>
        {controls}
        {live?.old === true && (
          <Callout.Root color="amber" size="1" mb="2" role="status">
            <Callout.Text>
              These figures are {age(nowMs - live.readAtMs)} old: {live.error?.message ?? 'no answer yet.'}
            </Callout.Text>
          </Callout.Root>
        )}
        {live !== undefined && live.data === undefined ? (
          live.error === null ? (
            <Skeleton height="80px" />
          ) : (
            <Callout.Root color="red" size="1" role="alert">
              <Callout.Text>{live.error.message}</Callout.Text>
            </Callout.Root>
          )
        ) : (
          <div className={live?.old === true ? 'old figures' : 'figures'}>{children}</div>
        )}
      </section>
    </Box>
  );
}
