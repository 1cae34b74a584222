/** The Bus port on LISTEN/NOTIFY: one connection listens for all topics and reconnects when it is lost. */

import { createHash } from 'node:crypto';
import pg from 'pg';
import type { Bus } from '../../ports/bus.ts';
import type { Log } from '../../ports/log.ts';
import { type Database, toDatabaseError } from './pool.ts';

/** PostgreSQL's limit is 8,000 bytes. */
const MAX_PAYLOAD_BYTES = 7_900;
const RECONNECT_MS = 250;

interface BusOptions {
  silenceMs?: number;
  /** A listening connection does not notice a broken network. */
  everyMs?: number;
}

/** Channels are shared by a whole database, and names are limited to 63 bytes. */
export function channelOf(schema: string, topic: string): string {
  const name = `${schema}_${topic}`;
  return name.length <= 60 ? name : createHash('sha256').update(name).digest('hex').slice(0, 60);
}

export function createPostgresBus(
  db: Database,
  log: Log,
  { silenceMs = 5_000, everyMs = 10_000 }: BusOptions = {},
): Bus {
  const listeners = new Map<string, Set<(payload: string) => void>>();
  let client: pg.Client | undefined;
  let connecting: Promise<pg.Client> | undefined;
  let retry: NodeJS.Timeout | undefined;
  let check: NodeJS.Timeout | undefined;
  let closed = false;
  let turn: Promise<unknown> = Promise.resolve();

  const ask = (session: pg.Client, text: string): Promise<unknown> =>
    session.query({ text, query_timeout: silenceMs } as pg.QueryConfig);

  function run(session: pg.Client, verb: 'listen' | 'unlisten', channel: string): Promise<unknown> {
    const result = turn.then(() => ask(session, `${verb} ${session.escapeIdentifier(channel)}`));
    turn = result.catch(() => {});
    return result;
  }

  function connection(): Promise<pg.Client> {
    connecting ??= connect().catch((error: unknown) => {
      connecting = undefined;
      throw error;
    });
    return connecting;
  }

  async function connect(): Promise<pg.Client> {
    const fresh = new pg.Client({
      connectionString: db.url,
      keepAlive: true,
      connectionTimeoutMillis: silenceMs,
    });
    fresh.on('error', () => lost(fresh));
    fresh.on('end', () => lost(fresh));
    fresh.on('notification', ({ channel, payload }) => {
      for (const listener of listeners.get(channel) ?? []) listener(payload ?? '');
    });
    try {
      await fresh.connect();
      for (const channel of listeners.keys()) await ask(fresh, `listen ${fresh.escapeIdentifier(channel)}`);
    } catch (error) {
      drop(fresh);
      throw error;
    }
    client = fresh;
    checkLater(fresh);
    return fresh;
  }

  function checkLater(session: pg.Client): void {
    clearTimeout(check);
    check = setTimeout(() => {
      const asked = turn.then(() => ask(session, 'select 1'));
      turn = asked.catch(() => {});
      asked.then(
        () => client === session && !closed && checkLater(session),
        () => lost(session),
      );
    }, everyMs);
    check.unref();
  }

  const drop = (session: pg.Client) => void session.end().catch(() => {});

  function lost(which: pg.Client): void {
    if (client !== which || closed) return;
    client = undefined;
    connecting = undefined;
    drop(which);
    log.warn({}, 'the event connection was lost; missed events will be read from the database');
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
      if (Buffer.byteLength(payload) > MAX_PAYLOAD_BYTES)
        throw new RangeError(
          `A bus message holds at most ${MAX_PAYLOAD_BYTES} bytes. Announce that something changed, ` +
            'not what.',
        );
      await db.query({ name: 'notify', text: 'select pg_notify($1, $2)' }, [
        channelOf(db.schema, topic),
        payload,
      ]);
    },
    async subscribe(topic, listener) {
      const channel = channelOf(db.schema, topic);
      const known = listeners.get(channel);
      const set = known ?? new Set();
      set.add(listener);
      listeners.set(channel, set);
      try {
        const session = await connection();
        if (!known) await run(session, 'listen', channel);
      } catch (error) {
        throw toDatabaseError(error);
      }
      return async () => {
        set.delete(listener);
        if (set.size > 0) return;
        listeners.delete(channel);
        if (client) await run(client, 'unlisten', channel).catch(() => {});
      };
    },
    async close() {
      closed = true;
      clearTimeout(retry);
      clearTimeout(check);
      const session = await connecting?.catch(() => undefined);
      client = undefined;
      await session?.end().catch(() => {});
    },
  };
}
