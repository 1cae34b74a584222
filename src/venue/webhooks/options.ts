/** Limits and times of webhooks, in milliseconds, and their defaults. */

export const WEBHOOKS = {
  /** Per workspace and mode. */
  maxEndpoints: 10,
  /** Until the whole answer is there. */
  timeoutMs: 15_000,
  /** Doubles with each attempt. */
  firstRetryMs: 5_000,
  longestRetryMs: 3_600_000,
  /** The last attempt of a delivery is made then. */
  giveUpAfterMs: 86_400_000,
  /** An endpoint whose attempts have all failed for so long is disabled. */
  disableAfterMs: 86_400_000,
  /** Endpoints served together by one worker, and deliveries to one of them. */
  endpointsAtOnce: 32,
  deliveriesAtOnce: 4,
  /** Makes up for lost wake-ups. */
  sweepMs: 5_000,
};
export type WebhookOptions = typeof WEBHOOKS;

/** A queue topic: wakes a worker for one endpoint. A bus topic: the roster has changed. */
export const WEBHOOKS_TOPIC = 'webhooks';
