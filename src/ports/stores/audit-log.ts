/** The LP's audit log. Entries never change. */

export interface AuditEntry {
  atMs: number;
  /** A signal, or the caller of the admin API. */
  who: string;
  /** The address of the admin API's caller; null for the process itself. */
  address: string | null;
  what: string;
  note: string | null;
  /** The changes, without secrets. */
  changes: readonly { path: string; from: string; to: string }[];
  /** The hash of the configuration file that was read for this entry. */
  configSha256: string | null;
}

export interface Audit {
  append(entry: AuditEntry): Promise<void>;
  newest(limit: number): Promise<AuditEntry[]>;
  last(kinds: readonly string[]): Promise<AuditEntry | undefined>;
}
