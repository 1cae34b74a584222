/** The operator's audit log. A failed write never prevents the action. */

import type { Audit, AuditEntry } from '../../ports/stores/audit-log.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';

export interface OperatorLog {
  note(
    who: string,
    what: string,
    more?: Partial<Pick<AuditEntry, 'note' | 'changes' | 'configSha256' | 'address'>>,
  ): Promise<void>;
  /** Returns the newest entries, once every act until now is written. */
  newest(limit: number): ReturnType<Audit['newest']>;
  /** The pause that stands, also one of an earlier process. */
  pause(): { by: string; note: string; atMs: number } | null;
}

export async function openOperatorLog({
  audit,
  clock,
  log,
}: {
  audit: Audit;
  clock: Clock;
  log: Log;
}): Promise<OperatorLog> {
  const last = await audit.last(['pause', 'resume']);
  let standing = last?.what === 'pause' ? { by: last.who, note: last.note ?? '', atMs: last.atMs } : null;
  // Entries are written one after the other: their order is the order of the acts.
  let written: Promise<void> = Promise.resolve();
  const write = (entry: AuditEntry): Promise<void> =>
    (written = written.then(() =>
      audit
        .append(entry)
        .catch((error: unknown) =>
          log.error({ err: error, who: entry.who, what: entry.what }, 'the audit log could not be written'),
        ),
    ));
  return {
    async note(who, what, { note = null, changes = [], configSha256 = null, address = null } = {}) {
      const entry: AuditEntry = { atMs: clock.nowMs(), who, address, what, note, changes, configSha256 };
      if (what === 'pause') standing = { by: who, note: note ?? '', atMs: entry.atMs };
      if (what === 'resume') standing = null;
      log.warn({ who, address, note, changes }, `audit: ${what}`);
      await write(entry);
    },
    async newest(limit) {
      await written;
      return audit.newest(limit);
    },
    pause: () => standing,
  };
}
