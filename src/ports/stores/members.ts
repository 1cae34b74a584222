/** Members of a workspace: their roles and identity checks. */

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
  /** Unix ms. Former members stay readable, because their trades stay; their keys are revoked. */
  removedAtMs: number | null;
}

/** All throw `UpstreamError` when the database does not answer. */
export interface MemberStore {
  /** Includes former members. */
  member(workspaceId: string, id: string): Promise<Member | undefined>;
  /** Current and former members, oldest first. */
  listMembers(workspaceId: string): Promise<Member[]>;
}
