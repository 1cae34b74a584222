/** The topic of webhooks, on the queue and on the bus. */

/**
 * A message on the queue wakes a worker for one endpoint; one on the bus tells that the status of a solver
 * has changed.
 */
export const WEBHOOKS_TOPIC = 'webhooks';
