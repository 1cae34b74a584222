/**
 * /api/v1/workspaces/{id}/keys: everybody in a workspace sees its keys, owners and admins issue and revoke
 * them, nobody gets more rights than the own key has, and the audit log says who did what.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAdminStore } from '../../../src/adapters/postgres/venue/admin-store.ts';
import type { Member } from '../../../src/ports/stores/members.ts';
import type { KeyMode, Role } from '../../../src/ports/stores/store.ts';
import { zIssuedWorkspaceKey, zWorkspaceKeys } from '../../../src/protocol/admin/admin.ts';
import { startTestVenue, type TestVenue, until } from '../../support/venue.ts';

let v: TestVenue;
const pathOf = (workspace: string) => `/api/v1/workspaces/${workspace}/keys`;
const BASE = pathOf('w1');
const memberOf = (role: Role): Member => ({
  workspaceId: 'w1',
  id: role,
  firstName: 'Jane',
  lastName: role,
  email: `${role}@example.com`,
  role,
  kycStatus: 'verified',
  joinedAtMs: 1_700_000_000_000,
  removedAtMs: null,
});

beforeAll(async () => {
  v = await startTestVenue();
  await createAdminStore(v.db).change(async (tx) => {
    for (const role of ['owner', 'admin', 'viewer'] as const) await tx.putMember(memberOf(role));
  });
}, 120_000);
afterAll(() => v?.stop());

/** The key of that member. */
const keyOf = (role: Role, mode: KeyMode = 'test') =>
  v.key('workspace', { role, mode, ...(role !== 'member' && { memberId: role }) });
const issue = (key: string, body: object, workspace = 'w1') =>
  v.call('POST', pathOf(workspace), { key, body });
const issued = async (key: string, body: object) => {
  const { status, text } = await issue(key, body);
  expect([status, text]).toEqual([200, expect.any(String)]);
  return zIssuedWorkspaceKey.parse(JSON.parse(text));
};
const listed = async (key: string) => zWorkspaceKeys.parse((await v.call('GET', BASE, { key })).json).keys;
const idOf = async (key: string): Promise<string> =>
  String((await v.call('GET', '/api/v1/key', { key })).json['id']);
const audited = async (id: string) =>
  (await createAdminStore(v.db).changes({ workspaceId: 'w1', limit: 1_000 }))
    .filter(({ subjectId }) => subjectId === id)
    .map(({ what, who }) => [what, who]);

describe('what is seen', () => {
  test('every role sees the valid keys of its mode; who uses them only owners and admins', async () => {
    const [admin, viewer, live] = [await keyOf('admin'), await keyOf('viewer'), await keyOf('owner', 'live')];
    const [adminId, liveId] = [await idOf(admin), await idOf(live)];
    const own = (await listed(admin)).find(({ id }) => id === adminId);
    expect(own).toMatchObject({ role: 'admin', issuedBy: null, member: { userId: 'admin' } });
    expect(own?.begins).toBe(admin.slice(0, 16));
    const seen = await listed(viewer);
    expect(seen.map(({ id }) => id)).toContain(adminId);
    expect(seen.map(({ id }) => id)).not.toContain(liveId);
    for (const each of seen) expect(each).not.toHaveProperty('member');
    expect((await listed(live)).map(({ mode }) => mode)).not.toContain('test');
    const { text } = await v.call('GET', BASE, { key: admin });
    for (const secret of [admin, viewer]) expect(text).not.toContain(secret);
    expect(text).not.toMatch(/sha256/i);
  });

  test('the last use of a key appears, and of an unused one there is none', { timeout: 60_000 }, async () => {
    const admin = await keyOf('admin');
    const fresh = await issued(admin, { kind: 'workspace' });
    const lastUse = async () => (await listed(admin)).find(({ id }) => id === fresh.key.id)?.lastUsedAt;
    expect(await lastUse()).toBeNull();
    const beforeMs = Date.now();
    await v.call('GET', '/api/v1/key', { key: fresh.text });
    const afterMs = Date.now();
    await until(async () => typeof (await lastUse()) === 'string');
    const atMs = Date.parse(String(await lastUse()));
    expect(atMs).toBeGreaterThanOrEqual(beforeMs);
    expect(atMs).toBeLessThanOrEqual(afterMs);
  });

  test('another workspace sees nothing, and a service key has no access', async () => {
    await v.workspace('w2');
    const stranger = await v.key('workspace', { workspaceId: 'w2', role: 'owner' });
    expect((await v.call('GET', BASE, { key: stranger })).status).toBe(404);
    expect((await issue(stranger, { kind: 'service' })).status).toBe(404);
    const service = await v.key('service');
    expect((await v.call('GET', BASE, { key: service })).json).toMatchObject({
      error: { code: 'wrong_key_kind' },
    });
  });
});

describe('issuing', () => {
  test('an admin issues a key that works, of its own mode and member, and the audit log has it', async () => {
    const admin = await keyOf('admin');
    const { key, text } = await issued(admin, { kind: 'service', label: 'bot' });
    expect(key).toMatchObject({
      ...{ kind: 'service', mode: 'test', role: null, label: 'bot', lastUsedAt: null },
      ...{ issuedBy: await idOf(admin), member: { userId: 'admin' } },
    });
    expect((await v.call('GET', '/api/v1/solvers', { key: text })).status).toBe(200);
    expect(await audited(key.id)).toEqual([['key.issue', `key:${await idOf(admin)}`]]);
    const [row] = await v.db.query('select * from api_key where id = $1', [key.id]);
    expect(JSON.stringify(row)).not.toContain(text);
  });

  test('a workspace key is a viewer unless a role is named, and never above the issuer', async () => {
    const admin = await keyOf('admin');
    expect((await issued(admin, { kind: 'workspace' })).key.role).toBe('viewer');
    expect((await issued(admin, { kind: 'workspace', role: 'admin' })).key.role).toBe('admin');
    const refused = await issue(admin, { kind: 'workspace', role: 'owner' });
    expect([refused.status, refused.json['detail']?.[0]?.['loc']]).toEqual([422, ['body', 'role']]);
    expect((await issued(await keyOf('owner'), { kind: 'workspace', role: 'owner' })).key.role).toBe('owner');
  });

  test('what a key may not choose is refused: mode, member, solver keys, a role of a service key', async () => {
    const admin = await keyOf('admin');
    const before = await listed(admin);
    for (const body of [
      { kind: 'service', mode: 'live' },
      { kind: 'service', memberId: 'owner' },
      { kind: 'solver' },
      { kind: 'service', role: 'viewer' },
      { kind: 'workspace', role: 'god' },
      { kind: 'service', label: 'two\nlines' },
      {},
    ])
      expect([body, (await issue(admin, body)).status]).toEqual([body, 422]);
    expect(await listed(admin)).toHaveLength(before.length);
  });

  test.each(['viewer', 'member'] as const)('a %s is refused, and nothing changes', async (role) => {
    const [key, other] = [await keyOf(role), await keyOf('viewer')];
    const before = (await listed(key)).length;
    const answers = [
      await issue(key, { kind: 'service' }),
      await v.call('DELETE', `${BASE}/${await idOf(other)}`, { key }),
      await v.call('DELETE', `${BASE}/${await idOf(key)}`, { key }),
    ];
    for (const { status, json } of answers)
      expect([status, json]).toEqual([403, { error: expect.objectContaining({ code: 'wrong_key_kind' }) }]);
    expect(await listed(key)).toHaveLength(before);
  });

  test('a workspace has at most 25 valid keys of a mode, however many are asked for at once', async () => {
    await v.workspace('w3');
    const admin = await v.key('workspace', { workspaceId: 'w3', role: 'admin' });
    const answers = await Promise.all(
      Array.from({ length: 30 }, async () => {
        for (;;) {
          const answer = await issue(admin, { kind: 'service' }, 'w3');
          // A busy venue refuses and has done nothing.
          if (answer.status !== 503) return answer;
        }
      }),
    );
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    expect([count(200), count(409)]).toEqual([24, 6]);
  });
});

describe('revoking', () => {
  const revoke = (key: string, id: string) => v.call('DELETE', `${BASE}/${id}`, { key });

  test('an admin revokes a key at once; the second time it is unknown', async () => {
    const admin = await keyOf('admin');
    const { key, text } = await issued(admin, { kind: 'workspace', role: 'admin' });
    expect((await v.call('GET', BASE, { key: text })).status).toBe(200);
    expect((await revoke(admin, key.id)).json).toEqual({ id: key.id });
    await until(async () => (await v.call('GET', BASE, { key: text })).status === 401);
    expect((await listed(admin)).map(({ id }) => id)).not.toContain(key.id);
    expect((await revoke(admin, key.id)).status).toBe(404);
    expect(await audited(key.id)).toEqual([
      ['key.revoke', `key:${await idOf(admin)}`],
      ['key.issue', `key:${await idOf(admin)}`],
    ]);
  });

  test('an admin does not revoke an owner, nor a key of another workspace or mode', async () => {
    const [admin, owner, live] = [await keyOf('admin'), await keyOf('owner'), await keyOf('owner', 'live')];
    await v.workspace('w4');
    const stranger = await v.key('workspace', { workspaceId: 'w4', role: 'viewer' });
    expect((await revoke(admin, await idOf(owner))).json).toMatchObject({
      error: { code: 'wrong_key_kind' },
    });
    for (const hidden of [live, stranger, await v.key('solver', { solverId: 'alpha' })]) {
      const [row] = await v.db.query('select id from api_key where lookup = $1', [hidden.slice(8, 16)]);
      expect((await revoke(admin, String(row?.['id']))).status).toBe(404);
    }
    for (const key of [owner, live, stranger])
      expect((await v.call('GET', '/api/v1/key', { key })).status).toBe(200);
  });

  test('a key that was revoked a moment ago issues nothing more', async () => {
    const [owner, admin] = [await keyOf('owner'), await keyOf('admin')];
    await v.call('GET', '/api/v1/key', { key: admin });
    const adminId = await idOf(admin);
    // Without the announcement, the venue still has the key in its cache.
    await v.db.query('update api_key set revoked_at_ms = 1 where id = $1', [adminId]);
    expect((await issue(admin, { kind: 'service' })).status).toBe(401);
    expect((await listed(owner)).filter(({ issuedBy }) => issuedBy === adminId)).toEqual([]);
  });
});
