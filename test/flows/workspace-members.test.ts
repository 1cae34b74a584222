/**
 * /api/v1/workspaces/{id}/members: owners and admins add members, give them roles and remove them; nobody
 * reaches above the own role, an owner stays, and the audit log says who did what.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAdminStore } from '../../src/adapters/postgres/venue/admin-store.ts';
import type { Member } from '../../src/ports/stores/members.ts';
import type { KeyMode, Role } from '../../src/ports/stores/store.ts';
import { zWorkspaceMember, zWorkspaceMembers } from '../../src/protocol/admin/admin.ts';
import { startTestVenue, type TestVenue, until } from '../support/venue.ts';

let v: TestVenue;
const pathOf = (workspace: string) => `/api/v1/workspaces/${workspace}/members`;
const BASE = pathOf('w1');
const memberOf = (role: Role, workspaceId = 'w1'): Member => ({
  workspaceId,
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

const keyOf = (role: Role, mode: KeyMode = 'test') => v.key('workspace', { role, mode });
const keyFor = (memberId: string, role: Role, mode: KeyMode = 'test') =>
  v.key('workspace', { role, mode, memberId });
const list = async (key: string) =>
  zWorkspaceMembers.parse((await v.call('GET', BASE, { key })).json).members;
let people = 0;
const person = (role: Role) => {
  people += 1;
  return { firstName: 'Joe', lastName: `Number ${people}`, email: `joe${people}@example.com`, role };
};
const add = (key: string, body: object, workspace = 'w1') => v.call('POST', pathOf(workspace), { key, body });
async function added(key: string, role: Role) {
  const { status, text } = await add(key, person(role));
  expect([status, text]).toEqual([200, expect.any(String)]);
  return zWorkspaceMember.parse(JSON.parse(text));
}
const setRole = (key: string, id: string, role: string) =>
  v.call('PATCH', `${BASE}/${id}`, { key, body: { role } });
const remove = (key: string, id: string) => v.call('DELETE', `${BASE}/${id}`, { key });
const audited = async (id: string) =>
  (await createAdminStore(v.db).changes({ workspaceId: 'w1', limit: 1_000 }))
    .filter(({ subjectId }) => subjectId === id)
    .map(({ what, who }) => [what, who]);
const idOf = async (key: string): Promise<string> =>
  String((await v.call('GET', '/api/v1/key', { key })).json['id']);

describe('what is seen', () => {
  test('owners and admins see who is a member; nobody else does', async () => {
    for (const role of ['owner', 'admin'] as const)
      expect((await list(await keyOf(role))).map(({ userId }) => userId)).toEqual(
        expect.arrayContaining(['owner', 'admin', 'viewer']),
      );
    for (const role of ['viewer', 'member'] as const) {
      const { status, text } = await v.call('GET', BASE, { key: await keyOf(role) });
      expect([status, text]).toEqual([403, expect.stringContaining('wrong_key_kind')]);
      expect(text).not.toContain('@example.com');
    }
  });

  test('another workspace sees and changes nothing, and a service key has no access', async () => {
    await v.workspace('w2');
    const stranger = await v.key('workspace', { workspaceId: 'w2', role: 'owner' });
    const answers = [
      await v.call('GET', BASE, { key: stranger }),
      await add(stranger, person('viewer')),
      await setRole(stranger, 'viewer', 'admin'),
      await remove(stranger, 'viewer'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect((await v.call('GET', BASE, { key: await v.key('service') })).status).toBe(403);
    // Also below the stranger's own workspace there is no such member.
    expect((await v.call('DELETE', `${pathOf('w2')}/viewer`, { key: stranger })).status).toBe(404);
  });
});

describe('adding', () => {
  test('an admin adds a member whose identity is unchecked, and the audit log names the key', async () => {
    const admin = await keyOf('admin');
    const joe = await added(admin, 'member');
    expect(joe).toMatchObject({ role: 'member', kycStatus: 'none' });
    expect(await list(admin)).toContainEqual(joe);
    expect(await audited(joe.userId)).toEqual([['member.add', `key:${await idOf(admin)}`]]);
  });

  test('what a key may not choose is refused, and adds nobody', async () => {
    const admin = await keyOf('admin');
    const before = await list(admin);
    for (const [body, status] of [
      [person('owner'), 422],
      [{ ...person('viewer'), kycStatus: 'verified' }, 422],
      [{ ...person('viewer'), userId: 'chosen' }, 422],
      [{ ...person('viewer'), email: 'nowhere' }, 422],
      [{ ...person('viewer'), email: 'OWNER@example.com' }, 409],
    ] as const)
      expect([body, (await add(admin, body)).status]).toEqual([body, status]);
    expect(await list(admin)).toEqual(before);
    expect((await added(await keyOf('owner'), 'owner')).role).toBe('owner');
  });
});

describe('roles', () => {
  test('a lower role lowers the keys of the member at once; a higher one leaves them', async () => {
    const owner = await keyOf('owner');
    const { userId } = await added(owner, 'admin');
    const key = await keyFor(userId, 'admin');
    expect((await v.call('GET', BASE, { key })).status).toBe(200);
    expect((await setRole(owner, userId, 'viewer')).json).toMatchObject({ userId, role: 'viewer' });
    await until(async () => (await v.call('GET', BASE, { key })).status === 403);
    expect((await setRole(owner, userId, 'admin')).json).toMatchObject({ role: 'admin' });
    expect((await v.call('GET', '/api/v1/key', { key })).json['role']).toBe('viewer');
  });

  test('an admin neither makes an owner nor changes or removes one', async () => {
    const [admin, before] = [await keyOf('admin'), await list(await keyOf('owner'))];
    const answers = [
      await setRole(admin, 'viewer', 'owner'),
      await setRole(admin, 'owner', 'viewer'),
      await remove(admin, 'owner'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([422, 403, 403]);
    expect(await list(admin)).toEqual(before);
  });

  test.each(['viewer', 'member'] as const)('a %s changes nothing', async (role) => {
    const [key, before] = [await keyOf(role), await list(await keyOf('owner'))];
    const answers = [
      await add(key, person('viewer')),
      await setRole(key, 'viewer', 'viewer'),
      await remove(key, 'viewer'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
    expect(await list(await keyOf('owner'))).toEqual(before);
  });

  test('a test key does not reach a member with valid live keys; a live key does', async () => {
    const [test, live] = [await keyOf('owner'), await keyOf('owner', 'live')];
    const { userId } = await added(test, 'admin');
    const trading = await keyFor(userId, 'admin', 'live');
    for (const { status, text } of [await setRole(test, userId, 'viewer'), await remove(test, userId)])
      expect([status, text]).toEqual([403, expect.stringContaining('live key')]);
    expect((await v.call('GET', '/api/v1/key', { key: trading })).json['role']).toBe('admin');
    expect((await remove(live, userId)).status).toBe(200);
    await until(async () => (await v.call('GET', '/api/v1/key', { key: trading })).status === 401);
  });
});

describe('removing', () => {
  test('a removed member is gone with the keys, and is unknown the second time', async () => {
    const admin = await keyOf('admin');
    const { userId } = await added(admin, 'viewer');
    const key = await keyFor(userId, 'viewer');
    expect((await v.call('GET', '/api/v1/key', { key })).status).toBe(200);
    expect((await remove(admin, userId)).status).toBe(200);
    await until(async () => (await v.call('GET', '/api/v1/key', { key })).status === 401);
    expect((await list(admin)).map((each) => each.userId)).not.toContain(userId);
    expect((await remove(admin, userId)).status).toBe(404);
    const by = `key:${await idOf(admin)}`;
    expect(await audited(userId)).toEqual([
      ['member.remove', by],
      ['member.add', by],
    ]);
  });

  test('the last owner stays, with the role, however many owners leave at once', async () => {
    await v.workspace('w3');
    await createAdminStore(v.db).change((tx) => tx.putMember(memberOf('owner', 'w3')));
    const key = await v.key('workspace', { workspaceId: 'w3', role: 'owner' });
    const other = zWorkspaceMember.parse((await add(key, person('owner'), 'w3')).json);
    const answers = await Promise.all([
      v.call('DELETE', `${pathOf('w3')}/owner`, { key }),
      v.call('PATCH', `${pathOf('w3')}/${other.userId}`, { key, body: { role: 'admin' } }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const { members } = zWorkspaceMembers.parse((await v.call('GET', pathOf('w3'), { key })).json);
    expect(members.filter(({ role }) => role === 'owner')).toHaveLength(1);
  });

  test('a key that was revoked a moment ago changes nothing more', async () => {
    const admin = await keyOf('admin');
    const { userId } = await added(admin, 'viewer');
    await v.db.query('update api_key set revoked_at_ms = 1 where id = $1', [await idOf(admin)]);
    // Without the announcement, the venue still has the key in its cache.
    expect((await remove(admin, userId)).status).toBe(401);
    expect((await list(await keyOf('owner'))).map((each) => each.userId)).toContain(userId);
  });
});
