/** Shows the workspace: its fee, keys, members and webhooks. Owners and admins act. */

import { Callout, DataList, Text } from '@radix-ui/themes';
import { number } from '../../format.ts';
import { Section } from '../../parts/section.tsx';
import { type Access, readHolder } from '../api.ts';
import { useRead } from '../live.ts';
import { mayManage, useSession } from '../session.ts';
import { KeysSection } from './keys.tsx';
import { MembersSection } from './members.tsx';
import { WebhooksSection } from './webhooks.tsx';

export function WorkspacePage() {
  const { workspace } = useSession();
  if (workspace === undefined) return null;
  return (
    <>
      <About access={workspace} />
      <KeysSection access={workspace} />
      {mayManage(workspace.holder) ? (
        <>
          <MembersSection access={workspace} />
          <WebhooksSection access={workspace} />
        </>
      ) : (
        <Section title="Members and webhooks">
          <Callout.Root color="gray" size="1">
            <Callout.Text>
              Members and webhooks are for owners and admins: who trades is theirs to know, and addresses of
              webhooks may hold secrets. Your key is a {workspace.holder.role} key.
            </Callout.Text>
          </Callout.Root>
        </Section>
      )}
    </>
  );
}

const EXAMPLE_USD = 10_000;

function About({ access }: { access: Access }) {
  // Read again: the fee may have changed since the sign-in.
  const live = useRead(['holder'], () => readHolder(access.key));
  const fee = live.data?.workspace.platformFeeBps ?? 0;
  return (
    <Section title="Workspace" live={live}>
      {live.data && (
        <DataList.Root size="2" orientation={{ initial: 'vertical', sm: 'horizontal' }}>
          <DataList.Item>
            <DataList.Label minWidth="140px">Workspace</DataList.Label>
            <DataList.Value>
              {live.data.workspace.name} ({live.data.workspace.id}), {live.data.mode}
            </DataList.Value>
          </DataList.Item>
          <DataList.Item>
            <DataList.Label minWidth="140px">Your role</DataList.Label>
            <DataList.Value>
              {live.data.role}
              {mayManage(live.data) ? '' : ': you see, owners and admins change'}
            </DataList.Value>
          </DataList.Item>
          <DataList.Item>
            <DataList.Label minWidth="140px">Platform fee</DataList.Label>
            <DataList.Value>
              <Text>
                {number(fee)} bps of the input: ${number((EXAMPLE_USD * fee) / 10_000)} of $
                {number(EXAMPLE_USD)}. Every quote already includes it.
              </Text>
            </DataList.Value>
          </DataList.Item>
        </DataList.Root>
      )}
    </Section>
  );
}
