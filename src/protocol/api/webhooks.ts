/** …/workspaces/{id}/webhooks: endpoints that get the workspace's events by POST, and their deliveries. */

import * as z from 'zod';
import { zExplained } from '../schema.ts';

/** The kinds that an endpoint can choose. */
const EVENTS = {
  'order.created': 'a submission was accepted',
  'order.settled': 'delivery is proven, at the configured depth',
  'order.failed': 'the order cannot settle, and its input goes back',
  'solver.changed': 'the status of a solver that the workspace may trade with has changed',
} as const;
export type WebhookEventType = keyof typeof EVENTS;
/** Sent on request only. */
export const WEBHOOK_TEST = 'webhook.test';

const STATES = {
  waiting: 'sent now, or at `nextAttemptAt`',
  delivered: 'the receiver answered with 2xx',
  failed: 'given up: a day is over, or its endpoint was disabled',
} as const;
export type DeliveryState = keyof typeof STATES;

const MAX_KEPT_SECONDS = 7 * 86_400;
const MAX_PAGE = 100;
export const DEFAULT_PAGE = 25;

const zWorkspaceId = z.string().max(200).describe('The workspace of the key.');
const zEndpointId = z.string().max(200).describe('The id of the endpoint, such as whk_0123456789abcdef.');
const zDeliveryId = z
  .string()
  .max(200)
  .describe('The id of the delivery, which is also its webhook-id header, such as msg_0123456789abcdef.');
export const zWebhooksParams = z.strictObject({ id: zWorkspaceId });
export const zWebhookParams = z.strictObject({ id: zWorkspaceId, webhookId: zEndpointId });
export const zDeliveryParams = zWebhookParams.extend({ deliveryId: zDeliveryId });
export type WebhookPath = z.infer<typeof zWebhookParams>;
export type DeliveryPath = z.infer<typeof zDeliveryParams>;

const zUrl = z
  .string()
  .max(2_000)
  .refine((text) => URL.canParse(text), 'must be a URL, such as https://example.com/firmquote')
  .describe(
    'Where events are posted: an https:// URL of a public host, without user name and password. Redirects are ' +
      'not followed.',
  );
const zDescription = z
  .string()
  .max(200)
  .refine((text) => !/[\p{Cc}\p{Cs}]/u.test(text), 'must be one line without control characters')
  .describe('Your own note, at most 200 characters.');
const zEvent = zExplained('What has happened.', EVENTS).meta({ id: 'WebhookEvent' });
const zEvents = z
  .array(zEvent)
  .min(1)
  .max(Object.keys(EVENTS).length)
  .refine((events) => new Set(events).size === events.length, 'must name each event once')
  .describe('The events that are sent, each named once.');
const zState = zExplained('How the delivery stands.', STATES).meta({ id: 'WebhookDeliveryState' });

export const zNewWebhook = z
  .strictObject({
    url: zUrl,
    events: zEvents.default(['order.created', 'order.settled', 'order.failed']),
    description: zDescription.default(''),
  })
  .meta({ id: 'NewWebhook', description: 'A webhook to be created.' });
export type NewWebhook = z.infer<typeof zNewWebhook>;

export const zWebhookChange = z
  .strictObject({
    url: zUrl,
    events: zEvents,
    description: zDescription,
    enabled: z
      .boolean()
      .describe(
        'false stops the endpoint and ends its waiting deliveries as failed. true starts it again, with the events ' +
          'from then on.',
      ),
  })
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'must change something, such as {"enabled": true}')
  .meta({ id: 'WebhookChange', description: 'What of a webhook to change; the rest stays.' });
export type WebhookChange = z.infer<typeof zWebhookChange>;

const zWhen = z.iso.datetime();

export const zWebhook = z
  .object({
    id: z.string().describe('Id of the endpoint.'),
    url: z.string().describe('Where events are posted.'),
    description: z.string().describe('Your own note; empty without one.'),
    events: z.array(zEvent).describe('The events that are sent.'),
    mode: zExplained('The mode of the key that made it.', {
      test: 'it gets events of the sandbox only',
      live: 'it gets events of production only',
    }),
    enabled: z.boolean().describe('false: nothing is sent; `disabled` says why.'),
    disabled: z
      .object({
        at: zWhen.describe('When it was disabled.'),
        reason: z.string().describe('Why: by a request, or because every attempt of a day has failed.'),
      })
      .meta({ id: 'DisabledWebhook', description: 'When and why an endpoint was disabled.' })
      .nullable()
      .describe('null while it is enabled.'),
    failingSince: zWhen
      .nullable()
      .describe(
        'The first failed attempt since the last delivery that worked; null when the last one worked.',
      ),
    lastFailure: z
      .string()
      .nullable()
      .describe('What happened at the last failed attempt; null without one.'),
    previousSecretUntil: zWhen
      .nullable()
      .describe('Until then the secret before the last rotation signs too; null when only one secret signs.'),
    createdAt: zWhen.describe('When it was created.'),
    updatedAt: zWhen.describe('When a request last changed it.'),
  })
  .meta({ id: 'Webhook', description: "An address that gets the workspace's events." });
export type WebhookView = z.infer<typeof zWebhook>;

export const zWebhooks = z
  .object({
    webhooks: z.array(zWebhook).describe("The workspace's endpoints of the key's mode, oldest first."),
    limit: z.int().describe('How many endpoints the workspace may have in this mode.'),
  })
  .meta({ id: 'Webhooks', description: 'The webhooks of a workspace.' });

export const zIssuedWebhook = z
  .object({
    webhook: zWebhook.describe('The endpoint.'),
    secret: z
      .string()
      .describe('The signing secret: whsec_ and base64 of 32 bytes. It is shown this once; store it now.'),
  })
  .meta({ id: 'IssuedWebhook', description: 'A webhook with a new signing secret.' });
export type IssuedWebhook = z.infer<typeof zIssuedWebhook>;

export const zRotation = z
  .strictObject({
    keepPreviousSeconds: z
      .int()
      .min(0)
      .max(MAX_KEPT_SECONDS)
      .describe('For so many seconds the present secret signs too, at most seven days. 0: it ends now.'),
  })
  .meta({ id: 'WebhookRotation', description: 'How a signing secret is replaced.' });

export const zRemovedWebhook = z
  .object({ id: z.string().describe('Id of the endpoint that was removed, with its deliveries.') })
  .meta({ id: 'RemovedWebhook', description: 'A webhook that was removed.' });

export const zDelivery = z
  .object({
    id: z.string().describe('Id of the delivery; the webhook-id header of each of its attempts.'),
    type: z.string().describe('The event, or webhook.test.'),
    state: zState,
    attempts: z.int().describe('How often it was sent, resends included.'),
    nextAttemptAt: zWhen.nullable().describe('null unless it is waiting.'),
    createdAt: zWhen.describe('When the event was taken up for this endpoint.'),
    endedAt: zWhen.nullable().describe('When it was delivered or given up; null while it is waiting.'),
    lastFailure: z
      .string()
      .nullable()
      .describe('What happened at the last failed attempt; null without one.'),
  })
  .meta({ id: 'WebhookDelivery', description: 'An event on its way to one webhook.' });
export type DeliveryView = z.infer<typeof zDelivery>;

export const zDeliveries = z
  .object({
    deliveries: z.array(zDelivery).describe('Newest first.'),
    nextBefore: z
      .string()
      .nullable()
      .describe('Hand it back as `before` to read older ones; null at the end of the log.'),
  })
  .meta({ id: 'WebhookDeliveries', description: 'A page of the log of deliveries.' });

const zAttempt = z
  .object({
    attempt: z.int().describe('1, 2, 3 … per delivery.'),
    startedAt: zWhen.describe('When it was sent.'),
    durationMs: z
      .int()
      .nullable()
      .describe('Until its answer or failure, in ms; null when the venue stopped first.'),
    status: z.int().nullable().describe('HTTP status of the answer; null without one.'),
    failure: z.string().nullable().describe('Why it failed; null when it was delivered or is being sent.'),
  })
  .meta({ id: 'WebhookAttempt', description: 'One attempt to deliver.' });

export const zDeliveryDetail = zDelivery
  .extend({
    body: z.string().describe('The posted JSON text, byte for byte as it was signed.'),
    log: z.array(zAttempt).describe('Its attempts, oldest first.'),
  })
  .meta({ id: 'WebhookDeliveryDetail', description: 'A delivery with its body and attempts.' });

const zPageSize = z
  .string()
  .regex(/^[0-9]{1,9}$/, 'must be a whole number, such as 25')
  .transform((text) => Math.min(MAX_PAGE, Math.max(1, Number(text))))
  .meta({ type: 'integer' });

export const zDeliveriesQuery = z.strictObject({
  state: zState.optional().describe('Only deliveries in this state.'),
  limit: zPageSize.optional().describe('Entries per page, 1 to 100, clamped; 25 by default.'),
  before: z
    .string()
    .regex(/^[0-9]{1,15}$/, 'must be the nextBefore of an earlier page')
    .optional()
    .describe('Only deliveries older than that: `nextBefore` of the page before.'),
});
export type DeliveriesQuery = z.infer<typeof zDeliveriesQuery>;
