/**
 * Who did what to a running LP, and when: written once, never changed, read when something has to be
 * explained.
 */

export interface AuditEntry {
  atMs: number;
  /** A signal, or whoever asked at the admin door. */
  who: string;
  /** Such as `start`, `pause`, `resume`, `reload`, `reload_refused`. */
  what: string;
  note: string | null;
  /** Options that changed, secrets taken out. */
  changes: readonly { path: string; from: string; to: string }[];
  /** Of the configuration file as it was read for this entry; null where none was. */
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
