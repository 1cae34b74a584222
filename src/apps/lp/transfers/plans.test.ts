/** Tests the plans of one turn, over a real database: together they stay within the limit of the day. */

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/postgres.ts';
import { TRANSFER_MIGRATIONS } from '../../../adapters/postgres/migrations/transfers.ts';
import type { Database } from '../../../adapters/postgres/pool.ts';
import { createTransferStore } from '../../../adapters/postgres/transfer-store.ts';
import type { Chain } from '../../../domain/chain.ts';
import type { Address } from '../../../domain/hex.ts';
import type { Advice } from '../../../inventory/rebalance.ts';
import type { BridgeMove } from '../../../ports/bridge.ts';
import type { TransferStore } from '../../../ports/stores/transfers.ts';
import type { TransferPlan } from '../../../transfers/executor.ts';
import { createMoves } from './moves.ts';
import { createPlans } from './plans.ts';

const ATTO = 10n ** 18n;
const NOW_MS = Date.UTC(2026, 0, 2);
const ACCOUNT: Address = `0x${'ac'.repeat(20)}`;
const SLUGS = ['base', 'arc', 'optimism', 'polygon'];
const tokenOn = (at: number): Address => `0x${(at + 1).toString().repeat(40)}`;
const chains = SLUGS.map((slug, at) => ({
  chain: {
    id: at + 1,
    slug,
    tokens: [{ symbol: 'USDC', address: tokenOn(at), decimals: 6 }],
  } as unknown as Chain,
}));

let postgres: TestPostgres;
let db: Database;
let store: TransferStore;

beforeAll(async () => {
  postgres = await startTestPostgres();
  db = await postgres.database('transfers', TRANSFER_MIGRATIONS);
  store = createTransferStore(db);
});
afterAll(() => postgres.stop());
beforeEach(async () => void (await db.query('truncate transfer, transfer_fact')));

const advised = (from: string, to: string, changed: Partial<Advice> = {}): Advice => ({
  ...{ asset: 'USDC', from, to, amount: 40_000n * ATTO, cost: 8n * ATTO, charges: 20n * ATTO, ...changed },
});
/** Makes a bridge that keeps a part of the move, in base units. */
const keeping =
  (fee: bigint) =>
  async ({ amount }: BridgeMove): Promise<TransferPlan> => ({
    bridge: 'cctp',
    estimate: { leastReceived: amount - fee, seconds: 20, nativeFee: 0n },
  });

function look(advice: readonly Advice[], plan = keeping(8_000_000n), free = 90_000_000_000n) {
  const node = {
    rebalancing: () => advice,
    status: () => ({ prices: [{ symbol: 'USDC', usd: 1, detail: null }] }),
    inventory: () => SLUGS.map((_, at) => ({ chainId: at + 1, token: tokenOn(at), free })),
  } as unknown as Parameters<typeof createPlans>[0]['node'] & Parameters<typeof createMoves>[0]['node'];
  const moves = createMoves({ chains, node }, {
    chains: SLUGS.map((_, at) => ({ chainId: at + 1, account: ACCOUNT })),
    assets: { USDC: { price: 'USDC' } },
  } as unknown as Parameters<typeof createMoves>[1]);
  const plans = createPlans(
    { node, store, moves, plan, clock: { nowMs: () => NOW_MS } },
    { mode: 'automatic', mostUsd: 50_000, mostUsdPerDay: 60_000 },
  );
  return plans().then((all) => all.map(({ view }) => view));
}

async function begun(count: number, { isOver, amount }: { isOver: boolean; amount: bigint }): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    const id = `t${at}`;
    const from = { chainId: 1, token: tokenOn(0) };
    await store.add({
      ...{ id, bridge: 'cctp', reason: 'automatic: test', createdAtMs: NOW_MS - 1_000, estimate: null },
      ...{ move: { account: ACCOUNT, from, to: { chainId: 2, token: tokenOn(1) }, amount }, sent: null },
      facts: [],
    });
    if (isOver) await store.append(id, 0, { kind: 'cancelled', detail: '' }, { final: true });
  }
}

test('two plans that exceed the limit of a day together: the first begins, the second waits', async () => {
  const [first, second] = await look([advised('base', 'arc'), advised('optimism', 'polygon')]);
  expect(first).toMatchObject({ begins: 'by_itself', amount: '40000', fee: '8' });
  expect(second?.begins).toBe('by_hand');
  expect(second?.why).toMatch(/mostUsdPerDay \(60000\): 40000 USDC .*; transfers worth 40000\.00 USD begin/);
});

test('what was begun before in the day counts, and the reason tells how much', async () => {
  await begun(1, { isOver: true, amount: 30_000_000_000n });
  const [only] = await look([advised('base', 'arc')]);
  expect(only).toMatchObject({ begins: 'by_hand' });
  expect(only?.why).toContain('transfers worth 30000.00 USD begin before it');
});

test('a day with as many transfers as one query reads has reached its limit, however small they are', async () => {
  await begun(499, { isOver: true, amount: 1n });
  expect((await look([advised('base', 'arc')]))[0]?.begins).toBe('by_itself');
  await db.query('truncate transfer, transfer_fact');
  await begun(500, { isOver: true, amount: 1n });
  const [only] = await look([advised('base', 'arc')]);
  expect(only?.begins).toBe('by_hand');
  expect(only?.why).toContain('how much has begun is not known now');
});

test('amounts have the decimals of the token, and a fee above the costs is told in tokens', async () => {
  const odd = advised('base', 'arc', {
    amount: 1_000n * ATTO + 999n,
    cost: ATTO + 1n,
    charges: ATTO * 2n + 1n,
  });
  const [plan] = await look([odd], keeping(1_000_001n));
  expect(plan).toMatchObject({
    amount: '1000',
    reason: 'draining arc costs 2 a day, the move 1.000001',
    plan: { bridge: 'cctp', leastReceived: '998.999999', seconds: 20 },
    fee: '1.000001',
    why: 'the bridge may take more than transportBps of USDC reckons with: up to 1.000001 USDC, not 1 USDC',
  });
});

test('a plan that cannot begin does not take the limit of the day from one that can', async () => {
  await begun(1, { isOver: false, amount: 1n });
  const [blocked, next] = await look([advised('base', 'arc'), advised('optimism', 'polygon')]);
  expect(blocked?.why).toBe('it cannot begin now: transfer t0 of this token from this chain is not over');
  expect(next?.begins).toBe('by_itself');
  const [poor] = await look([advised('optimism', 'polygon')], keeping(0n), 39_999_999_999n);
  expect(poor?.why).toBe('it cannot begin now: live quotes and open orders need it');
  const refused = async () => ({ refused: 'unavailable', detail: 'The bridge is down.' }) as const;
  expect((await look([advised('optimism', 'polygon')], refused))[0]).toMatchObject({
    ...{ begins: 'by_hand', fee: null, why: 'it cannot begin now: The bridge is down.' },
    plan: { refused: 'unavailable', detail: 'The bridge is down.' },
  });
});
