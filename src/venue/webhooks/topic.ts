/** The topic of webhooks, on the queue and on the bus. */

/** On the queue it wakes a worker for one endpoint; on the bus it tells that the roster has changed. */
export const WEBHOOKS_TOPIC = 'webhooks';
