/** Shows the workspace's members and their roles; members are added, given another role, and removed here. */

import { Flex, Text, TextField } from '@radix-ui/themes';
import { useState } from 'react';
import type { WorkspaceMemberView } from '../../../../src/protocol/admin/admin.ts';
import { dateTime, number } from '../../format.ts';
import { Grid } from '../../parts/grid.tsx';
import { Section } from '../../parts/section.tsx';
import { type Access, addMember, readMembers, removeMember, setMemberRole } from '../api.ts';
import { useRead } from '../live.ts';
import { Act } from '../parts/act.tsx';
import { Choice } from '../parts/choice.tsx';
import { reaches, rolesUpTo } from '../parts/roles.ts';

const nameOf = ({ firstName, lastName }: WorkspaceMemberView): string => `${firstName} ${lastName}`;

export function MembersSection({ access }: { access: Access }) {
  const live = useRead(['members'], () => readMembers(access));
  const members = live.data?.members ?? [];
  return (
    <Section
      title="Members"
      live={live}
      note={`${number(members.length)} ${members.length === 1 ? 'member' : 'members'}. The operator of the venue issues their first key.`}
      actions={<Add access={access} />}
    >
      <Grid
        label="Members"
        rows={members}
        keyOf={({ userId }) => userId}
        empty="No member."
        columns={[
          { name: 'Name', show: nameOf, value: nameOf },
          { name: 'Email', show: ({ email }) => email, value: ({ email }) => email },
          { name: 'Role', show: ({ role }) => role, value: ({ role }) => role },
          { name: 'Identity', show: ({ kycStatus }) => kycStatus, value: ({ kycStatus }) => kycStatus },
          {
            name: 'Joined',
            show: ({ joinedAt }) => dateTime(Date.parse(joinedAt)),
            value: ({ joinedAt }) => joinedAt,
          },
          { name: 'Id', show: ({ userId }) => userId, value: ({ userId }) => userId },
          {
            name: 'Change',
            show: (member) =>
              reaches(access.holder, member.role) && (
                <Flex gap="2">
                  <SetRole access={access} of={member} />
                  <Remove access={access} of={member} />
                </Flex>
              ),
            value: () => '',
          },
        ]}
      />
    </Section>
  );
}

const NOBODY = { firstName: '', lastName: '', email: '' };
const FIELDS = [
  ['firstName', 'First name'],
  ['lastName', 'Last name'],
  ['email', 'Email'],
] as const;

function Add({ access }: { access: Access }) {
  const [fields, setFields] = useState(NOBODY);
  const [role, setRole] = useState<string>('viewer');
  return (
    <Act
      label="Add a member"
      title="Add a member"
      says="A role says what the keys of a person may do. Owners and admins see who trades, and change keys, webhooks and members."
      run={async () => {
        const { firstName, lastName, email } = fields;
        const trimmed = { firstName: firstName.trim(), lastName: lastName.trim(), email: email.trim() };
        await addMember(access, { ...trimmed, role });
        setFields(NOBODY);
        return {};
      }}
    >
      {FIELDS.map(([name, label]) => (
        <Text key={name} as="label" size="2">
          {label}
          <TextField.Root
            mt="1"
            value={fields[name]}
            onChange={(event) => setFields({ ...fields, [name]: event.target.value })}
          />
        </Text>
      ))}
      <Choice label="Role" value={role} options={rolesUpTo(access.holder)} onChange={setRole} />
    </Act>
  );
}

function SetRole({ access, of }: { access: Access; of: WorkspaceMemberView }) {
  const [role, setRole] = useState<string>(of.role);
  return (
    <Act
      label="Change role"
      title={`Change the role of ${nameOf(of)}`}
      says="A lower role lowers the person's keys at once. A higher one leaves the keys as they are."
      run={async () => {
        await setMemberRole(access, of.userId, role);
        return {};
      }}
    >
      <Choice label="Role" value={role} options={rolesUpTo(access.holder)} onChange={setRole} />
    </Act>
  );
}

function Remove({ access, of }: { access: Access; of: WorkspaceMemberView }) {
  const own = of.userId === access.holder.memberId;
  return (
    <Act
      label="Remove"
      color="red"
      title={`Remove ${nameOf(of)}`}
      says={
        own
          ? 'This is you. Your keys end at once, also the one that you are signed in with.'
          : 'Every key of this person ends at once. Past trades keep the name. This cannot be undone.'
      }
      run={async () => {
        await removeMember(access, of.userId);
        return {};
      }}
    />
  );
}
