/** What a workspace's owners and admins may do with its webhooks. */

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
} from '../../protocol/api/webhooks.ts';
import { webhookSecretText } from '../../protocol/webhook-signature.ts';
import type { VenueDeps } from '../deps.ts';
import type { WebhookOptions } from '../options.ts';
import { WEBHOOKS_TOPIC } from './topic.ts';
import type { Vault } from './vault.ts';

type WebhookDeps = Pick<VenueDeps, 'queue' | 'clock' | 'random' | 'log'> & {
  store: Pick<VenueStore, 'webhooks' | 'placeEvents'>;
  poster: Pick<WebhookPoster, 'check'>;
  /** undefined: the venue has no key to keep secrets with, so there are no endpoints. */
  vault: Vault | undefined;
};

export type Webhooks = ReturnType<typeof createWebhooks>;

/** Also for the endpoint of another workspace. */
const nowhere = () => new ApiError('not_found', 'No such workspace, webhook or delivery.');

export function createWebhooks(
  { store: { webhooks, placeEvents }, poster, vault: given, queue, clock, random, log }: WebhookDeps,
  { maxEndpoints, giveUpAfterMs }: Pick<WebhookOptions, 'maxEndpoints' | 'giveUpAfterMs'>,
) {
  function requireAdmin(key: ApiKey, workspaceId: string): void {
    if (key.workspaceId !== workspaceId) throw nowhere();
    if (key.role !== 'owner' && key.role !== 'admin')
      throw new ApiError(
        'wrong_key_kind',
        `Webhooks need a workspace key with the role owner or admin; the one sent is ${key.role ?? 'without role'}.`,
      );
  }

  async function endpointOf(key: ApiKey, { id, webhookId }: WebhookPath): Promise<WebhookEndpoint> {
    requireAdmin(key, id);
    const endpoint = await webhooks.endpoint(webhookId);
    if (!endpoint || endpoint.workspaceId !== id || endpoint.mode !== key.mode) throw nowhere();
    return endpoint;
  }

  async function deliveryOf(key: ApiKey, path: DeliveryPath) {
    const endpoint = await endpointOf(key, path);
    const delivery = await webhooks.delivery(endpoint.id, path.deliveryId);
    if (!delivery) throw nowhere();
    return { endpoint, delivery };
  }

  function requireVault(): Vault {
    if (given) return given;
    throw new ApiError('conflict', 'This venue sends no webhooks: its operator has set no keys.webhooks.');
  }

  function requireUrl(url: string): void {
    try {
      poster.check(url);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      throw invalid('value_error', ['body', 'url'], error.message.replace('Nothing was sent: ', ''));
    }
  }

  const newSecret = (): string => webhookSecretText(hexToBytes(random.bytes32()));

  const wake = (endpointId: string): void =>
    void queue
      .wake(WEBHOOKS_TOPIC, endpointId)
      .catch((error: unknown) => log.debug({ error }, 'a webhook was not queued; the sweep sends it'));

  async function changed(id: string, change: Partial<WebhookEndpoint>): Promise<WebhookEndpoint> {
    const endpoint = await webhooks.change(id, { ...change, updatedAtMs: clock.nowMs() });
    if (!endpoint) throw nowhere();
    return endpoint;
  }

  function view(endpoint: WebhookEndpoint): WebhookView {
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
        previousUntilMs !== null && previousUntilMs > clock.nowMs() ? toIso(previousUntilMs) : null,
      createdAt: toIso(createdAtMs),
      updatedAt: toIso(updatedAtMs),
    };
  }

  return {
    async list(key: ApiKey, workspaceId: string) {
      requireAdmin(key, workspaceId);
      const endpoints = await webhooks.list(workspaceId, key.mode);
      return { webhooks: endpoints.map(view), limit: maxEndpoints };
    },
    get: async (key: ApiKey, path: WebhookPath) => view(await endpointOf(key, path)),
    /** Events that happen after its answer are sent. */
    async create(key: ApiKey, workspaceId: string, wanted: NewWebhook): Promise<IssuedWebhook> {
      requireAdmin(key, workspaceId);
      const vault = requireVault();
      requireUrl(wanted.url);
      const secret = newSecret();
      const id = `whk_${random.bytes32().slice(2, 26)}`;
      const nowMs = clock.nowMs();
      const endpoint: WebhookEndpoint = {
        ...wanted,
        id,
        workspaceId,
        mode: key.mode,
        secret: vault.seal(id, secret),
        previousSecret: null,
        previousUntilMs: null,
        fromPlace: await placeEvents(),
        disabledAtMs: null,
        disabledReason: null,
        failingSinceMs: null,
        lastFailure: null,
        pausedUntilMs: null,
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      };
      if (!(await webhooks.add(endpoint, maxEndpoints)))
        throw new ApiError(
          'conflict',
          `This workspace has ${maxEndpoints} webhooks in ${key.mode} mode, which is the limit. Remove one first.`,
        );
      log.info({ endpoint: id, workspace: workspaceId, key: key.id }, 'a webhook was created');
      return { webhook: view(endpoint), secret };
    },
    async change(key: ApiKey, path: WebhookPath, { enabled, ...fields }: WebhookChange) {
      const endpoint = await endpointOf(key, path);
      if (fields.url !== undefined) requireUrl(fields.url);
      const { id } = endpoint;
      if (enabled === false) await webhooks.disable(id, clock.nowMs(), 'Disabled by a request.');
      const again =
        enabled === true && endpoint.disabledAtMs !== null
          ? {
              disabledAtMs: null,
              disabledReason: null,
              failingSinceMs: null,
              pausedUntilMs: null,
              fromPlace: await placeEvents(),
            }
          : {};
      log.info({ endpoint: id, key: key.id, enabled }, 'a webhook was changed');
      return view(await changed(id, { ...definedOf(fields), ...again }));
    },
    async remove(key: ApiKey, path: WebhookPath) {
      const { id } = await endpointOf(key, path);
      if (!(await webhooks.remove(id))) throw nowhere();
      log.info({ endpoint: id, key: key.id }, 'a webhook was removed');
      return { id };
    },
    async rotate(key: ApiKey, path: WebhookPath, keepPreviousSeconds: number): Promise<IssuedWebhook> {
      const { id, secret } = await endpointOf(key, path);
      const next = newSecret();
      const kept = keepPreviousSeconds > 0;
      const endpoint = await changed(id, {
        secret: requireVault().seal(id, next),
        previousSecret: kept ? secret : null,
        previousUntilMs: kept ? clock.nowMs() + keepPreviousSeconds * 1_000 : null,
      });
      log.info({ endpoint: id, key: key.id, keepPreviousSeconds }, 'the secret of a webhook was rotated');
      return { webhook: view(endpoint), secret: next };
    },
    /** Throws 409 while an earlier test waits. */
    async test(key: ApiKey, path: WebhookPath): Promise<DeliveryView> {
      const endpoint = await endpointOf(key, path);
      requireEnabled(endpoint);
      const { id, workspaceId } = endpoint;
      const waiting = await webhooks.deliveries(id, { state: 'waiting', limit: 100 });
      if (waiting.some(({ type }) => type === WEBHOOK_TEST))
        throw new ApiError('conflict', 'A test event of this webhook is still waiting to be delivered.');
      const createdAtMs = clock.nowMs();
      const delivery = {
        id: `msg_${random.bytes32().slice(2, 34)}`,
        endpointId: id,
        type: WEBHOOK_TEST,
        body: JSON.stringify({
          type: WEBHOOK_TEST,
          occurredAt: toIso(createdAtMs),
          data: { workspaceId, webhookId: id },
        }),
        createdAtMs,
        giveUpAtMs: createdAtMs + giveUpAfterMs,
      };
      await webhooks.enqueue(delivery);
      wake(id);
      return deliveryView({
        ...delivery,
        ...{
          place: 0,
          state: 'waiting',
          attempts: 0,
          dueAtMs: createdAtMs,
          endedAtMs: null,
          lastFailure: null,
        },
      });
    },
    async deliveries(
      key: ApiKey,
      path: WebhookPath,
      { state, before, limit = DEFAULT_PAGE }: DeliveriesQuery,
    ) {
      const { id } = await endpointOf(key, path);
      const found = await webhooks.deliveries(id, {
        state,
        before: before === undefined ? undefined : Number(before),
        limit,
      });
      const last = found.length === limit ? found.at(-1) : undefined;
      return { deliveries: found.map(deliveryView), nextBefore: last ? String(last.place) : null };
    },
    async delivery(key: ApiKey, path: DeliveryPath) {
      const { delivery } = await deliveryOf(key, path);
      const log = await webhooks.attempts(delivery.id);
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
    },
    /** Throws 409 while it is waiting, and for a disabled endpoint. */
    async resend(key: ApiKey, path: DeliveryPath): Promise<DeliveryView> {
      const { endpoint, delivery } = await deliveryOf(key, path);
      requireEnabled(endpoint);
      const nowMs = clock.nowMs();
      if (!(await webhooks.resend(delivery.id, nowMs, nowMs + giveUpAfterMs)))
        throw new ApiError('conflict', 'This delivery is waiting to be sent already.');
      wake(endpoint.id);
      return deliveryView({ ...delivery, state: 'waiting', dueAtMs: nowMs, endedAtMs: null });
    },
  };
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
