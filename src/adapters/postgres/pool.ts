/** A connection pool for one schema, whose errors contain nothing private. */

import pg from 'pg';
import { UpstreamError } from '../../domain/errors.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import { containBadMessages } from './bad-messages.ts';
import { type PoolWatch, unwatched, watchPool } from './pool-metrics.ts';
import { setSession } from './session.ts';

containBadMessages();

interface DatabaseOptions {
  url: string;
  schema: string;
  maxConnections?: number;
  log: Log;
  /** Given when the process is scraped. */
  metrics?: Metrics;
}

export interface Row {
  [column: string]: unknown;
}

/** A statement that PostgreSQL parses once per connection; for frequent ones. */
export interface Statement {
  name: string;
  text: string;
}

export interface Queryable {
  query<R extends Row = Row>(statement: Statement | string, values?: readonly unknown[]): Promise<R[]>;
}

export interface Database extends Queryable {
  readonly url: string;
  readonly schema: string;
  readonly pool: pg.Pool;
  /** Returns how long the longest wait for a connection has lasted, ms; 0 when none waits. */
  waitMs(): number;
  transaction<T>(work: (session: Queryable) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Detects a broken network. Named statements take milliseconds; others as long as the server allows. */
const SILENCE_MS = 12_000;
const SLOW_SILENCE_MS = 35_000;
const ENDS: ReadonlySet<string> = new Set(['begin', 'commit']);
const INT8 = 20;
/** bigint columns hold values below 2^53: milliseconds, sequence numbers, chain ids. */
export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};

/** The connections, and the callers that wait for one. */
interface PoolState {
  readonly pool: pg.Pool;
  readonly maxConnections: number;
  readonly waiting: Set<{ sinceMs: number }>;
  readonly watch: PoolWatch;
}

export function connectDatabase({
  url,
  schema,
  maxConnections = 12,
  log,
  metrics,
}: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    types: columnTypes,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    onConnect: (client) =>
      setSession(client, {
        search_path: schema,
        statement_timeout: '30s',
        idle_in_transaction_session_timeout: '30s',
      }),
  });
  const waiting: PoolState['waiting'] = new Set();
  const waitMs = () => longestWaitMs(waiting);
  const watch = metrics === undefined ? unwatched : watchPool(pool, { max: maxConnections, waitMs }, metrics);
  const state: PoolState = { pool, maxConnections, waiting, watch };
  // Without a listener a stopping server would crash the process.
  pool.on('error', (error) => {
    watch.failed('lost');
    log.warn({ reason: databaseReason(error) }, 'an idle database connection was lost');
  });
  // The pool listens to idle connections only.
  pool.on('connect', (client) => void client.on('error', () => {}));

  return {
    url,
    schema,
    pool,
    query: <R extends Row>(statement: Statement | string, values: readonly unknown[] = []) =>
      withFreshPlans(state, () => single<R>(state, statement, values)).catch((error: unknown) => {
        throw error instanceof UpstreamError ? error : toDatabaseError(error);
      }),
    waitMs,
    transaction: (work) => withFreshPlans(state, () => once(state, work)),
    close: () => pool.end(),
  };
}

function longestWaitMs(waiting: PoolState['waiting']): number {
  for (const { sinceMs } of waiting) return performance.now() - sinceMs;
  return 0;
}

/** Repeats what met a stale plan: each connection may have one. */
async function withFreshPlans<T>({ maxConnections }: PoolState, work: () => Promise<T>): Promise<T> {
  for (let left = maxConnections; ; left -= 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StalePlan || isStalePlan(error))) throw error;
      if (left === 0) throw toDatabaseError(error);
    }
  }
}

/** A connection whose statement failed is closed. */
async function single<R extends Row>(
  state: PoolState,
  statement: Statement | string,
  values: readonly unknown[],
): Promise<R[]> {
  const session = await connection(state);
  let broken: Error | undefined;
  try {
    return await run<R>(state.watch, session, statement, values, silenceLimitMs(statement, SLOW_SILENCE_MS));
  } catch (error) {
    broken = error as Error;
    throw error;
  } finally {
    session.release(broken);
  }
}

/** Runs one transaction. */
async function once<T>(state: PoolState, work: (session: Queryable) => Promise<T>): Promise<T> {
  const session = await connection(state).catch((error: unknown) => {
    throw toDatabaseError(error);
  });
  let broken: Error | undefined;
  try {
    const scope = within(state.watch, session);
    await scope.query('begin');
    const result = await work(scope);
    await scope.query('commit');
    return result;
  } catch (error) {
    // A silent connection would not answer a rollback either.
    if (isLost(error)) broken = error as Error;
    else {
      await session.query('rollback').catch((failure: Error) => {
        broken = failure;
      });
    }
    if (error instanceof StalePlan) broken = error;
    throw error;
  } finally {
    session.release(broken);
  }
}

/** Lets a transaction run its statements on its connection. */
const within = (watch: PoolWatch, session: pg.PoolClient): Queryable => ({
  query: (statement, values = []) =>
    run<never>(
      watch,
      session,
      statement,
      values,
      silenceLimitMs(statement, ENDS.has(statement as string) ? SILENCE_MS : 0),
    ).catch((error: unknown) => {
      throw isStalePlan(error) ? new StalePlan() : toDatabaseError(error);
    }),
});

async function connection({ pool, maxConnections, waiting, watch }: PoolState): Promise<pg.PoolClient> {
  const me = { sinceMs: performance.now() };
  waiting.add(me);
  try {
    const session = await pool.connect();
    watch.waited(performance.now() - me.sinceMs);
    return session;
  } catch (error) {
    // pg words both alike: every connection is in use, or the server does not answer.
    watch.failed(pool.totalCount >= maxConnections && pool.idleCount === 0 ? 'busy' : 'connect');
    throw error;
  } finally {
    waiting.delete(me);
  }
}

async function run<R extends Row>(
  watch: PoolWatch,
  session: pg.PoolClient,
  statement: Statement | string,
  values: readonly unknown[],
  silenceMs: number,
): Promise<R[]> {
  const config = typeof statement === 'string' ? { text: statement } : statement;
  const timed: pg.QueryConfig & { query_timeout: number } = {
    ...config,
    values: [...values],
    query_timeout: silenceMs,
  };
  const startMs = performance.now();
  try {
    const { rows } = await session.query(timed);
    watch.answered(config.text, performance.now() - startMs);
    return rows as R[];
  } catch (error) {
    const fault = connectionFault(error);
    if (fault === undefined) watch.answered(config.text, performance.now() - startMs);
    else watch.failed(fault);
    throw error;
  }
}

/** Tells what happened to the connection; undefined when the server has refused the statement and goes on. */
function connectionFault(error: unknown): 'lost' | 'silent' | undefined {
  const { code = '', message = '' } = error as { code?: string; message?: string };
  if (/^query read timeout/i.test(message)) return 'silent';
  return /^(?=.*\d)[0-9A-Z]{5}$/.test(code) && !/^(?:08|57P)/.test(code) ? undefined : 'lost';
}

class StalePlan extends UpstreamError {
  constructor() {
    super('The database was changed under a prepared statement.', { code: 'database_unavailable' });
  }
}

const isLost = (error: unknown): boolean =>
  error instanceof UpstreamError && error.facts['reason'] === 'timeout';

export const silenceLimitMs = (statement: Statement | string, unnamedMs: number): number =>
  typeof statement === 'string' ? unnamedMs : SILENCE_MS;

const isStalePlan = (error: unknown): boolean =>
  (error as { code?: string }).code === '0A000' &&
  /cached plan must not change/.test((error as { message?: string }).message ?? '');

export class UniqueViolation extends UpstreamError {
  readonly constraint: string;
  constructor(constraint: string) {
    super('The database holds such a row already.', {
      code: 'unique_violation',
      retry: 'never',
      facts: { constraint },
    });
    this.constraint = constraint;
  }
}

/** Returns true when the server refused the statement and wrote nothing. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof UniqueViolation ||
  (error instanceof UpstreamError && /^(?:22|23|40)/.test(String(error.facts['reason'])));

export function toDatabaseError(error: unknown): Error {
  const { code, constraint } = error as { code?: string; constraint?: string };
  if (code === '23505') return new UniqueViolation(constraint ?? '');
  // The cause's message may quote values or the connection string.
  return new UpstreamError(
    `The database did not answer (${databaseReason(error)}). Try again; if the problem persists, ` +
      `check the database's log.` +
      (code !== undefined && SHARED_SESSION_CODES.has(code)
        ? ' A connection pooler in transaction mode causes this too: firmquote needs session mode.'
        : ''),
    { code: 'database_unavailable', facts: { reason: databaseReason(error) } },
  );
}

/** A prepared statement is missing, or is there already. */
const SHARED_SESSION_CODES: ReadonlySet<string> = new Set(['26000', '42P05']);
/** PgBouncer gives nearly all of its own refusals the code 08P01. These words hold nothing private. */
const POOLER_WORDS =
  /unsupported startup parameter|no such (?:database|user)|query_wait_timeout|(?:no more|too many) connections|login has been failing|cannot connect to server|login failed|shutting down/i;

function databaseReason(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  const words = code === '08P01' ? POOLER_WORDS.exec(message ?? '')?.[0] : undefined;
  if (words !== undefined) return `08P01, ${words}`;
  return (
    code ??
    (/timeout/i.test(message ?? '')
      ? 'timeout'
      : /terminated|ended/i.test(message ?? '')
        ? 'connection closed'
        : 'unknown')
  );
}
