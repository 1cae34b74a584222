/** Administrative changes: change, audit entry and announcement in one transaction. */

import type { Member } from './members.ts';
import type { ApiKey, KeyMode, Role, SolverRecord, Workspace } from './store.ts';

export type AdminSubject = 'workspace' | 'member' | 'key' | 'solver';

export interface AdminEntry {
  atMs: number;
  who: string;
  /** `<subject>.<verb>`, such as `key.issue`. */
  what: `${AdminSubject}.${string}`;
  /** null for solvers and their keys. */
  workspaceId: string | null;
  subject: AdminSubject;
  subjectId: string;
  /** null where the subject did not exist. Never contains a key's text or hash. */
  before: object | null;
  after: object | null;
}

/** Only one such transaction runs at a time, over all replicas. */
export interface AdminTx {
  workspace(id: string): Promise<Workspace | undefined>;
  putWorkspace(workspace: Workspace): Promise<void>;
  solver(id: string): Promise<SolverRecord | undefined>;
  putSolver(solver: Omit<SolverRecord, 'firstSeenAtMs' | 'lastQuoteAtMs'>): Promise<void>;
  members(workspaceId: string): Promise<Member[]>;
  putMember(member: Member): Promise<void>;
  key(id: string): Promise<ApiKey | undefined>;
  addKey(key: ApiKey): Promise<void>;
  revokeKey(id: string, atMs: number): Promise<void>;
  keysOf(workspaceId: string, memberId: string): Promise<ApiKey[]>;
  /** Counts the live keys of this mode. */
  countLiveKeys(workspaceId: string, mode: KeyMode): Promise<number>;
  setKeyRole(id: string, role: Role): Promise<void>;
  record(entry: AdminEntry): Promise<void>;
  /** Delivered if and only if the transaction commits. */
  announce(topic: string, payload: string): Promise<void>;
}

export interface AdminStore {
  change<T>(work: (tx: AdminTx) => Promise<T>): Promise<T>;
  changes(filter: { workspaceId?: string; limit: number }): Promise<AdminEntry[]>;
}
