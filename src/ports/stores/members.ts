/** People of a workspace: who they are, what they may see, and how far their identity was checked. */

import type { Role } from './store.ts';

export const KYC_STATUSES = ['none', 'pending', 'verified', 'rejected'] as const;
export type KycStatus = (typeof KYC_STATUSES)[number];

export interface Member {
  workspaceId: string;
  /** Unique within the workspace; the API calls it `userId`. */
  id: string;
  firstName: string;
  lastName: string;
  email: string;
  role: Role;
  kycStatus: KycStatus;
  joinedAtMs: number;
  /** A member who left stays readable, because what they traded stays; their keys are revoked. */
  removedAtMs: number | null;
}

/** All throw `UpstreamError` when the database does not answer. */
export interface MemberStore {
  /** Also one who has left. */
  member(workspaceId: string, id: string): Promise<Member | undefined>;
  /** Everybody who is or was one, oldest first. */
  listMembers(workspaceId: string): Promise<Member[]>;
}
