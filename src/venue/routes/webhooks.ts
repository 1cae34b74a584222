/** …/workspaces/{id}/webhooks, for keys of the workspace's owners and admins. */

import type { ErrorCode } from '../../protocol/errors.ts';
import type { ApiKey } from '../../ports/stores/store.ts';
import type { Route } from '../../ports/http.ts';
import type { Schema } from '../../protocol/schema.ts';
import {
  zDeliveries,
  zDeliveriesQuery,
  zDelivery,
  zDeliveryDetail,
  zDeliveryParams,
  zIssuedWebhook,
  zNewWebhook,
  zRemovedWebhook,
  zRotation,
  zWebhook,
  zWebhookChange,
  zWebhookParams,
  zWebhooks,
  zWebhooksParams,
} from '../../protocol/api/webhooks.ts';
import type { Webhooks } from '../webhooks/endpoints.ts';

const ALL = '/api/v1/workspaces/:id/webhooks';
const ONE = `${ALL}/:webhookId`;
const DELIVERIES = `${ONE}/deliveries`;
const DELIVERY = `${DELIVERIES}/:deliveryId`;
const STATE: readonly ErrorCode[] = ['conflict'];

function route<Params, Body = unknown, Query = unknown>(
  method: Route['method'],
  path: string,
  summary: string,
  schemas: {
    params: Schema<Params>;
    body?: Schema<Body>;
    query?: Schema<Query>;
    response: Schema;
    errors?: readonly ErrorCode[];
  },
  handle: (request: { key: ApiKey; params: Params; body: Body; query: Query }) => Promise<object>,
): Route {
  const made: Route<Body, Query, Params> = {
    method,
    path,
    keyKinds: ['workspace'],
    rate: method === 'GET' ? 'read' : 'submit',
    load: 'read',
    tag: 'webhooks',
    summary,
    ...schemas,
    handle,
  };
  return made as unknown as Route;
}

export const webhookRoutes = (webhooks: Webhooks): Route[] => [
  route(
    'GET',
    ALL,
    "The workspace's webhooks of the key's mode",
    { params: zWebhooksParams, response: zWebhooks },
    ({ key, params }) => webhooks.list(key, params.id),
  ),
  route(
    'POST',
    ALL,
    'Create a webhook; its signing secret is shown once',
    { params: zWebhooksParams, body: zNewWebhook, response: zIssuedWebhook, errors: STATE },
    ({ key, params, body }) => webhooks.create(key, params.id, body),
  ),
  route(
    'GET',
    ONE,
    'One webhook, with the reason if it is disabled',
    { params: zWebhookParams, response: zWebhook },
    ({ key, params }) => webhooks.get(key, params),
  ),
  route(
    'PATCH',
    ONE,
    'Change address, events or note of a webhook, or enable and disable it',
    { params: zWebhookParams, body: zWebhookChange, response: zWebhook },
    ({ key, params, body }) => webhooks.change(key, params, body),
  ),
  route(
    'DELETE',
    ONE,
    'Remove a webhook with its log',
    { params: zWebhookParams, response: zRemovedWebhook },
    ({ key, params }) => webhooks.remove(key, params),
  ),
  route(
    'POST',
    `${ONE}/rotate`,
    'Replace the signing secret; the present one may sign beside it for a while',
    { params: zWebhookParams, body: zRotation, response: zIssuedWebhook },
    ({ key, params, body }) => webhooks.rotate(key, params, body.keepPreviousSeconds),
  ),
  route(
    'POST',
    `${ONE}/test`,
    'Send a webhook.test event, delivered and logged like any other',
    { params: zWebhookParams, response: zDelivery, errors: STATE },
    ({ key, params }) => webhooks.test(key, params),
  ),
  route(
    'GET',
    DELIVERIES,
    'The log of deliveries, newest first',
    { params: zWebhookParams, query: zDeliveriesQuery, response: zDeliveries },
    ({ key, params, query }) => webhooks.deliveries(key, params, query),
  ),
  route(
    'GET',
    DELIVERY,
    'One delivery with its body and attempts',
    { params: zDeliveryParams, response: zDeliveryDetail },
    ({ key, params }) => webhooks.delivery(key, params),
  ),
  route(
    'POST',
    `${DELIVERY}/resend`,
    'Send a delivery again, with the same webhook-id and body',
    { params: zDeliveryParams, response: zDelivery, errors: STATE },
    ({ key, params }) => webhooks.resend(key, params),
  ),
];
