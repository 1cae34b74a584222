/** The wake-up queue, on Redis or PostgreSQL. */

import { createBullQueue, type WatchedQueue } from '../../adapters/bullmq/queue.ts';
import type { Database } from '../../adapters/postgres/pool.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import { expand, type SecretContext } from './keys.ts';

export function openQueue(
  section: { redisUrl: string | null },
  db: Database,
  { log, metrics, secrets }: { log: Log; metrics: Metrics; secrets: SecretContext },
): WatchedQueue {
  const redisUrl =
    secrets.env['REDIS_URL'] ?? (section.redisUrl === null ? undefined : expand(section.redisUrl, secrets));
  if (redisUrl !== undefined && redisUrl !== '') {
    secrets.redactor.hide(redisUrl);
    log.info({}, 'the wake-up queue uses Redis');
    return createBullQueue({
      connection: { kind: 'redis', url: redisUrl, prefix: `firmquote-${db.schema}` },
      log,
      metrics,
    });
  }
  return createBullQueue({
    connection: { kind: 'postgres', url: db.url, schema: `${db.schema}_queue` },
    log,
    metrics,
  });
}
