/**
 * What an administrator takes away is gone at once on every replica: keys, the sockets they opened, the links
 * of solvers, fees and eligibility.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createAdminStore } from '../../src/adapters/postgres/venue/admin-store.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { systemRandom } from '../../src/adapters/system/random.ts';
import { assetId } from '../../src/domain/asset.ts';
import { type Admin, createAdmin } from '../../src/venue/admin/admin.ts';
import { account, type TestAccount } from '../support/devnet.ts';
import { type ScriptedSolver, type SolverSpec, startSolver } from '../support/solver.ts';
import { type Json, type Replica, startTestVenue, type TestVenue, until } from '../support/venue.ts';

let v: TestVenue;
let other: Replica;
let admin: Admin;
let body: object;

beforeAll(async () => {
  v = await startTestVenue();
  other = await v.replica();
  admin = createAdmin({
    store: createAdminStore(v.db),
    venue: v.store,
    clock: systemClock,
    random: systemRandom,
    feeCaps: () =>
      Promise.all(
        v.devnet.chains.map(async ({ port }) => ({
          slug: port.chain.slug,
          maxFeeBps: await port.maxFeeBps(),
        })),
      ),
  });
  const { chain, usdc, weth } = v.chain;
  body = {
    taker: account(1).address,
    input: { asset: assetId({ chainId: chain.id, token: usdc.address }), amount: '1000000000' },
    output: { asset: assetId({ chainId: chain.id, token: weth.address }) },
  };
});
afterAll(async () => {
  await other.stop();
  await v.stop();
});

const replicas = (): string[] => [v.url, other.url];
const pairsAt = async (url: string, key: string): Promise<number> =>
  (await fetch(`${url}/api/v1/rfq/pairs`, { headers: { 'X-API-Key': key } })).status;
const quotesAt = async (url: string, key: string): Promise<Json> =>
  (await (
    await fetch(`${url}/api/v1/rfq/quotes`, {
      method: 'POST',
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  ).json()) as Json;

interface Listening {
  closed: Promise<{ code: number; reason: string }>;
}

async function listen(url: string, key: string): Promise<Listening> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/ws`, { headers: { 'X-API-Key': key } });
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() })),
  );
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
  return { closed };
}

const answer: SolverSpec['answer'] = (rfq, make) =>
  make.quote(rfq, { output: (BigInt(rfq.amount) * 10n ** 12n) / 2_600n });

/** The same solver on the other replica, with a key of its own. */
async function joinOther(
  { id, lp, operator }: { id: string; lp: TestAccount; operator: TestAccount },
  apiKey: string,
): Promise<ScriptedSolver> {
  const { chain, port } = v.chain;
  const solver = await startSolver(other.url, {
    id,
    apiKey,
    lp: lp.address,
    operator,
    chains: [chain],
    corridors: [`${chain.slug}-${chain.slug}`],
    answer,
    now: () => port.head()?.timestamp ?? 0,
  });
  await until(() => other.venue.roster.entry(id)?.status === 'active');
  return solver;
}

describe('a revoked key', () => {
  test('is refused by HTTP and loses its sockets on both replicas, while other keys keep theirs', async () => {
    const [gone, kept] = [
      await admin.keys.issue('test', { kind: 'service', mode: 'test', workspaceId: 'w1', label: '' }),
      await v.key('service'),
    ];
    for (const url of replicas())
      expect([await pairsAt(url, gone.text), await pairsAt(url, kept)]).toEqual([200, 200]);
    const [losing, keeping] = [
      await Promise.all(replicas().map((url) => listen(url, gone.text))),
      await Promise.all(replicas().map((url) => listen(url, kept))),
    ];
    await admin.keys.revoke('test', gone.key.id);
    for (const { closed } of losing)
      expect(await closed).toEqual({ code: 1008, reason: 'the key was revoked' });
    await Promise.all(replicas().map((url) => until(async () => (await pairsAt(url, gone.text)) === 401)));
    for (const url of replicas()) await expect(listen(url, gone.text)).rejects.toThrow(/401/);
    expect(await Promise.race([...keeping.map(({ closed }) => closed), 'open'])).toBe('open');
    for (const url of replicas()) expect(await pairsAt(url, kept)).toBe(200);
  });

  test('that is revoked during a WebSocket handshake never keeps that socket', async () => {
    for (let round = 0; round < 5; round++) {
      const { key, text } = await admin.keys.issue('test', {
        kind: 'service',
        mode: 'test',
        workspaceId: 'w1',
        label: '',
      });
      const attempts = replicas().flatMap((url) =>
        Array.from({ length: 3 }, () => listen(url, text).catch(() => undefined)),
      );
      await admin.keys.revoke('test', key.id);
      for (const socket of await Promise.all(attempts))
        if (socket) expect((await socket.closed).code).toBe(1008);
    }
  });

  test('of a solver ends its link on any replica, and the solver is no longer asked', async () => {
    const service = await v.key('service');
    const { id, lp, operator } = await v.solver(7, answer);
    const { key, text } = await admin.keys.issue('test', {
      kind: 'solver',
      mode: 'test',
      solverId: id,
      label: '',
    });
    const there = await joinOther({ id, lp, operator }, text);
    expect((await quotesAt(other.url, service))['quotes']).toHaveLength(1);
    await admin.keys.revoke('test', key.id);
    expect(await there.closed).toEqual({ code: 1008, reason: 'the key was revoked' });
    await until(() => other.venue.roster.entry(id)?.status === 'offline');
    expect((await quotesAt(other.url, service))['productUnavailable']).toMatchObject({
      code: 'no_eligible_solver',
    });
    // Its first key is another one and goes on.
    expect((await quotesAt(v.url, service))['quotes']).toHaveLength(1);
  });
});

test("a removed member's keys are revoked", async () => {
  await admin.members.add('test', 'w1', {
    userId: 'owner-1',
    firstName: 'Olga',
    lastName: 'Owner',
    email: 'olga@example.org',
    role: 'owner',
    kycStatus: 'verified',
  });
  await admin.members.add('test', 'w1', {
    userId: 'max',
    firstName: 'Max',
    lastName: 'Muster',
    email: 'max@example.org',
    role: 'admin',
    kycStatus: 'none',
  });
  const { text } = await admin.keys.issue('test', {
    kind: 'service',
    mode: 'test',
    workspaceId: 'w1',
    memberId: 'max',
    label: '',
  });
  const sockets = await Promise.all(replicas().map((url) => listen(url, text)));
  await admin.members.remove('test', 'w1', 'max');
  for (const { closed } of sockets) expect((await closed).code).toBe(1008);
  await Promise.all(replicas().map((url) => until(async () => (await pairsAt(url, text)) === 401)));
});

test('an open price stream follows its workspace: a solver that may no longer quote leaves it', async () => {
  const { chain, usdc, weth } = v.chain;
  const [input, output] = [
    assetId({ chainId: chain.id, token: usdc.address }),
    assetId({ chainId: chain.id, token: weth.address }),
  ];
  const solver = await v.solver(9, () => undefined);
  await admin.workspaces.add('test', { id: 'w4', name: 'Four' });
  const { text } = await admin.keys.issue('test', {
    kind: 'service',
    mode: 'test',
    workspaceId: 'w4',
    label: '',
  });
  const socket = new WebSocket(`${v.url.replace('http', 'ws')}/api/v1/ws`, {
    headers: { 'X-API-Key': text },
  });
  const heard: Json[] = [];
  socket.on('message', (data: Buffer) => heard.push(JSON.parse(data.toString()) as Json));
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
  socket.send(JSON.stringify({ op: 'subscribe', topics: [`prices:${chain.slug}-${chain.slug}:USDC-WETH`] }));
  const solversNow = () =>
    heard.findLast(({ type }) => (type as unknown) === 'prices.indicative')?.['data']?.['solvers'] as unknown;
  solver.say({ type: 'levels', input, output, levels: [['1000000', '400000000000000']], atMs: Date.now() });
  await until(() => solversNow() === 1);
  await v.store.putSolver({ id: 'not-it', name: 'Not it', kind: 'lp', corridors: null, disabled: false });
  await admin.workspaces.set('test', 'w4', { eligibleSolvers: ['not-it'] });
  await until(() => solversNow() === 0);
  socket.terminate();
  await solver.stop();
});

test('a changed fee or eligibility applies to the next quote of every replica', async () => {
  await admin.workspaces.add('test', { id: 'w2', name: 'Two', platformFeeBps: 3 });
  const { text } = await admin.keys.issue('test', {
    kind: 'service',
    mode: 'test',
    workspaceId: 'w2',
    label: '',
  });
  const made = await v.solver(8, answer);
  const { text: second } = await admin.keys.issue('test', {
    kind: 'solver',
    mode: 'test',
    solverId: made.id,
    label: '',
  });
  const there = await joinOther(made, second);
  const fees = async () =>
    Promise.all(
      replicas().map(async (url) => (await quotesAt(url, text))['quotes']?.[0]?.['platformFeeBps']),
    );
  expect(await fees()).toEqual([3, 3]);
  await admin.workspaces.set('test', 'w2', { platformFeeBps: 9 });
  await until(async () => (await fees()).every((bps) => (bps as unknown) === 9));
  // More than the escrow takes is refused, whoever asks.
  await expect(admin.workspaces.set('test', 'w2', { platformFeeBps: 101 })).rejects.toMatchObject({
    details: [{ loc: ['body', 'platformFeeBps'], msg: expect.stringContaining('at most 100 basis points') }],
  });
  // Put into the database behind everybody's back, it is capped: such an order could never settle.
  await v.store.putWorkspace({
    id: 'w2',
    name: 'Two',
    platformFeeBps: 5_000,
    eligibleSolvers: null,
    limits: { openQuotes: null, openNotionalUsd: null },
    travelRuleThresholdUsd: null,
  });
  await v.bus.publish('workspaces', 'w2');
  await until(async () => (await fees()).every((bps) => (bps as unknown) === 100));
  await v.store.putSolver({
    id: 'nobody-here',
    name: 'Nobody',
    kind: 'lp',
    corridors: null,
    disabled: false,
  });
  await admin.workspaces.set('test', 'w2', { platformFeeBps: 0, eligibleSolvers: ['nobody-here'] });
  for (const url of replicas())
    await until(
      async () =>
        (await quotesAt(url, text))['productUnavailable']?.['code'] === ('no_eligible_solver' as unknown),
    );
  await there.stop();
});
