/** One solver that sends without pause costs the venue little and loses its connection; others trade on. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMetrics } from '../../src/adapters/prometheus/metrics.ts';
import { assetId } from '../../src/domain/asset.ts';
import type { FromSolver, LinkQuote } from '../../src/protocol/link/link.ts';
import { account } from '../support/devnet.ts';
import { type ScriptedSolver, startSolver } from '../support/solver.ts';
import { startTestVenue, type TestVenue, until } from '../support/venue.ts';

const BATCH = 1_000;
const HASH = `0x${'ab'.repeat(32)}` as const;

const metrics = createMetrics();
let v: TestVenue;
let key: string;
let n = 1;
/** A quote of an earlier request. */
let late: LinkQuote;
const [usdc, weth] = [
  () => assetId({ chainId: v.chain.chain.id, token: v.chain.usdc.address }),
  () => assetId({ chainId: v.chain.chain.id, token: v.chain.weth.address }),
];

beforeAll(async () => {
  v = await startTestVenue({ chainIds: [31_454], metrics });
  key = await v.key('service');
  await honestSolver();
  await ask('lp-1');
});
afterAll(() => v.stop());

const honestSolver = () =>
  v.solver(
    n++,
    (rfq, make) => (late = make.quote(rfq, { output: (BigInt(rfq.amount) * 10n ** 12n) / 2_600n })),
  );

async function ask(solverId: string): Promise<number> {
  const { status, json } = await v.call('POST', '/api/v1/rfq/quotes', {
    key,
    body: {
      taker: account(8_300).address,
      input: { asset: usdc(), amount: '1000000' },
      output: { asset: weth() },
      solvers: { include: [solverId] },
    },
  });
  expect(status).toBe(200);
  return (json['quotes'] as unknown[]).length;
}

async function metric(name: string): Promise<number> {
  const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith(name));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

async function transitionsOf(solverId: string): Promise<number> {
  const rows = await v.db.query<{ n: string }>(
    'select count(*) n from roster_transition where solver_id = $1',
    [solverId],
  );
  return Number(rows[0]?.n);
}

/** Sends until the venue has closed the connection. */
async function flood(solver: ScriptedSolver, frame: (index: number) => FromSolver | string) {
  let closed: Awaited<ScriptedSolver['closed']> | undefined;
  void solver.closed.then((how) => (closed = how));
  for (let index = 0; !closed; index++) {
    const message = frame(index);
    solver.say(typeof message === 'string' ? message : JSON.stringify(message));
    if (index % BATCH === 0) await new Promise(setImmediate);
  }
  return closed;
}

const FRAMES: [kind: string, (index: number) => FromSolver | string][] = [
  ['status', (index) => ({ type: 'status', status: index % 2 ? 'active' : 'standby', note: `${index}` })],
  ['resync', () => ({ type: 'resync' })],
  ['ping', () => ({ type: 'ping' })],
  ['pong', () => ({ type: 'pong' })],
  ['fill', (index) => ({ type: 'fill', orderId: unknown(index), stage: 'filled', txHash: null })],
  [
    'levels',
    () => ({ type: 'levels', input: usdc(), output: weth(), levels: [['1', '1']], atMs: Date.now() }),
  ],
  ['answer', (index) => ({ ...late, rfqId: `unknown-${index}` })],
  ['answer', (index) => ({ type: 'decline', rfqId: `r${index}`, reason: 'pair', maxAmount: null })],
  ['invalid', () => 'nonsense'],
  ['unknown_type', (index) => `{"type":"t${index}"}`],
];
const unknown = (index: number) => `0x${index.toString(16).padStart(64, '0')}` as const;

describe.each(FRAMES)('%s', (kind, frame) => {
  test('without pause end the connection, and an honest solver quotes', async () => {
    const solver = await v.solver(n++, () => undefined, { inventory: 0n });
    const woken = v.woken.length;
    const transitions = await transitionsOf(solver.id);
    expect(await flood(solver, frame)).toEqual({ code: 1008, reason: `too many frames: ${kind}` });
    await until(async () => (await ask('lp-1')) === 1);
    expect(await metric(`firmquote_venue_link_floods_total{kind="${kind}"}`)).toBeGreaterThan(0);
    expect(v.woken.length - woken).toBeLessThanOrEqual(200);
    expect(solver.received.filter(({ type }) => type === 'resync').length).toBeLessThanOrEqual(1);
    await until(() => v.venue.roster.entry(solver.id)?.status === 'offline');
    expect((await transitionsOf(solver.id)) - transitions).toBeLessThanOrEqual(8);
    // It comes back at once, is heard, and is not shut out by its breaker.
    const back = await startSolver(v.urls.slice(0, 1), {
      id: solver.id,
      apiKey: solver.apiKey,
      lp: solver.lp.address,
      operator: solver.operator,
      chains: [v.chain.chain],
      corridors: ['chain1-chain1'],
      answer: () => undefined,
    });
    back.say({ type: 'resync' });
    expect((await back.next('resync')).awards).toEqual([]);
    await back.stop();
  });
});

test('of many changes of status within the limit the last one counts, and few are stored', async () => {
  const solver = await v.solver(n++, () => undefined, { inventory: 0n });
  const before = await transitionsOf(solver.id);
  for (let index = 0; index < 90; index++)
    solver.say({ type: 'status', status: index % 2 ? 'active' : 'standby', note: null });
  solver.say({ type: 'status', status: 'standby', note: 'the last' });
  await until(() => v.venue.roster.entry(solver.id)?.note === 'the last');
  await until(() => v.venue.roster.entry(solver.id)?.status === 'standby');
  expect((await transitionsOf(solver.id)) - before).toBeLessThanOrEqual(8);
  await solver.stop();
});

test('requests for a resync within the limit are answered once now and once later', async () => {
  const solver = await v.solver(n++, () => undefined, { inventory: 0n });
  for (let index = 0; index < 15; index++) solver.say({ type: 'resync' });
  solver.say({ type: 'fill', orderId: HASH, stage: 'filled', txHash: null });
  await until(() => v.woken.includes(HASH));
  await until(() => solver.received.filter(({ type }) => type === 'resync').length === 2);
  solver.say({ type: 'ping' });
  await solver.next('pong');
  expect(solver.received.filter(({ type }) => type === 'resync')).toHaveLength(2);
  await solver.stop();
});
