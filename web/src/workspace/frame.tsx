/**
 * The frame around every page of a workspace's console: sign-in with keys, and whether the figures are live.
 */

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import { useState } from 'react';
import { Shell, SignedIn, SignInForm } from '../parts/shell.tsx';
import { type Session, signIn } from './api.ts';
import { StreamContext, useStream } from './live.ts';
import { PAGES } from './navigation.ts';
import { SessionContext } from './session.ts';

const CONNECTIONS = {
  connecting: { color: 'gray', text: 'connecting' },
  live: { color: 'green', text: 'live' },
  lost: { color: 'red', text: 'connection lost, trying again' },
} as const;

export function Frame() {
  const [session, setSession] = useState<Session>();
  const client = useQueryClient();
  const state = useStream(session?.workspace ?? session?.service);
  const holder = (session?.workspace ?? session?.service)?.holder;
  return (
    <Shell>
      {session === undefined ? (
        <SignIn use={setSession} />
      ) : (
        <SessionContext value={session}>
          <StreamContext value={state}>
            <SignedIn
              title={holder?.workspace.name}
              who={[holder?.mode, session.workspace?.holder.role].filter(Boolean).join(', ')}
              connection={CONNECTIONS[state]}
              pages={PAGES}
              leave={{
                label: 'Sign out',
                act() {
                  client.clear();
                  setSession(undefined);
                },
              }}
            >
              <Outlet />
            </SignedIn>
          </StreamContext>
        </SessionContext>
      )}
    </Shell>
  );
}

const FIELDS = [
  { name: 'workspace', label: 'Workspace key: history, keys, webhooks', autoComplete: 'off' },
  { name: 'service', label: 'Service key: trade, solvers', autoComplete: 'off' },
] as const;

function SignIn({ use }: { use(session: Session): void }) {
  const [values, setValues] = useState({ workspace: '', service: '' });
  const send = useMutation({ mutationFn: () => signIn(Object.values(values)), onSuccess: use });
  return (
    <SignInForm
      title="firmquote workspace"
      label="Sign in"
      note="One key is enough for its pages. The page keeps the keys in memory: they are gone when you reload or close it."
      fields={FIELDS}
      {...{ values, setValues, send }}
    />
  );
}
