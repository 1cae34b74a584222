/** Every field of every shape of the API, held against live answers of a real venue: its name, its type, whether it may be null, and when it is there. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assetId } from '../src/domain/asset.ts';
import type { Bytes32 } from '../src/domain/hex.ts';
import type { Fact } from '../src/domain/fact.ts';
import type { Rfq } from '../src/protocol/link.ts';
import { invalidateNonceCall, openForCall, requestWithdrawalCall, settleCall } from '../src/settlement/call.ts';
import { foldFacts } from '../src/settlement/lifecycle.ts';
import { ACTION, ERROR, LOCKS, ORDER, ORDER_STATUS, PAIRS, PREFLIGHT, RFQ_CANDIDATE, RFQ_QUOTES, ROSTER, SOLVER, VALIDATION_ERROR, GAS, PREVIEW_INPUT, PREVIEW_OUTPUT, SLICE, SPLIT, STANDARD_ORDER, VALIDITY, WARNING } from './support/api-tables.ts';
import { account, DEPLOYER, type TestAccount, type TestChain } from './support/devnet.ts';
import { observed } from './support/observed.ts';
import { createWalk, type Type } from './support/shapes.ts';
import { signPlan } from './support/taker.ts';
import { type Answer, type Json, startTestVenue, type TestVenue, until } from './support/venue.ts';

let v: TestVenue;
let a: TestChain;
let b: TestChain;
let key: string;
let live: string;
const walk = createWalk();
const asset = (chain: TestChain, symbol: 'usdc' | 'weth') => assetId({ chainId: chain.chain.id, token: chain[symbol].address });

/** 2,500 USDC for one WETH less some basis points. */
function priced({ input, amount }: Rfq, bps: bigint): bigint {
  const whole = v.devnet.chains.some((chain) => input === asset(chain, 'usdc')) ? (BigInt(amount) * 10n ** 12n) / 2_500n : (BigInt(amount) * 2_500n) / 10n ** 12n;
  return (whole * (10_000n - bps)) / 10_000n;
}

beforeAll(async () => {
  v = await startTestVenue({ chainIds: [31_601, 31_602] });
  [a, b] = v.devnet.chains as [TestChain, TestChain];
  [key, live] = [await v.key('service'), await v.key('service', { mode: 'live' })];
  await v.solver(1, (rfq, make) => make.quote(rfq, { output: priced(rfq, 10n) }));
  // Far from the reference: its quotes carry a warning.
  await v.solver(2, (rfq, make) => make.quote(rfq, { output: priced(rfq, 500n) }));
  // Two who take only a part each.
  for (const n of [3, 4]) await v.solver(n, (rfq) => ({ type: 'partial', rfqId: rfq.rfqId, validUntil: now() + 60, ladder: [[(BigInt(rfq.amount) / 2n).toString(), (priced(rfq, 1n) / 2n).toString()]] }));
  const tired = await v.solver(5, () => undefined, { status: 'standby' });
  tired.say({ type: 'status', status: 'standby', note: 'inventory is being moved' });
  await v.store.putSolver({ id: 'lp-6', name: 'Nobody yet', kind: 'solver', corridors: null, disabled: false });
  await v.bus.publish('solvers', 'lp-6');
  await until(() => v.venue.roster.entry('lp-6'));
});
afterAll(() => v.stop());

const now = () => Math.max(Math.floor(Date.now() / 1_000), ...v.devnet.chains.map(({ port }) => port.head()?.timestamp ?? 0));
const holds = (type: Type, { status, json, text }: Answer, wanted = 200) => {
  expect(status, text).toBe(wanted);
  expect(walk.problems(type, json)).toEqual([]);
};

let people = 8_000;
async function fundedTaker(): Promise<TestAccount> {
  const taker = account(people++);
  await a.fund(taker.address, 100_000n);
  return taker;
}

const ask = (taker: TestAccount, body: object = {}) => v.call('POST', '/api/v1/rfq/quotes', { key, body: { taker: taker.address, input: { asset: asset(a, 'usdc'), amount: '1000000000' }, output: { asset: asset(a, 'weth') }, solvers: { include: ['lp-1'] }, ...body } });
const across = () => ({ output: { asset: asset(b, 'weth') } });
const best = (answer: Answer) => answer.json['quotes']?.[0] as Json;
const plan = (candidate: Json, more: object = {}) => v.call('POST', '/api/v1/rfq/orders/preflight', { key, body: { quoteResponse: candidate, ...more } });
const status = (id: string) => v.call('GET', `/api/v1/rfq/orders/${id}`, { key });

async function submitted(taker: TestAccount, body: object = {}): Promise<{ answer: Answer; id: Bytes32; request: Record<string, unknown> }> {
  const candidate = best(await ask(taker, body));
  const request = await signPlan(taker, candidate, (await plan(candidate)).json);
  const answer = await v.call('POST', '/api/v1/rfq/orders', { key, body: request });
  return { answer, id: answer.json['id'] as unknown as Bytes32, request };
}

/** Appends facts as a worker would. */
async function record(id: Bytes32, facts: readonly Fact[]): Promise<void> {
  const order = await v.store.order(id);
  const [claim] = await v.store.claim([id], 'test', 10_000);
  if (!order || !claim) throw new Error('no such order');
  const progress = foldFacts(order.order, [...order.facts.map(({ fact }) => fact), ...facts]);
  const event = progress.status === 'settled' ? 'order.settled' : progress.status === 'failed' ? 'order.failed' : null;
  expect(await v.store.append(claim, order, facts, { status: progress.status, final: progress.final, event, atMs: Date.now() })).toBe(true);
  await v.store.release([claim]);
}

/** Everything that the chains show, once they show that it is so far. */
async function recordChains(id: Bytes32, stage: string): Promise<void> {
  const order = await v.store.order(id);
  if (!order) throw new Error('no such order');
  const seen = await observed(order, v.devnet.chains, (reached) => reached === stage);
  const known = new Set(order.facts.map(({ fact }) => fact.kind));
  await record(id, seen.facts.map(({ fact }) => fact).filter(({ kind }) => !known.has(kind)));
}

describe('quotes', () => {
  test('from one LP, in every dress', async () => {
    const taker = await fundedTaker();
    holds(RFQ_QUOTES, await ask(taker));
    holds(RFQ_QUOTES, await ask(taker, { minValidUntil: now() + 20, receiver: account(people++).address }));
    holds(RFQ_QUOTES, await ask(taker, across()));
    const warned = await ask(taker, { solvers: { include: ['lp-2'] } });
    expect(best(warned)['warnings']).toMatchObject([{ code: 1001 }]);
    holds(RFQ_QUOTES, warned);
    v.relayer.healthy = false;
    const byWallet = await ask(taker);
    v.relayer.healthy = true;
    expect(best(byWallet)).toMatchObject({ executionMode: 'walletBroadcast', gas: { usd: expect.any(Number) } });
    holds(RFQ_QUOTES, byWallet);
  });

  test('from several LPs at once', async () => {
    const split = await ask(await fundedTaker(), { solvers: { include: ['lp-3', 'lp-4'] } });
    expect(best(split)['splitFill']?.['fills']).toHaveLength(2);
    holds(RFQ_QUOTES, split);
  });

  test('none, and why', async () => {
    const none = await ask(await fundedTaker(), { solvers: { include: ['nobody'] } });
    expect(none.json['productUnavailable']).not.toBeNull();
    holds(RFQ_QUOTES, none);
  });
});

describe('preflight, by the lock it selects', () => {
  const held = (answer: Answer, lock: string | undefined) => {
    holds(PREFLIGHT, answer);
    expect(answer.json['fundingLock']).toBe(lock);
    if (lock !== undefined) expect(walk.problems(LOCKS[lock] as Type, answer.json['lockDetails'])).toEqual([]);
  };
  const selling = () => ({ input: { asset: asset(a, 'weth'), amount: '400000000000000000' }, output: { asset: asset(a, 'usdc') }, solvers: { include: ['lp-1'] } });

  test('EIP-3009, and a ledger deposit on request', async () => {
    const candidate = best(await ask(await fundedTaker()));
    held(await plan(candidate), 'EIP-3009');
    held(await plan(candidate, { fundingLock: 'ResourceLock' }), 'ResourceLock');
  });

  test('Permit2 with everything still to do, and a taker without the money', async () => {
    held(await plan(best(await ask(await fundedTaker(), selling()))), 'Permit2');
    held(await plan(best(await ask(account(people++)))), 'EIP-3009');
  });

  test('a ledger balance, part of which is leaving', async () => {
    const taker = await fundedTaker();
    await a.deposit(taker.address, a.usdc.address, 3_000_000_000n);
    await a.send(taker.address, a.chain.escrow, requestWithdrawalCall(a.usdc.address, 1_000_000_000n));
    held(await plan(best(await ask(taker))), 'ResourceLock');
  });

  test('none, where the wallet sends the transaction itself', async () => {
    v.relayer.healthy = false;
    const answer = await plan(best(await ask(await fundedTaker())));
    v.relayer.healthy = true;
    held(answer, undefined);
  });
});

describe('orders', () => {
  test('accepted, sent, settled', async () => {
    const { answer, id } = await submitted(await fundedTaker());
    holds(ORDER, answer);
    const fresh = await status(id);
    holds(ORDER_STATUS, fresh);
    expect(fresh.json).not.toHaveProperty('txHash');
    const order = await v.store.order(id);
    if (!order) throw new Error('no such order');
    const txHash = await a.send(DEPLOYER.address, a.chain.escrow, settleCall(order.order, order.funding, order.quoteId, order.commitments));
    await record(id, [{ kind: 'sent', step: 'settle', chainId: a.chain.id, txHash }]);
    const sent = await status(id);
    holds(ORDER_STATUS, sent);
    expect(sent.json).toMatchObject({ status: 'pending', txHash });
    await recordChains(id, 'settled');
    const settled = await status(id);
    holds(ORDER_STATUS, settled);
    expect(settled.json).toMatchObject({ status: 'settled', txHash, settledAmounts: { [asset(a, 'weth')]: { txHash } } });
  });

  test('failed without anything escrowed, and failed with a refund', async () => {
    const taker = await fundedTaker();
    const { id } = await submitted(taker);
    const order = await v.store.order(id);
    await a.send(taker.address, a.chain.escrow, invalidateNonceCall(order?.order.nonce ?? 0n));
    await record(id, [{ kind: 'failed', failure: { code: 'not_opened', message: 'The taker cancelled the order on chain before it was opened.' } }]);
    const failed = await status(id);
    holds(ORDER_STATUS, failed);
    expect(failed.json).toMatchObject({ status: 'failed', stage: 'failed', failure: { code: 'not_opened', refundTxHash: null, refundableFrom: null } });

    const crossing = await submitted(await fundedTaker(), across());
    const crossed = await v.store.order(crossing.id);
    if (!crossed) throw new Error('no such order');
    await a.send(DEPLOYER.address, a.chain.escrow, openForCall(crossed.order, crossed.funding));
    await recordChains(crossing.id, 'escrowed');
    holds(ORDER_STATUS, await status(crossing.id));
    await record(crossing.id, [{ kind: 'failed', failure: { code: 'expired_unfilled', message: 'Nobody delivered in time.' } }]);
    const waiting = await status(crossing.id);
    holds(ORDER_STATUS, waiting);
    expect(waiting.json).toMatchObject({ stage: 'refund_pending', failure: { refundableFrom: crossed.order.expires + 1 } });
  });

  test('the request: what may be left out, what may be null, and what neither', async () => {
    const { request } = await submitted(await fundedTaker());
    const post = async (body: object) => (await v.call('POST', '/api/v1/rfq/orders', { key, body })).json['detail']?.[0] as Json | undefined;
    const without = (name: string) => Object.fromEntries(Object.entries(request).filter(([field]) => field !== name));
    for (const name of ['quoteResponse', 'signature']) expect(await post(without(name))).toMatchObject({ loc: ['body', name], type: 'missing' });
    for (const name of ['quoteResponse', 'signature', 'signScheme']) expect(await post({ ...request, [name]: null })).toMatchObject({ loc: ['body', name] });
    expect(await post({ ...request, signature: 'xyz' })).toMatchObject({ loc: ['body', 'signature'] });
    expect(await post({ ...request, signScheme: 'EIP191' })).toMatchObject({ loc: ['body', 'signScheme'] });
    expect(await post({ ...request, extra: 1 })).toMatchObject({ loc: ['body', 'extra'], type: 'extra_forbidden' });
    for (const [lock, fields] of Object.entries({ permit2Lock: { signature: '0x12', deadline: 1 }, eip3009Authorization: { signature: '0x12', validAfter: 0, validBefore: 1, nonce: `0x${'1'.repeat(64)}` } })) {
      for (const field of Object.keys(fields)) expect(await post({ ...request, [lock]: Object.fromEntries(Object.entries(fields).filter(([name]) => name !== field)) })).toMatchObject({ loc: ['body', lock, field], type: 'missing' });
    }
    // All that remains is the order that is there already.
    expect(await post({ ...request, permit2Lock: null, signScheme: 'EIP712' })).toBeUndefined();
  });
});

describe('roster, pairs, errors', () => {
  test('solvers in every state, and one who was never here', async () => {
    await ask(await fundedTaker());
    const roster = await v.call('GET', '/api/v1/solvers', { key });
    holds(ROSTER, roster);
    const entries = roster.json['solvers'] as unknown as Json[];
    expect(new Set(entries.map((entry) => entry['status']))).toEqual(new Set(['active', 'standby', 'offline']));
    const nobody = entries.find((entry) => (entry['id'] as string) === 'lp-6');
    expect(nobody).not.toHaveProperty('firstSeenAt');
    expect(nobody).not.toHaveProperty('lastQuoteAt');
    holds(ROSTER, await v.call('GET', '/api/v1/rfq/solvers?status=active', { key }));
  });

  test('pairs, for both kinds of key', async () => {
    for (const apiKey of [key, live]) holds(PAIRS, await v.call('GET', '/api/v1/rfq/pairs', { key: apiKey }));
  });

  test('422 in one shape, everything else in the other', async () => {
    holds(VALIDATION_ERROR, await v.call('POST', '/api/v1/rfq/quotes', { key, body: {} }), 422);
    holds(VALIDATION_ERROR, await v.call('GET', '/api/v1/solvers?status=asleep', { key }), 422);
    holds(ERROR, await v.call('GET', '/api/v1/rfq/pairs'), 401);
    holds(ERROR, await v.call('GET', '/api/v1/rfq/pairs', { key: await v.key('workspace') }), 403);
    holds(ERROR, await v.call('GET', `/api/v1/rfq/orders/0x${'0'.repeat(64)}`, { key }), 404);
    holds(ERROR, await v.call('GET', '/api/v1/nothing', { key }), 404);
    holds(ERROR, await v.call('GET', '/api/v1/rfq/quotes', { key }), 405);
    holds(ERROR, await v.call('POST', '/api/v1/rfq/quotes', { key, raw: 'x', headers: { 'Content-Type': 'text/plain' } }), 415);
  });
});

test('every row of every table was seen with a value', () => {
  // A plan shows no signature of a lock: it is what asks for one.
  const unsigned = ['lockDetails: Permit2Lock.signature', 'lockDetails: Eip3009Authorization.signature'];
  expect(walk.unseen([RFQ_QUOTES, RFQ_CANDIDATE, PREVIEW_INPUT, PREVIEW_OUTPUT, STANDARD_ORDER, VALIDITY, GAS, SPLIT, SLICE, WARNING, PREFLIGHT, ACTION, ...Object.values(LOCKS), ORDER, ORDER_STATUS, ROSTER, SOLVER, VALIDATION_ERROR, ERROR])).toEqual(unsigned);
});

test('the walk itself can fail', () => {
  const good = { id: `0x${'1'.repeat(64)}`, status: 'pending', quoteId: '0x12', createdAt: '2026-01-01T00:00:00.000Z' };
  expect(createWalk().problems(ORDER, good)).toEqual([]);
  expect(createWalk().problems(ORDER, { ...good, status: 'PENDING', createdAt: 1, more: true, quoteId: null })).toEqual([expect.stringContaining('no such field'), expect.stringContaining('none of'), expect.stringContaining('null, and never may be'), expect.stringContaining('date-time')]);
  expect(createWalk().problems(ORDER_STATUS, { ...good, updatedAt: good.createdAt, stage: 'settled', status: 'settled', failure: {} })).toEqual([expect.stringContaining('settledAmounts: missing on settled orders'), expect.stringContaining('failure: there, though only on failed orders')]);
  expect(createWalk().unseen([ORDER])).toHaveLength(4);
});
