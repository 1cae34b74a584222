/**
 * A taker after whose trades the mid moves against us pays for it in the next price, and a restart forgets
 * nothing of it.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { createJournalStore } from '../../src/adapters/postgres/lp/accounting-store.ts';
import { LP_MIGRATIONS } from '../../src/adapters/postgres/migrations/lp.ts';
import type { ExplainedQuote } from '../../src/lp/quote-log/explain.ts';
import type { LpNode } from '../../src/lp/node/interface.ts';
import { settleCall } from '../../src/settlement/call.ts';
import { account, type Devnet, startDevnet, type TestAccount, type TestChain } from '../support/devnet.ts';
import { createTestLp, lpConfig } from '../support/lp.ts';
import { awardOf, eventually, takeQuote } from '../support/lp-trades.ts';
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts';
import { type PuppetFeed, puppetFeed } from '../support/puppet-feed.ts';
import { request, type ScriptedVenue, startScriptedVenue } from '../support/scripted-venue.ts';

const [owner, operator, toxic, kind, keeper] = [81, 82, 83, 84, 85].map(account) as [
  TestAccount,
  TestAccount,
  TestAccount,
  TestAccount,
  TestAccount,
];
const USDC = 1_000_000n;

let devnet: Devnet;
let chain: TestChain;
let postgres: TestPostgres;
let venue: ScriptedVenue;
let lp: LpNode;
let feed: PuppetFeed;

async function startLp(): Promise<void> {
  feed = puppetFeed('constant', { ETHUSD: 2_500 });
  const config = lpConfig(devnet, owner.address, {
    takers: { weight: 1, startBps: 1 },
    journal: { everyMs: 100 },
    lease: { aheadSeconds: 4 },
  });
  lp = await createTestLp({
    devnet,
    postgres,
    venueUrl: venue.url,
    operator,
    schema: 'lp_takers',
    config,
    more: { feeds: [feed] },
  });
  await lp.start();
  await venue.until(({ status }) => status === 'active');
}

beforeAll(async () => {
  [devnet, postgres] = await Promise.all([
    startDevnet([41081], { landingMarginSeconds: 10 }),
    startTestPostgres(),
  ]);
  chain = devnet.chains[0] as TestChain;
  for (const { address } of [owner, toxic, kind, keeper]) await chain.fund(address);
  await chain.deposit(owner.address, chain.usdc.address, 50_000n * USDC);
  await chain.deposit(owner.address, chain.weth.address, 20n * 10n ** 18n);
  await chain.deposit(toxic.address, chain.usdc.address, 50_000n * USDC);
  await chain.setOperator(owner.address, operator.address);
  await chain.anvil.mine(2);
  await chain.anvil.rpc('evm_setIntervalMining', [1]);
  venue = await startScriptedVenue([chain.chain]);
  await startLp();
}, 120_000);

afterAll(async () => {
  await lp?.stop();
  await venue?.stop();
  await Promise.all([devnet?.stop(), postgres?.stop()]);
});

const buy = (taker: TestAccount) =>
  takeQuote(
    devnet,
    venue,
    taker,
    request({
      from: chain.chain,
      to: chain.chain,
      give: chain.usdc,
      take: chain.weth,
      amount: 500n * USDC,
      taker: taker.address,
    }),
  );

/** The term in the next price for this taker, in bps. */
async function adverse(taker: TestAccount): Promise<number> {
  const { id } = await buy(taker);
  const [explained] = (await lp.accounts().explain(id)) as ExplainedQuote[];
  return explained?.terms.find(({ name }) => name === 'adv')?.bps ?? Number.NaN;
}

test('unknown takers pay the prior cost', async () => {
  expect(await adverse(toxic)).toBe(1);
  expect(await adverse(kind)).toBe(1);
});

test('the mid moves after a trade: marked at one second, charged from then on and after a restart', async () => {
  const trade = await buy(toxic);
  venue.send({ type: 'award', ...awardOf(trade) });
  await eventually(
    async () =>
      lp.accounts().positions().length === 2 &&
      (await lp.awards()).some(({ orderId }) => orderId === trade.id),
  );
  // We sold WETH; it is worth 20 bps more now. The second runs from the award, and a block may take as long.
  feed.say('ETHUSD', 2_505);
  await chain.send(
    keeper.address,
    chain.chain.escrow,
    settleCall(trade.order, trade.funding, trade.message.quoteId, [trade.message.commitment]),
  );
  const store = createJournalStore(await postgres.database('lp_takers', LP_MIGRATIONS));
  await eventually(async () => (await store.trade(trade.id))?.marks[1] !== undefined);
  expect((await store.trade(trade.id))?.marks[1]).toMatchObject({ bps: expect.closeTo(20, 6), late: false });
  // The average: (20 + 1) / 2. The taker: (20 + 10.5) / 2. A stranger: the average. A replica that does not
  // lead hears of it a little later.
  await expect.poll(() => adverse(toxic)).toBeCloseTo(15.25, 6);
  await expect.poll(() => adverse(kind)).toBeCloseTo(10.5, 6);
  await eventually(async () => (await store.trade(trade.id))?.counted === true);
  expect(
    (await lp.accounts().profit({ by: 'taker', sinceMs: 0, untilMs: null, limit: 9 })).rows,
  ).toMatchObject([{ key: toxic.address, trades: 1, late: 0 }]);
  const against = lp.accounts().totals();
  expect(against?.markout_1s).toBeLessThan(-990_000n);
  // What the mark says, the position says too: what is left of the WETH gained, what was sold did not.
  expect(against?.unrealised).toBeGreaterThan(98_000_000n);

  await lp.stop();
  await startLp();
  await expect.poll(() => adverse(toxic)).toBeCloseTo(15.25, 6);
  await expect.poll(() => adverse(kind)).toBeCloseTo(10.5, 6);
  expect(lp.accounts().totals()?.markout_1s).toBe(against?.markout_1s);
});
