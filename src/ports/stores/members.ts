/** Members of a workspace. */

import type { Role } from './store.ts';

const KYC_STATUSES = ['none', 'pending', 'verified', 'rejected'] as const;
type KycStatus = (typeof KYC_STATUSES)[number];

export interface Member {
  workspaceId: string;
  /** Unique within the workspace; `userId` in the API. */
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

export interface MemberStore {
  /** Former members included. */
  member(workspaceId: string, id: string): Promise<Member | undefined>;
  listMembers(workspaceId: string): Promise<Member[]>;
}
