/**
 * Finds a connection pooler that shares sessions: in transaction or statement mode, a session serves
 * whichever connection sends a statement next.
 */

import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { UpstreamError } from '../../domain/errors.ts';
import { toDatabaseError } from './pool.ts';

/** Each round tells a pooler with several free sessions from PostgreSQL, whichever it hands out next. */
const ROUNDS = 3;

class SharedSessions extends UpstreamError {
  constructor(what: string) {
    super(
      `Between this process and PostgreSQL is a connection pooler in transaction or statement mode: ${what}. ` +
        'firmquote needs a session for each connection. In other modes LISTEN/NOTIFY, session settings, ' +
        'advisory locks and prepared statements fail or act on the session of another client. Point ' +
        'DATABASE_URL (or database.url) at PostgreSQL itself, or at a pool in session mode ' +
        '(PgBouncer: pool_mode = session).',
      { code: 'sessions_shared', retry: 'never' },
    );
  }
}

/**
 * Returns when two connections have each a session of their own, and one hears what the other notifies.
 * Changes nothing. Throws `SharedSessions`, or `database_unavailable` when a connection does not answer.
 */
export async function requireOwnSessions(url: string, silenceMs = 5_000): Promise<void> {
  const open: pg.Client[] = [];
  const connect = async (): Promise<Session> => {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: silenceMs });
    client.on('error', () => {});
    open.push(client);
    await client.connect();
    return sessionOf(client, silenceMs);
  };
  try {
    const [one, other] = [await connect(), await connect()];
    await requireOneBackendEach(one, other);
    await requireNotifications(one, other, silenceMs);
  } catch (error) {
    throw error instanceof SharedSessions ? error : toDatabaseError(error);
  } finally {
    await Promise.all(open.map((client) => client.end().catch(() => {})));
  }
}

interface Session {
  client: pg.Client;
  ask(text: string): Promise<pg.QueryResult>;
  backend(): Promise<number>;
}

function sessionOf(client: pg.Client, silenceMs: number): Session {
  const ask = (text: string) =>
    client.query({ text, query_timeout: silenceMs } as pg.QueryConfig).catch((error: unknown) => {
      throw statementMode(error) ?? error;
    });
  return {
    client,
    ask,
    backend: async () => Number((await ask('select pg_backend_pid() as pid')).rows[0]?.pid),
  };
}

/** PgBouncer refuses transactions in statement mode, in these words. */
function statementMode(error: unknown): SharedSessions | undefined {
  const { code, message = '' } = error as { code?: string; message?: string };
  return code === '08P01' && /statement pooling mode/i.test(message)
    ? new SharedSessions('it refuses transactions')
    : undefined;
}

async function requireOneBackendEach(one: Session, other: Session): Promise<void> {
  const mine = await one.backend();
  const theirs = await other.backend();
  if (mine === theirs) throw new SharedSessions('statements of two connections ran in one session');
  const same = (known: number, now: number): void => {
    if (known !== now) throw new SharedSessions('statements of one connection ran in two sessions');
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    // Twice, for a pooler that hands out its sessions in turn.
    same(mine, await one.backend());
    same(mine, await one.backend());
    // For one that hands out the last session again: the other connection takes it and holds it.
    await other.ask('begin');
    same(theirs, await other.backend());
    same(mine, await one.backend());
    await other.ask('commit');
  }
}

async function requireNotifications(one: Session, other: Session, silenceMs: number): Promise<void> {
  const channel = `firmquote_${randomBytes(8).toString('hex')}`;
  const heard = new Promise<true>((resolve) => one.client.once('notification', () => resolve(true)));
  await one.ask(`listen ${channel}`);
  await other.ask(`notify ${channel}`);
  // The time counts from here: a slow database answers the statements above late.
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), silenceMs)));
  try {
    if (!(await Promise.race([heard, silence]))) throw new SharedSessions('a notification did not arrive');
  } finally {
    clearTimeout(timer);
  }
}
