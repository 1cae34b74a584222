/**
 * The router at its public edge, on a real chain with a real Uniswap: every source in one answer, best first,
 * sealed in a namespace of its own.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { zRouterCandidate, zRouterQuoteResponse } from '../../src/protocol/api/router.ts';
import { startDex, type TestDex } from '../support/dex.ts';
import { type RouterWorld, startRouterWorld } from '../support/router.ts';
import { signPlan } from '../support/taker.ts';
import type { RoutePromise, RouteVenue } from '../../src/ports/route-venue.ts';
import type { TestAccount } from '../support/devnet.ts';
import { type Json, until } from '../support/venue.ts';

let w: RouterWorld;
let dex: TestDex;
let usdc: string;
let weth: string;
let taker: TestAccount;
const wethFor = (usdcAmount: bigint) => (usdcAmount * 10n ** 12n) / 2_500n;
/** What the one LP gives, in basis points of par. */
let lpGives = 9_990n;
let lpSilent = false;
/** It buys the third token, for too much. */
let lpBuysThird = false;
/** What the pools were asked to keep, and whether they do. */
let asked: RoutePromise[] = [];
let keeps: NonNullable<RouteVenue['promise']> = async () => true;
const promising = (venue: RouteVenue): RouteVenue => ({
  ...venue,
  promise(promise) {
    asked.push(promise);
    return keeps(promise);
  },
});

beforeAll(async () => {
  w = await startRouterWorld(
    { chainIds: [31_421], moreTokens: 1, router: { maxMiddles: 2 } },
    async ([a]) => {
      dex = await startDex(a);
      return [dex.venue('constant_product'), promising(dex.venue('concentrated', { toleranceBps: 20 }))];
    },
  );
  [usdc, weth] = [w.asset(w.a, w.a.usdc), w.asset(w.a, w.a.weth)];
  await w.v.solver(1, (rfq, make) => {
    if (lpSilent) return undefined;
    if (rfq.input === usdc && rfq.output === weth)
      return rfq.side === 'exactInput'
        ? make.quote(rfq, { output: (wethFor(BigInt(rfq.amount)) * lpGives) / 10_000n })
        : make.quote(rfq, { input: (BigInt(rfq.amount) * 2_500n * 10_000n) / (lpGives * 10n ** 12n) });
    if (lpBuysThird && rfq.output === weth && rfq.side === 'exactInput')
      return make.quote(rfq, { output: BigInt(rfq.amount) / 2_000n });
    return make.decline(rfq, 'pair');
  });
  taker = await w.taker();
});
afterAll(() => w.stop());

const ask = (body: object = {}) => ({
  taker: taker.address,
  input: { asset: usdc, amount: '1000000000' },
  output: { asset: weth },
  maxCandidates: 20,
  ...body,
});
const outputOf = (candidate: Json) =>
  BigInt(candidate['preview']?.['outputs']?.[0]?.['amount'] as unknown as string);

describe('what a venue has to keep', () => {
  test('only what the taker sees is promised, under the nonce of its order', async () => {
    asked = [];
    const quotes = await w.candidates(ask());
    expect(asked).toHaveLength(1);
    const seen = quotes.find((quote) => (quote['solverId'] as string) === 'uniswap-v3') as Json;
    expect(asked[0]?.nonce.toString()).toBe(seen['order']?.['payload']?.['message']?.['nonce']);
    expect(asked[0]?.quote.outputAmount).toBe(outputOf(seen));
    asked = [];
    const [best] = await w.candidates(
      ask({ maxCandidates: 1, solvers: { include: ['lp-1', 'uniswap-v3'] } }),
    );
    expect(asked).toHaveLength(best?.['solverId'] === ('uniswap-v3' as unknown as Json) ? 1 : 0);
  });

  test.each([
    ['does not keep it', async () => false],
    ['fails', () => Promise.reject(new Error('its database is down'))],
  ])('a venue that %s: the next best stands in', async (_, answer) => {
    keeps = answer;
    try {
      const [best, ...others] = await w.candidates(ask({ maxCandidates: 1 }));
      expect(best?.['solverId']).not.toBe('uniswap-v3');
      expect(others).toEqual([]);
      const alone = await w.quotes(ask({ solvers: { include: ['uniswap-v3'] } }));
      expect(alone.json['productUnavailable']).toMatchObject({ code: 'no_quotes' });
    } finally {
      keeps = async () => true;
    }
  });
});

describe('one intent, every source', () => {
  test('RFQ and both kinds of pool, best first, in the router shape', async () => {
    const answer = await w.quotes(ask());
    expect(answer.status, answer.text).toBe(200);
    zRouterQuoteResponse.strict().parse(answer.json);
    const quotes = answer.json['quotes'] as unknown as Json[];
    expect(new Set(quotes.map((quote) => quote['solverId']))).toEqual(
      new Set(['lp-1', 'uniswap-v2', 'uniswap-v3']),
    );
    expect(quotes.map(outputOf)).toEqual(quotes.map(outputOf).sort((x, y) => (x > y ? -1 : 1)));
    for (const quote of quotes) {
      expect(Object.keys(quote).sort()).toEqual([
        'composite',
        'eta',
        'executionMode',
        'gas',
        'integrityChecksum',
        'lpSpreadBps',
        'order',
        'platformFeeBps',
        'preview',
        'quoteId',
        'routingPath',
        'solverId',
        'validUntil',
        'warnings',
      ]);
      expect(Object.keys(quote['preview']?.['outputs']?.[0] as Json).sort()).toEqual([
        'amount',
        'asset',
        'decimals',
        'minimumAmount',
        'priceUsd',
        'receiver',
        'symbol',
      ]);
      expect(quote['gas']).toEqual({ native: '0', usd: 0 });
    }
    expect(new Set(quotes.map((quote) => quote['order']?.['payload']?.['message']?.['nonce'])).size).toBe(1);
    const rfq = quotes.find((quote) => (quote['solverId'] as string) === 'lp-1');
    expect(rfq).toMatchObject({ routingPath: 'direct', lpSpreadBps: 8 });
    // One order of one LP is one leg: what the taker pays for what it gets.
    const [paid, got] = [rfq?.['preview']?.['inputs']?.[0], rfq?.['preview']?.['outputs']?.[0]] as [
      Json,
      Json,
    ];
    expect(rfq?.['composite']).toEqual({
      executionModel: 'atomic',
      legs: [
        {
          index: 0,
          kind: 'rfq',
          solverId: 'lp-1',
          venue: 'rfq',
          chainId: 31_421,
          input: { asset: paid['asset'], amount: paid['amount'] },
          output: { asset: got['asset'], amount: got['amount'], minimumAmount: got['amount'] },
          fees: null,
          eta: rfq?.['eta'],
          dependsOn: [],
        },
      ],
    });
    const pool = quotes.find((quote) => (quote['solverId'] as string) === 'uniswap-v3') as Json;
    const out = pool['preview']?.['outputs']?.[0] as Json;
    expect(pool).toMatchObject({
      routingPath: 'direct',
      lpSpreadBps: null,
      composite: {
        executionModel: 'atomic',
        legs: [
          {
            index: 0,
            kind: 'dex',
            solverId: 'uniswap-v3',
            venue: 'uniswap-v3',
            chainId: 31_421,
            input: { asset: usdc, amount: '1000000000' },
            output: { asset: weth, amount: out['amount'], minimumAmount: out['minimumAmount'] },
            dependsOn: [],
          },
        ],
      },
    });
    // The floor is what the order enforces; the shown amount is what the pools give now.
    expect(pool['order']?.['payload']?.['message']?.['outputs']?.[0]?.['amount']).toBe(out['minimumAmount']);
    expect(BigInt(out['minimumAmount'] as string)).toBeLessThan(BigInt(out['amount'] as string));
  });

  test('the better of RFQ and DEX comes first', async () => {
    lpGives = 9_999n;
    expect((await w.candidates(ask()))[0]?.['solverId']).toBe('lp-1');
    lpGives = 9_500n;
    expect((await w.candidates(ask()))[0]?.['solverId']).toMatch(/^uniswap-/);
    lpGives = 9_990n;
  });

  test('exact output: the least input first, the output to the unit', async () => {
    const quotes = await w.candidates(
      ask({ input: { asset: usdc }, output: { asset: weth, amount: '400000000000000000' } }),
    );
    const inputs = quotes.map((quote) =>
      BigInt(quote['preview']?.['inputs']?.[0]?.['amount'] as unknown as string),
    );
    expect(inputs).toEqual([...inputs].sort((x, y) => (x < y ? -1 : 1)));
    for (const quote of quotes.filter(
      ({ composite }) => composite?.['executionModel'] !== ('sequential' as never),
    ))
      expect(quote['preview']?.['outputs']?.[0]).toMatchObject({
        amount: '400000000000000000',
        minimumAmount: '400000000000000000',
      });
    expect(new Set(quotes.map((quote) => quote['solverId']))).toEqual(
      new Set(['lp-1', 'uniswap-v2', 'uniswap-v3']),
    );
  });

  test('several pools in a row are one atomic composite', async () => {
    const third = w.asset(w.a, w.a.deployment.tokens[2] as never);
    const [best] = await w.candidates(
      ask({ output: { asset: third }, solvers: { include: ['uniswap-v2'] } }),
    );
    const out = best?.['preview']?.['outputs']?.[0] as Json;
    expect(best).toMatchObject({
      routingPath: 'composite',
      composite: {
        executionModel: 'atomic',
        legs: [
          { index: 0, input: { asset: usdc }, output: { asset: weth, minimumAmount: null }, dependsOn: [] },
          {
            index: 1,
            input: { asset: weth },
            output: { asset: third, amount: out['amount'] },
            dependsOn: [0],
          },
        ],
      },
    });
    // Nobody knows a price for that token, and the candidate says so.
    expect(best?.['warnings']).toMatchObject([{ code: 1003 }]);
  });

  test('no path visits a token twice, however well that would pay', async () => {
    lpBuysThird = true;
    try {
      const quotes = await w.candidates(ask());
      const third = w.asset(w.a, w.a.deployment.tokens[2] as never);
      // The pools lead to the third token through WETH, and the LP would pay more WETH for it.
      expect((await w.candidates(ask({ output: { asset: third } }))).length).toBeGreaterThan(0);
      expect(
        (await w.candidates(ask({ input: { asset: third, amount: (10n ** 21n).toString() } }))).length,
      ).toBeGreaterThan(0);
      for (const { composite } of quotes) {
        const legs = composite?.['legs'] as unknown as Json[];
        const visited = [legs[0], ...legs].map((leg, at) => leg?.[at === 0 ? 'input' : 'output']?.['asset']);
        expect(new Set(visited).size, JSON.stringify(visited)).toBe(visited.length);
      }
    } finally {
      lpBuysThird = false;
    }
  });

  test('the gas of every leg that the wallet sends is in the candidate', async () => {
    const third = w.asset(w.a, w.a.deployment.tokens[2] as never);
    const gasOf = (candidate: Json) => BigInt(candidate['gas']?.['native'] as unknown as string);
    w.v.relayer.healthy = false;
    try {
      const [one] = await w.candidates(ask({ solvers: { include: ['lp-1'] } }));
      const two = (await w.candidates(ask({ output: { asset: third } }))).find(
        (quote) => (quote['composite']?.['executionModel'] as string) === 'sequential',
      ) as Json;
      // Both legs settle by the wallet on this chain: clearly more than one settlement.
      expect(gasOf(one as Json)).toBeGreaterThan(0n);
      expect(gasOf(two) * 2n).toBeGreaterThan(gasOf(one as Json) * 3n);
      expect(two['gas']?.['usd']).toBeCloseTo((Number(gasOf(two)) / 1e18) * 2_500, 6);
      const later = (two['warnings'] as unknown as Json[]).find(({ code }) => (code as unknown) === 1008);
      expect(later?.['message']).toMatch(/second leg, for about 0\.\d+ ETH of gas on chain 31421/);
    } finally {
      w.v.relayer.healthy = true;
    }
  });

  test('RFQ then pool: the first leg firm, the second an estimate that says so', async () => {
    const third = w.asset(w.a, w.a.deployment.tokens[2] as never);
    const quotes = await w.candidates(ask({ output: { asset: third } }));
    const two = quotes.find(
      (quote) => (quote['composite']?.['executionModel'] as string) === 'sequential',
    ) as Json;
    expect(two).toMatchObject({
      solverId: 'lp-1',
      routingPath: 'composite',
      preview: { outputs: [{ asset: third, minimumAmount: null, receiver: taker.address }] },
    });
    const legs = two['composite']?.['legs'] as unknown as Json[];
    expect(legs).toMatchObject([
      { index: 0, kind: 'rfq', venue: 'rfq', output: { asset: weth }, dependsOn: [] },
      {
        index: 1,
        kind: 'dex',
        input: { asset: weth, amount: legs[0]?.['output']?.['minimumAmount'] },
        output: { asset: third, amount: two['preview']?.['outputs']?.[0]?.['amount'], minimumAmount: null },
        dependsOn: [0],
      },
    ]);
    expect(two['warnings']).toContainEqual({
      code: 1007,
      message: expect.stringMatching(
        /^Only leg 0 \(rfq, [\w-]+\) is firm\. Leg 1 \(dex, [\w-]+\) is an estimate/,
      ),
    });
    // Its order delivers the middle asset to the taker itself.
    expect(two['order']?.['payload']?.['message']?.['outputs']?.[0]?.['recipient']).toBe(
      `0x${'0'.repeat(24)}${taker.address.slice(2)}`,
    );
  });

  test('sources: include, exclude, and the workspace', async () => {
    expect(
      new Set(
        (await w.candidates(ask({ solvers: { include: ['uniswap-v2'] } }))).map((quote) => quote['solverId']),
      ),
    ).toEqual(new Set(['uniswap-v2']));
    expect(
      new Set(
        (await w.candidates(ask({ solvers: { exclude: ['uniswap-v2', 'lp-1'] } }))).map(
          (quote) => quote['solverId'],
        ),
      ),
    ).toEqual(new Set(['uniswap-v3']));
    expect((await w.quotes(ask({ solvers: { include: ['nobody'] } }))).json).toMatchObject({
      quotes: [],
      productUnavailable: { code: 'no_eligible_solver', corridor: 'chain1-chain1' },
    });
    await w.v.workspace('lp-only', { eligibleSolvers: ['lp-1'] });
    const other = await w.v.key('service', { workspaceId: 'lp-only' });
    const { json } = await w.v.call('POST', '/api/v1/router/quotes', { key: other, body: ask() });
    expect(new Set((json['quotes'] as unknown as Json[]).map((quote) => quote['solverId']))).toEqual(
      new Set(['lp-1']),
    );
  });

  test('a silent LP delays no other offer', async () => {
    lpSilent = true;
    expect(new Set((await w.candidates(ask())).map((quote) => quote['solverId']))).toEqual(
      new Set(['uniswap-v2', 'uniswap-v3']),
    );
    lpSilent = false;
  });

  test('an amount too large for every source: the reason that the taker can act on', async () => {
    expect(
      (
        await w.quotes(
          ask({ input: { asset: usdc, amount: '900000000000000' }, solvers: { exclude: ['lp-1'] } }),
        )
      ).json,
    ).toMatchObject({ quotes: [], productUnavailable: { code: 'amount_too_large' } });
  });

  test('roster and pairs contain every name that a candidate can carry', async () => {
    const { json } = await w.v.call('GET', '/api/v1/router/solvers', { key: w.key });
    const shown = json['solvers'] as unknown as Json[];
    expect(shown.map(({ id }) => id)).toEqual(['lp-1', 'uniswap-v2', 'uniswap-v3']);
    expect(shown[1]).toMatchObject({ kind: 'solver', status: 'active', corridors: ['chain1-chain1'] });
    const rfqOnly = await w.v.call('GET', '/api/v1/rfq/solvers', { key: w.key });
    expect((rfqOnly.json['solvers'] as unknown as Json[]).map(({ id }) => id)).toEqual(['lp-1']);
    expect((await w.v.call('GET', '/api/v1/router/pairs', { key: w.key })).json).toMatchObject({
      chain1: 31_421,
    });
  });
});

describe('the seal', () => {
  test('a candidate is refused in the other namespace, both ways', async () => {
    const [routed] = await w.candidates(ask());
    const rfq = (await w.v.call('POST', '/api/v1/rfq/quotes', { key: w.key, body: ask() })).json[
      'quotes'
    ]?.[0] as Json;
    for (const path of ['orders/preflight', 'orders']) {
      const extra = path === 'orders' ? { signature: `0x${'11'.repeat(65)}` } : {};
      for (const [namespace, candidate] of [
        ['rfq', routed],
        ['router', rfq],
      ] as const) {
        const { status, json } = await w.v.call('POST', `/api/v1/${namespace}/${path}`, {
          key: w.key,
          body: { quoteResponse: candidate, ...extra },
        });
        expect([status, json['detail']?.[0]?.['type']]).toEqual([422, 'namespace_mismatch']);
      }
    }
  });

  test('any changed value at any path of any candidate is refused', async () => {
    const third = w.asset(w.a, w.a.deployment.tokens[2] as never);
    const quotes = [
      ...(await w.candidates(ask())),
      ...(await w.candidates(ask({ output: { asset: third } }))),
    ];
    const kindOf = ({ solverId, composite }: Json) =>
      (composite?.['executionModel'] as unknown) === 'sequential'
        ? 'sequential'
        : (solverId as unknown) === 'lp-1'
          ? 'plain'
          : 'pool';
    // One order of an LP, one through a pool, one of two legs.
    const candidates = ['plain', 'pool', 'sequential'].map(
      (kind) => quotes.find((quote) => kindOf(quote) === kind) as Json,
    );
    for (const candidate of candidates) {
      const answers = await Promise.all(
        [...mutations(candidate)].map(async ([path, changed]) => ({
          path,
          answer: await w.preflight(changed),
        })),
      );
      for (const { path, answer } of answers) {
        expect([path, answer.status]).toEqual([path, 422]);
        expect(['integrity_mismatch', 'extra_forbidden', 'namespace_mismatch', 'missing'], path).toContain(
          answer.json['detail']?.[0]?.['type'] as unknown as string,
        );
      }
      expect((await w.preflight(candidate)).status).toBe(200);
    }
  });

  test('a pool order is submitted like any other, once, and belongs to its workspace', async () => {
    const [best] = await w.candidates(ask({ solvers: { include: ['uniswap-v2'] } }));
    const plan = await w.preflight(best as Json);
    expect(plan.json).toMatchObject({ ready: true, fundingLock: 'EIP-3009' });
    const body = await signPlan(taker, best as Json, plan.json);
    const post = (key: string) =>
      w.v.call('POST', '/api/v1/router/orders', { key, body, headers: { 'Idempotency-Key': 'one' } });
    const [first, again] = [await post(w.key), await post(w.key)];
    expect(first.status, first.text).toBe(200);
    expect(again.text).toBe(first.text);
    const id = first.json['id'] as unknown as `0x${string}`;
    const record = await until(() => w.v.store.order(id));
    expect(record).toMatchObject({
      namespace: 'router',
      commitments: [],
      solverIds: ['uniswap-v2'],
      route: { venueId: 'uniswap-v2', kind: 'dex', through: { filler: dex.constantProduct.filler } },
    });
    expect((await w.v.call('GET', `/api/v1/router/orders/${id}`, { key: w.key })).json).toMatchObject({
      id,
      quoteId: best?.['quoteId'],
    });
    await w.v.workspace('other');
    expect(
      (
        await w.v.call('GET', `/api/v1/router/orders/${id}`, {
          key: await w.v.key('service', { workspaceId: 'other' }),
        })
      ).status,
    ).toBe(404);
  });
});

/** One changed copy per path: values of the same type, keys dropped, keys added, lists shortened. */
function* mutations(candidate: Json): Generator<[string, Json]> {
  const paths: (string | number)[][] = [];
  const walk = (value: unknown, path: (string | number)[]): void => {
    paths.push(path);
    if (Array.isArray(value)) value.forEach((entry, index) => walk(entry, [...path, index]));
    else if (typeof value === 'object' && value !== null)
      for (const [name, entry] of Object.entries(value)) walk(entry, [...path, name]);
  };
  walk(candidate, []);
  for (const path of paths) {
    const copy = structuredClone(candidate) as unknown as Record<string, unknown>;
    if (path.length === 0) {
      yield ['(added)', { ...copy, extra: 1 } as unknown as Json];
      continue;
    }
    const parent = path
      .slice(0, -1)
      .reduce<unknown>((value, step) => (value as Record<string | number, unknown>)[step], copy) as Record<
      string | number,
      unknown
    >;
    const last = path.at(-1) as string | number;
    parent[last] = other(parent[last]);
    yield [path.join('.'), copy as unknown as Json];
  }
}

function other(value: unknown): unknown {
  if (typeof value === 'string')
    return value.startsWith('0x')
      ? `${value.slice(0, -1)}${value.endsWith('0') ? '1' : '0'}`
      : /^\d+$/.test(value)
        ? (BigInt(value) + 1n).toString()
        : `${value}x`;
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  if (value === null) return 'x';
  if (Array.isArray(value)) return value.length === 0 ? [1] : value.slice(0, -1);
  return { ...(value as object), more: 1 };
}

test('open quotes of both namespaces count together', async () => {
  await w.v.workspace('few', { limits: { openQuotes: 1, openNotionalUsd: null } });
  const key = await w.v.key('service', { workspaceId: 'few' });
  const post = (namespace: string) => w.v.call('POST', `/api/v1/${namespace}/quotes`, { key, body: ask() });
  expect((await post('router')).status).toBe(200);
  for (const namespace of ['router', 'rfq'])
    expect((await post(namespace)).json).toMatchObject({ error: { code: 'rate_limited' } });
});

test('shape: router answers parse with their own schema', async () => {
  for (const quote of await w.candidates(ask())) zRouterCandidate.parse(quote);
});
