/**
 * The books over real trades on real chains: every entry balances, and what they say lies in the escrow lies
 * there, to the unit, through restarts too.
 */

import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createJournalStore } from '../../../src/adapters/postgres/lp/accounting-store.ts';
import { LP_MIGRATIONS } from '../../../src/adapters/postgres/migrations/lp.ts';
import { max, min } from '../../../src/domain/amount.ts';
import { commitmentDigest } from '../../../src/domain/commitment.ts';
import { orderDigest, orderId } from '../../../src/domain/order.ts';
import { startOps } from '../../../src/adapters/http/ops.ts';
import { explain, quoteLines } from '../../../src/apps/cli/lp/explain.ts';
import { showAccounting } from '../../../src/apps/cli/lp/accounting.ts';
import { showProfit } from '../../../src/apps/cli/lp/pnl.ts';
import { bookRoutes } from '../../../src/apps/lp/books.ts';
import type { ExplainedQuote } from '../../../src/lp/quote-log/explain.ts';
import type { LpNode } from '../../../src/lp/node/interface.ts';
import type { JournalStore } from '../../../src/ports/stores/accounting-store.ts';
import { encodeFunding } from '../../../src/settlement/funding.ts';
import {
  openForCall,
  refundCall,
  requestWithdrawalCall,
  settleCall,
  withdrawCall,
} from '../../../src/settlement/call.ts';
import { orderFromMessage } from '../../../src/protocol/wire.ts';
import { account, type Devnet, startDevnet, type TestChain } from '../../support/devnet.ts';
import { createTestLp, lpConfig, REPLICAS, testTransactors } from '../../support/lp.ts';
import { awardOf, eventually, takeQuote, type Trade, willingAttesters } from '../../support/lp-trades.ts';
import { silentLog } from '../../support/silent.ts';
import { startTestPostgres, type TestPostgres } from '../../support/postgres.ts';
import { random32, request, type ScriptedVenue, startScriptedVenue } from '../../support/scripted-venue.ts';

const owner = account(71);
const operator = account(72);
const taker = account(73);
const keeper = account(74);
const rival = account(75);
const successor = account(76);
const USDC = 1_000_000n;
const WETH = 10n ** 18n;

let devnet: Devnet;
let here: TestChain;
let there: TestChain;
let postgres: TestPostgres;
let venue: ScriptedVenue;
let lp: LpNode;
let transactors: Awaited<ReturnType<typeof testTransactors>>;
let generation = 0;

async function startLp(key = operator, schema = 'lp_books'): Promise<LpNode> {
  generation += 1;
  transactors = await testTransactors({
    ...{ devnet, postgres },
    operator: key,
    owner: `books-${generation}`,
  });
  const config = lpConfig(devnet, owner.address, {
    quoting: { validitySeconds: 5, claimSeconds: 10, fillMarginSeconds: 1 },
    lease: { aheadSeconds: 4 },
    reconcileSeconds: 1,
    journal: { everyMs: 100 },
  });
  const node = await createTestLp({
    devnet,
    postgres,
    venueUrl: venue.url,
    operator: key,
    schema,
    config,
    transactors,
    proofs: willingAttesters,
  });
  await node.start();
  return node;
}

beforeAll(async () => {
  [devnet, postgres] = await Promise.all([
    startDevnet([41071, 41072], { landingMarginSeconds: 6, proofWindowSeconds: 30 }),
    startTestPostgres(),
  ]);
  [here, there] = devnet.chains as [TestChain, TestChain];
  await Promise.all(
    devnet.chains.map(async (chain) => {
      for (const { address } of [owner, taker, operator, keeper, rival, successor]) await chain.fund(address);
      await chain.deposit(owner.address, chain.usdc.address, 50_000n * USDC);
      await chain.deposit(owner.address, chain.weth.address, 20n * WETH);
      await chain.deposit(taker.address, chain.usdc.address, 100_000n * USDC);
      await chain.deposit(taker.address, chain.weth.address, 100n * WETH);
      await chain.deposit(rival.address, chain.usdc.address, 50_000n * USDC);
      await chain.setOperator(owner.address, operator.address);
      await chain.setOperator(owner.address, successor.address);
      await chain.anvil.mine(2);
      await chain.anvil.rpc('evm_setIntervalMining', [1]);
    }),
  );
  venue = await startScriptedVenue(devnet.chains.map(({ chain }) => chain));
  lp = await startLp();
  await venue.until(({ status }) => status === 'active');
  await eventually(
    () =>
      lp.accounts().totals() !== undefined &&
      lp
        .accounts()
        .lag()
        .chains.every(({ blocks }) => blocks < 1_000_000) &&
      lp.accounts().positions().length === 2,
  );
}, 120_000);

afterAll(async () => {
  await lp?.stop();
  await venue?.stop();
  await Promise.all([devnet?.stop(), postgres?.stop()]);
});

const buy = (amount: bigint) =>
  takeQuote(
    devnet,
    venue,
    taker,
    request({
      from: here.chain,
      to: here.chain,
      give: here.usdc,
      take: here.weth,
      amount,
      taker: taker.address,
    }),
  );
const bridge = (amount: bigint) =>
  takeQuote(
    devnet,
    venue,
    taker,
    request({
      from: here.chain,
      to: there.chain,
      give: here.usdc,
      take: there.usdc,
      amount,
      taker: taker.address,
    }),
  );
const settle = ({ message, order, funding }: Trade) =>
  here.send(
    keeper.address,
    here.chain.escrow,
    settleCall(order, funding, message.quoteId, [message.commitment]),
  );
let store: JournalStore | undefined;
const journalStore = async () =>
  (store ??= createJournalStore(await postgres.database('lp_books', LP_MIGRATIONS)));
const tradeOf = async (id: `0x${string}`) => (await journalStore()).trade(id);

/**
 * Journal, ledger and escrow at one block: three equal numbers for each token, and not one posting out of
 * balance.
 */
async function booksAgree(): Promise<void> {
  await eventually(async () => {
    const all = await lp.accounts().reconcile();
    return (
      all.length === 4 &&
      all.every(
        ({ ledger, journal, chainSays }) => ledger !== null && journal === chainSays && journal === ledger,
      )
    );
  });
  const { unbalanced, astray, postings } = await (await journalStore()).audit();
  expect({ unbalanced, astray }).toEqual({ unbalanced: 0, astray: 0 });
  expect(postings).toBeGreaterThan(0);
}

test('the books open with existing balances: equal to chain and ledger, no profit yet', async () => {
  await booksAgree();
  const totals = lp.accounts().totals();
  expect(totals).toMatchObject({ spread: 0n, realised: 0n, unrealised: 0n, total: 0n });
  expect(
    lp
      .accounts()
      .positions()
      .find(({ asset }) => asset === 'WETH'),
  ).toMatchObject({ quantity: 40n * WETH, costMicros: 100_000_000_000n });
});

test('one chain: exchange, fees and spread to the unit', async () => {
  const trade = await buy(2_500n * USDC);
  venue.send({ type: 'award', ...awardOf(trade) });
  await eventually(async () => (await tradeOf(trade.id)) !== undefined);
  await settle(trade);
  await eventually(
    async () =>
      (await tradeOf(trade.id))?.stage === 'finalised' && (await tradeOf(trade.id))?.counted === true,
  );
  const booked = await tradeOf(trade.id);
  const fee = (2_500n * USDC * 2n) / 10_000n;
  expect(booked).toMatchObject({
    late: false,
    pair: 'WETH-USDC',
    corridor: 'chain1-chain1',
    side: 'sell',
    inputMicros: 2_500_000_000n,
    feesMicros: fee,
    earnedMicros: 2_500_000_000n - fee,
    paid: trade.output,
    mid: 2_500,
  });
  expect(booked?.paidMicros).toBe((trade.output * 2_500n * 1_000_000n) / WETH);
  expect(lp.accounts().totals()?.spread).toBe(2_500_000_000n - fee - (booked?.paidMicros ?? 0n));
  const entries = await lp.accounts().entries(trade.id);
  expect(entries.map(({ kind }) => kind).sort()).toEqual(expect.arrayContaining(['credit', 'sent']));
  // What was asked is written down for a replay, with its end.
  expect(lp.recorded().rfqs).toContainEqual(
    expect.objectContaining({
      corridor: 'chain1-chain1',
      input: 'USDC',
      output: 'WETH',
      side: 'exactInput',
      amount: `${2_500n * USDC}`,
      outcome: 'accepted',
      quoted: `${trade.output}`,
    }),
  );
  await booksAgree();
});

test('across chains: receivable until claimed, and the operator’s gas by receipts', async () => {
  const trade = await bridge(4_000n * USDC);
  venue.send({ type: 'award', ...awardOf(trade) });
  await eventually(async () => (await tradeOf(trade.id)) !== undefined);
  await here.send(keeper.address, here.chain.escrow, openForCall(trade.order, trade.funding));
  await eventually(async () => (await tradeOf(trade.id))?.stage === 'finalised');
  // The fill, and its proof with the finalisation.
  await eventually(
    async () => (await lp.accounts().entries(trade.id)).filter(({ kind }) => kind === 'gas').length === 2,
  );
  const gas = (await lp.accounts().entries(trade.id)).filter(({ kind }) => kind === 'gas');
  for (const { chainId, txHash, postings } of gas) {
    const receipt = await devnet.chains
      .find(({ chain }) => chain.id === chainId)
      ?.port.receipt(txHash ?? '0x');
    expect(postings.find(({ account: name }) => name === 'expense:gas')?.amount).toBe(
      (receipt?.gasUsed ?? 0n) * (receipt?.effectiveGasPrice ?? 0n),
    );
  }
  expect((await tradeOf(trade.id))?.gasMicros).toBeGreaterThan(0n);
  expect(
    lp
      .accounts()
      .balances()
      .find(
        ({ account: name, chain, token }) =>
          name === 'assets:receivable' && chain === 'chain1' && token === 'USDC',
      )?.amount,
  ).toBe(0n);
  await booksAgree();
  // The operator's own balance, at the block that the books have read to.
  await eventually(async () => {
    const held = lp
      .accounts()
      .balances()
      .find(
        ({ account: name, chain }) => name === `assets:gas:${operator.address}` && chain === 'chain2',
      )?.amount;
    return held === (await there.port.nativeBalance(operator.address));
  });
});

test('orders that share a proof share its gas, to the wei', async () => {
  const trades: Trade[] = [];
  for (let n = 0; n < 3; n += 1) trades.push(await bridge(BigInt(500 + n) * USDC));
  for (const trade of trades) venue.send({ type: 'award', ...awardOf(trade) });
  await Promise.all(
    trades.map(({ order, funding }) =>
      here.send(keeper.address, here.chain.escrow, openForCall(order, funding)),
    ),
  );
  const gasOf = async ({ id }: Trade) =>
    (await lp.accounts().entries(id)).filter(({ kind }) => kind === 'gas');
  await eventually(async () =>
    (await Promise.all(trades.map(gasOf))).every(
      (entries) => new Set(entries.map(({ chainId }) => chainId)).size === 2,
    ),
  );
  const booked = (await Promise.all(trades.map(gasOf))).flat();
  const hashes = new Set(booked.map(({ txHash }) => txHash as `0x${string}`));
  expect(hashes.size).toBeLessThan(booked.length);
  for (const hash of hashes) {
    const of = booked.filter(({ txHash }) => txHash === hash);
    const shares = of.map(
      ({ postings }) => postings.find(({ account: name }) => name === 'expense:gas')?.amount ?? 0n,
    );
    const receipt = await devnet.chains.find(({ chain }) => chain.id === of[0]?.chainId)?.port.receipt(hash);
    const [most, least] = [shares.reduce(max), shares.reduce(min)];
    expect(shares.reduce((sum, wei) => sum + wei)).toBe(
      (receipt?.gasUsed ?? 0n) * (receipt?.effectiveGasPrice ?? 0n),
    );
    expect(most - least).toBeLessThan(BigInt(shares.length));
  }
  await booksAgree();
});

test("one slice of a split: the LP's part and its share of the fees", async () => {
  const rfq = request({
    from: here.chain,
    to: here.chain,
    give: here.weth,
    take: here.usdc,
    amount: 60n * WETH,
    taker: taker.address,
    maxSplitParts: 4,
  });
  const partial = await venue.ask(rfq);
  if (partial.type !== 'partial') throw new Error(`no ladder: ${JSON.stringify(partial)}`);
  const [input, output] = (partial.ladder[0] as [string, string]).map(BigInt) as [bigint, bigint];
  const portionBps = Number((input * 10_000n) / (60n * WETH));
  const portion = (60n * WETH * BigInt(portionBps)) / 10_000n;
  const amounts = [(output * portion) / input, 7n * USDC] as const;
  const fillDeadline = partial.validUntil + rfq.skeleton.landingMarginSeconds;
  const outputOf = (lpAddress: string, bps: number, amount: bigint) => ({
    oracle: word(rfq.skeleton.outputOracle),
    settler: word(rfq.skeleton.settler),
    chainId: String(here.chain.id),
    token: word(here.usdc.address),
    amount: amount.toString(),
    recipient: word(taker.address),
    callbackData: '0x' as const,
    context:
      `0xe2${word(lpAddress).slice(2)}${(fillDeadline + 1).toString(16).padStart(8, '0')}${bps.toString(16).padStart(4, '0')}0002${'0'.repeat(32)}` as const,
  });
  const message = {
    type: 'slice' as const,
    rfqId: rfq.rfqId,
    quoteId: random32(),
    outputIndex: 0,
    validUntil: partial.validUntil,
    deadlineMs: 500,
    order: {
      user: taker.address,
      nonce: rfq.skeleton.nonce,
      originChainId: String(here.chain.id),
      expires: fillDeadline + rfq.skeleton.proofWindowSeconds,
      fillDeadline,
      inputOracle: rfq.skeleton.inputOracle,
      inputs: [[BigInt(here.weth.address).toString(), (60n * WETH).toString()] as [string, string]],
      outputs: [
        outputOf(owner.address, portionBps, amounts[0]),
        outputOf(rival.address, 10_000 - portionBps, amounts[1]),
      ],
    },
  };
  venue.send(message);
  const commit = await venue.answerTo(rfq.rfqId);
  if (commit.type !== 'commit') throw new Error(`no commitment: ${JSON.stringify(commit)}`);
  const order = orderFromMessage(message.order);
  const domain = { chainId: here.chain.id, escrow: here.chain.escrow };
  const id = orderId(domain, order);
  const others = {
    lp: rival.address,
    deadline: fillDeadline,
    signature: rival.sign(
      commitmentDigest(domain, {
        orderId: id,
        quoteId: message.quoteId,
        lp: rival.address,
        deadline: fillDeadline,
      }),
    ),
  };
  const funding = encodeFunding({
    mode: 'resourceLock',
    orderSignature: taker.sign(orderDigest(domain, order)),
  });
  await here.send(
    keeper.address,
    here.chain.escrow,
    settleCall(order, funding, message.quoteId, [commit.commitment, others]),
  );
  await eventually(async () => (await tradeOf(id))?.stage === 'finalised');
  const booked = await tradeOf(id);
  // No venue awarded it: a replica that did not price it hears of it from the chain first.
  expect(booked).toMatchObject({
    paid: amounts[0],
    earned: portion - (portion * 2n) / 10_000n,
    side: 'buy',
    ...(REPLICAS === 1 && { late: false }),
  });
  expect((booked?.earnedMicros ?? 0n) > (booked?.paidMicros ?? 0n)).toBe(true);
  await booksAgree();
});

test('an accepted quote is explained from the database, and its lines sum to the unit', async () => {
  const trade = await buy(1_000n * USDC);
  const [live] = (await lp.accounts().explain(trade.id)) as [ExplainedQuote];
  expect(live).toMatchObject({ kind: 'quote', quoteId: trade.message.quoteId, orderId: trade.id });
  expect(live.terms.reduce((sum, { amount }) => sum + BigInt(amount.base), 0n)).toBe(
    BigInt(live.difference.amount.base),
  );
  expect(BigInt(live.price.gross.base) - BigInt(live.difference.amount.base)).toBe(trade.output);
  expect(live.inputs.mid.sources).toMatchObject([{ source: 'constant|ETHUSD', price: 2500, dropped: null }]);
  // An age in milliseconds, and no time of day.
  expect(live.inputs.chains[0]?.blockAgeMs).toBeGreaterThanOrEqual(0);
  expect(live.inputs.chains[0]?.blockAgeMs).toBeLessThan(86_400_000);
  venue.send({ type: 'award', ...awardOf(trade) });
  await eventually(async () => (await tradeOf(trade.id)) !== undefined);
  await settle(trade);
  await expect
    .poll(async () => (await journalStore()).explanations(trade.message.quoteId))
    .toMatchObject([{ orderId: trade.id, explanation: { summary: live.summary } }]);
  const declined = request({
    from: here.chain,
    to: here.chain,
    give: here.usdc,
    take: here.weth,
    amount: 10_000_000n * USDC,
    taker: taker.address,
  });
  expect(await venue.ask(declined)).toMatchObject({ type: 'decline' });
  const [why] = await lp.accounts().explain(declined.rfqId);
  expect(why).toMatchObject({
    kind: 'decline',
    rfqId: declined.rfqId,
    largestThatPasses: { units: expect.stringMatching(/^\d+/) },
  });
  expect(await lp.accounts().explain('nobody')).toEqual([]);
});

test('facts from a downtime are booked after the restart, once each, marked as late', async () => {
  const [down, faded] = [await buy(700n * USDC), await bridge(300n * USDC)];
  const before = lp.accounts().totals();
  await lp.stop();
  await settle(down);
  await here.send(keeper.address, here.chain.escrow, openForCall(faded.order, faded.funding));
  for (const chain of devnet.chains) await chain.anvil.advance(20);
  venue.awards = [awardOf(faded)];
  lp = await startLp();
  await eventually(async () => (await tradeOf(down.id))?.stage === 'finalised');
  expect(await tradeOf(down.id)).toMatchObject({ late: true, counted: true });
  expect(lp.accounts().totals()?.spread ?? 0n).toBeGreaterThan(before?.spread ?? 0n);
  for (const chain of devnet.chains) await chain.anvil.advance(40);
  await here.send(keeper.address, here.chain.escrow, refundCall(faded.order));
  // Replicas that were all away are as one after a crash: an order that was open and over before anybody was
  // back is none of the LP's, and moved nothing.
  if (REPLICAS > 1) expect(await tradeOf(faded.id)).toBeUndefined();
  else {
    await eventually(async () => (await tradeOf(faded.id))?.stage === 'failed');
    await eventually(async () =>
      (await lp.accounts().entries(faded.id)).some(
        ({ kind, postings }) => kind === 'refund' && postings.length === 0,
      ),
    );
  }
  await booksAgree();
  // The same position counted from the other side: what it is worth now less what the owner put in is what
  // was earned.
  const { positions, totals } = await lp
    .accounts()
    .profit({ by: 'pair', sinceMs: 0, untilMs: null, limit: 10 });
  const worth = positions.reduce(
    (sum, { valueMicros, ownerMicros }) => sum + (valueMicros ?? 0n) - ownerMicros,
    0n,
  );
  const earned = totals.spread + totals.realised + totals.unrealised - totals.lost;
  expect(Math.abs(Number(worth - earned))).toBeLessThanOrEqual(50);
  expect(totals).toEqual(lp.accounts().totals());
});

test('deposits and withdrawals of the owner are booked without profit', async () => {
  const before = lp.accounts().totals()?.total ?? 0n;
  await there.deposit(owner.address, there.weth.address, 3n * WETH);
  await there.send(
    owner.address,
    there.chain.escrow,
    requestWithdrawalCall(there.usdc.address, 1_000n * USDC),
  );
  await booksAgree();
  await eventually(() =>
    lp
      .accounts()
      .positions()
      .some(({ asset, ownerMicros }) => asset === 'WETH' && ownerMicros > 100_000_000_000n),
  );
  expect(Math.abs(Number((lp.accounts().totals()?.total ?? 0n) - before))).toBeLessThanOrEqual(10);
  const { availableAt } = await there.port.pendingWithdrawal(owner.address, there.usdc.address);
  const head = there.port.head()?.timestamp ?? 0;
  await there.anvil.advance(availableAt - head + 2);
  await there.send(owner.address, there.chain.escrow, withdrawCall(there.usdc.address, owner.address));
  await eventually(async () =>
    (await lp.accounts().reconcile()).some(
      ({ chain, token, journal }) => chain === 'chain2' && token === 'USDC' && journal < 46_000n * USDC,
    ),
  );
  // Orders across chains need clocks that agree.
  const timeOf = ({ port }: TestChain) => port.head()?.timestamp ?? 0;
  await here.anvil.advance(timeOf(there) - timeOf(here));
  await booksAgree();
});

test('the admin API returns books and profit, and says what to do for unknown ids', async () => {
  const said: object[] = [];
  const door = await startOps({
    host: '127.0.0.1',
    port: 0,
    log: silentLog,
    routes: bookRoutes(lp, { note: async (who, what, more) => void said.push({ who, what, ...more }) }),
    localOnly: true,
  });
  const get = async (path: string) => {
    const answer = await fetch(`${door.url}${path}`);
    return {
      status: answer.status,
      body: (await answer.json()) as Record<string, unknown> & { error: { code: string; message: string } },
    };
  };
  const { body: pnl } = await get('/pnl?by=trade&sinceMs=0&limit=100');
  const rows = pnl.rows as { key: string; trades: number }[];
  expect(rows.length).toBeGreaterThanOrEqual(5);
  const { body: why } = await get(`/explain/${rows.at(-1)?.key}`);
  const [first] = why.explanations as ExplainedQuote[];
  expect(first).toMatchObject({ kind: 'quote', orderId: rows.at(-1)?.key });
  for (const line of quoteLines(first as ExplainedQuote)) expect(line.length).toBeLessThan(260);
  expect((await get(`/books/${rows[0]?.key}`)).body.entries).toEqual(
    expect.arrayContaining([expect.objectContaining({ kind: 'sent' })]),
  );
  expect((await get('/books')).body.reconciled).toEqual(
    expect.arrayContaining([expect.objectContaining({ chain: 'chain1', token: 'USDC', difference: '0' })]),
  );
  expect(await get('/explain/nobody')).toMatchObject({
    status: 400,
    body: { error: { code: 'unknown_quote', message: expect.stringContaining('lp.explain.keep') } },
  });
  // Native currency leaves no event: a top-up is a difference until a person books it, exactly and with a
  // reason.
  const gasOf = async () =>
    ((await get('/books')).body.gas as { chain: string; journal: string; chainSays: string }[]).find(
      ({ chain }) => chain === 'chain2',
    );
  const before = BigInt((await gasOf())?.journal ?? 0);
  await there.anvil.rpc('eth_sendTransaction', [
    { from: keeper.address, to: operator.address, value: `0x${(10n ** 17n).toString(16)}` },
  ]);
  await eventually(async () => BigInt((await gasOf())?.chainSays ?? 0) === before + 10n ** 17n);
  // The verdict is over every row.
  const admin = { admin: door.url };
  expect(await printed(() => showAccounting(admin))).toMatch(
    /gas of 0x\S+ +\d+ +\d+\.\d+ ETH +\d+\.\d+ ETH +- +0\.1 ETH\n[\s\S]*\n1 of 6 differ\./,
  );
  expect(process.exitCode).toBe(1);
  process.exitCode = 0;
  await eventually(() =>
    lp
      .accounts()
      .reconciledGas()
      .some(({ chain, difference }) => chain === 'chain2' && difference === 10n ** 17n),
  );
  const adjust = async (word: object) => {
    const answer = await fetch(`${door.url}/books/adjust`, { method: 'POST', body: JSON.stringify(word) });
    return { status: answer.status, body: (await answer.json()) as { error: { code: string } } };
  };
  const word2 = {
    chain: 'chain2',
    token: 'native',
    amount: (10n ** 17n).toString(),
    note: 'topped up',
    by: 'ada',
  };
  expect(await adjust({ ...word2, note: '' })).toMatchObject({
    status: 400,
    body: { error: { code: 'bad_request' } },
  });
  expect(await adjust({ ...word2, amount: '5' })).toMatchObject({
    status: 400,
    body: {
      error: {
        code: 'wrong_amount',
        message: expect.stringContaining(
          'The difference is 0.1 ETH on chain2, not 0.000000000000000005 ETH.',
        ) as string,
      },
    },
  });
  expect(await adjust({ ...word2, token: 'USDC' })).toMatchObject({
    status: 400,
    body: { error: { code: 'nothing_to_adjust' } },
  });
  await printed(() =>
    showAccounting({ ...admin, adjust: '0.1', chain: 'chain2', token: 'native', note: 'topped up' }),
  );
  expect((await gasOf())?.journal).toBe((before + 10n ** 17n).toString());
  expect(said).toMatchObject([{ what: 'adjust', note: 'topped up', changes: [{ to: '0.1 ETH' }] }]);
  await booksAgree();
  // The operator's tools say the same in a terminal.
  expect(await printed(() => showAccounting(admin))).toMatch(
    /chain1 +USDC +\d+ +([\d.]+ USDC) +\1 .*[\s\S]*All 6 balances of the accounting ledger agree/,
  );
  expect(process.exitCode).toBe(0);
  expect(await printed(() => showAccounting({ ...admin, order: rows[0]?.key ?? '' }))).toMatch(
    /sent[\s\S]*assets:inventory +chain\d +-?[\d.]+ (?:USDC|WETH)\n[\s\S]*credit/,
  );
  const table = await printed(() =>
    showProfit({ ...admin, since: 'all', by: 'pair', format: 'table', limit: '10' }),
  );
  expect(table).toMatch(/WETH-USDC +\d+ +[\d,.]+/);
  expect(table).toMatch(
    /spread [\d,.-]+ \+ realised [\d,.-]+ \+ unrealised [\d,.-]+ - gas [\d,.-]+ - lost 0\.00 - rebalancing 0\.00 = [\d,.-]+/,
  );
  const [heading, ...lines] = (
    await printed(() => showProfit({ ...admin, since: '1h', by: 'trade', format: 'csv', limit: '10' }))
  ).split('\n');
  expect(heading).toBe(
    'trade,time,pair,corridor,side,stage,taker,quantity,base,price,quote,fee,fee_token,trades,volume,gross,fees,spread,gas,lost,mark_1s,mark_10s,mark_60s,realised,late',
  );
  const cells = lines.map((line) => line.split(','));
  const plain =
    cells.find((row) => row[2] === 'WETH-USDC' && row[11] === '0.5') ?? expect.fail(lines.join('\n'));
  expect(plain.slice(3, 7)).toEqual(['chain1-chain1', 'sell', 'finalised', taker.address]);
  expect(plain[1]).toMatch(/^\d{4}-\d\d-\d\dT/);
  // 2,500 USDC, of which the escrow kept 0.5, for a little less than one WETH.
  expect(plain.slice(8, 13)).toEqual(['WETH', expect.stringMatching(/^25\d\d\.\d+$/), 'USDC', '0.5', 'USDC']);
  expect(Number(plain[7]) * Number(plain[9])).toBeCloseTo(2_500, 6);
  // A mark that is not due is blank, and not zero.
  for (const row of cells)
    if ((await tradeOf(row[0] as `0x${string}`))?.marks[60] === undefined) expect(row[22]).toBe('');
  // The accounting ledger as a file: what was there, what moved, what is there.
  const exported = (more: object) => printed(() => showAccounting({ ...admin, export: true, ...more }));
  const records = (await exported({ format: 'ndjson' }))
    .split('\n')
    .map((line) => JSON.parse(line) as ExportRow);
  expect(sumsOf(records, ['opening', 'posting'])).toEqual(sumsOf(records, ['closing']));
  expect(records.filter(({ row }) => row === 'posting').length).toBeGreaterThan(50);
  const middle = records.filter(({ row }) => row === 'posting').at(40)?.time ?? '';
  for (const window of [
    { until: middle },
    { since: middle },
    { since: middle, counterparty: taker.address.toUpperCase().replace('0X', '0x') },
  ]) {
    const some = (await exported({ format: 'ndjson', ...window }))
      .split('\n')
      .map((line) => JSON.parse(line) as ExportRow);
    expect(sumsOf(some, ['opening', 'posting'])).toEqual(sumsOf(some, ['closing']));
    if ('counterparty' in window)
      expect(
        new Set(some.filter(({ row }) => row === 'posting').map(({ counterparty }) => counterparty)),
      ).toEqual(new Set([taker.address]));
  }
  expect((await exported({})).split('\n')[0]).toBe(
    'row,time,entry,kind,counterparty,order_id,tx_hash,block,chain,account,token,amount,base_units',
  );
  await expect(exported({ since: '1h', until: '2h' })).rejects.toThrow(/not after/);
  await expect(exported({ counterparty: 'ada' })).rejects.toThrow(/owner, bridge or network/);
  await expect(
    showProfit({ ...admin, since: 'lately', by: 'pair', format: 'table', limit: '10' }),
  ).rejects.toThrow(/24h, 7d, all/);
  expect(await printed(() => explain(first?.orderId ?? '', admin))).toMatch(
    /^We promised[\s\S]*rounding[\s\S]*total[\s\S]*nearest limits/,
  );
  await expect(explain('nobody', admin)).rejects.toThrow(/lp\.explain\.keep/);
  // Every figure is of the window: nothing was booked since now, at prices that stand still.
  const fresh = await get(`/pnl?sinceMs=${Date.now() + 1}`);
  expect(fresh.body).toMatchObject({
    rows: [],
    totals: { spread: '0', gas: '0', realised: '0', unrealised: '0', total: '0' },
  });
  expect(await get(`/pnl?sinceMs=5&untilMs=5`)).toMatchObject({ status: 400 });
  expect(await get('/pnl?by=weather')).toMatchObject({
    status: 400,
    body: { error: { code: 'bad_request' } },
  });
  await door.close();
});

interface ExportRow {
  row: 'opening' | 'posting' | 'closing';
  time: string | null;
  counterparty: string | null;
  chain: string;
  account: string;
  token: string;
  base_units: string;
}

function sumsOf(rows: readonly ExportRow[], kinds: readonly ExportRow['row'][]): Record<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const { row, account: name, chain, token, base_units } of rows) {
    if (!kinds.includes(row)) continue;
    const key = `${name} ${chain} ${token}`;
    sums.set(key, (sums.get(key) ?? 0n) + BigInt(base_units));
  }
  return Object.fromEntries([...sums].filter(([, sum]) => sum !== 0n).sort());
}

/** Bought with this chain's native currency by all transactions of the LP's keys, by their receipts. */
async function spentOn({ anvil, port }: TestChain): Promise<bigint> {
  const head = Number(await anvil.rpc<string>('eth_blockNumber'));
  let spent = 0n;
  for (let number = 0; number <= head; number += 1) {
    const { transactions } = await anvil.rpc<{
      transactions: { from: string; hash: `0x${string}`; value: `0x${string}` }[];
    }>('eth_getBlockByNumber', [`0x${number.toString(16)}`, true]);
    for (const { from, hash, value } of transactions) {
      if (from !== operator.address && from !== successor.address) continue;
      const receipt = await port.receipt(hash);
      spent += (receipt?.gasUsed ?? 0n) * (receipt?.effectiveGasPrice ?? 0n);
      if (receipt?.status === 'success') spent += BigInt(value);
    }
  }
  return spent;
}

/** Every key has on chain what the books say, and their expense is all that the receipts say. */
async function gasAgrees(): Promise<void> {
  await eventually(async () => {
    const rows = await lp.accounts().reconcileGas();
    return rows.length === 4 && rows.every(({ difference }) => difference === 0n);
  });
  for (const chain of devnet.chains) {
    const spent = await spentOn(chain);
    const booked = () =>
      lp
        .accounts()
        .balances()
        .find(({ account: name, chain: slug }) => name === 'expense:gas' && slug === chain.chain.slug)
        ?.amount;
    await expect.poll(booked).toBe(spent);
  }
  await booksAgree();
}

test('an operator key is rotated: the gas of trades before, during and after is booked for every key', async () => {
  // The first key fills it, and whichever key is there proves and claims it.
  const during = await bridge(600n * USDC);
  venue.send({ type: 'award', ...awardOf(during) });
  await eventually(async () => (await tradeOf(during.id)) !== undefined);
  await here.send(keeper.address, here.chain.escrow, openForCall(during.order, during.funding));
  await eventually(async () => (await tradeOf(during.id))?.counted === true);
  await lp.stop();
  lp = await startLp(successor);
  await venue.until(({ status }) => status === 'active');
  await eventually(async () => (await tradeOf(during.id))?.stage === 'finalised');
  const after = await bridge(700n * USDC);
  venue.send({ type: 'award', ...awardOf(after) });
  await eventually(async () => (await tradeOf(after.id)) !== undefined);
  await here.send(keeper.address, here.chain.escrow, openForCall(after.order, after.funding));
  await eventually(async () => (await tradeOf(after.id))?.stage === 'finalised');
  await gasAgrees();
  expect((await tradeOf(after.id))?.gasMicros).toBeGreaterThan(0n);
});

test('value that an operator pays with a call is booked with its gas; a reverted call pays none', async () => {
  const pay = { value: 10n ** 15n, gas: 60_000n, data: '0x' } as const;
  await transactors.get(here.chain.id)?.submit({ ...pay, key: 'paid', to: keeper.address });
  // The escrow takes no native currency.
  await transactors.get(here.chain.id)?.submit({ ...pay, key: 'refused', to: here.chain.escrow });
  await eventually(async () => (await transactors.get(here.chain.id)?.status('refused'))?.state === 'mined');
  await gasAgrees();
});

test('books of a release that skipped the gas of a rotated-in key are completed, and nothing is booked twice', async () => {
  await lp.stop();
  const db = await postgres.database('lp_books', LP_MIGRATIONS);
  // What that release left: one account for all keys, and no entry of the second key.
  await db.query('delete from lp_gas_cursor');
  await db.query(
    `with gone as (delete from lp_posting p using lp_entry e where e.n = p.entry and e.id in (
       select e.id from lp_entry e join lp_posting p on p.entry = e.n where p.account = 'assets:gas:${successor.address}') returning e.n)
     delete from lp_entry where n in (select n from gone)`,
  );
  await db.query(`update lp_posting set account = 'assets:gas' where account like 'assets:gas:%'`);
  await db.query(`update lp_entry set id = left(id, -43) where id like 'opening:%:native:%'`);
  await db.query('delete from lp_balance');
  await db.query(
    'insert into lp_balance select account, chain_id, token, sum(amount) from lp_posting group by 1, 2, 3',
  );
  lp = await startLp(successor);
  await venue.until(({ status }) => status === 'active');
  await gasAgrees();
});

test('an LP back on an old database takes in what was traded on another one before it signs anything', async () => {
  await lp.stop();
  lp = await startLp(successor, 'lp_elsewhere');
  await venue.until(({ status }) => status === 'active');
  const stageOf = async (id: string) => (await lp.awards()).find(({ orderId }) => orderId === id)?.stage;
  const accepted = async (trade: Trade) => {
    venue.send({ type: 'award', ...awardOf(trade) });
    await eventually(async () => (await stageOf(trade.id)) !== undefined);
    return trade;
  };
  const near = await accepted(await buy(1_000n * USDC));
  await settle(near);
  const whole = await accepted(await bridge(800n * USDC));
  await here.send(keeper.address, here.chain.escrow, openForCall(whole.order, whole.funding));
  await eventually(async () => (await stageOf(whole.id)) === 'finalised');
  const owed = await accepted(await bridge(900n * USDC));
  await here.send(keeper.address, here.chain.escrow, openForCall(owed.order, owed.funding));
  // Its input is still owed, or not, when the other database is left.
  await eventually(async () => (await stageOf(owed.id)) !== 'committed');
  await there.deposit(owner.address, there.weth.address, WETH);
  await lp.stop();
  venue.statuses.length = 0;
  lp = await startLp(successor);
  await venue.until(({ status }) => status === 'active');
  // It has said "active" now for the first time, and everything is known.
  expect(lp.inventory().filter(({ drift }) => drift !== null)).toEqual([]);
  expect((await lp.accounts().reconcile()).filter(({ difference }) => difference !== 0n)).toEqual([]);
  await eventually(async () => (await stageOf(owed.id)) === 'finalised');
  for (const { id } of [whole, owed, near])
    await eventually(
      async () => (await tradeOf(id))?.stage === 'finalised' && (await tradeOf(id))?.counted === true,
    );
  await booksAgree();
});

async function printed(work: () => Promise<void>): Promise<string> {
  const said: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((line: string) => void said.push(line));
  await work().finally(() => log.mockRestore());
  return said.join('\n');
}

const word = (address: string) => `0x${'0'.repeat(24)}${address.slice(2)}` as const;
