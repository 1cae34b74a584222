/**
 * Connections to one schema of one database, with the two things that pg leaves to its callers: an error
 * listener and plain errors.
 */

import pg from 'pg';
import { UpstreamError } from '../../domain/errors.ts';
import type { Log } from '../../ports/log.ts';

export interface DatabaseOptions {
  url: string;
  /** Tables are looked up here and nowhere else; each daemon has its own. */
  schema: string;
  maxConnections?: number;
  log: Log;
}

export interface Row {
  [column: string]: unknown;
}

/** A statement that PostgreSQL parses once per connection: busy paths name theirs. */
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
  /** Milliseconds that the longest waiting statement has waited for a connection; 0 while none waits. */
  waitMs(): number;
  transaction<T>(work: (session: Queryable) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/**
 * The server ends what takes too long, but a cable that was pulled out lets nobody know: whoever waits for an
 * answer must stop waiting. Busy paths have named statements, which take milliseconds; what has no name may
 * take as long as the server lets it.
 */
const SILENCE_MS = 12_000;
const SLOW_SILENCE_MS = 35_000;
const ENDS: ReadonlySet<string> = new Set(['begin', 'commit']);
const INT8 = 20;
/**
 * bigint columns hold milliseconds, sequence numbers and chain ids, all below 2^53; what is larger is kept as
 * text or bytes.
 */
const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};

export function connectDatabase({ url, schema, maxConnections = 12, log }: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    types,
    options: `-c search_path=${schema}`,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    statement_timeout: 30_000,
    idle_in_transaction_session_timeout: 30_000,
    keepAlive: true,
  });
  // Without a listener a server that stops takes the process with it.
  pool.on('error', (error) =>
    log.warn({ reason: databaseReason(error) }, 'an idle database connection was lost'),
  );
  // The pool listens to idle connections only. One that is lost while it is in use fails whatever it was
  // asked, and must not do more than that.
  pool.on('connect', (client) => void client.on('error', () => {}));
  /** When those who wait for a connection began to, the oldest first. */
  const waiting = new Set<{ sinceMs: number }>();
  async function connection(): Promise<pg.PoolClient> {
    const me = { sinceMs: performance.now() };
    waiting.add(me);
    try {
      return await pool.connect();
    } finally {
      waiting.delete(me);
    }
  }
  /** `silenceMs`: how long a connection may say nothing until it counts as lost; 0: as long as it likes. */
  const run = async <R extends Row>(
    session: pg.PoolClient,
    statement: Statement | string,
    values: readonly unknown[],
    silenceMs: number,
  ) => {
    const config = typeof statement === 'string' ? { text: statement } : statement;
    const timed: pg.QueryConfig & { query_timeout: number } = {
      ...config,
      values: [...values],
      query_timeout: silenceMs,
    };
    return (await session.query(timed)).rows as R[];
  };
  const within = (session: pg.PoolClient): Queryable => ({
    query: (statement, values = []) =>
      run<never>(
        session,
        statement,
        values,
        silenceLimitMs(statement, ENDS.has(statement as string) ? SILENCE_MS : 0),
      ).catch((error: unknown) => {
        throw isStalePlan(error) ? new StalePlan() : toDatabaseError(error);
      }),
  });

  async function once<T>(work: (session: Queryable) => Promise<T>): Promise<T> {
    const session = await connection().catch((error: unknown) => {
      throw toDatabaseError(error);
    });
    let broken: Error | undefined;
    try {
      const scope = within(session);
      await scope.query('begin');
      const result = await work(scope);
      await scope.query('commit');
      return result;
    } catch (error) {
      // A connection that fell silent would not answer this either.
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

  /** A connection whose statement failed is closed. */
  async function single<R extends Row>(
    statement: Statement | string,
    values: readonly unknown[],
  ): Promise<R[]> {
    const session = await connection();
    let broken: Error | undefined;
    try {
      return await run<R>(session, statement, values, silenceLimitMs(statement, SLOW_SILENCE_MS));
    } catch (error) {
      broken = error as Error;
      throw error;
    } finally {
      session.release(broken);
    }
  }

  /** Each connection finds out for itself that a plan is stale, and is thrown away for it. */
  async function withFreshPlans<T>(work: () => Promise<T>): Promise<T> {
    for (let left = maxConnections; ; left -= 1) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof StalePlan || isStalePlan(error))) throw error;
        if (left === 0) throw toDatabaseError(error);
      }
    }
  }

  return {
    url,
    schema,
    pool,
    query: <R extends Row>(statement: Statement | string, values: readonly unknown[] = []) =>
      withFreshPlans(() => single<R>(statement, values)).catch((error: unknown) => {
        throw error instanceof UpstreamError ? error : toDatabaseError(error);
      }),
    waitMs() {
      for (const { sinceMs } of waiting) return performance.now() - sinceMs;
      return 0;
    },
    transaction: (work) => withFreshPlans(() => once(work)),
    close: () => pool.end(),
  };
}

/**
 * A newer program has added a column while this connection had planned a statement: planned anew, it works.
 */
class StalePlan extends UpstreamError {
  constructor() {
    super('The database was changed under a prepared statement.', { code: 'database_unavailable' });
  }
}

const isLost = (error: unknown): boolean =>
  error instanceof UpstreamError && error.facts['reason'] === 'timeout';

/** How long a connection may stay silent after a statement until it counts as lost, milliseconds; 0: no limit. */
export const silenceLimitMs = (statement: Statement | string, unnamedMs: number): number =>
  typeof statement === 'string' ? unnamedMs : SILENCE_MS;

export const isStalePlan = (error: unknown): boolean =>
  (error as { code?: string }).code === '0A000' &&
  /cached plan must not change/.test((error as { message?: string }).message ?? '');

/** A violated unique constraint: an expected answer to some statements, so it names which. */
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

/**
 * The server said no to this statement, and nothing of it was written: its values, a constraint, or a
 * transaction in its way.
 */
export const isRefusal = (error: unknown): boolean =>
  error instanceof UniqueViolation ||
  (error instanceof UpstreamError && /^(?:22|23|40)/.test(String(error.facts['reason'])));

/** What pg throws, without what may be private in it. */
export function toDatabaseError(error: unknown): Error {
  const { code, constraint } = error as { code?: string; constraint?: string };
  if (code === '23505') return new UniqueViolation(constraint ?? '');
  // No cause: its message may quote values or the connection string.
  return new UpstreamError(
    `The database did not answer (${databaseReason(error)}). Try again; if it stays, look at the database's own log.`,
    { code: 'database_unavailable', facts: { reason: databaseReason(error) } },
  );
}

/** The SQLSTATE or the socket's error code, which say enough and hold nothing private. */
function databaseReason(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  return (
    code ??
    (/timeout/i.test(message ?? '')
      ? 'timeout'
      : /terminated|ended/i.test(message ?? '')
        ? 'connection closed'
        : 'unknown')
  );
}
