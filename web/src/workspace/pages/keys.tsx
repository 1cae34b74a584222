/** Shows the workspace's valid keys: who uses each, with which role, since when, and when last. */

import { Flex, Text, TextField } from '@radix-ui/themes';
import { useState } from 'react';
import type { WorkspaceKeyView } from '../../../../src/protocol/admin/admin.ts';
import { dateTime, number } from '../../format.ts';
import { type Column, Grid } from '../../parts/grid.tsx';
import { Section } from '../../parts/section.tsx';
import { type Access, issueKey, readKeys, revokeKey } from '../api.ts';
import { useRead } from '../live.ts';
import { Act } from '../parts/act.tsx';
import { Choice } from '../parts/choice.tsx';
import { rolesUpTo } from '../parts/roles.ts';
import { mayManage } from '../session.ts';

const KINDS = [
  ['service', 'service: trades'],
  ['workspace', 'workspace: history and this page'],
] as const;

export function KeysSection({ access }: { access: Access }) {
  const live = useRead(['keys'], () => readKeys(access));
  const keys = live.data?.keys ?? [];
  const manages = mayManage(access.holder);
  const issuer = ({ issuedBy }: WorkspaceKeyView): string =>
    issuedBy === null ? 'operator of the venue' : keys.find(({ id }) => id === issuedBy)?.label || issuedBy;
  const who = ({ member }: WorkspaceKeyView): string =>
    member ? `${member.firstName} ${member.lastName}` : 'nobody named';
  const columns: Column<WorkspaceKeyView>[] = [
    { name: 'Key', show: ({ begins }) => `${begins}…`, value: ({ begins }) => begins },
    { name: 'Note', show: ({ label }) => label, value: ({ label }) => label },
    { name: 'Kind', show: ({ kind }) => kind, value: ({ kind }) => kind },
    { name: 'Role', show: ({ role }) => role ?? '', value: ({ role }) => role ?? '' },
    ...(manages ? [{ name: 'Used by', show: who, value: who }] : []),
    {
      name: 'Last used',
      show: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : dateTime(Date.parse(lastUsedAt))),
      value: ({ lastUsedAt }) => lastUsedAt ?? '',
    },
    { name: 'Issued by', show: issuer, value: issuer },
    {
      name: 'Issued',
      show: ({ createdAt }) => dateTime(Date.parse(createdAt)),
      value: ({ createdAt }) => createdAt,
    },
    ...(manages
      ? [
          {
            name: 'Change',
            show: (key: WorkspaceKeyView) => <Revoke access={access} of={key} />,
            value: () => '',
          },
        ]
      : []),
  ];
  return (
    <Section
      title="Keys"
      live={live}
      note={`${number(keys.length)} valid ${access.holder.mode} ${keys.length === 1 ? 'key' : 'keys'}. The last use may be a minute late.`}
      actions={manages && <Issue access={access} />}
    >
      <Grid label="Keys" rows={keys} keyOf={({ id }) => id} empty="No valid key." columns={columns} />
    </Section>
  );
}

function Issue({ access }: { access: Access }) {
  const [kind, setKind] = useState<string>('service');
  const [role, setRole] = useState<string>('viewer');
  const [label, setLabel] = useState('');
  return (
    <Act
      label="Issue a key"
      title="Issue a key"
      says={`It is a ${access.holder.mode} key, and it ends with your membership, if your key names you.`}
      run={async () => ({
        secret: await issueKey(access, { kind, label: label.trim(), ...(kind === 'workspace' && { role }) }),
      })}
    >
      <Choice label="For" value={kind} options={KINDS} onChange={setKind} />
      {kind === 'workspace' && (
        <Choice label="Role" value={role} options={rolesUpTo(access.holder)} onChange={setRole} />
      )}
      <Text as="label" size="2">
        Note
        <TextField.Root mt="1" value={label} onChange={(event) => setLabel(event.target.value)} />
      </Text>
    </Act>
  );
}

function Revoke({ access, of }: { access: Access; of: WorkspaceKeyView }) {
  const own = of.id === access.holder.id;
  return (
    <Flex align="center">
      <Act
        label="Revoke"
        color="red"
        title={`Revoke ${of.begins}…`}
        says={
          own
            ? 'This is the key that you are signed in with. The page stops at once, and you need another key.'
            : 'Requests with this key are refused at once, and its open connections end. This cannot be undone.'
        }
        run={async () => {
          await revokeKey(access, of.id);
          return {};
        }}
      />
    </Flex>
  );
}
