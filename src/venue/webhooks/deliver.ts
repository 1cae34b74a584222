/**
 * Posts due deliveries, signed, until the receiver answers 2xx or a day is over. The database decides what is
 * due, and a lease lets one worker send each delivery; a queued job only wakes a worker for an endpoint.
 */

import type { Counter, Gauge } from '../../ports/metrics.ts';
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

/** The endpoints being served, the sweep, and what is counted. */
interface CourierState {
  readonly attempts: Counter;
  readonly disabled: Counter;
  readonly waiting: Gauge;
  readonly overdue: Gauge;
  readonly working: Map<string, { again: boolean; done: Promise<void> }>;
  /** The wall time for which this process has queued a job for each endpoint, in milliseconds. */
  readonly planned: Map<string, number>;
  stopped: boolean;
  cancelSweep: () => void;
  sweeping: Promise<void>;
}

interface WebhookCourier {
  /** Wakes one worker for each of these endpoints. */
  wake(endpointIds: readonly string[]): void;
  start(): Promise<void>;
  /** Waits for attempts in progress, but not long: what is cut off is sent again with the same id. */
  stop(): Promise<void>;
}

export function createWebhookCourier(deps: CourierDeps, options: WebhookOptions): WebhookCourier {
  const state: CourierState = {
    attempts: deps.metrics.counter('firmquote_venue_webhook_attempts_total', 'Webhook attempts', {
      outcome: ['delivered', 'failed', 'abandoned', 'superseded'],
    }),
    disabled: deps.metrics.counter(
      'firmquote_venue_webhook_endpoints_disabled_total',
      'Webhook endpoints disabled because every attempt of a day has failed',
    ),
    waiting: deps.metrics.gauge(
      'firmquote_venue_webhook_deliveries_waiting',
      'Webhook deliveries to be sent',
    ),
    overdue: deps.metrics.gauge(
      'firmquote_venue_webhook_overdue_seconds',
      'How long the longest overdue webhook delivery has been due without being sent',
    ),
    working: new Map<string, { again: boolean; done: Promise<void> }>(),
    planned: new Map<string, number>(),
    stopped: false,
    cancelSweep: () => {},
    sweeping: Promise.resolve(),
  };

  return {
    wake: (endpointIds) => wake(deps, endpointIds),
    start: () => start(deps, options, state),
    stop: () => stop(deps, state),
  };
}

function wake(deps: CourierDeps, endpointIds: readonly string[]): void {
  for (const id of endpointIds)
    deps.queue
      .wake(WEBHOOKS_TOPIC, id)
      .catch((error: unknown) => deps.log.debug({ error }, 'a webhook was not queued; the sweep sends it'));
}

async function start(deps: CourierDeps, options: WebhookOptions, state: CourierState): Promise<void> {
  await deps.queue.process(WEBHOOKS_TOPIC, options.endpointsAtOnce, (endpointId) =>
    serve(deps, options, state, endpointId),
  );
  sweepAgain(deps, options, state);
}

/** Sends what is due to the endpoint, once at a time in this process. */
function serve(
  deps: CourierDeps,
  options: WebhookOptions,
  state: CourierState,
  endpointId: string,
): Promise<void> {
  const present = state.working.get(endpointId);
  if (present) {
    present.again = true;
    return present.done;
  }
  const item = { again: false, done: Promise.resolve() };
  state.working.set(endpointId, item);
  item.done = (async () => {
    do {
      item.again = false;
      await sendDue(deps, options, state, endpointId);
    } while (item.again && !state.stopped);
  })().finally(() => state.working.delete(endpointId));
  return item.done;
}

async function sendDue(
  deps: CourierDeps,
  options: WebhookOptions,
  state: CourierState,
  endpointId: string,
): Promise<undefined> {
  for (let batch = 0; batch < BATCHES && !state.stopped; batch += 1) {
    const endpoint = await deps.store.endpoint(endpointId);
    if (!endpoint) return void state.planned.delete(endpointId);
    const taken = await deps.store.take(
      endpointId,
      deps.clock.nowMs(),
      options.timeoutMs + LEASE_MARGIN_MS,
      options.deliveriesAtOnce,
    );
    if (taken.length === 0) break;
    const delivered = await Promise.all(
      taken.map((delivery) => attempt(deps, options, state, endpoint, delivery)),
    );
    // A receiver that does not answer must not hold this place.
    if (!delivered.includes(true)) break;
  }
  await wakeLater(deps, state, endpointId);
}

async function attempt(
  deps: CourierDeps,
  options: WebhookOptions,
  state: CourierState,
  endpoint: WebhookEndpoint,
  delivery: WebhookDelivery,
): Promise<boolean> {
  const { status, failure, retryAfterMs } = await post(deps, options, endpoint, delivery);
  const atMs = deps.clock.nowMs();
  const last = atMs >= delivery.giveUpAtMs;
  const nextDueAtMs = last
    ? null
    : Math.min(atMs + Math.max(pauseMs(options, delivery), retryAfterMs ?? 0), delivery.giveUpAtMs);
  const pauseUntilMs = retryAfterMs === null ? null : atMs + retryAfterMs;
  const ours = await deps.store.end(delivery, { atMs, status, failure, nextDueAtMs, pauseUntilMs });
  const outcome = failure === null ? 'delivered' : last ? 'abandoned' : 'failed';
  state.attempts.add({ outcome: ours ? outcome : 'superseded' });
  if (failure !== null)
    deps.log.info(
      { endpoint: endpoint.id, delivery: delivery.id, attempt: delivery.attempts, failure },
      last ? 'a webhook was given up' : 'a webhook was not delivered; it will be sent again',
    );
  return failure === null;
}

async function post(
  deps: CourierDeps,
  options: WebhookOptions,
  endpoint: WebhookEndpoint,
  { id, body }: WebhookDelivery,
): Promise<Outcome> {
  const nowMs = deps.clock.nowMs();
  let secrets: string[];
  try {
    secrets = secretsOf(deps, endpoint, nowMs);
  } catch (error) {
    deps.log.error({ endpoint: endpoint.id, error }, 'a webhook cannot be signed');
    return { status: null, failure: 'The venue could not sign it.', retryAfterMs: null };
  }
  try {
    const headers = webhookHeaders({ id, timestamp: toSeconds(nowMs), body }, secrets);
    const { status, retryAfterMs } = await deps.poster.post(endpoint.url, headers, body);
    const wait = status === 429 || status === 503 ? retryAfterMs : undefined;
    return {
      status,
      failure: failureOf(status),
      retryAfterMs: wait === undefined ? null : Math.min(wait, options.longestRetryMs),
    };
  } catch (error) {
    if (!(error instanceof BaseError)) throw error;
    return { status: null, failure: error.message.slice(0, MAX_FAILURE_CHARACTERS), retryAfterMs: null };
  }
}

/** Returns the endpoint's secrets, the present one first. */
function secretsOf(
  deps: CourierDeps,
  { id, secret, previousSecret, previousUntilMs }: WebhookEndpoint,
  nowMs: number,
): string[] {
  const both = previousSecret !== null && previousUntilMs !== null && nowMs < previousUntilMs;
  return (both ? [secret, previousSecret] : [secret]).map((sealed) => deps.vault.open(id, sealed));
}

/**
 * Returns the pause in milliseconds. The id adds up to a fifth, so that deliveries that failed together do
 * not return together.
 */
function pauseMs(options: WebhookOptions, { id, attempts: tries }: WebhookDelivery): number {
  const base = Math.min(options.longestRetryMs, options.firstRetryMs * 2 ** Math.min(tries - 1, 30));
  return Math.round(base * (1 + Number.parseInt(id.slice(-2), 16) / 255 / 5));
}

async function wakeLater(deps: CourierDeps, state: CourierState, endpointId: string): Promise<void> {
  const dueAtMs = await deps.store.nextDue(endpointId);
  const plannedAtMs = state.planned.get(endpointId) ?? 0;
  state.planned.delete(endpointId);
  if (dueAtMs === undefined || state.stopped) return;
  const nowMs = deps.clock.nowMs();
  // Else each event for a receiver that is down would leave a job of its own, which all plan again.
  const isPlanned = plannedAtMs > nowMs && plannedAtMs <= dueAtMs;
  state.planned.set(endpointId, isPlanned ? plannedAtMs : dueAtMs);
  if (isPlanned) return;
  await deps.queue
    .wake(WEBHOOKS_TOPIC, endpointId, Math.max(0, dueAtMs - nowMs))
    .catch((error: unknown) => deps.log.debug({ error }, 'a webhook was not queued; the sweep sends it'));
}

function sweepAgain(deps: CourierDeps, options: WebhookOptions, state: CourierState): void {
  state.sweeping = sweep(deps, options, state)
    .catch((error: unknown) =>
      deps.log.warn({ error }, 'the sweep over webhooks failed; it will be repeated'),
    )
    .then(() => {
      if (!state.stopped)
        state.cancelSweep = deps.clock.after(options.sweepMs, () => sweepAgain(deps, options, state));
    });
}

async function sweep(deps: CourierDeps, options: WebhookOptions, state: CourierState): Promise<void> {
  const nowMs = deps.clock.nowMs();
  for (const endpoint of await deps.store.failingSince(nowMs - options.disableAfterMs)) {
    const reason =
      `Every attempt failed from ${new Date(endpoint.failingSinceMs ?? nowMs).toISOString()} on. ` +
      `The last one: ${endpoint.lastFailure ?? 'unknown'} Repair the receiver, then enable the endpoint.`;
    if (!(await deps.store.disable(endpoint.id, nowMs, reason))) continue;
    state.disabled.add();
    deps.log.warn(
      { endpoint: endpoint.id },
      'a webhook endpoint was disabled: every attempt of a day has failed',
    );
  }
  const backlog = await deps.store.backlog(nowMs);
  state.waiting.set(backlog.waiting);
  state.overdue.set(backlog.overdueSinceMs === null ? 0 : (nowMs - backlog.overdueSinceMs) / 1_000);
  const due = await deps.store.dueEndpoints(nowMs);
  const free = Math.max(0, options.endpointsAtOnce - state.working.size);
  for (const id of due.filter((each) => !state.working.has(each)).slice(0, free))
    serveSafely(deps, options, state, id);
}

function serveSafely(
  deps: CourierDeps,
  options: WebhookOptions,
  state: CourierState,
  endpointId: string,
): void {
  serve(deps, options, state, endpointId).catch((error: unknown) =>
    deps.log.warn(
      { endpoint: endpointId, error },
      'webhooks of an endpoint were not sent; the sweep tries again',
    ),
  );
}

async function stop(deps: CourierDeps, state: CourierState): Promise<void> {
  state.stopped = true;
  state.cancelSweep();
  const ended = Promise.allSettled([state.sweeping, ...[...state.working.values()].map(({ done }) => done)]);
  let cancel = () => {};
  const late = new Promise<void>((done) => (cancel = deps.clock.after(STOP_WITHIN_MS, done)));
  await Promise.race([ended, late]);
  cancel();
}

function failureOf(status: number): string | null {
  if (status >= 200 && status <= 299) return null;
  return status >= 300 && status <= 399
    ? `It answered with a redirect (${status}), which is not followed. Register the address that it leads to.`
    : `It answered with status ${status}.`;
}
