/**
 * The frame around every page of the administrators: sign-in with an admin key, and whether orders are stuck.
 */

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import { useState } from 'react';
import { Shell, SignedIn, SignInForm } from '../parts/shell.tsx';
import { KeyContext, readSetup, signIn, useAdmin } from './api.ts';
import { PAGES } from './navigation.ts';

export function Frame() {
  const [key, setKey] = useState<string>();
  const client = useQueryClient();
  const leave = () => {
    client.clear();
    setKey(undefined);
  };
  return (
    <Shell>
      {key === undefined ? (
        <SignIn use={setKey} />
      ) : (
        <KeyContext value={key}>
          <Inside leave={leave} />
        </KeyContext>
      )}
    </Shell>
  );
}

function Inside({ leave }: { leave(): void }) {
  const { data: setup } = useQuery({ queryKey: ['setup'], queryFn: readSetup, staleTime: Infinity });
  const { data, error, old } = useAdmin('/orders');
  const stuck = data?.orders.filter((order) => order.stuck).length ?? 0;
  const connection =
    old || (data === undefined && error !== null)
      ? ({ color: 'red', text: 'connection lost, trying again' } as const)
      : data === undefined
        ? undefined
        : stuck > 0
          ? ({ color: 'red', text: stuck === 1 ? '1 order is stuck' : `${stuck} orders are stuck` } as const)
          : ({ color: 'green', text: 'no order is stuck' } as const);
  return (
    <SignedIn
      title={`Venue ${setup?.venueId ?? ''}`}
      who="administrator"
      connection={connection}
      pages={PAGES}
      leave={{ label: 'Sign out', act: leave }}
    >
      <Outlet />
    </SignedIn>
  );
}

const FIELDS = [{ name: 'admin', label: 'Admin key: one of admin.keys', autoComplete: 'off' }] as const;

function SignIn({ use }: { use(key: string): void }) {
  const [values, setValues] = useState({ admin: '' });
  const send = useMutation({ mutationFn: () => signIn(values.admin.trim()), onSuccess: use });
  return (
    <SignInForm
      title="firmquote venue"
      label="Sign in"
      note="The page keeps the key in memory: it is gone when you reload or close it."
      fields={FIELDS}
      {...{ values, setValues, send }}
    />
  );
}
