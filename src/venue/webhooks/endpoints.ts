/** Lets a workspace's owners and admins manage its webhooks. */

import type * as z from 'zod';
import { RequestError } from '../../domain/errors.ts';
import { hexToBytes } from '../../domain/hex.ts';
import { toIso } from '../../domain/time.ts';
import type { ApiKey } from '../../ports/stores/store.ts';
import type { VenueStore } from '../../ports/stores/venue-store.ts';
import type { WebhookDelivery, WebhookEndpoint, WebhookPoster } from '../../ports/stores/webhooks.ts';
import { ApiError, invalid } from '../../protocol/errors.ts';
import {
  DEFAULT_PAGE,
  type DeliveriesQuery,
  type DeliveryPath,
  type DeliveryView,
  type IssuedWebhook,
  type NewWebhook,
  WEBHOOK_TEST,
  type WebhookChange,
  type WebhookPath,
  type WebhookView,
  type zDeliveries,
  type zDeliveryDetail,
} from '../../protocol/api/webhooks.ts';
import { webhookSecretText } from '../../protocol/webhook-signature.ts';
import type { VenueDeps } from '../deps.ts';
import type { WebhookOptions } from '../options.ts';
import { WEBHOOKS_TOPIC } from './topic.ts';
import type { Vault } from './vault.ts';

type WebhookDeps = Pick<VenueDeps, 'queue' | 'clock' | 'random' | 'log'> & {
  store: Pick<VenueStore, 'webhooks' | 'placeEvents'>;
  poster: Pick<WebhookPoster, 'check'>;
  /** Encrypts secrets. undefined: the venue has no key for it, so there are no endpoints. */
  vault: Vault | undefined;
};

/** Refuses an endpoint of another workspace in the same words as an unknown one. */
const nowhere = () => new ApiError('not_found', 'No such workspace, webhook or delivery.');

type WebhookLimits = Pick<WebhookOptions, 'maxEndpoints' | 'giveUpAfterMs'>;
type DeliveryPage = z.infer<typeof zDeliveries>;
type DeliveryLog = z.infer<typeof zDeliveryDetail>;

export interface Webhooks {
  list(key: ApiKey, workspaceId: string): Promise<{ webhooks: WebhookView[]; limit: number }>;
  get(key: ApiKey, path: WebhookPath): Promise<WebhookView>;
  /** Events that happen after its answer are sent. */
  create(key: ApiKey, workspaceId: string, wanted: NewWebhook): Promise<IssuedWebhook>;
  change(key: ApiKey, path: WebhookPath, change: WebhookChange): Promise<WebhookView>;
  remove(key: ApiKey, path: WebhookPath): Promise<{ id: string }>;
  /** Issues a new secret; the present one signs as well for `keepPreviousSeconds`. */
  rotate(key: ApiKey, path: WebhookPath, keepPreviousSeconds: number): Promise<IssuedWebhook>;
  /** Queues a test event. Throws 409 while an earlier test waits. */
  test(key: ApiKey, path: WebhookPath): Promise<DeliveryView>;
  /** Returns a page of deliveries, newest first. */
  deliveries(key: ApiKey, path: WebhookPath, query: DeliveriesQuery): Promise<DeliveryPage>;
  /** Returns a delivery with its body and its attempts. */
  delivery(key: ApiKey, path: DeliveryPath): Promise<DeliveryLog>;
  /** Sends a delivery again. Throws 409 while it is waiting, and for a disabled endpoint. */
  resend(key: ApiKey, path: DeliveryPath): Promise<DeliveryView>;
}

export function createWebhooks(deps: WebhookDeps, options: WebhookLimits): Webhooks {
  return {
    list: (key, workspaceId) => list(deps, options, key, workspaceId),
    get: async (key, path) => view(deps, await endpointOf(deps, key, path)),
    create: (key, workspaceId, wanted) => create(deps, options, key, workspaceId, wanted),
    change: (key, path, wanted) => change(deps, key, path, wanted),
    remove: (key, path) => remove(deps, key, path),
    rotate: (key, path, keepPreviousSeconds) => rotate(deps, key, path, keepPreviousSeconds),
    test: (key, path) => test(deps, options, key, path),
    deliveries: (key, path, query) => deliveries(deps, key, path, query),
    delivery: (key, path) => delivery(deps, key, path),
    resend: (key, path) => resend(deps, options, key, path),
  };
}

async function list(deps: WebhookDeps, options: WebhookLimits, key: ApiKey, workspaceId: string) {
  requireAdmin(key, workspaceId);
  const endpoints = await deps.store.webhooks.list(workspaceId, key.mode);
  return { webhooks: endpoints.map((endpoint) => view(deps, endpoint)), limit: options.maxEndpoints };
}

function requireAdmin(key: ApiKey, workspaceId: string): void {
  if (key.workspaceId !== workspaceId) throw nowhere();
  if (key.role !== 'owner' && key.role !== 'admin')
    throw new ApiError(
      'wrong_key_kind',
      `Webhooks need a workspace key with the role owner or admin; the one sent is ${key.role ?? 'without role'}.`,
    );
}

function view(deps: WebhookDeps, endpoint: WebhookEndpoint): WebhookView {
  const { id, url, description, events, mode, disabledAtMs, disabledReason, lastFailure } = endpoint;
  const { failingSinceMs, previousUntilMs, createdAtMs, updatedAtMs } = endpoint;
  return {
    id,
    url,
    description,
    events: [...events],
    mode,
    enabled: disabledAtMs === null,
    disabled: disabledAtMs === null ? null : { at: toIso(disabledAtMs), reason: disabledReason ?? '' },
    failingSince: isoOrNull(failingSinceMs),
    lastFailure,
    previousSecretUntil:
      previousUntilMs !== null && previousUntilMs > deps.clock.nowMs() ? toIso(previousUntilMs) : null,
    createdAt: toIso(createdAtMs),
    updatedAt: toIso(updatedAtMs),
  };
}

async function endpointOf(
  deps: WebhookDeps,
  key: ApiKey,
  { id, webhookId }: WebhookPath,
): Promise<WebhookEndpoint> {
  requireAdmin(key, id);
  const endpoint = await deps.store.webhooks.endpoint(webhookId);
  if (!endpoint || endpoint.workspaceId !== id || endpoint.mode !== key.mode) throw nowhere();
  return endpoint;
}

async function create(
  deps: WebhookDeps,
  options: WebhookLimits,
  key: ApiKey,
  workspaceId: string,
  wanted: NewWebhook,
): Promise<IssuedWebhook> {
  requireAdmin(key, workspaceId);
  const vault = requireVault(deps);
  requireUrl(deps, wanted.url);
  const secret = newSecret(deps);
  const id = `whk_${deps.random.bytes32().slice(2, 26)}`;
  const nowMs = deps.clock.nowMs();
  const endpoint: WebhookEndpoint = {
    ...wanted,
    id,
    workspaceId,
    mode: key.mode,
    secret: vault.seal(id, secret),
    previousSecret: null,
    previousUntilMs: null,
    fromPlace: await deps.store.placeEvents(),
    disabledAtMs: null,
    disabledReason: null,
    failingSinceMs: null,
    lastFailure: null,
    pausedUntilMs: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
  if (!(await deps.store.webhooks.add(endpoint, options.maxEndpoints)))
    throw new ApiError(
      'conflict',
      `This workspace has ${options.maxEndpoints} webhooks in ${key.mode} mode, which is the limit. Remove one first.`,
    );
  deps.log.info({ endpoint: id, workspace: workspaceId, key: key.id }, 'a webhook was created');
  return { webhook: view(deps, endpoint), secret };
}

function requireVault(deps: WebhookDeps): Vault {
  if (deps.vault) return deps.vault;
  throw new ApiError('conflict', 'This venue sends no webhooks: its operator has set no keys.webhooks.');
}

function requireUrl(deps: WebhookDeps, url: string): void {
  try {
    deps.poster.check(url);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    throw invalid('value_error', ['body', 'url'], error.message.replace('Nothing was sent: ', ''));
  }
}

const newSecret = (deps: WebhookDeps): string => webhookSecretText(hexToBytes(deps.random.bytes32()));

async function change(
  deps: WebhookDeps,
  key: ApiKey,
  path: WebhookPath,
  { enabled, ...fields }: WebhookChange,
) {
  const endpoint = await endpointOf(deps, key, path);
  if (fields.url !== undefined) requireUrl(deps, fields.url);
  const { id } = endpoint;
  if (enabled === false) await deps.store.webhooks.disable(id, deps.clock.nowMs(), 'Disabled by a request.');
  const again =
    enabled === true && endpoint.disabledAtMs !== null
      ? {
          disabledAtMs: null,
          disabledReason: null,
          failingSinceMs: null,
          pausedUntilMs: null,
          fromPlace: await deps.store.placeEvents(),
        }
      : {};
  deps.log.info({ endpoint: id, key: key.id, enabled }, 'a webhook was changed');
  return view(deps, await changed(deps, id, { ...definedOf(fields), ...again }));
}

async function changed(
  deps: WebhookDeps,
  id: string,
  change: Partial<WebhookEndpoint>,
): Promise<WebhookEndpoint> {
  const endpoint = await deps.store.webhooks.change(id, { ...change, updatedAtMs: deps.clock.nowMs() });
  if (!endpoint) throw nowhere();
  return endpoint;
}

async function remove(deps: WebhookDeps, key: ApiKey, path: WebhookPath) {
  const { id } = await endpointOf(deps, key, path);
  if (!(await deps.store.webhooks.remove(id))) throw nowhere();
  deps.log.info({ endpoint: id, key: key.id }, 'a webhook was removed');
  return { id };
}

async function rotate(
  deps: WebhookDeps,
  key: ApiKey,
  path: WebhookPath,
  keepPreviousSeconds: number,
): Promise<IssuedWebhook> {
  const { id, secret } = await endpointOf(deps, key, path);
  const next = newSecret(deps);
  const kept = keepPreviousSeconds > 0;
  const endpoint = await changed(deps, id, {
    secret: requireVault(deps).seal(id, next),
    previousSecret: kept ? secret : null,
    previousUntilMs: kept ? deps.clock.nowMs() + keepPreviousSeconds * 1_000 : null,
  });
  deps.log.info({ endpoint: id, key: key.id, keepPreviousSeconds }, 'the secret of a webhook was rotated');
  return { webhook: view(deps, endpoint), secret: next };
}

async function test(
  deps: WebhookDeps,
  options: WebhookLimits,
  key: ApiKey,
  path: WebhookPath,
): Promise<DeliveryView> {
  const endpoint = await endpointOf(deps, key, path);
  requireEnabled(endpoint);
  const { id, workspaceId } = endpoint;
  const waiting = await deps.store.webhooks.deliveries(id, { state: 'waiting', limit: 100 });
  if (waiting.some(({ type }) => type === WEBHOOK_TEST))
    throw new ApiError('conflict', 'A test event of this webhook is still waiting to be delivered.');
  const createdAtMs = deps.clock.nowMs();
  const delivery = {
    id: `msg_${deps.random.bytes32().slice(2, 34)}`,
    endpointId: id,
    type: WEBHOOK_TEST,
    body: JSON.stringify({
      type: WEBHOOK_TEST,
      occurredAt: toIso(createdAtMs),
      data: { workspaceId, webhookId: id },
    }),
    createdAtMs,
    giveUpAtMs: createdAtMs + options.giveUpAfterMs,
  };
  await deps.store.webhooks.enqueue(delivery);
  wake(deps, id);
  return deliveryView({
    ...delivery,
    ...{ place: 0, state: 'waiting', attempts: 0, dueAtMs: createdAtMs, endedAtMs: null, lastFailure: null },
  });
}

const wake = (deps: WebhookDeps, endpointId: string): void =>
  void deps.queue
    .wake(WEBHOOKS_TOPIC, endpointId)
    .catch((error: unknown) => deps.log.debug({ error }, 'a webhook was not queued; the sweep sends it'));

async function deliveries(
  deps: WebhookDeps,
  key: ApiKey,
  path: WebhookPath,
  { state, before, limit = DEFAULT_PAGE }: DeliveriesQuery,
) {
  const { id } = await endpointOf(deps, key, path);
  const found = await deps.store.webhooks.deliveries(id, {
    state,
    before: before === undefined ? undefined : Number(before),
    limit,
  });
  const last = found.length === limit ? found.at(-1) : undefined;
  return { deliveries: found.map(deliveryView), nextBefore: last ? String(last.place) : null };
}

async function delivery(deps: WebhookDeps, key: ApiKey, path: DeliveryPath) {
  const { delivery } = await deliveryOf(deps, key, path);
  const log = await deps.store.webhooks.attempts(delivery.id);
  return {
    ...deliveryView(delivery),
    body: delivery.body,
    log: log.map(({ attempt, startedAtMs, endedAtMs, status, failure }) => ({
      attempt,
      startedAt: toIso(startedAtMs),
      durationMs: endedAtMs === null ? null : endedAtMs - startedAtMs,
      status,
      failure,
    })),
  };
}

async function deliveryOf(deps: WebhookDeps, key: ApiKey, path: DeliveryPath) {
  const endpoint = await endpointOf(deps, key, path);
  const delivery = await deps.store.webhooks.delivery(endpoint.id, path.deliveryId);
  if (!delivery) throw nowhere();
  return { endpoint, delivery };
}

async function resend(
  deps: WebhookDeps,
  options: WebhookLimits,
  key: ApiKey,
  path: DeliveryPath,
): Promise<DeliveryView> {
  const { endpoint, delivery } = await deliveryOf(deps, key, path);
  requireEnabled(endpoint);
  const nowMs = deps.clock.nowMs();
  if (!(await deps.store.webhooks.resend(delivery.id, nowMs, nowMs + options.giveUpAfterMs)))
    throw new ApiError('conflict', 'This delivery is waiting to be sent already.');
  wake(deps, endpoint.id);
  return deliveryView({ ...delivery, state: 'waiting', dueAtMs: nowMs, endedAtMs: null });
}

function requireEnabled({ disabledAtMs }: WebhookEndpoint): void {
  if (disabledAtMs !== null)
    throw new ApiError(
      'conflict',
      'This webhook is disabled. Enable it first: PATCH it with {"enabled": true}.',
    );
}

const isoOrNull = (ms: number | null): string | null => (ms === null ? null : toIso(ms));

function deliveryView(delivery: WebhookDelivery): DeliveryView {
  const { id, type, state, attempts, dueAtMs, createdAtMs, endedAtMs, lastFailure } = delivery;
  return {
    id,
    type,
    state,
    attempts,
    nextAttemptAt: state === 'waiting' ? toIso(dueAtMs) : null,
    createdAt: toIso(createdAtMs),
    endedAt: isoOrNull(endedAtMs),
    lastFailure,
  };
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

const definedOf = <T extends object>(fields: T): Defined<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
