/** The audit log in PostgreSQL: a trigger makes its table append-only. */

import type { Audit, AuditEntry } from '../../../ports/stores/audit-log.ts';
import type { Database, Row } from '../pool.ts';

/** The database must be migrated with `LP_MIGRATIONS`. */
export function createLpAudit(db: Database): Audit {
  return {
    async append({ atMs, who, what, note, changes, configSha256 }) {
      await db.query(
        'insert into lp_audit (at_ms, who, what, note, changes, config_sha256) values ($1, $2, $3, ' +
          '$4, $5, $6)',
        [atMs, who, what, note, JSON.stringify(changes), configSha256],
      );
    },
    async newest(limit) {
      return (await db.query<AuditRow>('select * from lp_audit order by id desc limit $1', [limit])).map(
        toEntry,
      );
    },
    async last(kinds) {
      const [row] = await db.query<AuditRow>(
        'select * from lp_audit where what = any($1) order by id desc limit 1',
        [[...kinds]],
      );
      return row && toEntry(row);
    },
  };
}

interface AuditRow extends Row {
  at_ms: number;
  who: string;
  what: string;
  note: string | null;
  changes: AuditEntry['changes'];
  config_sha256: string | null;
}

const toEntry = ({ at_ms, who, what, note, changes, config_sha256 }: AuditRow): AuditEntry => ({
  atMs: at_ms,
  who,
  what,
  note,
  changes,
  configSha256: config_sha256,
});
