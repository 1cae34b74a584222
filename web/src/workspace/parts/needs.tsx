/** Shows a page, or which key it needs. */

import { Callout, Heading } from '@radix-ui/themes';
import type { ReactNode } from 'react';
import { useSession } from '../session.ts';

export function Needs({
  name,
  kind,
  children,
}: {
  name: string;
  kind: 'workspace' | 'service';
  children: ReactNode;
}) {
  const session = useSession();
  if (session[kind] !== undefined) return children;
  return (
    <section aria-label={name}>
      <Heading as="h2" size="4" mb="2">
        {name}
      </Heading>
      <Callout.Root color="amber" size="1" role="status">
        <Callout.Text>
          This page needs a {kind} key of the workspace. Sign out, and sign in with both keys.
        </Callout.Text>
      </Callout.Root>
    </section>
  );
}
