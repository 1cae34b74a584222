/**
 * One suite that every queue passes: PostgreSQL and Redis behave alike, as far as anybody here relies on
 * them.
 */

import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createBullQueue, type QueueConnection } from '../../../src/adapters/bullmq/queue.ts';
import { createMetrics } from '../../../src/adapters/prometheus/metrics.ts';
import type { Metrics } from '../../../src/ports/metrics.ts';
import type { Queue } from '../../../src/ports/queue.ts';
import { startTcpProxy, type TcpProxy } from '../../faults/support/tcp-proxy.ts';
import { startTestPostgres, type TestPostgres } from '../../support/postgres.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';
import { silentLog } from '../../support/silent.ts';
import { until } from '../../support/venue.ts';

let postgres: TestPostgres;
let redis: TestRedis;
beforeAll(async () => {
  [postgres, redis] = await Promise.all([startTestPostgres(), startRedis()]);
});
afterAll(async () => {
  await Promise.all([postgres.stop(), redis.stop()]);
});

/** Everything that BullMQ keeps in PostgreSQL, but for how far its schema has come. */
async function truncate(): Promise<void> {
  const client = new pg.Client({ connectionString: await postgres.server.database('queue') });
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'bullmq' and table_type = 'BASE TABLE' and table_name not like '%migration%'",
  );
  await client.query(`truncate ${rows.map(({ name }) => `bullmq."${name}"`).join(', ')} cascade`);
  await client.end();
}

describe.each<[string, () => Promise<QueueConnection>, () => void | Promise<void>]>([
  [
    'PostgreSQL',
    async () => ({ kind: 'postgres', url: await postgres.server.database('queue'), schema: 'bullmq' }),
    truncate,
  ],
  ['Redis', async () => ({ kind: 'redis', url: redis.url, prefix: 'fq' }), () => redis.flush()],
])('a queue on %s', (kind, connect, lose) => {
  const open: Queue[] = [];
  let topics = 0;
  const topic = () => `topic-${topics++}`;
  const queue = async ({
    lockMs,
    behind,
    metrics,
  }: { lockMs?: number; behind?: TcpProxy; metrics?: Metrics } = {}) => {
    const connection = await connect();
    const made = createBullQueue({
      connection: behind ? { ...connection, url: behind.url } : connection,
      log: silentLog,
      ...(lockMs !== undefined && { lockMs }),
      ...(metrics !== undefined && { metrics }),
    });
    open.push(made);
    return made;
  };
  const network = async () => {
    const proxy = await startTcpProxy((await connect()).url);
    proxies.push(proxy);
    return proxy;
  };
  const proxies: TcpProxy[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((made) => made.close()));
    await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
  });

  test('wakes each requested id', async () => {
    const [producer, consumer, name] = [await queue(), await queue(), topic()];
    const seen = new Set<string>();
    await consumer.process(name, 8, async (id) => void seen.add(id));
    const ids = Array.from({ length: 100 }, (_unused, n) => `0x${n.toString(16).padStart(64, '0')}`);
    await Promise.all(ids.map((id) => producer.wake(name, id)));
    await expect.poll(() => seen.size, { timeout: 20_000 }).toBe(100);
  });

  test('keeps wake-ups until a consumer connects', async () => {
    const [producer, name] = [await queue(), topic()];
    await producer.wake(name, 'early');
    const seen: string[] = [];
    await (await queue()).process(name, 1, async (id) => void seen.push(id));
    await expect.poll(() => seen, { timeout: 20_000 }).toEqual(['early']);
  });

  test('retries a handler that threw', async () => {
    const [both, name] = [await queue(), topic()];
    let calls = 0;
    await both.process(name, 1, async () => {
      calls += 1;
      if (calls < 3) throw new Error('not yet');
    });
    await both.wake(name, 'again');
    await expect.poll(() => calls, { timeout: 20_000 }).toBe(3);
  });

  test('of several wake-ups, only the failed one is retried', async () => {
    const [both, name] = [await queue(), topic()];
    const calls = new Map<string, number>();
    await both.process(name, 8, async (id) => {
      calls.set(id, (calls.get(id) ?? 0) + 1);
      if (id === 'id7' && calls.get(id) === 1) throw new Error('not yet');
    });
    const ids = Array.from({ length: 30 }, (_unused, n) => `id${n}`);
    await Promise.all(ids.map((id) => both.wake(name, id)));
    await expect
      .poll(() => [...calls.values()].reduce((sum, each) => sum + each, 0), { timeout: 20_000 })
      .toBeGreaterThan(30);
    expect(ids.map((id) => calls.get(id))).toEqual(ids.map((id) => (id === 'id7' ? 2 : 1)));
  });

  test('a wake-up requested while the handler runs for the same id is not lost', async () => {
    const [both, name] = [await queue(), topic()];
    let calls = 0;
    await both.process(name, 1, async (id) => {
      calls += 1;
      if (calls === 1) await both.wake(name, id);
    });
    await both.wake(name, 'same');
    await expect.poll(() => calls, { timeout: 20_000 }).toBe(2);
  });

  test('a delayed wake-up comes after immediate ones', async () => {
    const [both, name] = [await queue(), topic()];
    const seen: string[] = [];
    await both.process(name, 1, async (id) => void seen.push(id));
    await both.wake(name, 'later', 700);
    await both.wake(name, 'now');
    await expect.poll(() => seen, { timeout: 20_000 }).toEqual(['now', 'later']);
  });

  test('handles the configured number concurrently', async () => {
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

  test('a consumer that dies during a wake-up leaves it to another one', async () => {
    const [producer, name] = [await queue(), topic()];
    // Dead to the queue: it neither finishes nor says that it still lives.
    const cable = await network();
    const dying = await queue({ lockMs: 1_000, behind: cable });
    let began = 0;
    await dying.process(name, 1, () => {
      began += 1;
      return new Promise(() => {});
    });
    await producer.wake(name, 'orphan');
    await expect.poll(() => began).toBe(1);
    cable.set({ kind: 'blackhole' });
    const seen: string[] = [];
    await (await queue({ lockMs: 1_000 })).process(name, 1, async (id) => void seen.push(id));
    await expect.poll(() => seen, { timeout: 60_000 }).toEqual(['orphan']);
  });

  test('after losing its data, the queue serves later wake-ups with the same consumer', async () => {
    const [both, name] = [await queue(), topic()];
    const seen: string[] = [];
    await both.process(name, 1, async (id) => void seen.push(id));
    await both.wake(name, 'before');
    await expect.poll(() => seen).toEqual(['before']);
    await both.wake(name, 'lost', 3_600_000);
    await lose();
    // Whether one more wake-up is lost with it is the queue's business; a sweep asks again, and so do we.
    await until(async () => {
      await both.wake(name, 'after').catch(() => {});
      return seen.includes('after');
    });
    expect(seen).not.toContain('lost');
  });

  test('without a backend, enqueueing and closing fail in time, and later wake-ups are handled after it returns', async () => {
    const name = topic();
    const cable = await network();
    const away = await queue({ behind: cable });
    const seen: string[] = [];
    await away.process(name, 1, async (id) => void seen.push(id));
    await away.wake(name, 'one');
    await expect.poll(() => seen).toEqual(['one']);
    cable.set({ kind: 'blackhole' });
    await expect(away.wake(name, 'two')).rejects.toMatchObject({ code: 'queue_unavailable' });
    const late = await queue({ behind: cable });
    // It is allowed to come up while the queue is away.
    await late.process(name, 1, async (id) => void seen.push(id));
    await late.close();
    cable.set({ kind: 'pass' });
    await until(async () => {
      await away.wake(name, 'three').catch(() => {});
      return seen.includes('three');
    });
  });

  test('shows its depth, what is due, what failed, and whether its backend answers', async () => {
    const name = topic();
    const cable = await network();
    const metrics = createMetrics();
    const shown = async (series: string) => {
      const lines = (await metrics.text()).split('\n');
      const line = lines.find((each) => each.startsWith(`firmquote_queue_${series} `));
      return line === undefined ? undefined : Number(line.split(' ')[1]);
    };
    const jobs = (state: string) => shown(`jobs{topic="${name}",state="${state}"}`);
    const failures = (what: string) => shown(`failures_total{topic="${name}",what="${what}"}`);
    const up = () => shown(`up{kind="${kind === 'Redis' ? 'redis' : 'postgres'}"}`);
    const patience = { timeout: 30_000 };
    const producer = await queue({ behind: cable, metrics });
    await producer.wake(name, 'now');
    await producer.wake(name, 'later', 3_600_000);
    await expect.poll(() => jobs('waiting'), patience).toBe(1);
    await expect.poll(() => jobs('delayed'), patience).toBe(1);
    await expect.poll(() => shown(`oldest_due_seconds{topic="${name}"}`), patience).toBeGreaterThan(1);
    expect(await up()).toBe(1);
    expect(await failures('handler')).toBe(0);
    let fail = true;
    await producer.process(name, 1, async () => {
      if (fail) throw new Error('not yet');
    });
    await expect.poll(() => failures('handler'), patience).toBeGreaterThan(0);
    fail = false;
    await expect.poll(() => shown(`job_seconds_count{topic="${name}",outcome="done"}`), patience).toBe(1);
    await expect.poll(() => shown(`oldest_due_seconds{topic="${name}"}`), patience).toBe(0);
    cable.set({ kind: 'reset' });
    await expect(producer.wake(name, 'lost')).rejects.toMatchObject({ code: 'queue_unavailable' });
    await expect.poll(up, patience).toBe(0);
    expect([await failures('wake'), await jobs('waiting')]).toEqual([1, undefined]);
    cable.set({ kind: 'pass' });
    await expect.poll(up, patience).toBe(1);
  }, 120_000);

  test('a queue that could not connect at start works when its backend appears', async () => {
    const name = topic();
    const cable = await network();
    cable.set({ kind: 'reset' });
    const both = await queue({ behind: cable });
    const seen: string[] = [];
    await both.process(name, 1, async (id) => void seen.push(id));
    await expect(both.wake(name, 'early')).rejects.toMatchObject({ code: 'queue_unavailable' });
    cable.set({ kind: 'pass' });
    await until(async () => {
      await both.wake(name, 'now').catch(() => {});
      return seen.includes('now');
    });
  });
});

test('a connection that breaks during start does not crash the process', async () => {
  const url = await postgres.server.database('queue_dies');
  const made = createBullQueue({ connection: { kind: 'postgres', url, schema: 'bullmq' }, log: silentLog });
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  try {
    // Whoever comes up does so under this lock of BullMQ's, and stands there for as long as somebody else has
    // it.
    await admin.query(`select pg_advisory_lock(1112886348, hashtext('bullmq'))`);
    const refused = expect(made.wake('any', 'one')).rejects.toMatchObject({ code: 'queue_unavailable' });
    await until(
      async () =>
        (
          await admin.query(
            `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`,
          )
        ).rowCount,
    );
    await refused;
    await admin.query('select pg_advisory_unlock_all()');
    await until(async () =>
      made.wake('any', 'two').then(
        () => true,
        () => false,
      ),
    );
  } finally {
    await admin.end();
    await made.close();
  }
});
