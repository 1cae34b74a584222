/** Converts members to and from rows. */

import type { Member, MemberStore } from '../../../ports/stores/members.ts';
import type { Queryable, Row } from '../pool.ts';

export interface MemberRow extends Row {
  workspace_id: string;
  id: string;
  first_name: string;
  last_name: string;
  email: string;
  role: Member['role'];
  kyc_status: Member['kycStatus'];
  joined_at_ms: number;
  removed_at_ms: number | null;
}

export const toMember = (row: MemberRow): Member => ({
  workspaceId: row.workspace_id,
  id: row.id,
  firstName: row.first_name,
  lastName: row.last_name,
  email: row.email,
  role: row.role,
  kycStatus: row.kyc_status,
  joinedAtMs: row.joined_at_ms,
  removedAtMs: row.removed_at_ms,
});

export const createMemberStore = (db: Queryable): MemberStore => ({
  async member(workspaceId, id) {
    const [row] = await db.query<MemberRow>(
      { name: 'member-one', text: 'select * from member where workspace_id = $1 and id = $2' },
      [workspaceId, id],
    );
    return row && toMember(row);
  },
  async listMembers(workspaceId) {
    return (
      await db.query<MemberRow>(
        {
          name: 'member-list',
          text: 'select * from member where workspace_id = $1 order by joined_at_ms, id',
        },
        [workspaceId],
      )
    ).map(toMember);
  },
});
