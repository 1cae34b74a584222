/** The audit log in PostgreSQL: a trigger makes its table append-only. */

import type { Audit, AuditEntry } from '../../../ports/stores/audit-log.ts';
import type { Database } from '../pool.ts';
import { put, select } from '../rows.ts';

const COLUMNS = 'at_ms, who, address, what, note, changes, config_sha256';

export function createLpAudit(db: Database): Audit {
  return {
    append: (entry) => put(db, 'lp_audit', { ...entry, changes: JSON.stringify(entry.changes) }),
    newest: (limit) =>
      select<AuditEntry>(db, `select ${COLUMNS} from lp_audit order by id desc limit $1`, [limit]),
    async last(kinds) {
      const text = `select ${COLUMNS} from lp_audit where what = any($1) order by id desc limit 1`;
      return (await select<AuditEntry>(db, text, [[...kinds]]))[0];
    },
  };
}
