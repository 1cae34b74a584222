/** An administrator changes workspaces and members. */

import { WebSocket } from 'ws';
import * as z from 'zod';
import { zIssuedKey } from '../../../protocol/admin/admin.ts';
import { readerFor, type DemoWorld } from '../world.ts';
import { type DemoCheck, eventually, expect, expectEqual } from './check.ts';
import { askOf, tradeOf } from './trade.ts';

const zChanges = z.object({ changes: z.array(z.object({ what: z.string(), who: z.string() })) });

async function administer(
  { manifest: { venue } }: DemoWorld,
  method: string,
  path: string,
  body?: object,
): Promise<unknown> {
  const answer = await fetch(`${venue.adminUrl}/admin/v1${path}`, {
    method,
    headers: { 'X-API-Key': venue.keys.admin, ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  expect(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
  return JSON.parse(text);
}

export const workspaceCheck: DemoCheck = {
  name: 'administration: add a workspace, change its fee, remove a member',
  async run(world) {
    // A resumed demo has earlier workspaces, so every run uses a new one.
    const id = `visitors-${Date.now()}`;
    await administer(world, 'POST', '/workspaces', { id, name: 'Visitors', platformFeeBps: 7 });
    for (const [userId, role] of [
      ['vera', 'owner'],
      ['max', 'member'],
    ])
      await administer(world, 'POST', `/workspaces/${id}/members`, {
        userId,
        firstName: 'V',
        lastName: 'Isitor',
        email: `${userId}@visitors.example`,
        role,
      });
    const { text } = zIssuedKey.parse(
      await administer(world, 'POST', '/keys', { kind: 'service', workspaceId: id, memberId: 'max' }),
    );
    const trade = tradeOf(world, world.freshTaker(text));
    const fee = async () =>
      (await trade.taker.quote(askOf(trade, { sell: '100' }))).quotes[0]?.platformFeeBps;
    expectEqual(await fee(), 7, 'platform fee of the first quote');
    await administer(world, 'PATCH', `/workspaces/${id}`, { platformFeeBps: 1 });
    await eventually('quotes carry the new fee', 5_000, async () => (await fee()) === 1);
    const socket = new WebSocket(world.manifest.venue.wsUrl, { headers: { 'X-API-Key': text } });
    const closed = new Promise<number>((resolve) =>
      socket.on('close', resolve).on('error', () => resolve(0)),
    );
    await new Promise((resolve) => socket.on('open', resolve).on('error', resolve));
    await administer(world, 'DELETE', `/workspaces/${id}/members/max`);
    expectEqual(await closed, 1008, "close code of the removed member's socket");
    const { call } = readerFor(world.manifest, text);
    await eventually(
      'the key is refused',
      5_000,
      async () => (await call('GET', '/api/v1/rfq/pairs')).status === 401,
    );
    const { changes } = zChanges.parse(await administer(world, 'GET', `/audit?workspace=${id}`));
    expectEqual(
      changes.map(({ what }) => what).join(' '),
      'key.revoke member.remove workspace.set key.issue member.add member.add workspace.add',
      'the audit log',
    );
    expect(
      changes.every(({ who }) => who === 'admin:demo'),
      'a change does not name its admin key',
    );
    return 'fee 7, then 1 basis point; the removed member gets 401 and its socket closes with 1008; the audit log has all seven changes';
  },
};
