/**
 * `firmquote audit --lp`: books, awards, reservations and fees of a maker that has traded for real; sound as
 * it is, and each thing found that is one unit wrong.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/adapters/postgres/pool.ts';
import { auditLpNode, type AuditReport } from '../../src/apps/audit/audit.ts';
import type { Kind } from '../../src/apps/audit/difference.ts';
import { LP_TABLES } from '../../src/apps/lp/schema.ts';
import { openForCall, settleCall } from '../../src/settlement/call.ts';
import type { LpNode } from '../../src/lp/node/interface.ts';
import { account, type Devnet, startDevnet, type TestChain } from '../support/devnet.ts';
import { createTestLp, lpConfig, testTransactors } from '../support/lp.ts';
import { awardOf, eventually, takeQuote, type Trade, willingAttesters } from '../support/lp-trades.ts';
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts';
import { request, type ScriptedVenue, startScriptedVenue } from '../support/scripted-venue.ts';

const owner = account(1_071);
const operator = account(1_072);
const taker = account(1_073);
const keeper = account(1_074);
const USDC = 1_000_000n;

let devnet: Devnet;
let here: TestChain;
let there: TestChain;
let postgres: TestPostgres;
let venue: ScriptedVenue;
let db: Database;
let lp: LpNode;
let pending: Trade;

const audit = (
  patienceMs = 0,
  committed?: () => Promise<{ chainId: number; token: `0x${string}`; committed: bigint }[]>,
): Promise<AuditReport> =>
  auditLpNode(
    { db, chains: devnet.chains.map(({ port }) => port), startBlock: () => 0, sleep: (ms) => sleep(ms) },
    { account: owner.address, ...(committed && { committed }) },
    { sinceMs: 0, patienceMs, everyMs: 250 },
  );
const sql = (text: string, ...values: unknown[]) => db.query(text, values);
const ask = (to: TestChain, take: TestChain['weth']) =>
  takeQuote(
    devnet,
    venue,
    taker,
    request({
      from: here.chain,
      to: to.chain,
      give: here.usdc,
      take,
      amount: 2_500n * USDC,
      taker: taker.address,
    }),
  );

beforeAll(async () => {
  [devnet, postgres] = await Promise.all([
    startDevnet([41_511, 41_512], { landingMarginSeconds: 60, proofWindowSeconds: 300 }),
    startTestPostgres(),
  ]);
  [here, there] = devnet.chains as [TestChain, TestChain];
  await Promise.all(
    devnet.chains.map(async (chain) => {
      for (const { address } of [owner, taker, operator, keeper]) await chain.fund(address);
      for (const token of [chain.usdc, chain.weth])
        for (const { address } of [owner, taker])
          await chain.deposit(address, token.address, 50_000n * 10n ** BigInt(token.decimals));
      await chain.setOperator(owner.address, operator.address);
      await chain.anvil.mine(2);
      await chain.anvil.rpc('evm_setIntervalMining', [1]);
    }),
  );
  db = await postgres.database('lp_audit', LP_TABLES);
  venue = await startScriptedVenue(devnet.chains.map(({ chain }) => chain));
  const transactors = await testTransactors({ devnet, postgres, operator, owner: 'audit' });
  const config = lpConfig(devnet, owner.address, {
    quoting: { validitySeconds: 60, claimSeconds: 10, fillMarginSeconds: 1 },
    lease: { aheadSeconds: 100 },
    reconcileSeconds: 1,
    journal: { everyMs: 100 },
  });
  lp = await createTestLp({
    devnet,
    postgres,
    venueUrl: venue.url,
    operator,
    schema: 'lp_audit',
    config,
    transactors,
    proofs: willingAttesters,
  });
  await lp.start();
  await venue.until(({ status }) => status === 'active');
  await eventually(() => lp.accounts().totals() !== undefined && lp.accounts().positions().length === 2);
  const settled = await ask(here, here.weth);
  venue.send({ type: 'award', ...awardOf(settled) });
  await here.send(
    keeper.address,
    here.chain.escrow,
    settleCall(settled.order, settled.funding, settled.message.quoteId, [settled.message.commitment]),
  );
  const crossed = await ask(there, there.usdc);
  venue.send({ type: 'award', ...awardOf(crossed) });
  await here.send(keeper.address, here.chain.escrow, openForCall(crossed.order, crossed.funding));
  for (const { id } of [settled, crossed])
    await eventually(async () =>
      (await lp.awards()).some(({ orderId, stage }) => orderId === id && stage === 'finalised'),
    );
  // Awarded, and nobody has put it on the chain yet.
  pending = await ask(here, here.weth);
  venue.send({ type: 'award', ...awardOf(pending) });
  await eventually(async () => (await lp.awards()).some(({ orderId }) => orderId === pending.id));
}, 180_000);
afterAll(async () => {
  await venue?.stop();
  await Promise.all([devnet?.stop(), postgres?.stop()]);
});

const running = async () =>
  lp.inventory().map(({ chainId, token, committed }) => ({ chainId, token, committed }));

test('a running LP: no lasting difference', async () => {
  const report = await audit(120_000, running);
  expect(report).toMatchObject({ differences: [], unasked: [] });
  expect(report.compared).toMatchObject({ awards: 3, reservations: 1 });
});

test("the running LP's holds are compared with its awards", async () => {
  const { differences } = await audit(1_000, async () =>
    (await running()).map((each) =>
      each.chainId === here.chain.id && each.token === here.weth.address
        ? { ...each, committed: each.committed + 1n }
        : each,
    ),
  );
  expect(differences).toMatchObject([{ kind: 'lp_reservation', by: '1' }]);
});

describe('one planted difference, at rest', () => {
  const PLANTED: [Kind, string | undefined, () => Promise<unknown>, () => Promise<unknown>][] = [
    [
      'lp_balance',
      '1',
      () =>
        sql(
          `update lp_balance set amount = amount + 1 where account = 'expense:gas' and chain_id = $1`,
          here.chain.id,
        ),
      () =>
        sql(
          `update lp_balance set amount = amount - 1 where account = 'expense:gas' and chain_id = $1`,
          here.chain.id,
        ),
    ],
    ['lp_entry', '1', () => post(1n, 'expense:gas', 'gas'), () => post(-1n, 'expense:gas', 'gas')],
    [
      'lp_journal',
      '1',
      () => shift('assets:inventory', 'equity:adjustment'),
      () => shift('equity:adjustment', 'assets:inventory'),
    ],
    [
      'lp_native',
      '1',
      () => shift(`assets:gas:${operator.address}`, 'expense:gas'),
      () => shift('expense:gas', `assets:gas:${operator.address}`),
    ],
    [
      'lp_fees',
      '1',
      () => shift('expense:platform-fee', 'equity:owner', true),
      () => shift('equity:owner', 'expense:platform-fee', true),
    ],
    ['lp_award', undefined, () => stage('finalised', 'failed'), () => stage('failed', 'finalised')],
    [
      'lp_reservation',
      undefined,
      () => sql(`update lp_award set stage = 'failed' where stage = 'committed'`),
      () => sql(`update lp_award set stage = 'committed' where stage = 'failed'`),
    ],
    ['lp_reservation', '1', () => reserve(1n), () => reserve(-1n)],
  ];

  beforeAll(async () => {
    await lp.stop();
    for (const chain of devnet.chains) await chain.anvil.rpc('evm_setIntervalMining', [0]);
  });

  test('no difference', async () => {
    const report = await audit();
    expect(report).toMatchObject({ differences: [], unasked: [] });
    expect(report.compared).toMatchObject({ 'balances of the LP': 4, 'native balances of operators': 2 });
  });

  test.each(PLANTED)('%s %s', async (kind, by, plant, undo) => {
    await plant();
    const report = await audit();
    await undo();
    expect(report.differences, JSON.stringify(report.differences)).toMatchObject([
      by === undefined ? { kind } : { kind, by },
    ]);
    expect(await audit()).toMatchObject({ differences: [] });
  });

  /** One unit onto a posting, and onto the balance that is its sum. */
  async function post(by: bigint, name: string, kind: string): Promise<void> {
    const [row] = await db.query<{ entry: number; chain_id: number; token: string }>(
      `select p.entry, p.chain_id, p.token from lp_posting p join lp_entry e on e.n = p.entry where p.account = $1 and e.kind = $2 order by p.entry limit 1`,
      [name, kind],
    );
    await move(row as { entry: number; chain_id: number; token: string }, name, by);
  }

  /** A unit from one account to another within one entry: it still balances. */
  async function shift(to: string, from: string, ofOrder = false): Promise<void> {
    const [row] = await db.query<{ entry: number; chain_id: number; token: string }>(
      `select p.entry, p.chain_id, p.token from lp_posting p join lp_entry e on e.n = p.entry where p.account = $1 and (e.order_id is not null) = $2 and p.chain_id = $3 order by p.entry, p.token limit 1`,
      [
        [to, from].find((name) => name.startsWith('expense') || name.startsWith('assets')),
        ofOrder,
        here.chain.id,
      ],
    );
    for (const [name, by] of [
      [to, 1n],
      [from, -1n],
    ] as const)
      await move(row as { entry: number; chain_id: number; token: string }, name, by);
  }

  async function move(
    { entry, chain_id, token }: { entry: number; chain_id: number; token: string },
    name: string,
    by: bigint,
  ): Promise<void> {
    await sql(
      'insert into lp_posting values ($1, $2, $3, $4, $5)',
      entry,
      name,
      chain_id,
      token,
      by.toString(),
    );
    await sql(
      'insert into lp_balance values ($1, $2, $3, $4) on conflict (account, chain_id, token) do update set amount = lp_balance.amount + excluded.amount',
      name,
      chain_id,
      token,
      by.toString(),
    );
  }

  const stage = (from: string, to: string) =>
    sql(
      'update lp_award set stage = $2 where order_id = (select min(order_id::text)::bytea from lp_award where stage = $1)',
      from,
      to,
    );

  async function reserve(by: bigint): Promise<void> {
    const [row] = await db.query<{ clean: { ledger: { promises: { quoteId: string; amount: string }[] } } }>(
      'select clean from lp_owner',
    );
    const clean = (row as { clean: { ledger: { promises: { quoteId: string; amount: string }[] } } }).clean;
    for (const promise of clean.ledger.promises)
      if (promise.quoteId === pending.id) promise.amount = (BigInt(promise.amount) + by).toString();
    await sql('update lp_owner set clean = $1', JSON.stringify(clean));
  }
});
