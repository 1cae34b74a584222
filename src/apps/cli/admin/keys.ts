/** `firmquote keys`: issues, lists and revokes API keys. */

import { zNewKeyRequest } from '../../../protocol/admin/admin.ts';
import { type AdminOptions, readInput, withAdmin } from './venue-admin.ts';
import { printLines, table } from '../../terminal/table.ts';

interface IssueOptions extends AdminOptions {
  kind: string;
  mode: string;
  workspace?: string;
  role?: string;
  member?: string;
  solver?: string;
  label: string;
}

const ISSUE_OPTIONS = {
  kind: '--kind',
  mode: '--mode',
  workspaceId: '--workspace',
  role: '--role',
  memberId: '--member',
  solverId: '--solver',
  label: '--label',
};

export const issueKeyCommand = ({
  config,
  json,
  kind,
  mode,
  workspace,
  role,
  member,
  solver,
  label,
}: IssueOptions): Promise<void> =>
  withAdmin(config, async ({ admin, who }) => {
    const wanted = readInput(
      zNewKeyRequest,
      { kind, mode, workspaceId: workspace, role, memberId: member, solverId: solver, label },
      ISSUE_OPTIONS,
    );
    const { key, text } = await admin.keys.issue(who, wanted);
    if (json) return console.log(JSON.stringify({ key, text }));
    console.error(`Key ${key.id}. Its text is shown only this once:`);
    console.log(text);
  });

export const listKeys = ({
  config,
  json,
  workspace,
  solver,
  live,
}: AdminOptions & { workspace?: string; solver?: string; live?: boolean }): Promise<void> =>
  withAdmin(config, async ({ admin }) => {
    const keys = await admin.keys.list({ workspaceId: workspace, solverId: solver, live });
    if (json) return console.log(JSON.stringify({ keys }));
    const rows = keys.map(
      ({ id, begins, kind, workspaceId, solverId, role, memberId, createdAt, revokedAt, label }) => [
        id,
        `${begins}…`,
        kind,
        workspaceId ?? solverId ?? '-',
        role ?? '-',
        memberId ?? '-',
        createdAt,
        revokedAt === null ? 'live' : `revoked ${revokedAt}`,
        label,
      ],
    );
    printLines(
      rows.length === 0
        ? ['No keys.']
        : table(['key', 'begins', 'kind', 'belongs to', 'role', 'member', 'issued', 'state', 'label'], rows),
    );
  });

export const revokeKeyCommand = (id: string, { config, json }: AdminOptions): Promise<void> =>
  withAdmin(config, async ({ admin, who }) => {
    const key = await admin.keys.revoke(who, id);
    console.log(json ? JSON.stringify(key) : `${id} is revoked.`);
  });
