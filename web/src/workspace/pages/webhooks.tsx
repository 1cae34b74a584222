/** Shows the workspace's webhooks: where events go, whether they arrive, and the log of deliveries. */

import { Badge, Callout, Flex, Text, TextField } from '@radix-ui/themes';
import { useState } from 'react';
import type { DeliveryView, WebhookView } from '../../../../src/protocol/api/webhooks.ts';
import { dateTime } from '../../format.ts';
import { Grid } from '../../parts/grid.tsx';
import { Opened } from '../../parts/opened.tsx';
import { Section } from '../../parts/section.tsx';
import {
  type Access,
  createWebhook,
  enableWebhook,
  readDeliveries,
  readWebhooks,
  removeWebhook,
  testWebhook,
} from '../api.ts';
import { useRead } from '../live.ts';
import { Act } from '../parts/act.tsx';

const when = (at: string | null): string => (at === null ? '' : dateTime(Date.parse(at)));

type Tone = { color: 'red' | 'amber' | 'green'; text: string };
const stateOf = ({ enabled, failingSince }: WebhookView): Tone =>
  !enabled
    ? { color: 'red', text: 'disabled' }
    : failingSince !== null
      ? { color: 'amber', text: 'failing' }
      : { color: 'green', text: 'enabled' };
const COLORS = { waiting: 'amber', delivered: 'green', failed: 'red' } as const;

export function WebhooksSection({ access }: { access: Access }) {
  const live = useRead(['webhooks'], () => readWebhooks(access));
  const [opened, setOpened] = useState<string>();
  const webhook = live.data?.webhooks.find(({ id }) => id === opened);
  return (
    <Section
      title="Webhooks"
      live={live}
      note="Addresses that get the workspace's events. Open one for its deliveries."
      actions={<Create access={access} />}
    >
      <Grid
        label="Webhooks"
        rows={live.data?.webhooks ?? []}
        keyOf={({ id }) => id}
        open={({ id }) => setOpened(id)}
        empty="No webhook yet."
        columns={[
          { name: 'Address', show: ({ url }) => url, value: ({ url }) => url },
          {
            name: 'State',
            show: (each) => (
              <Badge className="rt-high-contrast" color={stateOf(each).color}>
                {stateOf(each).text}
              </Badge>
            ),
            value: (each) => stateOf(each).text,
          },
          {
            name: 'Last failure',
            show: ({ lastFailure }) => lastFailure ?? '',
            value: ({ lastFailure }) => lastFailure ?? '',
          },
          {
            name: 'Events',
            show: ({ events }) => events.join(', '),
            value: ({ events }) => events.join(' '),
          },
          { name: 'Created', show: ({ createdAt }) => when(createdAt), value: ({ createdAt }) => createdAt },
        ]}
      />
      <Opened title="Webhook" open={webhook !== undefined} close={() => setOpened(undefined)}>
        {webhook !== undefined && (
          <Deliveries access={access} webhook={webhook} close={() => setOpened(undefined)} />
        )}
      </Opened>
    </Section>
  );
}

function Deliveries({ access, webhook, close }: { access: Access; webhook: WebhookView; close(): void }) {
  const { id, url, enabled, disabled, failingSince } = webhook;
  const { data, error } = useRead(['deliveries', id], () => readDeliveries(access, id));
  return (
    <Flex direction="column" gap="3" className="figures">
      <Text size="2" className="breaks">
        {url}
      </Text>
      {disabled !== null && (
        <Callout.Root color="red" size="1">
          <Callout.Text>
            Disabled since {when(disabled.at)}: {disabled.reason}
          </Callout.Text>
        </Callout.Root>
      )}
      {enabled && failingSince !== null && (
        <Callout.Root color="amber" size="1">
          <Callout.Text>No delivery has worked since {when(failingSince)}.</Callout.Text>
        </Callout.Root>
      )}
      <Flex gap="2" wrap="wrap">
        <Act
          label="Send a test"
          title="Send a test"
          says="The venue sends a webhook.test event to this address now, and logs it like any other."
          disabled={!enabled}
          run={() => testWebhook(access, id).then(() => ({}))}
        />
        <Act
          label={enabled ? 'Disable' : 'Enable'}
          title={enabled ? 'Disable this webhook' : 'Enable this webhook'}
          says={
            enabled
              ? 'Nothing is sent any more, and deliveries that wait end as failed.'
              : 'It gets the events from now on. Those that it missed are not sent.'
          }
          run={() => enableWebhook(access, id, !enabled).then(() => ({}))}
        />
        <Act
          label="Remove"
          color="red"
          title="Remove this webhook"
          says="Its log of deliveries goes with it. This cannot be undone."
          run={async () => {
            await removeWebhook(access, id);
            close();
            return {};
          }}
        />
      </Flex>
      {error !== null && (
        <Callout.Root color="red" size="1" role="alert">
          <Callout.Text>{error.message}</Callout.Text>
        </Callout.Root>
      )}
      <Grid
        label="Last deliveries"
        rows={data?.deliveries ?? []}
        keyOf={(delivery: DeliveryView) => delivery.id}
        empty={data === undefined ? 'Reading …' : 'Nothing was sent yet.'}
        columns={[
          { name: 'Event', show: ({ type }) => type, value: ({ type }) => type },
          {
            name: 'State',
            show: ({ state }) => (
              <Badge className="rt-high-contrast" color={COLORS[state]}>
                {state}
              </Badge>
            ),
            value: ({ state }) => state,
          },
          {
            name: 'Attempts',
            end: true,
            show: ({ attempts }) => attempts,
            value: ({ attempts }) => attempts,
          },
          { name: 'Time', show: ({ createdAt }) => when(createdAt), value: ({ createdAt }) => createdAt },
          {
            name: 'Next attempt',
            show: ({ nextAttemptAt }) => when(nextAttemptAt),
            value: ({ nextAttemptAt }) => nextAttemptAt ?? '',
          },
          {
            name: 'Last failure',
            show: ({ lastFailure }) => lastFailure ?? '',
            value: ({ lastFailure }) => lastFailure ?? '',
          },
        ]}
      />
    </Flex>
  );
}

function Create({ access }: { access: Access }) {
  const [url, setUrl] = useState('');
  const [description, setDescription] = useState('');
  return (
    <Act
      label="Create a webhook"
      title="Create a webhook"
      says="It gets order.created, order.settled and order.failed. Its signing secret is shown once."
      run={async () => ({
        secret: await createWebhook(access, { url: url.trim(), description: description.trim() }),
      })}
    >
      <Text as="label" size="2">
        Address
        <TextField.Root
          mt="1"
          type="url"
          placeholder="https://example.com/firmquote"
          value={url}
          onChange={(event) => setUrl(event.target.value)}
        />
      </Text>
      <Text as="label" size="2">
        Note
        <TextField.Root mt="1" value={description} onChange={(event) => setDescription(event.target.value)} />
      </Text>
    </Act>
  );
}
