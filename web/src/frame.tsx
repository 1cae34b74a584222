/** The frame around every page of an LP's console: login, and the LP's state at a glance. */

import { Callout } from '@radix-ui/themes';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { ApiError, logIn, logOut, type Role, session } from './api.ts';
import { useLive } from './live.ts';
import { PAGES } from './navigation.ts';
import { Shell, SignedIn, SignInForm } from './parts/shell.tsx';
import { RoleContext } from './role.ts';

export function Frame() {
  const { data, error } = useQuery({ queryKey: ['session'], queryFn: session, refetchInterval: 30_000 });
  return (
    <Shell>
      {error !== null && data === undefined ? (
        <Callout.Root color="red" mt="6" role="alert">
          <Callout.Text>{error.message}</Callout.Text>
        </Callout.Root>
      ) : data === undefined ? null : data.role === null ? (
        <Login />
      ) : (
        <Pages role={data.role} />
      )}
    </Shell>
  );
}

const FIELDS = [
  {
    name: 'token',
    label: 'Token: the text of the file that admin.tokenFile names',
    autoComplete: 'current-password',
  },
] as const;

function Login() {
  const [values, setValues] = useState({ token: '' });
  const client = useQueryClient();
  const send = useMutation({
    mutationFn: () => logIn(values.token.trim()),
    onSuccess: () => client.invalidateQueries(),
  });
  return <SignInForm title="firmquote LP" label="Log in" fields={FIELDS} {...{ values, setValues, send }} />;
}

function Pages({ role }: { role: Role }) {
  const status = useLive('/status');
  const client = useQueryClient();
  const lost = status.old || (status.data === undefined && status.error !== null);
  // The session may have ended while the page was open.
  const ended = status.error instanceof ApiError && status.error.status === 401;
  useEffect(() => {
    if (ended) void client.invalidateQueries({ queryKey: ['session'] });
  }, [ended, client]);
  return (
    <RoleContext value={role}>
      <SignedIn
        title="firmquote LP"
        connection={lost ? { color: 'red', text: 'not connected' } : status.data && badgeOf(status.data)}
        pages={PAGES}
        leave={{ label: 'Log out', act: () => void logOut().then(() => client.invalidateQueries()) }}
      >
        <Outlet />
      </SignedIn>
    </RoleContext>
  );
}

const badgeOf = ({ status, shadow }: { status: string; shadow?: boolean | undefined }) =>
  shadow === true
    ? ({ color: 'purple', text: 'Shadow: nothing is signed' } as const)
    : ({ color: status === 'active' ? 'green' : 'amber', text: status } as const);
