/** Webhook endpoints of workspaces, what is to be delivered to them, and each attempt. */

import type { DeliveryState, WebhookEventType } from '../../protocol/api/webhooks.ts';
import type { Solver } from '../../protocol/api/roster.ts';
import type { KeyMode, RosterStatus } from './store.ts';

export interface WebhookEndpoint {
  id: string;
  workspaceId: string;
  mode: KeyMode;
  url: string;
  description: string;
  events: readonly WebhookEventType[];
  /** Encrypted by the venue. */
  secret: string;
  /** It signs too, until `previousUntilMs`. */
  previousSecret: string | null;
  previousUntilMs: number | null;
  /** Order events with a later position are sent. */
  fromPlace: number;
  disabledAtMs: number | null;
  disabledReason: string | null;
  /** First failed attempt since the last delivery. */
  failingSinceMs: number | null;
  lastFailure: string | null;
  /** Nothing is sent before that, because the receiver said so. */
  pausedUntilMs: number | null;
  createdAtMs: number;
  updatedAtMs: number;
}

/** A delivery to one endpoint. Every process that makes it from the same event gives it the same `id`. */
export interface NewDelivery {
  id: string;
  endpointId: string;
  type: string;
  body: string;
  createdAtMs: number;
  /** The last attempt is made then. */
  giveUpAtMs: number;
}

export interface WebhookDelivery extends NewDelivery {
  /** Rises with the log. */
  place: number;
  state: DeliveryState;
  attempts: number;
  dueAtMs: number;
  endedAtMs: number | null;
  lastFailure: string | null;
}

export interface WebhookAttempt {
  attempt: number;
  startedAtMs: number;
  /** null: it is being sent, or its process has died. */
  endedAtMs: number | null;
  status: number | null;
  failure: string | null;
}

export interface AttemptEnd {
  atMs: number;
  status: number | null;
  /** null: delivered. */
  failure: string | null;
  /** null: this was the last attempt. Ignored when delivered. */
  nextDueAtMs: number | null;
  /** The whole endpoint waits until then. */
  pauseUntilMs: number | null;
}

/** A change of a solver's shown status, as the event stream tells it; null where it serves no corridor. */
export interface RosterChange {
  solverId: string;
  status: RosterStatus;
  occurredAtMs: number;
  test: Solver | null;
  live: Solver | null;
}

export interface WebhookBacklog {
  waiting: number;
  /** The due time of the longest overdue delivery of an enabled endpoint; null when none is due. */
  overdueSinceMs: number | null;
  disabled: number;
}

export interface WebhookStore {
  /** false, and nothing added, when the workspace has `limit` endpoints in that mode. */
  add(endpoint: WebhookEndpoint, limit: number): Promise<boolean>;
  /** Returns the endpoints of one workspace and mode, oldest first. */
  list(workspaceId: string, mode: KeyMode): Promise<WebhookEndpoint[]>;
  endpoint(id: string): Promise<WebhookEndpoint | undefined>;
  change(id: string, change: Partial<WebhookEndpoint>): Promise<WebhookEndpoint | undefined>;
  /** Ends its waiting deliveries as failed, in the same transaction. false when it was not enabled. */
  disable(id: string, atMs: number, reason: string): Promise<boolean>;
  /** Removes an endpoint and its deliveries. */
  remove(id: string): Promise<boolean>;

  /** Returns enabled endpoints; with workspaces, only theirs. */
  listening(workspaceIds?: readonly string[]): Promise<WebhookEndpoint[]>;
  /** Position of the last order event that was turned into deliveries. */
  eventPlace(): Promise<number>;
  /** One transaction. false, and nothing written, when another process has moved on from `from`. */
  fanOutEvents(from: number, to: number, deliveries: readonly NewDelivery[]): Promise<boolean>;
  /** Stores it for the fan-out, unless the status that was stored last is the same. */
  rosterChanged(change: RosterChange): Promise<boolean>;
  rosterChanges(limit: number): Promise<(RosterChange & { id: number })[]>;
  /** One transaction. Writes only deliveries of changes that no other process has taken. */
  fanOutRoster(deliveries: ReadonlyMap<number, readonly NewDelivery[]>): Promise<void>;
  /** Adds a delivery outside the events: tests. */
  enqueue(delivery: NewDelivery): Promise<void>;

  /** Leases due deliveries of an enabled endpoint that does not wait. After the lease they are due again. */
  take(endpointId: string, nowMs: number, leaseMs: number, limit: number): Promise<WebhookDelivery[]>;
  /** false when another process has taken the delivery since. */
  end(delivery: Pick<WebhookDelivery, 'id' | 'endpointId' | 'attempts'>, end: AttemptEnd): Promise<boolean>;
  /** Returns enabled endpoints with deliveries that are due. */
  dueEndpoints(nowMs: number): Promise<string[]>;
  /** Returns when the endpoint's next delivery is due; undefined when nothing waits. */
  nextDue(endpointId: string): Promise<number | undefined>;
  /** Returns enabled endpoints without a success since before then. */
  failingSince(beforeMs: number): Promise<WebhookEndpoint[]>;

  deliveries(
    endpointId: string,
    filter: { state?: DeliveryState | undefined; before?: number | undefined; limit: number },
  ): Promise<WebhookDelivery[]>;
  delivery(endpointId: string, id: string): Promise<WebhookDelivery | undefined>;
  attempts(id: string): Promise<WebhookAttempt[]>;
  /** Makes the delivery due now, with the same id and body. false when it is waiting. */
  resend(id: string, nowMs: number, giveUpAtMs: number): Promise<boolean>;
  backlog(nowMs: number): Promise<WebhookBacklog>;
}

interface WebhookAnswer {
  status: number;
  /** The delay that the receiver asks for; undefined when it asks for none. */
  retryAfterMs: number | undefined;
}

/** Posts to addresses that workspaces chose. */
export interface WebhookPoster {
  /** Throws `RequestError` for an address that is refused whatever it resolves to. */
  check(url: string): void;
  /** Throws `UpstreamError` or `RequestError` when there is no answer. Follows no redirect. */
  post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<WebhookAnswer>;
}
