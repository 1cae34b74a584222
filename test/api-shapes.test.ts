/**
 * Every field of every shape of the API, held against live answers of a real venue: its name, its type,
 * whether it may be null, and when it is there.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAdminStore } from '../src/adapters/postgres/venue/admin-store.ts';
import { createDenyList, type DenyList } from '../src/adapters/screening/deny-list.ts';
import { systemClock } from '../src/adapters/system/clock.ts';
import { verifyClaim } from '../src/apps/verify/checks.ts';
import { claimFromVenue } from '../src/apps/verify/claim.ts';
import { openWitness } from '../src/apps/verify/witness.ts';
import type { Bytes32 } from '../src/domain/hex.ts';
import type { Rfq } from '../src/protocol/link/link.ts';
import { requestWithdrawalCall } from '../src/settlement/call.ts';
import { invalidateNonceCall } from './support/escrow.ts';
import { createUpkeep, type Upkeep } from '../src/venue/trades/history-upkeep.ts';
import { createWithdrawals } from '../src/venue/orders/advance/withdrawals.ts';
import { createPrices } from '../src/venue/market/prices.ts';
import { COURIER, createCourier } from '../src/venue/orders/travel-rule.ts';
import {
  ACTION,
  COMPOSITE,
  ERROR,
  GAS,
  LEG,
  LOCKS,
  ORDER,
  ORDER_STATUS,
  PAIRS,
  PREFLIGHT,
  PREVIEW_INPUT,
  PREVIEW_OUTPUT,
  RFQ_CANDIDATE,
  RFQ_QUOTES,
  ROSTER,
  ROUTER_CANDIDATE,
  ROUTER_PREVIEW_OUTPUT,
  ROUTER_QUOTES,
  SLICE,
  SOLVER,
  SPLIT,
  STANDARD_ORDER,
  VALIDATION_ERROR,
  VALIDITY,
  WARNING,
} from './support/api-tables.ts';
import { dossier, TRADE_SHAPES, trades } from './support/api-tables-trades.ts';
import { account, type TestAccount, type TestChain } from './support/devnet.ts';
import { startDex } from './support/dex.ts';
import { type RouterWorld, startRouterWorld } from './support/router.ts';
import { createWalk, type Type } from './support/shapes.ts';
import { silentLog, silentMetrics } from './support/silent.ts';
import type { SolverSpec } from './support/solver.ts';
import { signPlan } from './support/taker.ts';
import { referenceAt } from './support/reference.ts';
import { type Answer, type Json, type TestVenue, until } from './support/venue.ts';

let w: RouterWorld;
let v: TestVenue;
let a: TestChain;
let b: TestChain;
let key: string;
let live: string;
let admin: string;
let viewer: string;
let folder: string;
let denyList: DenyList;
let upkeep: Upkeep;
let withdrawals: ReturnType<typeof createWithdrawals>;
let lp: { lp: TestAccount; operator: TestAccount };
const walk = createWalk();
const asset = (chain: TestChain, symbol: 'usdc' | 'weth') => w.asset(chain, chain[symbol]);

/**
 * 2,500 USDC for one WETH, on either chain and either way, less some basis points; undefined for other
 * tokens.
 */
function priced({ input, output, amount }: Rfq, bps: bigint): bigint | undefined {
  const is = (id: string, symbol: 'usdc' | 'weth') =>
    v.devnet.chains.some((chain) => id === asset(chain, symbol));
  const from = is(input, 'usdc') ? 'usdc' : is(input, 'weth') ? 'weth' : undefined;
  const to = is(output, 'usdc') ? 'usdc' : is(output, 'weth') ? 'weth' : undefined;
  if (!from || !to) return undefined;
  const whole =
    from === to
      ? BigInt(amount)
      : from === 'usdc'
        ? (BigInt(amount) * 10n ** 12n) / 2_500n
        : (BigInt(amount) * 2_500n) / 10n ** 12n;
  return (whole * (10_000n - bps)) / 10_000n;
}

const maker =
  (bps: bigint): SolverSpec['answer'] =>
  (rfq, make) => {
    const output = priced(rfq, bps);
    return output ? make.quote(rfq, { output }) : make.decline(rfq, 'pair');
  };
/** Takes only a part. */
const half: SolverSpec['answer'] = (rfq, make) => {
  const output = priced(rfq, 1n);
  return output
    ? {
        type: 'partial',
        rfqId: rfq.rfqId,
        validUntil: now() + 60,
        ladder: [[(BigInt(rfq.amount) / 2n).toString(), (output / 2n).toString()]],
      }
    : make.decline(rfq, 'pair');
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fq-shapes-'));
  await writeFile(join(folder, 'deny'), '# version: 1\n');
  denyList = createDenyList(
    { clock: systemClock, log: silentLog, metrics: silentMetrics },
    { path: join(folder, 'deny') },
  );
  await denyList.start();
  w = await startRouterWorld(
    { chainIds: [31_601, 31_602], moreTokens: 1, screeners: [denyList], router: { maxMiddles: 2 } },
    async ([chain]) => {
      const dex = await startDex(chain);
      return [dex.venue('constant_product'), dex.venue('concentrated', { toleranceBps: 20 })];
    },
  );
  ({ v, a, b } = w);
  await v.workspace('w1', { name: 'One', travelRuleThresholdUsd: 500 });
  await createAdminStore(v.db).change(async (tx) =>
    tx.putMember({
      workspaceId: 'w1',
      id: 'm1',
      firstName: 'Ada',
      lastName: 'Lovelace',
      email: 'ada@example.com',
      role: 'member',
      kycStatus: 'verified',
      joinedAtMs: 1_700_000_000_000,
      removedAtMs: null,
    }),
  );
  [key, live, admin, viewer] = await Promise.all([
    v.key('service', { memberId: 'm1' }),
    v.key('service', { mode: 'live' }),
    v.key('workspace', { role: 'admin' }),
    v.key('workspace', { role: 'viewer' }),
  ]);
  lp = await v.solver(1, maker(10n));
  // Far from the reference: its quotes carry a warning.
  await v.solver(2, maker(500n));
  for (const n of [3, 4]) await v.solver(n, half);
  const tired = await v.solver(5, () => undefined, { status: 'standby' });
  tired.say({ type: 'status', status: 'standby', note: 'inventory is being moved' });
  await v.store.putSolver({
    id: 'lp-6',
    name: 'Nobody yet',
    kind: 'solver',
    corridors: null,
    disabled: false,
  });
  await v.bus.publish('solvers', 'lp-6');
  await until(() => v.venue.roster.entry('lp-6'));
  const chains = new Map(v.devnet.chains.map(({ port }) => [port.chain.id, port]));
  withdrawals = createWithdrawals(
    {
      store: v.store,
      chains,
      transactors: w.transactors,
      clock: systemClock,
      log: silentLog,
      metrics: silentMetrics,
    },
    { recordingSeconds: 0 },
  );
  withdrawals.start();
  upkeep = createUpkeep(
    {
      trades: v.store.trades,
      chains,
      prices: createPrices(referenceAt({ ETH: '2500' })),
      clock: systemClock,
      log: silentLog,
      metrics: silentMetrics,
    },
    { everyMs: 20 },
  );
  upkeep.start();
});
afterAll(async () => {
  await upkeep.stop();
  await withdrawals.stop();
  await w.stop();
  denyList.stop();
  await rm(folder, { recursive: true });
});

const now = () =>
  Math.max(Math.floor(Date.now() / 1_000), ...v.devnet.chains.map(({ port }) => port.head()?.timestamp ?? 0));
const holds = (type: Type, { status, json, text }: Answer, wanted = 200) => {
  expect(status, text).toBe(wanted);
  expect(walk.problems(type, json)).toEqual([]);
};

type Namespace = 'rfq' | 'router';
const request = (taker: TestAccount, body: object = {}) => ({
  taker: taker.address,
  input: { asset: asset(a, 'usdc'), amount: '1000000000' },
  output: { asset: asset(a, 'weth') },
  solvers: { include: ['lp-1'] },
  ...body,
});
const ask = (taker: TestAccount, body: object = {}, namespace: Namespace = 'rfq') =>
  v.call('POST', `/api/v1/${namespace}/quotes`, { key, body: request(taker, body) });
const across = () => ({ output: { asset: asset(b, 'weth') } });
const best = (answer: Answer) => answer.json['quotes']?.[0] as Json;
const plan = (candidate: Json, more: object = {}, namespace: Namespace = 'rfq') =>
  v.call('POST', `/api/v1/${namespace}/orders/preflight`, {
    key,
    body: { quoteResponse: candidate, ...more },
  });
const status = (id: string, namespace: Namespace = 'rfq') =>
  v.call('GET', `/api/v1/${namespace}/orders/${id}`, { key });

interface Submitted {
  answer: Answer;
  id: Bytes32;
  sent: Record<string, unknown>;
}

async function submitted(
  body: object = {},
  { namespace = 'rfq' as Namespace, byWallet = false } = {},
): Promise<Submitted & { taker: TestAccount }> {
  const taker = await w.taker();
  v.relayer.healthy = !byWallet;
  const candidate = best(await ask(taker, body, namespace));
  v.relayer.healthy = true;
  const sent = await signPlan(taker, candidate, (await plan(candidate, {}, namespace)).json);
  const answer = await v.call('POST', `/api/v1/${namespace}/orders`, { key, body: sent });
  expect(answer.status, answer.text).toBe(200);
  return { answer, id: answer.json['id'] as unknown as Bytes32, sent, taker };
}

describe('quotes', () => {
  test('from one LP, in every variant', async () => {
    const taker = await w.taker();
    holds(RFQ_QUOTES, await ask(taker));
    holds(RFQ_QUOTES, await ask(taker, { minValidUntil: now() + 20, receiver: account(8_700).address }));
    holds(RFQ_QUOTES, await ask(taker, across()));
    const warned = await ask(taker, { solvers: { include: ['lp-2'] } });
    expect(best(warned)['warnings']).toMatchObject([{ code: 1001 }]);
    holds(RFQ_QUOTES, warned);
    v.relayer.healthy = false;
    const byWallet = await ask(taker);
    v.relayer.healthy = true;
    expect(best(byWallet)).toMatchObject({
      executionMode: 'walletBroadcast',
      gas: { usd: expect.any(Number) },
    });
    holds(RFQ_QUOTES, byWallet);
  });

  test('from several LPs', async () => {
    const split = await ask(await w.taker(), { solvers: { include: ['lp-3', 'lp-4'] } });
    expect(best(split)['splitFill']?.['fills']).toHaveLength(2);
    holds(RFQ_QUOTES, split);
  });

  test('none, with the reason', async () => {
    const none = await ask(await w.taker(), { solvers: { include: ['nobody'] } });
    expect(none.json['productUnavailable']).not.toBeNull();
    holds(RFQ_QUOTES, none);
  });
});

describe('preflight, by selected lock', () => {
  const held = (answer: Answer, lock: string | undefined) => {
    holds(PREFLIGHT, answer);
    expect(answer.json['fundingLock']).toBe(lock);
    if (lock !== undefined)
      expect(walk.problems(LOCKS[lock] as Type, answer.json['lockDetails'])).toEqual([]);
  };
  const selling = () => ({
    input: { asset: asset(a, 'weth'), amount: '400000000000000000' },
    output: { asset: asset(a, 'usdc') },
    solvers: { include: ['lp-1'] },
  });

  test('EIP-3009, and a ledger deposit on request', async () => {
    const candidate = best(await ask(await w.taker()));
    held(await plan(candidate), 'EIP-3009');
    held(await plan(candidate, { fundingLock: 'ResourceLock' }), 'ResourceLock');
  });

  test('Permit2 with every step open, and a taker without the money', async () => {
    held(await plan(best(await ask(await w.taker(), selling()))), 'Permit2');
    held(await plan(best(await ask(account(8_700)))), 'EIP-3009');
  });

  test('a ledger balance, part of which is being withdrawn', async () => {
    const taker = await w.taker();
    await a.deposit(taker.address, a.usdc.address, 3_000_000_000n);
    await a.send(taker.address, a.chain.escrow, requestWithdrawalCall(a.usdc.address, 1_000_000_000n));
    held(await plan(best(await ask(taker))), 'ResourceLock');
  });

  test('none, where the wallet broadcasts the transaction', async () => {
    v.relayer.healthy = false;
    const answer = await plan(best(await ask(await w.taker())));
    v.relayer.healthy = true;
    held(answer, undefined);
  });
});

describe('orders', () => {
  test('accepted, in progress, settled', async () => {
    const { answer, id } = await submitted({ referenceId: 'desk-7' });
    holds(ORDER, answer);
    holds(ORDER_STATUS, await status(id));
    await w.reaches(id, 'settled');
    const settled = await status(id);
    holds(ORDER_STATUS, settled);
    expect(settled.json).toMatchObject({
      status: 'settled',
      txHash: expect.stringMatching(/^0x/),
      settledAmounts: { [asset(a, 'weth')]: { symbol: 'WETH' } },
    });
    expect(settled.json).not.toHaveProperty('failure');
  });

  test('an order waiting for the wallet has no transaction; a cancelled one gives its failure', async () => {
    const { id, taker } = await submitted({}, { byWallet: true });
    const fresh = await status(id);
    holds(ORDER_STATUS, fresh);
    for (const field of ['txHash', 'settledAmounts', 'failure']) expect(fresh.json).not.toHaveProperty(field);
    const order = await v.store.order(id);
    await a.send(taker.address, a.chain.escrow, invalidateNonceCall(order?.order.nonce ?? 0n));
    const failed = await until(async () => {
      for (const chain of v.devnet.chains) await chain.anvil.mine();
      const answer = await status(id);
      return (answer.json['status'] as string) === 'failed' ? answer : undefined;
    });
    holds(ORDER_STATUS, failed);
    expect(failed.json).toMatchObject({
      stage: 'failed',
      failure: { code: 'not_opened', refundTxHash: null, refundableFrom: null },
    });
  });

  test('the request: optional, nullable and required fields', async () => {
    const { sent } = await submitted();
    const post = async (body: object) =>
      (await v.call('POST', '/api/v1/rfq/orders', { key, body })).json['detail']?.[0] as Json | undefined;
    const without = (name: string) =>
      Object.fromEntries(Object.entries(sent).filter(([field]) => field !== name));
    for (const name of ['quoteResponse', 'signature'])
      expect(await post(without(name))).toMatchObject({ loc: ['body', name], type: 'missing' });
    for (const name of ['quoteResponse', 'signature', 'signScheme'])
      expect(await post({ ...sent, [name]: null })).toMatchObject({ loc: ['body', name] });
    expect(await post({ ...sent, signature: 'xyz' })).toMatchObject({ loc: ['body', 'signature'] });
    expect(await post({ ...sent, signScheme: 'EIP191' })).toMatchObject({ loc: ['body', 'signScheme'] });
    expect(await post({ ...sent, extra: 1 })).toMatchObject({
      loc: ['body', 'extra'],
      type: 'extra_forbidden',
    });
    for (const [lock, fields] of Object.entries({
      permit2Lock: { signature: '0x12', deadline: 1 },
      eip3009Authorization: {
        signature: '0x12',
        validAfter: 0,
        validBefore: 1,
        nonce: `0x${'1'.repeat(64)}`,
      },
    })) {
      for (const field of Object.keys(fields))
        expect(
          await post({
            ...sent,
            [lock]: Object.fromEntries(Object.entries(fields).filter(([name]) => name !== field)),
          }),
        ).toMatchObject({ loc: ['body', lock, field], type: 'missing' });
    }
    // All that remains is the order that is there already.
    expect(await post({ ...sent, permit2Lock: null, signScheme: 'EIP712' })).toBeUndefined();
  });
});

describe('router', () => {
  const open = { solvers: undefined, maxCandidates: 20 };
  test('candidates of every kind: an LP, a pool, several pools, a route of two orders', async () => {
    const taker = await w.taker();
    const direct = await ask(taker, open, 'router');
    holds(ROUTER_QUOTES, direct);
    expect((direct.json['quotes'] as unknown as Json[]).map((one) => one['solverId'])).toEqual(
      expect.arrayContaining(['lp-1', 'uniswap-v2', 'uniswap-v3']),
    );
    const third = w.asset(a, a.deployment.tokens[2] as never);
    const row = await ask(taker, { ...open, output: { asset: third } }, 'router');
    expect(best(row)['composite']?.['legs']).toHaveLength(2);
    holds(ROUTER_QUOTES, row);
    holds(ROUTER_QUOTES, await ask(taker, { ...open, ...across() }, 'router'));
    const later = await ask(
      taker,
      { ...open, input: { asset: asset(b, 'usdc'), amount: '1000000000' }, output: { asset: third } },
      'router',
    );
    holds(ROUTER_QUOTES, later);
    expect(best(later)).toMatchObject({
      routingPath: 'composite',
      composite: { executionModel: 'sequential' },
    });
    holds(PREFLIGHT, await plan(best(later), {}, 'router'));
    holds(ROUTER_QUOTES, await ask(taker, { solvers: { include: ['nobody'] } }, 'router'));
    holds(PREFLIGHT, await plan(best(direct), {}, 'router'));
    holds(PREFLIGHT, await plan(best(row), {}, 'router'));
  });

  test('orders, status, roster and pairs', async () => {
    const { answer, id } = await submitted({ solvers: { include: ['uniswap-v2'] } }, { namespace: 'router' });
    holds(ORDER, answer);
    await w.reaches(id, 'settled');
    holds(ORDER_STATUS, await status(id, 'router'));
    holds(ROSTER, await v.call('GET', '/api/v1/router/solvers', { key }));
    for (const apiKey of [key, live])
      holds(PAIRS, await v.call('GET', '/api/v1/router/pairs', { key: apiKey }));
    holds(ERROR, await v.call('GET', `/api/v1/router/orders/0x${'0'.repeat(64)}`, { key }), 404);
  });
});

describe('history', () => {
  const read = (path: string, by: string) =>
    v.call('GET', `/api/v1/workspaces/w1/trades${path}`, { key: by });
  /** When its gas is known. */
  const whole = (id: Bytes32) =>
    until(async () => {
      const answer = await read(`/${id}`, admin);
      const { submit, finalise } = (answer.json['settlement']?.['stages'] ?? {}) as unknown as Record<
        string,
        Json | null
      >;
      return submit?.['gasUsed'] && (!finalise || finalise['gasUsed']) ? answer : undefined;
    });

  async function held(id: Bytes32): Promise<Json> {
    const full = await whole(id);
    holds(dossier('admin'), full);
    holds(dossier('viewer'), await read(`/${id}`, viewer));
    return full.json;
  }

  /** By signatures and chains alone, from what the venue answers to an administrator. */
  async function verified(orderId: Bytes32): Promise<void> {
    const claim = await claimFromVenue({ url: v.url, key: admin, workspace: 'w1', orderId });
    const witnesses = new Map(
      await Promise.all(
        v.devnet.chains.map(
          async ({ chain, anvil }) =>
            [chain.id, await openWitness(chain.id, anvil.url, chain.escrow)] as const,
        ),
      ),
    );
    const checks = await verifyClaim({
      orderId,
      claim,
      witnesses,
      knownEscrows: new Map(v.devnet.chains.map(({ chain }) => [chain.id, chain.escrow])),
    });
    for (const witness of witnesses.values()) witness.close();
    expect(checks.filter(({ result }) => result !== 'held')).toEqual([]);
    expect(checks.length).toBeGreaterThan(10);
  }

  test('one LP, several, a pool, another chain: dossiers for both kinds of reader, verified from the chains alone', async () => {
    const [single, split, pool, crossing] = [
      await submitted(),
      await submitted({ solvers: { include: ['lp-3', 'lp-4'] } }),
      await submitted({ solvers: { include: ['uniswap-v3'] } }, { namespace: 'router' }),
      await submitted(across()),
    ];
    await w.reaches(crossing.id, 'escrowed');
    await w.fill(crossing.id, lp);
    for (const { id } of [single, split, pool, crossing]) {
      await w.reaches(id, 'settled');
      await held(id);
      await verified(id);
    }
    expect((await held(pool.id))['orderKind']).toBe('route_dex');
    expect(await held(split.id)).not.toHaveProperty('orderKind');
    expect((await held(crossing.id))['settlement']?.['stages']?.['proof']).not.toBeNull();
  });

  test('legs of a route', async () => {
    const { id } = await submitted(
      {
        output: { asset: w.asset(a, a.deployment.tokens[2] as never) },
        solvers: { include: ['uniswap-v2'] },
      },
      { namespace: 'router' },
    );
    await w.reaches(id, 'settled');
    expect((await held(id))['legs']).toHaveLength(2);
    await verified(id);
  });

  test('travel-rule reports', async () => {
    const { id } = await submitted();
    const state = () => v.store.travelRule(id).then((record) => record?.state);
    const failing = createCourier(
      {
        store: v.store,
        transmitter: {
          name: 'theirs',
          transmit: async () => Promise.reject(new Error('They do not take it.')),
        },
        clock: systemClock,
        log: silentLog,
        metrics: silentMetrics,
      },
      { ...COURIER, maxAttempts: 1, pollEveryMs: 10 },
    );
    failing.start();
    await until(async () => (await state()) === 'abandoned');
    await failing.stop();
    await w.reaches(id, 'settled');
    expect((await held(id))['travelRuleTransmission']).toMatchObject({
      state: 'abandoned',
      detail: 'They do not take it.',
    });
    const other = await submitted();
    const taking = createCourier(
      {
        store: v.store,
        transmitter: { name: 'theirs', transmit: async () => ({ reference: 'their-1' }) },
        clock: systemClock,
        log: silentLog,
        metrics: silentMetrics,
      },
      { ...COURIER, pollEveryMs: 10 },
    );
    taking.start();
    await until(async () => (await v.store.travelRule(other.id))?.state === 'transmitted');
    await taking.stop();
    await w.reaches(other.id, 'settled');
    await held(other.id);
  });

  test('refunded orders, and deliveries into the ledger and out of it', async () => {
    const [late, kept] = [await submitted(across()), await submitted({ settlement: 'ledger_auto_withdraw' })];
    await w.reaches(late.id, 'escrowed');
    await w.reaches(kept.id, 'settled');
    const deferral = async () => (await held(kept.id))['trade']?.['deferredSettlement'] as Json;
    await until(async () => (await read(`/${kept.id}`, admin)).json['trade']?.['deferredSettlement']);
    expect(await deferral()).toMatchObject({ stage: 'executed', autoWithdraw: true });
    for (const chain of v.devnet.chains) await chain.anvil.rpc('evm_increaseTime', [1_000]);
    await w.reaches(late.id, 'refunded');
    holds(ORDER_STATUS, await status(late.id));
    expect((await held(late.id))['trade']).toMatchObject({ status: 'failed', settlementStatus: 'refunded' });
    await verified(late.id);
    await until(async () => {
      for (const chain of v.devnet.chains) await chain.anvil.mine();
      return (
        (await read(`/${kept.id}`, admin)).json['trade']?.['deferredSettlement']?.['stage'] === 'withdrawn'
      );
    });
    expect(await deferral()).toMatchObject({
      stage: 'withdrawn',
      withdrawalTxHash: expect.stringMatching(/^0x[0-9a-f]{64}$/) as string,
    });
    await verified(kept.id);
  });

  test('the list, for both kinds of reader', async () => {
    holds(trades('admin'), await read('?limit=100', admin));
    holds(trades('viewer'), await read('?limit=100', viewer));
    holds(ERROR, await read(`/0x${'0'.repeat(64)}`, admin), 404);
    holds(VALIDATION_ERROR, await read('?limit=many', admin), 422);
  });
});

describe('roster, pairs, errors', () => {
  test('solvers in every state, and one that never connected', async () => {
    await ask(await w.taker());
    const roster = await v.call('GET', '/api/v1/solvers', { key });
    holds(ROSTER, roster);
    const entries = roster.json['solvers'] as unknown as Json[];
    expect(new Set(entries.map((entry) => entry['status']))).toEqual(
      new Set(['active', 'standby', 'offline']),
    );
    const nobody = entries.find((entry) => (entry['id'] as string) === 'lp-6');
    expect(nobody).not.toHaveProperty('firstSeenAt');
    expect(nobody).not.toHaveProperty('lastQuoteAt');
    holds(ROSTER, await v.call('GET', '/api/v1/rfq/solvers?status=active', { key }));
  });

  test('pairs, for both kinds of key', async () => {
    for (const apiKey of [key, live]) holds(PAIRS, await v.call('GET', '/api/v1/rfq/pairs', { key: apiKey }));
  });

  test('422 has one shape and every other error the other', async () => {
    holds(VALIDATION_ERROR, await v.call('POST', '/api/v1/rfq/quotes', { key, body: {} }), 422);
    holds(VALIDATION_ERROR, await v.call('GET', '/api/v1/solvers?status=asleep', { key }), 422);
    holds(ERROR, await v.call('GET', '/api/v1/rfq/pairs'), 401);
    holds(ERROR, await v.call('GET', '/api/v1/rfq/pairs', { key: await v.key('workspace') }), 403);
    holds(ERROR, await v.call('GET', `/api/v1/rfq/orders/0x${'0'.repeat(64)}`, { key }), 404);
    holds(ERROR, await v.call('GET', '/api/v1/nothing', { key }), 404);
    holds(ERROR, await v.call('GET', '/api/v1/rfq/quotes', { key }), 405);
    holds(
      ERROR,
      await v.call('POST', '/api/v1/rfq/quotes', {
        key,
        raw: 'x',
        headers: { 'Content-Type': 'text/plain' },
      }),
      415,
    );
  });
});

test('every row of every table was seen with a value', () => {
  // No trade of a venue comes through a broker. router-composite.test.ts follows a route to its end.
  const never = ['routingPath.brokerWorkspaceId', 'routingPath.brokerName', 'Preflight response.order'];
  expect(
    walk.unseen([
      ROUTER_QUOTES,
      ROUTER_CANDIDATE,
      ROUTER_PREVIEW_OUTPUT,
      COMPOSITE,
      LEG,
      ...TRADE_SHAPES,
      RFQ_QUOTES,
      RFQ_CANDIDATE,
      PREVIEW_INPUT,
      PREVIEW_OUTPUT,
      STANDARD_ORDER,
      VALIDITY,
      GAS,
      SPLIT,
      SLICE,
      WARNING,
      PREFLIGHT,
      ACTION,
      ...Object.values(LOCKS),
      ORDER,
      ORDER_STATUS,
      ROSTER,
      SOLVER,
      VALIDATION_ERROR,
      ERROR,
    ]),
  ).toEqual(never);
});

test('the shape checker can fail', () => {
  const good = {
    id: `0x${'1'.repeat(64)}`,
    status: 'pending',
    quoteId: '0x12',
    createdAt: '2026-01-01T00:00:00.000Z',
  };
  expect(createWalk().problems(ORDER, good)).toEqual([]);
  expect(
    createWalk().problems(ORDER, { ...good, status: 'PENDING', createdAt: 1, more: true, quoteId: null }),
  ).toEqual([
    expect.stringContaining('no such field'),
    expect.stringContaining('none of'),
    expect.stringContaining('null, and never may be'),
    expect.stringContaining('date-time'),
  ]);
  expect(
    createWalk().problems(ORDER_STATUS, {
      ...good,
      updatedAt: good.createdAt,
      stage: 'settled',
      status: 'settled',
      failure: {},
    }),
  ).toEqual([
    expect.stringContaining('settledAmounts: missing on settled orders'),
    expect.stringContaining('failure: there, though only on failed orders'),
  ]);
  expect(createWalk().unseen([ORDER])).toHaveLength(4);
});
