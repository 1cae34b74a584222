/**
 * Administrative changes: each transaction writes the change, its audit entry and its announcement together.
 */

import type { Member } from './members.ts';
import type { ApiKey, Role, SolverRecord, Workspace } from './store.ts';

export type AdminSubject = 'workspace' | 'member' | 'key' | 'solver';

/** One recorded change. */
export interface AdminEntry {
  atMs: number;
  /** Such as `cli:alice`, or `admin:ops` for an admin key named ops. */
  who: string;
  /** Such as `workspace.add`, `member.remove`, `key.revoke`. */
  what: string;
  /** For workspaces, members and their keys; null for solvers and theirs. */
  workspaceId: string | null;
  subject: AdminSubject;
  subjectId: string;
  /** The subject before and after; null where it did not exist. Never contains a key's text or hash. */
  before: object | null;
  after: object | null;
}

/**
 * One transaction. Only one runs at a time over all replicas, so what it reads stays current until it ends.
 */
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
  /** Unrevoked keys of a member. */
  keysOf(workspaceId: string, memberId: string): Promise<ApiKey[]>;
  setKeyRole(id: string, role: Role): Promise<void>;
  record(entry: AdminEntry): Promise<void>;
  /** A bus message, delivered if and only if the transaction commits. */
  announce(topic: string, payload: string): Promise<void>;
}

/** All throw `UpstreamError` when the database does not answer. */
export interface AdminStore {
  change<T>(work: (tx: AdminTx) => Promise<T>): Promise<T>;
  /** Newest first. */
  changes(filter: { workspaceId?: string; limit: number }): Promise<AdminEntry[]>;
}
