/** One suite that every queue passes: PostgreSQL and Redis behave alike, as far as anybody here relies on them. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createBullQueue, type QueueConnection } from '../../src/adapters/bullmq/queue.ts';
import type { Queue } from '../../src/ports/queue.ts';
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { silentLog } from '../support/silent.ts';

let postgres: TestPostgres;
let redis: TestRedis;
beforeAll(async () => {
  [postgres, redis] = await Promise.all([startTestPostgres(), startRedis()]);
});
afterAll(async () => {
  await Promise.all([postgres.stop(), redis.stop()]);
});

describe.each<[string, () => Promise<QueueConnection>]>([
  ['PostgreSQL', async () => ({ kind: 'postgres', url: await postgres.server.database('queue'), schema: 'bullmq' })],
  ['Redis', async () => ({ kind: 'redis', url: redis.url, prefix: 'fq' })],
])('a queue on %s', (_, connect) => {
  const open: Queue[] = [];
  let topics = 0;
  const topic = () => `topic-${topics++}`;
  const queue = async (lockMs?: number) => {
    const made = createBullQueue({ connection: await connect(), log: silentLog, ...(lockMs !== undefined && { lockMs }) });
    open.push(made);
    return made;
  };
  afterEach(async () => {
    await Promise.all(open.splice(0).map((made) => made.close()));
  });

  test('wakes each id that was asked for', async () => {
    const [producer, consumer, name] = [await queue(), await queue(), topic()];
    const seen = new Set<string>();
    await consumer.process(name, 8, async (id) => void seen.add(id));
    const ids = Array.from({ length: 100 }, (_unused, n) => `0x${n.toString(16).padStart(64, '0')}`);
    await Promise.all(ids.map((id) => producer.wake(name, id)));
    await expect.poll(() => seen.size, { timeout: 20_000 }).toBe(100);
  });

  test('keeps wake-ups for a consumer that comes later', async () => {
    const [producer, name] = [await queue(), topic()];
    await producer.wake(name, 'early');
    const seen: string[] = [];
    await (await queue()).process(name, 1, async (id) => void seen.push(id));
    await expect.poll(() => seen, { timeout: 20_000 }).toEqual(['early']);
  });

  test('calls a handler that threw again', async () => {
    const [both, name] = [await queue(), topic()];
    let calls = 0;
    await both.process(name, 1, async () => {
      calls += 1;
      if (calls < 3) throw new Error('not yet');
    });
    await both.wake(name, 'again');
    await expect.poll(() => calls, { timeout: 20_000 }).toBe(3);
  });

  test('a wake-up asked for while the handler is at the same id is not swallowed', async () => {
    const [both, name] = [await queue(), topic()];
    let calls = 0;
    await both.process(name, 1, async (id) => {
      calls += 1;
      if (calls === 1) await both.wake(name, id);
    });
    await both.wake(name, 'same');
    await expect.poll(() => calls, { timeout: 20_000 }).toBe(2);
  });

  test('a delayed wake-up comes after those without delay', async () => {
    const [both, name] = [await queue(), topic()];
    const seen: string[] = [];
    await both.process(name, 1, async (id) => void seen.push(id));
    await both.wake(name, 'later', 700);
    await both.wake(name, 'now');
    await expect.poll(() => seen, { timeout: 20_000 }).toEqual(['now', 'later']);
  });

  test('handles as many at once as it was told', async () => {
    const [both, name] = [await queue(), topic()];
    let [busy, most, done] = [0, 0, 0];
    await both.process(name, 4, async () => {
      busy += 1;
      most = Math.max(most, busy);
      await new Promise((resolve) => setTimeout(resolve, 50));
      busy -= 1;
      done += 1;
    });
    await Promise.all(Array.from({ length: 16 }, (_unused, n) => both.wake(name, `id${n}`)));
    await expect.poll(() => done, { timeout: 20_000 }).toBe(16);
    expect(most).toBeLessThanOrEqual(4);
    expect(most).toBeGreaterThan(1);
  });
});
