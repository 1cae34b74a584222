/**
 * A workspace's history at the public edge: who may see what of it, how it is asked for, what one trade says,
 * and its export.
 */

import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { seedTrades } from '../../../bench/trade-seed.ts';
import { systemClock } from '../../../src/adapters/system/clock.ts';
import { createAdminStore } from '../../../src/adapters/postgres/venue/admin-store.ts';
import { assetId } from '../../../src/domain/asset.ts';
import type { Evidence, Fact } from '../../../src/domain/fact.ts';
import type { Hex } from '../../../src/domain/hex.ts';
import { zTradeDossier } from '../../../src/protocol/api/trades/dossier.ts';
import { type TradeItem, zTradesResponse } from '../../../src/protocol/api/trades/trades.ts';
import { readDateTime } from '../../../src/protocol/api/trades/query.ts';
import { zTradeLine, zTradesDailyResponse } from '../../../src/protocol/api/trades/bulk.ts';
import { settleCall } from '../../../src/settlement/call.ts';
import { createUpkeep } from '../../../src/venue/trades/history-upkeep.ts';
import { csvLine } from '../../../src/venue/trades/csv.ts';
import { bucketOf } from '../../../src/venue/trades/search.ts';
import { createPrices } from '../../../src/venue/market/prices.ts';
import { account, DEPLOYER } from '../../support/devnet.ts';
import { silentLog, silentMetrics } from '../../support/silent.ts';
import { signPlan } from '../../support/taker.ts';
import { referenceAt } from '../../support/reference.ts';
import { type Json, startTestVenue, type TestVenue, until } from '../../support/venue.ts';

let v: TestVenue;
let owner: string;
let viewer: string;
let live: string;
let other: string;
/** One real trade, settled on chain; everything else is seeded. */
let orderId: Hex;
const SEEDED = 240;
const UNTIL = 1_790_000_000_000;
const HOSTILE = { id: 'm9', firstName: '=cmd|"/c calc"', lastName: 'O\'Neil, "Q"', email: '@sum(1+1)*cmd' };

beforeAll(async () => {
  v = await startTestVenue();
  await v.workspace('w2');
  const joined = {
    workspaceId: 'w1',
    role: 'member',
    kycStatus: 'verified',
    joinedAtMs: 1_700_000_000_000,
    removedAtMs: null,
  } as const;
  const entry = {
    atMs: 1,
    who: 'test',
    what: 'member.add',
    workspaceId: 'w1',
    subject: 'member',
    subjectId: 'm',
    before: null,
    after: null,
  } as const;
  await createAdminStore(v.db).change(async (tx) => {
    for (const [id, firstName, lastName, email] of [
      ['m1', 'Ada', 'Lovelace', 'ada@example.com'],
      ['m2', 'Per', '100%_cent', 'per_cent@example.com'],
      [HOSTILE.id, HOSTILE.firstName, HOSTILE.lastName, HOSTILE.email],
    ] as const)
      await tx.putMember({ ...joined, id, firstName, lastName, email });
    return { result: undefined, entry, news: [] } as never;
  });
  [owner, viewer, live, other] = await Promise.all([
    v.key('workspace', { role: 'owner' }),
    v.key('workspace', { role: 'viewer' }),
    v.key('workspace', { role: 'admin', mode: 'live' }),
    v.key('workspace', { role: 'admin', workspaceId: 'w2' }),
  ]);
  const lps = ['lp-1', '=HYPERLINK("x")', 'lp, "quoted"'];
  for (const id of lps.slice(1))
    await v.store.putSolver({ id, name: id, kind: 'lp', corridors: null, disabled: true });
  await seedTrades(v.db, {
    book: { workspaceId: 'w1', mode: 'test' },
    rows: SEEDED,
    seed: 3,
    chains: v.devnet.chains.map(({ chain }) => chain),
    lps,
    members: ['m1', 'm2', HOSTILE.id],
    untilMs: UNTIL,
    days: 20,
    usd: { USD: 1, ETH: 2_500 },
  });
  orderId = await tradeForReal();
}, 120_000);
afterAll(() => v.stop());

/** Asked, signed, submitted and settled on the chain; the facts are what a worker would append. */
async function tradeForReal(): Promise<Hex> {
  const service = await v.key('service', { memberId: 'm1' });
  await v.solver(1, (rfq, make) => make.quote(rfq, { output: (BigInt(rfq.amount) * 10n ** 12n) / 2_503n }));
  const taker = account(3_900);
  await v.chain.fund(taker.address, 10_000n);
  const asset = (token: Hex) => assetId({ chainId: v.chain.chain.id, token });
  const quoted = await v.call('POST', '/api/v1/rfq/quotes', {
    key: service,
    body: {
      taker: taker.address,
      input: { asset: asset(v.chain.usdc.address), amount: '1000000000' },
      output: { asset: asset(v.chain.weth.address) },
    },
  });
  const candidate = quoted.json['quotes']?.[0] as Json;
  const plan = await v.call('POST', '/api/v1/rfq/orders/preflight', {
    key: service,
    body: { quoteResponse: candidate },
  });
  const placed = await v.call('POST', '/api/v1/rfq/orders', {
    key: service,
    body: await signPlan(taker, candidate, plan.json),
  });
  expect(placed.status).toBe(200);
  const id = placed.json['id'] as unknown as Hex;
  const record = await v.store.order(id);
  const [claim] = await v.store.claim([id], 'worker', 60_000);
  if (!record || !claim) throw new Error('not claimed');
  const txHash = await v.chain.send(
    DEPLOYER.address,
    v.chain.chain.escrow,
    settleCall(record.order, record.funding, record.quoteId, record.commitments),
  );
  const receipt = await until(() => v.chain.port.receipt(txHash));
  const evidence: Evidence = {
    chainId: v.chain.chain.id,
    txHash,
    blockNumber: receipt.blockNumber,
    blockHash: receipt.blockHash,
    at: 1_800_000_000,
  };
  const lp = (record.commitments[0] as { lp: Hex }).lp;
  const facts: Fact[] = [
    { kind: 'opened', evidence },
    {
      kind: 'filled',
      outputIndex: 0,
      solver: lp,
      timestamp: 1,
      amount: record.order.outputs[0]?.amount ?? 0n,
      evidence,
    },
    { kind: 'finalised', evidence },
  ];
  expect(
    await v.store.append(claim, record, facts, {
      status: 'settled',
      final: true,
      event: 'order.settled',
      atMs: record.createdAtMs + 1_234,
    }),
  ).toBe(true);
  return id;
}

const trades = (query = '', key = owner, workspace = 'w1') =>
  v.call('GET', `/api/v1/workspaces/${workspace}/trades${query}`, { key });
const items = async (query: string, key = owner): Promise<Json[]> => {
  const { status, json, text } = await trades(query, key);
  expect(status, text).toBe(200);
  return json['items'] as unknown as Json[];
};
const everything = async (query = '', key = owner): Promise<Json[]> => {
  const found: Json[] = [];
  for (let offset = 0; ; offset += 100) {
    const page = await items(`?limit=100&offset=${offset}${query}`, key);
    found.push(...page);
    if (page.length < 100) return found;
  }
};

const byId = (one: object, other: object): number =>
  (one as TradeItem).orderId < (other as TradeItem).orderId ? -1 : 1;

describe('the list', () => {
  test('newest first, 25 per page, exactly the documented fields', async () => {
    const { json } = await trades();
    zTradesResponse.strict().parse(json);
    expect(json).toMatchObject({ total: SEEDED + 1, offset: 0, limit: 25 });
    const [first] = json['items'] as unknown as Json[];
    expect(first).toMatchObject({
      orderId,
      status: 'settled',
      settlementStatus: 'settled',
      lpName: 'lp-1',
      lpSource: 'roster',
      orderKind: 'rfq_direct',
      routingPathLabel: 'Direct',
      settlementSpeedMs: 1_234,
      slippageBps: 0,
      amountUsd: 1_000,
      deferredSettlement: null,
    });
    expect(first?.['executionPrice']).toEqual({
      source: 'stored_quote_price',
      value: '0.000399520575309628445',
      baseSymbol: 'USDC',
      quoteSymbol: 'WETH',
    });
    expect(first?.['route']?.['input']).toEqual({
      asset: {
        assetId: assetId({ chainId: v.chain.chain.id, token: v.chain.usdc.address }),
        symbol: 'USDC',
        resolutionStatus: 'resolved',
        name: 'USD Coin',
        decimals: 6,
        chainId: v.chain.chain.id,
        chainRef: `eip155:${v.chain.chain.id}`,
        address: v.chain.usdc.address,
      },
      rawAmount: '1000000000',
      decimalAmount: '1000',
    });
    expect(first?.['lifecycleStatus']).toEqual({
      flowKind: 'same_chain',
      primary: { key: 'settled', label: 'Settled', tone: 'success' },
      execution: { key: 'filled', label: 'Filled', tone: 'success' },
      settlement: { key: 'finalised', label: 'Finalised', tone: 'success' },
      withdrawal: { key: 'none', label: 'None', tone: 'neutral' },
      isTerminal: true,
      rank: 4,
      rawStatus: 'settled',
      rawDeferredStatus: null,
    });
    const dates = (json['items'] as unknown as Json[]).map(({ createdAt }) => createdAt as unknown as string);
    expect(dates).toEqual([...dates].sort().reverse());
    const keys = Object.keys(first ?? {}).sort();
    for (const item of json['items'] as unknown as Json[]) expect(Object.keys(item).sort()).toEqual(keys);
  });

  test('A33: limit and offset are clamped, a non-integer is 422, an unknown sort falls back to created_at', async () => {
    for (const [asked, limit] of [
      ['0', 1],
      ['101', 100],
      ['-1', 1],
      ['1000000000', 100],
      ['7', 7],
    ] as const)
      expect((await trades(`?limit=${asked}`)).json).toMatchObject({ limit });
    for (const [asked, offset] of [
      ['-1', 0],
      ['9007199254740992', Number.MAX_SAFE_INTEGER],
      ['3', 3],
    ] as const)
      expect((await trades(`?offset=${asked}`)).json).toMatchObject({ offset });
    expect((await trades('?offset=9007199254740992')).json).toMatchObject({ items: [], total: SEEDED + 1 });
    for (const bad of [
      'limit=abc',
      'limit=1.5',
      'limit=',
      'limit=1e9',
      'limit=0x10',
      'offset=abc',
      'offset=%201',
      'limit=1&limit=2',
      'status=everything',
      'direction=up',
      'routingPath=x',
      'minAmountUsd=NaN',
      'maxAmountUsd=Infinity',
      'minAmountUsd=1e3',
      'unknown=1',
    ]) {
      const { status, json } = await trades(`?${bad}`);
      expect(status, bad).toBe(422);
      expect(json['detail']?.[0], bad).toMatchObject({
        loc: ['query', bad.split('=')[0]],
        msg: expect.any(String),
        type: expect.any(String),
      });
    }
    expect(await items('?sort=nonsense&limit=50')).toEqual(await items('?sort=created_at&limit=50'));
  });

  test('A35: dates are RFC 3339 with offset and must exist in the calendar', async () => {
    for (const bad of [
      '2026-01-31',
      '2026-01-31T10:00:00',
      '2026-01-31T24:00:00Z',
      '2026-02-30T10:00:00Z',
      '10000-01-01T00:00:00Z',
      '2026-01-31T10:00:60Z',
      '2026-01-31 10:00:00Z',
      'yesterday',
      '1767225600',
      '',
    ]) {
      for (const name of ['createdAfter', 'createdBefore'])
        expect((await trades(`?${name}=${encodeURIComponent(bad)}`)).status, bad).toBe(422);
    }
    const iso = (ms: number) => encodeURIComponent(new Date(ms).toISOString());
    const all = await everything();
    const middle = readDateTime(all[100]?.['createdAt'] as unknown as string) ?? 0;
    expect((await trades(`?createdBefore=${iso(middle)}`)).json['total']).toBe(all.length - 100);
    expect((await trades(`?createdAfter=${iso(middle)}`)).json['total']).toBe(101);
    expect((await trades(`?createdAfter=${iso(middle)}&createdBefore=${iso(middle)}`)).json).toMatchObject({
      total: 1,
      items: [{ orderId: all[100]?.['orderId'] }],
    });
    expect(
      (await trades(`?createdAfter=${encodeURIComponent('2026-10-04T01:00:00.000000001+02:00')}`)).status,
    ).toBe(200);
    expect(
      (await trades(`?createdAfter=${iso(middle)}&createdBefore=${iso(middle - 1)}`)).json,
    ).toMatchObject({ total: 0, items: [] });
  });

  test('buckets partition the trades; corridor, notional and LP filter them', async () => {
    const all = await everything();
    const buckets = {
      pending: ['awaiting_escrow', 'escrowed', 'delivered', 'proven'],
      settled: ['settled'],
      failed: ['failed', 'refund_pending'],
      refunded: ['refunded'],
    };
    let sum = 0;
    for (const [bucket, stages] of Object.entries(buckets)) {
      const found = await everything(`&status=${bucket}`);
      expect(found.every((item) => stages.includes(item['settlementStatus'] as unknown as string))).toBe(
        true,
      );
      expect(found.length).toBe((await trades(`?status=${bucket}`)).json['total']);
      sum += found.length;
    }
    expect(sum).toBe(all.length);
    expect((await trades('?status=all&routingPath=all')).json['total']).toBe(all.length);
    expect((await trades('?routingPath=direct')).json['total']).toBe(all.length);
    expect((await trades('?routingPath=via_broker')).json).toMatchObject({ total: 0, items: [] });
    const slug = v.chain.chain.slug;
    expect((await trades(`?corridor=${slug}-${slug}`)).json['total']).toBe(all.length);
    expect((await trades(`?corridor=${slug}-nowhere`)).json['total']).toBe(0);
    const rich = all.filter(
      ({ amountUsd }) => typeof amountUsd === 'number' && (amountUsd as number) >= 1_000,
    );
    expect((await trades('?minAmountUsd=1000')).json['total']).toBe(rich.length);
    expect((await trades('?minAmountUsd=1000&maxAmountUsd=1000')).json['total']).toBe(
      all.filter(({ amountUsd }) => amountUsd === 1_000).length,
    );
    expect((await trades('?minAmountUsd=2&maxAmountUsd=1')).json['total']).toBe(0);
    const named = await everything('&lp=HYPER');
    expect(named.length).toBeGreaterThan(0);
    expect(named.every(({ lpName }) => (lpName as unknown as string).includes('HYPERLINK'))).toBe(true);
    expect((await trades('?lp=LP-1')).json['total']).toBe(
      all.filter(({ lpName }) => lpName === 'lp-1').length,
    );
  });

  test('A34: search is literal: SQL and regular-expression characters have no meaning', async () => {
    const find = async (term: string) =>
      (await trades(`?member=${encodeURIComponent(term)}`)).json['total'] as unknown as number;
    const percent = await find('100%_CENT');
    expect(percent).toBeGreaterThan(0);
    expect(await find('%')).toBe(percent);
    expect(await find('per_cent@')).toBe(percent);
    expect(await find('ada lovelace')).toBe(await find('ADA@EXAMPLE.COM'));
    for (const term of ['_a', "' or 1=1 --", '.*', '\\', 'a\0b', '[a-z]+', '😀'])
      expect(await find(term), term).toBe(0);
    for (const name of ['member', 'lp']) {
      expect((await trades(`?${name}=${'x'.repeat(200)}`)).json['total']).toBe(0);
      expect((await trades(`?${name}=${'x'.repeat(201)}`)).status).toBe(422);
      expect((await trades(`?${name}=${'x'.repeat(10_000)}`)).status).toBe(422);
    }
  });

  test('every sort orders by its column in both directions, and pages have no gaps', async () => {
    const all = await everything();
    const value: Record<string, (item: Json) => string | number> = {
      created_at: ({ createdAt }) => createdAt as unknown as string,
      order_id: (item) => item['orderId'] as unknown as string,
      member: ({ member }) => (member ? `${member['firstName']} ${member['lastName']}`.toLowerCase() : ''),
      corridor: ({ sourceChain, destChain }) => `${sourceChain}-${destChain}`,
      amount_usd: ({ amountUsd }) => (amountUsd as number | null) ?? -1,
      lp_name: ({ lpName }) => (lpName as unknown as string).toLowerCase(),
      routing_path: ({ orderKind }) =>
        ['rfq_direct', 'rfq_split', 'route_dex', 'route_composite'].indexOf(orderKind as unknown as string),
      settlement_status: ({ lifecycleStatus }) => lifecycleStatus?.['rank'] as unknown as number,
      settlement_speed_ms: ({ settlementSpeedMs }) => (settlementSpeedMs as number | null) ?? -1,
    };
    for (const [sort, read] of Object.entries(value)) {
      for (const direction of ['asc', 'desc']) {
        const found = await everything(`&sort=${sort}&direction=${direction}`);
        expect(found.map((item) => item['orderId']).sort()).toEqual(
          all.map((item) => item['orderId']).sort(),
        );
        const values = found.map(read);
        const sorted = [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
        expect(values, `${sort} ${direction}`).toEqual(direction === 'asc' ? sorted : sorted.reverse());
      }
    }
  }, 30_000);
});

describe('access', () => {
  test('A3, A4: a service key is refused; trades of another workspace or mode do not exist', async () => {
    const service = await v.key('service');
    for (const path of ['trades', `trades/${orderId}`, 'trades/export', 'trades/daily']) {
      expect((await v.call('GET', `/api/v1/workspaces/w1/${path}`, { key: service })).json).toMatchObject({
        error: { code: 'wrong_key_kind' },
      });
      const unknown = await v.call('GET', `/api/v1/workspaces/nobody/${path}`, { key: owner });
      expect(unknown.status).toBe(404);
      for (const key of [other]) {
        const theirs = await v.call('GET', `/api/v1/workspaces/w1/${path}`, { key });
        expect([theirs.status, theirs.text]).toEqual([unknown.status, unknown.text]);
      }
    }
    const nothing = await v.call('GET', `/api/v1/workspaces/w1/trades/0x${'0'.repeat(64)}`, { key: owner });
    expect(nothing.status).toBe(404);
    for (const [key, workspace, id] of [
      [live, 'w1', orderId],
      [other, 'w2', orderId],
      [owner, 'w1', 'nonsense'],
      [owner, 'w1', '0x%00'],
    ] as const) {
      const answer = await v.call('GET', `/api/v1/workspaces/${workspace}/trades/${id}`, { key });
      expect([answer.status, answer.text]).toEqual([nothing.status, nothing.text]);
    }
    expect((await trades('', live)).json).toMatchObject({ total: 0, items: [] });
    expect((await trades('', other, 'w2')).json).toMatchObject({ total: 0, items: [] });
    expect(
      await (await v.call('GET', '/api/v1/workspaces/w2/trades/export', { key: other })).text.split('\r\n'),
    ).toHaveLength(2);
  });

  test('A5: members are visible to owners and admins; for others the filter, the sort and the field have no effect', async () => {
    const admin = await v.key('workspace', { role: 'admin' });
    for (const key of [owner, admin])
      expect((await trades('?member=ada', key)).json['total']).toBeLessThan(SEEDED);
    for (const role of ['member', 'viewer'] as const) {
      const key = await v.key('workspace', { role });
      const filtered = await trades('?member=ada', key);
      expect(filtered.json['total']).toBe(SEEDED + 1);
      expect(filtered.text).not.toMatch(/"member"|example\.com|Lovelace/);
      expect((await trades('?sort=member', key)).text).toBe((await trades('?sort=created_at', key)).text);
    }
    const csv = (key: string) =>
      v
        .call('GET', '/api/v1/workspaces/w1/trades/export?member=ada', { key })
        .then(({ text }) => text.split('\r\n'));
    expect((await csv(viewer))[0]).not.toMatch(/member/);
    expect((await csv(viewer)).length).toBeGreaterThan((await csv(owner)).length);
    const restricted = [
      'member',
      'compliance',
      'snapshotCompliance',
      'travelRuleTransmission',
      'complianceProofs',
      'intent',
      'fees',
    ];
    const dossier = (key: string) =>
      v.call('GET', `/api/v1/workspaces/w1/trades/${orderId}`, { key }).then(({ json }) => json);
    const [full, plain] = [await dossier(owner), await dossier(viewer)];
    for (const section of restricted) {
      expect(Object.keys(full), section).toContain(section);
      expect(Object.keys(plain), section).not.toContain(section);
    }
    expect(Object.keys(plain['trade'] ?? {})).not.toContain('member');
    expect(full).toMatchObject({
      ...Object.fromEntries(Object.entries(plain)),
      trade: { ...Object.fromEntries(Object.entries(plain['trade'] ?? {})), member: { userId: 'm1' } },
    });
  });
});

describe('the dossier', () => {
  test('one settled trade with transactions, gas and fees in asset and USD, price, speed and next step', async () => {
    const upkeep = createUpkeep(
      {
        trades: v.store.trades,
        chains: new Map(v.devnet.chains.map(({ port }) => [port.chain.id, port])),
        prices: createPrices(referenceAt({ ETH: '2500' })),
        clock: systemClock,
        log: silentLog,
        metrics: silentMetrics,
      },
      { everyMs: 20 },
    );
    const read = () =>
      v.call('GET', `/api/v1/workspaces/w1/trades/${orderId}`, { key: owner }).then(({ json }) => json);
    // Before the gas is captured nothing is invented.
    expect((await read())['settlement']?.['stages']?.['submit']).toMatchObject({
      gasUsed: null,
      feeUsd: null,
    });
    upkeep.start();
    const found = await until(async () => {
      const json = await read();
      return json['settlement']?.['stages']?.['submit']?.['gasUsed'] ? json : undefined;
    });
    await upkeep.stop();
    zTradeDossier.strict().parse(found);
    const { stages, transactions } = found['settlement'] as unknown as {
      stages: Record<string, Json | null>;
      transactions: Json[];
    };
    expect(stages['proof']).toBeNull();
    expect(stages['submit']).toEqual(stages['finalise']);
    const receipt = await v.chain.port.receipt(stages['submit']?.['txHash'] as unknown as Hex);
    if (!receipt) throw new Error('no receipt');
    const wei = receipt.gasUsed * receipt.effectiveGasPrice;
    expect(stages['submit']).toMatchObject({
      gasUsed: receipt.gasUsed.toString(),
      blockNumber: Number(receipt.blockNumber),
      chainId: v.chain.chain.id,
    });
    expect(stages['submit']?.['feeUsd']).toBeCloseTo((Number(wei) / 1e18) * 2_500, 6);
    // One transaction did it all, so it is listed once.
    expect(transactions).toHaveLength(1);
    const fees = found['fees'] as unknown as Record<string, { amount: string; asset: string; usd: number }>;
    expect(fees['gas']).toMatchObject({
      amount: wei.toString(),
      asset: `eip155:${v.chain.chain.id}/slip44:60`,
    });
    expect(fees['protocolFee']).toEqual({
      amount: '200000',
      asset: assetId({ chainId: v.chain.chain.id, token: v.chain.usdc.address }),
      usd: 0.2,
    });
    expect(Number(fees['relayerTip']?.amount)).toBeGreaterThan(0);
    expect(found).toMatchObject({
      trade: { orderId, slippageToleranceBps: 0, filledAt: expect.any(String), settlementSpeedMs: 1_234 },
      lp: {
        id: 'lp-1',
        name: 'lp-1',
        kind: 'lp',
        spreadBps: 8,
        slices: [{ solverId: 'lp-1', portionBps: 10_000 }],
      },
      substatus: 'settled',
      member: { userId: 'm1', firstName: 'Ada', email: 'ada@example.com', kycStatus: 'verified' },
      intent: { orderId },
    });
    expect(Object.keys(found)).not.toContain('legs');
    expect(Object.keys(found)).not.toContain('orderKind');
  });

  test('only a settlement charges fees: a trade that never opened shows 0 for each', async () => {
    const charged = new Map<string, Set<boolean>>();
    for (const { orderId: id, settlementStatus } of await everything()) {
      const { json } = await v.call('GET', `/api/v1/workspaces/w1/trades/${id as unknown as string}`, {
        key: owner,
      });
      const fees = json['fees'] as unknown as Record<string, { amount: string; usd: number | null }>;
      const some = charged.get(settlementStatus as unknown as string) ?? new Set<boolean>();
      charged.set(settlementStatus as unknown as string, some);
      for (const name of ['protocolFee', 'solverFee', 'relayerTip']) {
        const fee = fees[name];
        some.add(fee?.amount !== '0');
        if (fee?.amount === '0') expect(fee.usd, name).toBe(0);
      }
      if ((settlementStatus as unknown) === 'failed')
        expect(fees['gas']).toMatchObject({ amount: '0', usd: 0 });
    }
    expect([...(charged.get('failed') ?? [])]).toEqual([false]);
    expect(charged.get('settled')).toContain(true);
  }, 60_000);

  test('every kind of trade has a dossier with its next step; uncaptured fees are omitted', async () => {
    const seen = new Set<string>();
    for (const item of (await everything()).filter((_, index) => index < 60 || index % 5 === 0)) {
      const { status, json } = await v.call(
        'GET',
        `/api/v1/workspaces/w1/trades/${item['orderId'] as unknown as string}`,
        { key: owner },
      );
      expect(status).toBe(200);
      const dossier = zTradeDossier.strict().parse(json);
      expect(dossier.substatusMessage).toMatch(/^[A-Z].*\.$/s);
      expect('orderKind' in dossier).toBe(dossier.trade.orderKind.startsWith('route'));
      seen.add(dossier.trade.settlementStatus);
    }
    expect(seen.size).toBeGreaterThan(3);
    await v.db.query('delete from order_gas where order_id = $1', [Buffer.from(orderId.slice(2), 'hex')]);
    expect(
      Object.keys((await v.call('GET', `/api/v1/workspaces/w1/trades/${orderId}`, { key: owner })).json),
    ).not.toContain('fees');
  }, 60_000);
});

describe('the export', () => {
  const exported = (query = '', key = owner) =>
    v.call('GET', `/api/v1/workspaces/w1/trades/export${query}`, { key });

  test('parsed back from CSV it equals the list, row for row', async () => {
    for (const query of [
      '',
      '?status=settled&sort=amount_usd&direction=asc',
      '?sort=lp_name',
      '?minAmountUsd=500&sort=settlement_status',
    ]) {
      const { text, headers } = await exported(query);
      expect(headers.get('content-type')).toMatch(/^text\/csv; charset=utf-8/);
      const [head = [], ...rows] = parseCsv(text);
      expect(head.join(',')).toBe(
        'orderId,createdAt,sourceChain,destChain,inputSymbol,inputAmount,inputAsset,outputSymbol,outputAmount,outputAsset,amountUsd,lpName,lpSource,routingPath,orderKind,status,settlementStatus,executionPrice,slippageBps,settlementSpeedMs,platformFeeBps,lpSpreadBps,submitTxHash,fillTxHash,finaliseTxHash,refundTxHash,memberName,memberEmail,legs,legFees',
      );
      const list = await everything(query === '' ? '' : `&${query.slice(1)}`);
      expect(rows).toHaveLength(list.length);
      rows.forEach((row, index) => {
        const cell = Object.fromEntries(head.map((name, at) => [name, row[at]]));
        const item = list[index] as Json;
        const { input, output } = item['route'] as unknown as Record<string, Json>;
        const text = (value: unknown) => (value === null || value === undefined ? '' : String(value));
        expect(row).toHaveLength(head.length);
        expect(cell).toMatchObject({
          orderId: item['orderId'],
          createdAt: item['createdAt'],
          inputSymbol: text(input?.['asset']?.['symbol']),
          inputAmount: text(input?.['decimalAmount']),
          outputAmount: text(output?.['decimalAmount']),
          outputAsset: output?.['asset']?.['assetId'],
          amountUsd: text(item['amountUsd']),
          lpName: guarded(text(item['lpName'])),
          orderKind: item['orderKind'],
          status: item['status'],
          settlementStatus: item['settlementStatus'],
          executionPrice: text(item['executionPrice']?.['value']),
          slippageBps: text(item['slippageBps']),
          settlementSpeedMs: text(item['settlementSpeedMs']),
          memberName: guarded(
            item['member'] ? `${item['member']['firstName']} ${item['member']['lastName']}` : '',
          ),
          memberEmail: guarded(text(item['member']?.['email'])),
        });
      });
    }
  });

  const lines = (text: string) =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Json);

  test('as NDJSON it is the list, line for line', async () => {
    for (const [query, key] of [
      ['', owner],
      ['&status=settled&sort=amount_usd&direction=asc', viewer],
    ] as const) {
      const { text, headers } = await exported(`?format=ndjson${query}`, key);
      expect(headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
      expect(headers.get('content-disposition')).toBe('attachment; filename="trades.ndjson"');
      // Each line also names its legs.
      expect(lines(text).map((line) => ({ ...(line as object), legs: undefined }))).toEqual(
        await everything(query, key),
      );
      for (const line of lines(text)) expect(zTradeLine.strict().parse(line)).toHaveProperty('legs');
    }
  });

  test('cursors: what was created after one, once; what has changed after one, as it is now', async () => {
    const all = (await everything()) as unknown as TradeItem[];
    const sync = async (query: string) =>
      lines((await exported(`?format=ndjson&${query}`)).text).map((line) => zTradeLine.strict().parse(line));
    const created = await sync('createdAfter=c0');
    const changed = await sync('updatedAfter=u0');
    for (const read of [created, changed])
      expect(read.map((line) => ({ ...line, legs: undefined, cursor: undefined })).sort(byId)).toEqual(
        all.map((item) => ({ ...item, cursor: undefined })).sort(byId),
      );
    // Breaking off anywhere loses nothing.
    const middle = created[100]?.cursor ?? '';
    expect(await sync(`createdAfter=${middle}`)).toEqual(created.slice(101));
    const one = changed.find(({ settlementStatus }) => settlementStatus === 'escrowed');
    expect(await sync('updatedAfter=u0&status=pending&lp=lp-1')).toEqual(
      changed.filter(({ status, lpName }) => status === 'pending' && lpName === 'lp-1'),
    );

    const id = one?.orderId as Hex;
    const [newest, last] = [created.at(-1)?.cursor, changed.at(-1)?.cursor];
    const [claim] = await v.store.claim([id], 'worker', 60_000);
    const record = await v.store.order(id);
    if (!claim || !record) throw new Error('not claimed');
    const failure = { code: 'expired_unfilled', message: 'late' } as const;
    const outcome = {
      status: 'failed',
      final: false,
      event: null,
      atMs: record.createdAtMs + 9_000,
    } as const;
    expect(await v.store.append(claim, record, [{ kind: 'failed', failure }], outcome)).toBe(true);
    expect(await sync(`createdAfter=${newest}`)).toEqual([]);
    expect(await sync(`updatedAfter=${last}`)).toMatchObject([
      { orderId: id, status: 'failed', settlementStatus: 'refund_pending' },
    ]);
  });

  test('a cursor that cannot be followed is refused, and the message says what to send', async () => {
    for (const [query, name, message] of [
      ['createdAfter=c0', 'createdAfter', 'a cursor needs format=ndjson'],
      ['format=ndjson&createdAfter=c0&updatedAfter=u0', 'updatedAfter', 'Leave out createdAfter'],
      ['format=ndjson&createdAfter=c0&sort=lp_name', 'sort', 'Leave out sort'],
      ['format=ndjson&updatedAfter=u0&direction=asc', 'direction', 'Leave out direction'],
      ['format=ndjson&updatedAfter=2026-01-31T09:30:00Z', 'updatedAfter', 'or u0'],
      ['format=ndjson&updatedAfter=c0', 'updatedAfter', 'or u0'],
      ['format=ndjson&createdAfter=u0', 'createdAfter', 'such as c0'],
      ['format=ndjson&createdAfter=c00', 'createdAfter', 'such as c0'],
      ['format=ndjson&createdAfter=c999999', 'createdAfter', 'or start again'],
      ['format=xml', 'format', 'must be one of'],
    ] as const) {
      const { status, json } = await exported(`?${query}`);
      const [detail] = json['detail'] as unknown as { loc: string[]; msg: string }[];
      expect([status, detail?.loc], query).toEqual([422, ['query', name]]);
      expect(detail?.msg).toContain(message);
    }
    // Cursors belong to exports.
    expect((await trades('?createdAfter=c0')).status).toBe(422);
  });

  test('A36: no cell is a formula, whatever the name of a member or an LP', async () => {
    const rows = parseCsv((await exported()).text).slice(1);
    const cells = rows.flat().filter((cell) => cell !== '');
    expect(cells.filter((cell) => /^[=+@\t\r\n]/.test(cell))).toEqual([]);
    // A minus sign begins a number or nothing.
    expect(cells.filter((cell) => cell.startsWith('-') && !/^-\d+$/.test(cell))).toEqual([]);
    expect(rows.flat()).toContain(`'${HOSTILE.firstName} ${HOSTILE.lastName}`);
    expect(rows.flat()).toContain(`'=HYPERLINK("x")`);
  });

  test('A37: one export per workspace; an abandoned one frees its slot and its connection', async () => {
    const open = async () =>
      (
        await v.db.query<{ n: number }>(
          `select count(*) as n from pg_stat_activity where datname = current_database() and application_name = 'firmquote export'`,
        )
      )[0]?.n;
    // Long enough that the sockets cannot swallow it whole.
    await v.store.putSolver({
      id: 'wordy',
      name: 'x'.repeat(8_000),
      kind: 'lp',
      corridors: null,
      disabled: true,
    });
    await seedTrades(v.db, {
      book: { workspaceId: 'w2', mode: 'test' },
      rows: 2_000,
      seed: 4,
      chains: v.devnet.chains.map(({ chain }) => chain),
      lps: ['wordy'],
      members: ['m1'],
      untilMs: UNTIL,
      days: 9,
      usd: { USD: 1, ETH: 2_500 },
    });
    const reader = await slowReader(`/api/v1/workspaces/w2/trades/export`, other);
    await until(async () => (await open()) === 1);
    const refused = await Promise.all(
      Array.from({ length: 20 }, () => v.call('GET', '/api/v1/workspaces/w2/trades/export', { key: other })),
    );
    for (const { status, json, headers } of refused) {
      expect([status, json['error']?.['code']]).toEqual([429, 'rate_limited']);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    // Another workspace is not kept waiting.
    expect((await exported('?limit=1')).status).toBe(422);
    expect((await exported()).status).toBe(200);
    reader.destroy();
    await until(async () => (await open()) === 0);
    const { text } = await v.call('GET', '/api/v1/workspaces/w2/trades/export', { key: other });
    expect(text.split('\r\n')).toHaveLength(2_002);
  }, 120_000);
});

describe('totals per day', () => {
  const daily = (query: string, key = owner) =>
    v.call('GET', `/api/v1/workspaces/w1/trades/daily?${query}`, { key });
  const from = new Date(UNTIL - 25 * 86_400_000).toISOString();
  const to = new Date(UNTIL + 1).toISOString();

  test('are the sums over the list, by UTC day, status and token', async () => {
    for (const filter of ['', '&lp=lp-1&minAmountUsd=100', '&status=settled']) {
      const range = `createdAfter=${from}&createdBefore=${to}`;
      const { json, text } = await daily(range + filter);
      const { items: days } = zTradesDailyResponse.strict().parse(JSON.parse(text));
      expect(json).toMatchObject({ from, to });
      const list = (await everything(`&${range}${filter}`)) as unknown as TradeItem[];
      expect(list.length, filter).toBeGreaterThan(0);
      const expected = [...new Set(list.map(({ createdAt }) => createdAt.slice(0, 10)))].sort();
      expect(days.map(({ day }) => day)).toEqual(expected);
      for (const { day, trades: counts, amountUsd, withoutUsd, inputs, outputs } of days) {
        const ofDay = list.filter(({ createdAt }) => createdAt.startsWith(day));
        expect(withoutUsd).toBe(ofDay.filter((item) => item.amountUsd === null).length);
        for (const bucket of ['pending', 'settled', 'failed', 'refunded'] as const) {
          const own = ofDay.filter((item) => bucketOf(item.settlementStatus) === bucket);
          expect(counts[bucket]).toBe(own.length);
          expect(amountUsd[bucket]).toBeCloseTo(
            own.reduce((sum, item) => sum + (item.amountUsd ?? 0), 0),
            6,
          );
          for (const [side, totals] of [
            ['input', inputs],
            ['output', outputs],
          ] as const) {
            const assets = [...new Set(ofDay.map(({ route }) => route[side].asset.assetId))].sort();
            expect(totals.map(({ asset }) => asset)).toEqual(assets);
            for (const { asset, amount, symbol } of totals) {
              const legs = own.map(({ route }) => route[side]).filter((leg) => leg.asset.assetId === asset);
              expect(amount[bucket]).toBe(
                legs.reduce((sum, { rawAmount }) => sum + BigInt(rawAmount), 0n).toString(),
              );
              expect(['USDC', 'WETH', 'DAI']).toContain(symbol);
            }
          }
        }
      }
    }
  }, 30_000);

  test('cover the last 30 days without a range, 92 days at most', async () => {
    const { json } = await daily('');
    const range = json as unknown as { from: string; to: string };
    expect(range.from).toMatch(/T00:00:00\.000Z$/);
    expect(Math.floor((Date.parse(range.to) - Date.parse(range.from)) / 86_400_000)).toBe(29);
    const wide = await daily('createdAfter=2026-01-01T00:00:00Z&createdBefore=2026-04-03T00:00:00Z');
    expect(wide.status).toBe(422);
    expect(wide.text).toContain('at most 92 days before createdBefore');
    const most = await daily('createdAfter=2026-01-01T00:00:00Z&createdBefore=2026-04-02T23:59:59Z');
    expect(most.json).toMatchObject({ items: [] });
    expect((await daily('sort=lp_name')).status).toBe(422);
  });
});

test('any text survives a cell, with only the guard added', async () => {
  const row = await v.store.trades.trade(orderId);
  if (!row) throw new Error('no row');
  const chains = new Map(v.devnet.chains.map(({ chain }) => [chain.id, chain]));
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.string({ unit: fc.constantFrom('=', '+', '-', '@', '\t', '\r', '\n', '\0', '"', ',', 'a', "'") }),
      ),
      (name) => {
        const [cells, ...more] = parseCsv(
          csvLine(row, {
            chains,
            solvers: new Map([['lp-1', { name, kind: 'lp' }]]),
            venues: new Map(),
            members: undefined,
            nowMs: 0,
          }),
        );
        expect(more).toEqual([]);
        expect(cells).toHaveLength(28);
        expect(cells?.[11]).toBe(guarded(name));
      },
    ),
  );
});

const guarded = (text: string) =>
  /^[=+\-@\t\r\n\0\uFF1D\uFF0B\uFF0D\uFF20]/u.test(text) ? `'${text}` : text;

/** RFC 4180, to the letter. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let [row, cell, quoted]: [string[], string, boolean] = [[], '', false];
  for (let at = 0; at < text.length; at += 1) {
    const mark = text[at] as string;
    if (quoted) {
      if (mark !== '"') cell += mark;
      else if (text[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else quoted = false;
    } else if (mark === '"') quoted = true;
    else if (mark === ',') {
      row.push(cell);
      cell = '';
    } else if (mark === '\r' && text[at + 1] === '\n') {
      rows.push([...row, cell]);
      [row, cell] = [[], ''];
      at += 1;
    } else cell += mark;
  }
  return rows;
}

/** Asks and then takes nothing. */
async function slowReader(path: string, key: string) {
  const socket = connect(Number(new URL(v.url).port), '127.0.0.1');
  await new Promise<void>((done) => socket.once('connect', done));
  socket.pause();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: test\r\nX-API-Key: ${key}\r\n\r\n`);
  return socket;
}
