/** Metrics of PostgreSQL: the connections of a process, its waiting callers, and how long statements take. */

import type pg from 'pg';
import type { Metrics } from '../../ports/metrics.ts';

/** `busy`: all connections were in use. `connect`: no new one. `lost`: it ended. `silent`: no answer. */
const FAULTS = ['busy', 'connect', 'lost', 'silent'] as const;
type ConnectionFault = (typeof FAULTS)[number];

const CLASSES = ['read', 'write', 'commit', 'other'] as const;
type StatementClass = (typeof CLASSES)[number];

export interface PoolWatch {
  /** Notes how long a caller waited for a connection, ms. */
  waited(ms: number): void;
  /** The server has answered a statement, also by refusing it. */
  answered(statement: string, ms: number): void;
  failed(fault: ConnectionFault): void;
}

export const unwatched: PoolWatch = { waited() {}, answered() {}, failed() {} };

const WAIT_BUCKETS = [0.001, 0.01, 0.1, 0.5, 1, 2.5, 5];
const STATEMENT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30];

/** Watches a pool. `waitMs` returns how long the longest wait for a connection has lasted. */
export function watchPool(
  pool: pg.Pool,
  { max, waitMs }: { max: number; waitMs: () => number },
  metrics: Metrics,
): PoolWatch {
  metrics.gauge(
    'firmquote_postgres_connections',
    'Connections of the pool with PostgreSQL, by what they do.',
    ['state'],
    (gauge) => {
      gauge.set(pool.totalCount - pool.idleCount, { state: 'in_use' });
      gauge.set(pool.idleCount, { state: 'idle' });
    },
  );
  metrics.gauge(
    'firmquote_postgres_connections_max',
    'Connections that the pool may open (database.maxConnections).',
    [],
    (gauge) => gauge.set(max),
  );
  metrics.gauge('firmquote_postgres_waiting_callers', 'Callers that wait for a connection.', [], (gauge) =>
    gauge.set(pool.waitingCount),
  );
  metrics.gauge(
    'firmquote_postgres_longest_wait_seconds',
    'How long the longest wait for a connection has lasted; 0 when nobody waits.',
    [],
    (gauge) => gauge.set(waitMs() / 1_000),
  );
  const waits = metrics.histogram(
    'firmquote_postgres_wait_seconds',
    'How long callers waited until they got a connection.',
    WAIT_BUCKETS,
  );
  const statements = metrics.histogram(
    'firmquote_postgres_statement_seconds',
    'From sending a statement to its answer, by class: read, write, commit, other.',
    STATEMENT_BUCKETS,
    ['class'],
  );
  const faults = metrics.counter(
    'firmquote_postgres_connection_errors_total',
    'Connections that failed: busy (every one was in use for 5 s), connect (no new one), lost, silent.',
    { fault: FAULTS },
  );
  const up = metrics.gauge(
    'firmquote_postgres_up',
    '1 when PostgreSQL gave the last answer that was asked of it, else 0.',
  );
  return {
    waited: (ms) => waits.observe(ms / 1_000),
    answered(statement, ms) {
      statements.observe(ms / 1_000, { class: classOf(statement) });
      up.set(1);
    },
    failed(fault) {
      faults.add({ fault });
      if (fault === 'connect' || fault === 'silent') up.set(0);
    },
  };
}

const WRITES = /\binsert\s+into\b|\bdelete\s+from\b|\bupdate\s+\S+(?:\s+(?:as\s+)?\w+)?\s+set\b/i;

/** Classifies a statement by its first word; one that begins with `with` or `select` may also write. */
export function classOf(statement: string): StatementClass {
  const [, word = ''] = /^\s*([a-z]+)/i.exec(statement) ?? [];
  switch (word.toLowerCase()) {
    case 'select':
      return 'read';
    case 'with':
      return WRITES.test(statement) ? 'write' : 'read';
    case 'insert':
    case 'update':
    case 'delete':
      return 'write';
    case 'commit':
      return 'commit';
    default:
      return 'other';
  }
}
