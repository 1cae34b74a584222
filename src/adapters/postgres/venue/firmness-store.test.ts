/** Compares the counts of a solver's orders with a scan of every trade; answers and claims add up. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { seedTrades, type TradeSeed } from '../../../../bench/trade-seed.ts';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/postgres.ts';
import { ETHER, type Chain } from '../../../domain/chain.ts';
import { FADE_CODES } from '../../../domain/fact.ts';
import type { BondClaimRecord } from '../../../ports/stores/firmness.ts';
import type { VenueStore } from '../../../ports/stores/venue-store.ts';
import { VENUE_MIGRATIONS } from '../migrations/venue.ts';
import type { Database } from '../pool.ts';
import { createVenueStore } from './venue-store.ts';

const UNTIL_MS = 1_790_000_000_000;
const DAY_MS = 86_400_000;
const LPS = ['lp-a', 'lp-b', 'lp-c'] as const;

let postgres: TestPostgres;
let db: Database;
let store: VenueStore;

const chain = (id: number, slug: string): Chain => ({
  ...{ id, slug, sandbox: true, depth: 1, blockTimeMs: 1_000 },
  native: ETHER,
  ...{ escrow: `0x${'e'.repeat(40)}`, oracle: `0x${'0a'.repeat(20)}`, permit2: `0x${'0b'.repeat(20)}` },
  tokens: (['1', '2'] as const).map((n) => ({
    ...{ address: `0x${n.repeat(40)}`, symbol: n === '1' ? 'USD' : 'ETH', name: n, decimals: 18 },
    ...{ eip3009: null, priceSymbol: n === '1' ? 'USD' : 'ETH' },
  })),
  ...{ landingMarginSeconds: 20, proofWindowSeconds: 60 },
});
const seed: TradeSeed = {
  book: { workspaceId: 'w1', mode: 'test' },
  ...{ rows: 600, seed: 11, chains: [chain(1, 'one'), chain(2, 'two')], lps: LPS, members: ['m1'] },
  ...{ untilMs: UNTIL_MS, days: 40, usd: { USD: 1, ETH: 2_500 } },
};

beforeAll(async () => {
  postgres = await startTestPostgres();
  db = await postgres.database('venue', VENUE_MIGRATIONS);
  store = createVenueStore(db);
  await seedTrades(db, seed);
  await seedTrades(db, { ...seed, book: { workspaceId: 'w2', mode: 'test' }, rows: 60, seed: 12 });
  await seedTrades(db, { ...seed, book: { workspaceId: 'w1', mode: 'live' }, rows: 60, seed: 13 });
}, 60_000);
afterAll(() => postgres.stop());

interface Seen {
  lp: string;
  mode: string;
  at: number;
  stage: string;
  code: string | null;
  order: Buffer;
}
const everyTrade = () =>
  db.query<Seen & Record<string, unknown>>(
    `select t.terms ->> 'lp' as lp, b.mode, t.created_at_ms as at, t.state ->> 'stage' as stage, t.state ->> 'failureCode' as code, t.order_id as "order"
     from trade t join trade_book b on b.id = t.book`,
  );

test.each([1, 30, 400])('orders of the last %i days, over all workspaces of the mode', async (days) => {
  const sinceMs = UNTIL_MS - days * DAY_MS;
  const all = await everyTrade();
  let faded = 0;
  for (const mode of ['test', 'live'] as const)
    for (const solver of LPS) {
      const mine = all.filter(({ lp, mode: its, at }) => lp === solver && its === mode && at >= sinceMs);
      const fades = mine.filter(({ code }) => FADE_CODES.some((one) => one === code));
      expect(await store.orderCounts(solver, mode, sinceMs, FADE_CODES)).toEqual({
        awarded: mine.length,
        settled: mine.filter(({ stage }) => stage === 'settled').length,
        faded: fades.length,
      });
      const listed = await store.fadedOrders(solver, mode, sinceMs, FADE_CODES, 1_000);
      expect(listed.map(({ orderId }) => orderId).toSorted()).toEqual(
        fades.map(({ order }) => `0x${order.toString('hex')}`).toSorted(),
      );
      expect(listed).toEqual(listed.toSorted((one, other) => other.createdAtMs - one.createdAtMs));
      faded += fades.length;
    }
  expect(days === 1 || faded > 0).toBe(true);
});

test('answers of two replicas and of several hours add up', async () => {
  const rows = [
    { solverId: 's', hour: 5, bucket: 2, n: 3 },
    { solverId: 's', hour: 6, bucket: 1, n: 1 },
    { solverId: 'other', hour: 6, bucket: 1, n: 9 },
  ];
  await Promise.all([store.addAnswers(rows), store.addAnswers(rows)]);
  expect(await store.answerCounts('s', 0)).toEqual([
    { bucket: 1, n: 2 },
    { bucket: 2, n: 6 },
  ]);
  expect(await store.answerCounts('s', 6)).toEqual([{ bucket: 1, n: 2 }]);
  expect(await store.answerCounts('nobody', 0)).toEqual([]);
});

test('a claim is kept once, and found by the account of its chain', async () => {
  const claim: BondClaimRecord = {
    ...{ chainId: 7, txHash: `0x${'aa'.repeat(32)}`, logIndex: 3, block: 12n, atMs: 1_000 },
    ...{ account: `0x${'11'.repeat(20)}`, token: `0x${'22'.repeat(20)}`, reason: 'balance' },
    ...{ orderId: `0x${'33'.repeat(32)}`, quoteId: `0x${'44'.repeat(32)}` },
    ...{ promised: 2n ** 200n, paid: 5n, forfeited: 4n },
  };
  await store.addBondClaim(claim);
  await store.addBondClaim({ ...claim, paid: 6n });
  await store.addBondClaim({ ...claim, chainId: 8 });
  const mine = [{ chainId: 7, account: claim.account }];
  expect(await store.bondClaims(mine, 0, 10)).toEqual([claim]);
  expect(await store.bondClaims(mine, 1_001, 10)).toEqual([]);
  expect(await store.bondClaims([], 0, 10)).toEqual([]);
});

test("a solver's account is the one that it proved last", async () => {
  const [one, two] = [`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`] as const;
  await store.putSolverAccounts('s', [
    { chainId: 2, account: one },
    { chainId: 1, account: one },
  ]);
  await store.putSolverAccounts('s', [{ chainId: 1, account: two }]);
  expect(await store.solverAccounts('s')).toEqual([
    { chainId: 1, account: two },
    { chainId: 2, account: one },
  ]);
});
