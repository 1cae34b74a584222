/**
 * Posts due deliveries, signed, until the receiver answers 2xx or a day is over. The database decides what is
 * due, and a lease lets one worker send each delivery; a queued job only wakes a worker for an endpoint.
 */

import { BaseError } from '../../domain/errors.ts';
import { toSeconds } from '../../domain/time.ts';
import type {
  WebhookDelivery,
  WebhookEndpoint,
  WebhookPoster,
  WebhookStore,
} from '../../ports/stores/webhooks.ts';
import { webhookHeaders } from '../../protocol/webhook-signature.ts';
import type { VenueDeps } from '../deps.ts';
import type { WebhookOptions } from '../options.ts';
import { WEBHOOKS_TOPIC } from './topic.ts';
import type { Vault } from './vault.ts';

type CourierDeps = Pick<VenueDeps, 'queue' | 'clock' | 'log' | 'metrics'> & {
  store: WebhookStore;
  poster: WebhookPoster;
  vault: Vault;
};

/** A lease outlives its attempt by this. What ends later than that is only logged. */
const LEASE_MARGIN_MS = 5_000;
/** Batches of one endpoint before others get their turn. */
const BATCHES = 5;
const MAX_FAILURE_CHARACTERS = 300;
const STOP_WITHIN_MS = 3_000;

interface Outcome {
  status: number | null;
  /** null: delivered. */
  failure: string | null;
  retryAfterMs: number | null;
}

export type WebhookCourier = ReturnType<typeof createWebhookCourier>;

export function createWebhookCourier(
  { store, poster, vault, queue, clock, log, metrics }: CourierDeps,
  options: WebhookOptions,
) {
  const { timeoutMs, firstRetryMs, longestRetryMs, disableAfterMs, sweepMs } = options;
  const { endpointsAtOnce, deliveriesAtOnce } = options;
  const attempts = metrics.counter('firmquote_venue_webhook_attempts_total', 'Webhook attempts', {
    outcome: ['delivered', 'failed', 'abandoned', 'superseded'],
  });
  const disabled = metrics.counter(
    'firmquote_venue_webhook_endpoints_disabled_total',
    'Webhook endpoints disabled because every attempt of a day has failed',
  );
  const waiting = metrics.gauge(
    'firmquote_venue_webhook_deliveries_waiting',
    'Webhook deliveries to be sent',
  );
  const overdue = metrics.gauge(
    'firmquote_venue_webhook_overdue_seconds',
    'How long the longest overdue webhook delivery has been due without being sent',
  );
  const working = new Map<string, { again: boolean; done: Promise<void> }>();
  /** When this process has a job queued for an endpoint. */
  const planned = new Map<string, number>();
  let stopped = false;
  let cancelSweep = () => {};
  let sweeping: Promise<void> = Promise.resolve();

  /** Sends what is due to the endpoint, once at a time in this process. */
  function serve(endpointId: string): Promise<void> {
    const present = working.get(endpointId);
    if (present) {
      present.again = true;
      return present.done;
    }
    const item = { again: false, done: Promise.resolve() };
    working.set(endpointId, item);
    item.done = (async () => {
      do {
        item.again = false;
        await sendDue(endpointId);
      } while (item.again && !stopped);
    })().finally(() => working.delete(endpointId));
    return item.done;
  }

  async function sendDue(endpointId: string) {
    for (let batch = 0; batch < BATCHES && !stopped; batch += 1) {
      const endpoint = await store.endpoint(endpointId);
      if (!endpoint) return void planned.delete(endpointId);
      const taken = await store.take(
        endpointId,
        clock.nowMs(),
        timeoutMs + LEASE_MARGIN_MS,
        deliveriesAtOnce,
      );
      if (taken.length === 0) break;
      const delivered = await Promise.all(taken.map((delivery) => attempt(endpoint, delivery)));
      // A receiver that does not answer must not hold this place.
      if (!delivered.includes(true)) break;
    }
    await wakeLater(endpointId);
  }

  async function wakeLater(endpointId: string) {
    const dueAtMs = await store.nextDue(endpointId);
    const plannedAtMs = planned.get(endpointId) ?? 0;
    planned.delete(endpointId);
    if (dueAtMs === undefined || stopped) return;
    const nowMs = clock.nowMs();
    // Else each event for a receiver that is down would leave a job of its own, which all plan again.
    const isPlanned = plannedAtMs > nowMs && plannedAtMs <= dueAtMs;
    planned.set(endpointId, isPlanned ? plannedAtMs : dueAtMs);
    if (isPlanned) return;
    await queue
      .wake(WEBHOOKS_TOPIC, endpointId, Math.max(0, dueAtMs - nowMs))
      .catch((error: unknown) => log.debug({ error }, 'a webhook was not queued; the sweep sends it'));
  }

  async function attempt(endpoint: WebhookEndpoint, delivery: WebhookDelivery): Promise<boolean> {
    const { status, failure, retryAfterMs } = await post(endpoint, delivery);
    const atMs = clock.nowMs();
    const last = atMs >= delivery.giveUpAtMs;
    const nextDueAtMs = last
      ? null
      : Math.min(atMs + Math.max(pauseMs(delivery), retryAfterMs ?? 0), delivery.giveUpAtMs);
    const pauseUntilMs = retryAfterMs === null ? null : atMs + retryAfterMs;
    const ours = await store.end(delivery, { atMs, status, failure, nextDueAtMs, pauseUntilMs });
    const outcome = failure === null ? 'delivered' : last ? 'abandoned' : 'failed';
    attempts.add({ outcome: ours ? outcome : 'superseded' });
    if (failure !== null)
      log.info(
        { endpoint: endpoint.id, delivery: delivery.id, attempt: delivery.attempts, failure },
        last ? 'a webhook was given up' : 'a webhook was not delivered; it will be sent again',
      );
    return failure === null;
  }

  async function post(endpoint: WebhookEndpoint, { id, body }: WebhookDelivery): Promise<Outcome> {
    const nowMs = clock.nowMs();
    let secrets: string[];
    try {
      secrets = secretsOf(endpoint, nowMs);
    } catch (error) {
      log.error({ endpoint: endpoint.id, error }, 'a webhook cannot be signed');
      return { status: null, failure: 'The venue could not sign it.', retryAfterMs: null };
    }
    try {
      const headers = webhookHeaders({ id, timestamp: toSeconds(nowMs), body }, secrets);
      const { status, retryAfterMs } = await poster.post(endpoint.url, headers, body);
      const wait = status === 429 || status === 503 ? retryAfterMs : undefined;
      return {
        status,
        failure: failureOf(status),
        retryAfterMs: wait === undefined ? null : Math.min(wait, longestRetryMs),
      };
    } catch (error) {
      if (!(error instanceof BaseError)) throw error;
      return { status: null, failure: error.message.slice(0, MAX_FAILURE_CHARACTERS), retryAfterMs: null };
    }
  }

  /** The present one first. */
  function secretsOf(
    { id, secret, previousSecret, previousUntilMs }: WebhookEndpoint,
    nowMs: number,
  ): string[] {
    const both = previousSecret !== null && previousUntilMs !== null && nowMs < previousUntilMs;
    return (both ? [secret, previousSecret] : [secret]).map((sealed) => vault.open(id, sealed));
  }

  /** Up to a fifth longer by the id, so that deliveries that failed together do not return together. */
  function pauseMs({ id, attempts: tries }: WebhookDelivery): number {
    const base = Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(tries - 1, 30));
    return Math.round(base * (1 + Number.parseInt(id.slice(-2), 16) / 255 / 5));
  }

  async function sweep() {
    const nowMs = clock.nowMs();
    for (const endpoint of await store.failingSince(nowMs - disableAfterMs)) {
      const reason =
        `Every attempt failed from ${new Date(endpoint.failingSinceMs ?? nowMs).toISOString()} on. ` +
        `The last one: ${endpoint.lastFailure ?? 'unknown'} Repair the receiver, then enable the endpoint.`;
      if (!(await store.disable(endpoint.id, nowMs, reason))) continue;
      disabled.add();
      log.warn(
        { endpoint: endpoint.id },
        'a webhook endpoint was disabled: every attempt of a day has failed',
      );
    }
    const backlog = await store.backlog(nowMs);
    waiting.set(backlog.waiting);
    overdue.set(backlog.overdueSinceMs === null ? 0 : (nowMs - backlog.overdueSinceMs) / 1_000);
    const due = await store.dueEndpoints(nowMs);
    const free = Math.max(0, endpointsAtOnce - working.size);
    for (const id of due.filter((each) => !working.has(each)).slice(0, free)) serveSafely(id);
  }

  function serveSafely(endpointId: string) {
    serve(endpointId).catch((error: unknown) =>
      log.warn(
        { endpoint: endpointId, error },
        'webhooks of an endpoint were not sent; the sweep tries again',
      ),
    );
  }

  function sweepAgain() {
    sweeping = sweep()
      .catch((error: unknown) => log.warn({ error }, 'the sweep over webhooks failed; it will be repeated'))
      .then(() => {
        if (!stopped) cancelSweep = clock.after(sweepMs, sweepAgain);
      });
  }

  return {
    /** Wakes one worker for each of these endpoints. */
    wake(endpointIds: readonly string[]) {
      for (const id of endpointIds)
        queue
          .wake(WEBHOOKS_TOPIC, id)
          .catch((error: unknown) => log.debug({ error }, 'a webhook was not queued; the sweep sends it'));
    },
    async start() {
      await queue.process(WEBHOOKS_TOPIC, endpointsAtOnce, serve);
      sweepAgain();
    },
    /** Waits for attempts in progress, but not long: what is cut off is sent again with the same id. */
    async stop() {
      stopped = true;
      cancelSweep();
      const ended = Promise.allSettled([sweeping, ...[...working.values()].map(({ done }) => done)]);
      let cancel = () => {};
      const late = new Promise<void>((done) => (cancel = clock.after(STOP_WITHIN_MS, done)));
      await Promise.race([ended, late]);
      cancel();
    },
  };
}

function failureOf(status: number): string | null {
  if (status >= 200 && status <= 299) return null;
  return status >= 300 && status <= 399
    ? `It answered with a redirect (${status}), which is not followed. Register the address that it leads to.`
    : `It answered with status ${status}.`;
}
