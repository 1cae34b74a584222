/** The LP's audit log: who did what, and when. Entries never change. */

export interface AuditEntry {
  atMs: number;
  /** A signal, or the caller of the admin API. */
  who: string;
  /** Such as `start`, `pause`, `resume`, `reload`, `reload_refused`. */
  what: string;
  note: string | null;
  /** Changed options, without secrets. */
  changes: readonly { path: string; from: string; to: string }[];
  /** SHA-256 of the configuration file read for this entry; null without one. */
  configSha256: string | null;
}

/** All throw `UpstreamError` when the database does not answer. */
export interface Audit {
  append(entry: AuditEntry): Promise<void>;
  /** Newest first. */
  newest(limit: number): Promise<AuditEntry[]>;
  /** The newest entry of one of these kinds. */
  last(kinds: readonly string[]): Promise<AuditEntry | undefined>;
}
