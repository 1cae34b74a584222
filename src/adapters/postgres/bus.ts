/** Events between replicas over LISTEN/NOTIFY: one connection listens for all topics and comes back by itself when it is lost. */

import { createHash } from 'node:crypto';
import pg from 'pg';
import type { Bus } from '../../ports/bus.ts';
import type { Log } from '../../ports/log.ts';
import type { Database } from './pool.ts';

/** PostgreSQL refuses longer payloads (8,000 bytes). */
const MAX_PAYLOAD_BYTES = 7_900;
const RECONNECT_MS = 250;

/** A channel belongs to a database, so the schema is part of its name; names are cut at 63 bytes, so long topics are hashed. */
export function channelOf(schema: string, topic: string): string {
  const name = `${schema}_${topic}`;
  return name.length <= 60 ? name : createHash('sha256').update(name).digest('hex').slice(0, 60);
}

export function createPostgresBus(db: Database, log: Log): Bus {
  const listeners = new Map<string, Set<(payload: string) => void>>();
  let client: pg.Client | undefined;
  let connecting: Promise<pg.Client> | undefined;
  let retry: NodeJS.Timeout | undefined;
  let closed = false;
  /** A connection takes one query at a time: each waits for the one before it. */
  let turn: Promise<unknown> = Promise.resolve();

  function say(session: pg.Client, verb: 'listen' | 'unlisten', channel: string): Promise<unknown> {
    const said = turn.then(() => session.query(`${verb} ${session.escapeIdentifier(channel)}`));
    turn = said.catch(() => {});
    return said;
  }

  function connection(): Promise<pg.Client> {
    connecting ??= connect().catch((error: unknown) => {
      connecting = undefined;
      throw error;
    });
    return connecting;
  }

  async function connect(): Promise<pg.Client> {
    const fresh = new pg.Client({ connectionString: db.url, keepAlive: true, connectionTimeoutMillis: 5_000 });
    fresh.on('error', () => lost(fresh));
    fresh.on('end', () => lost(fresh));
    fresh.on('notification', ({ channel, payload }) => {
      for (const listener of listeners.get(channel) ?? []) listener(payload ?? '');
    });
    await fresh.connect();
    client = fresh;
    for (const channel of listeners.keys()) await fresh.query(`listen ${fresh.escapeIdentifier(channel)}`);
    return fresh;
  }

  function lost(which: pg.Client): void {
    if (client !== which || closed) return;
    client = undefined;
    connecting = undefined;
    log.warn({}, 'the event connection was lost; events of this moment will be caught up from the database');
    retryLater();
  }

  function retryLater(): void {
    if (closed) return;
    clearTimeout(retry);
    retry = setTimeout(() => connection().catch(retryLater), RECONNECT_MS);
    retry.unref();
  }

  return {
    async publish(topic, payload) {
      if (Buffer.byteLength(payload) > MAX_PAYLOAD_BYTES) throw new RangeError(`A bus message holds at most ${MAX_PAYLOAD_BYTES} bytes: announce that something changed, not what.`);
      await db.query({ name: 'notify', text: 'select pg_notify($1, $2)' }, [channelOf(db.schema, topic), payload]);
    },
    async subscribe(topic, listener) {
      const channel = channelOf(db.schema, topic);
      const known = listeners.get(channel);
      const set = known ?? new Set();
      set.add(listener);
      listeners.set(channel, set);
      const session = await connection();
      if (!known) await say(session, 'listen', channel);
      return async () => {
        set.delete(listener);
        if (set.size > 0) return;
        listeners.delete(channel);
        if (client) await say(client, 'unlisten', channel).catch(() => {});
      };
    },
    async close() {
      closed = true;
      clearTimeout(retry);
      const session = await connecting?.catch(() => undefined);
      client = undefined;
      await session?.end().catch(() => {});
    },
  };
}
