/**
 * Routes of two legs, on two real chains: followed to the end, given up in the middle, refunded, taken twice;
 * the money always has an owner.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatTokens } from '../../src/domain/amount.ts';
import type { TokenInfo } from '../../src/domain/chain.ts';
import type { Hex } from '../../src/domain/hex.ts';
import { zPreflightResponse } from '../../src/protocol/api/preflight.ts';
import { account, type TestAccount } from '../support/devnet.ts';
import { startDex, type TestDex } from '../support/dex.ts';
import { type RouterWorld, startRouterWorld } from '../support/router.ts';
import { signPlan } from '../support/taker.ts';
import type { Answer, Json } from '../support/venue.ts';

let w: RouterWorld;
let dex: TestDex;
let poolsOpen = true;
let usdcA: string;
let usdcB: string;
let thirdB: string;
let lp: { lp: TestAccount; operator: TestAccount };
/** Whether the LP quotes the second leg of an RFQ route. */
let lpAnswers: (input: string, output: string) => boolean = () => true;

beforeAll(async () => {
  w = await startRouterWorld(
    {
      chainIds: [31_427, 31_428],
      moreTokens: 1,
      landingMarginSeconds: 8,
      router: { maxMiddles: 3, timeoutMs: 4_000 },
      fanOut: { timeoutMs: 1_500 },
      breaker: { limit: 1_000 },
    },
    async ([, b]) => {
      dex = await startDex(b);
      const venue = dex.venue('constant_product', { validSeconds: 60 });
      return [
        { ...venue, quote: async (asked) => (poolsOpen ? venue.quote(asked) : { declined: 'standby' }) },
      ];
    },
  );
  [usdcA, usdcB, thirdB] = [
    w.asset(w.a, w.a.usdc),
    w.asset(w.b, w.b.usdc),
    w.asset(w.b, w.b.deployment.tokens[2] as never),
  ];
  const wethA = w.asset(w.a, w.a.weth);
  const wethB = w.asset(w.b, w.b.weth);
  // A market maker of USDC and WETH across the corridor, and of nothing else.
  const worth: Record<string, bigint> = {
    [usdcA]: 10n ** 12n,
    [usdcB]: 10n ** 12n,
    [wethA]: 2_500n,
    [wethB]: 2_500n,
  };
  lp = await w.v.solver(1, (rfq, make) => {
    const [from, to] = [worth[rfq.input], worth[rfq.output]];
    if (!from || !to || !lpAnswers(rfq.input, rfq.output)) return make.decline(rfq, 'pair');
    const amount = BigInt(rfq.amount);
    return rfq.side === 'exactInput'
      ? make.quote(rfq, { output: (amount * from * 9_990n) / (to * 10_000n) })
      : make.quote(rfq, { input: (amount * to * 10_000n) / (from * 9_990n) + 1n });
  });
});
afterAll(() => w.stop());

const ask = (taker: TestAccount, change: object = {}) => ({
  taker: taker.address,
  input: { asset: usdcA, amount: '1000000000' },
  output: { asset: thirdB },
  ...change,
});
const isSequential = ({ composite }: Json) =>
  (composite?.['executionModel'] as unknown as string) === 'sequential';
const sequential = async (taker: TestAccount, change: object = {}) =>
  (await w.candidates(ask(taker, change))).find(isSequential) as Json;
const third = () => w.b.deployment.tokens[2] as NonNullable<(typeof w.b.deployment.tokens)[number]>;
const actionsOf = (plan: Json) => plan['nextActions'] as unknown as Json[];
const orderAction = (plan: Json) =>
  actionsOf(plan).find(({ purpose }) => (purpose as string) === 'orderSignature') as Json;

const refusalOf = ({ status, json }: Answer) => [status, json['detail']?.[0]?.['type'] as unknown];

type Fees = Record<string, { amount: string; asset: string; usd: number | null }>;

/** Submits the first leg, has the LP deliver it, and waits until it is seen. */
async function delivered(taker: TestAccount, candidate: Json): Promise<Hex> {
  const orderId = await w.submit(taker, candidate);
  await w.reaches(orderId, 'escrowed');
  await w.fill(orderId, lp);
  // In the taker's wallet, whether or not the LP has been paid yet.
  await w.reaches(orderId, 'delivered', 'proven', 'settled');
  return orderId;
}

/** Preflight of the first candidate brings the second; it is signed and submitted like any other. */
async function secondLeg(candidate: Json): Promise<{ plan: Json; next: Json }> {
  const { status, text, json } = await w.preflight(candidate);
  expect(status, text).toBe(200);
  zPreflightResponse.strict().parse(json);
  return { plan: json, next: orderAction(json)['details']?.['quoteResponse'] as Json };
}

async function dossierOf(orderId: Hex): Promise<Json> {
  const key = await w.v.key('workspace', { role: 'owner' });
  return (await w.v.call('GET', `/api/v1/workspaces/w1/trades/${orderId}`, { key })).json;
}

const approved = async (taker: TestAccount) => {
  for (const [chain, token] of [
    [w.a, w.a.weth],
    [w.b, w.b.weth],
    [w.b, w.b.usdc],
  ] as const)
    await chain.approve(taker.address, token.address, chain.chain.permit2);
};

describe('RFQ across the corridor, then a pool', () => {
  test('completed: first leg delivered, second leg quoted again and settled, one route in the history', async () => {
    const taker = await w.taker();
    await approved(taker);
    const candidate = await sequential(taker, { referenceId: 'route-7' });
    expect(candidate).toMatchObject({
      solverId: 'lp-1',
      routingPath: 'composite',
      preview: { outputs: [{ asset: thirdB, minimumAmount: null }] },
    });
    const middle = candidate['composite']?.['legs']?.[0]?.['output'] as Json;
    const first = (await w.preflight(candidate)).json;
    expect(orderAction(first)['after']).toEqual(['submitOrder', 'rerunPreflight']);

    const parentId = await w.submit(taker, candidate, first);
    // Too early: there is nothing to do but to wait.
    const early = (await w.preflight(candidate)).json;
    expect(early).toMatchObject({
      ready: false,
      nextActions: [
        {
          type: 'wait',
          purpose: 'legDelivery',
          actor: 'venue',
          after: ['rerunPreflight'],
          details: { orderId: parentId, status: 'pending' },
        },
      ],
    });
    await w.reaches(parentId, 'escrowed');
    await w.fill(parentId, lp);
    await w.reaches(parentId, 'settled');

    const { plan, next } = await secondLeg(candidate);
    expect(next).toMatchObject({
      solverId: 'uniswap-v2',
      routingPath: 'composite',
      preview: {
        inputs: [{ asset: middle['asset'], amount: middle['minimumAmount'] }],
        outputs: [{ asset: thirdB, receiver: taker.address }],
      },
      composite: {
        executionModel: 'sequential',
        legs: [
          { index: 0, kind: 'rfq', fees: null },
          { index: 1, kind: 'dex', dependsOn: [0], fees: [{ asset: middle['asset'] }] },
        ],
      },
    });
    expect(plan['quoteId']).toBe(next['quoteId']);
    // The pair charges 0.3 % of what arrives there, which is the input of the leg less the fees of its order.
    const poolFees = next['composite']?.['legs']?.[1]?.['fees'] as unknown as { amount: string }[];
    const poolFee = BigInt(poolFees[0]?.amount ?? '0');
    const { tokens } = w.b.deployment;
    const token = tokens.find((one) => w.asset(w.b, one) === (middle['asset'] as unknown)) as TokenInfo;
    const goesIn = BigInt(middle['minimumAmount'] as unknown as string);
    expect(poolFee).toBeGreaterThan((goesIn * 29n) / 10_000n);
    expect(poolFee).toBeLessThanOrEqual((goesIn * 3n) / 1_000n + 1n);
    const floor = BigInt(next['preview']?.['outputs']?.[0]?.['minimumAmount'] as unknown as string);
    const got = await w.held(taker, w.b, third());
    const childId = await w.submit(taker, next, plan);
    const child = await w.reaches(childId, 'settled');
    expect((await w.held(taker, w.b, third())) - got).toBeGreaterThanOrEqual(floor);
    expect(child.parentOrderId).toBe(parentId);

    const admin = await w.v.key('workspace');
    // Under its display name, like a solver.
    expect((await dossierOf(childId))['trade']).toMatchObject({ lpName: 'Uniswap', lpSource: 'external' });
    expect((await dossierOf(childId))['lp']).toMatchObject({ id: 'uniswap-v2', name: 'Uniswap' });
    // As quoted for each order: the first order's legs have the estimate of the second.
    const estimated = candidate['composite']?.['legs']?.[1] as unknown as { fees: { amount: string }[] };
    for (const id of [parentId, childId]) {
      const fees = id === parentId ? estimated.fees : poolFees;
      const followed = await w.v.call('GET', `/api/v1/router/orders/${id}`, { key: w.key });
      expect(followed.json['referenceId']).toBe('route-7');
      const { json } = await w.v.call('GET', `/api/v1/workspaces/w1/trades/${id}`, { key: admin });
      expect(json).toMatchObject({
        orderKind: 'route_composite',
        trade: { lifecycleStatus: { flowKind: 'route' } },
        legs: [
          { index: 0, kind: 'rfq', execution: { orderId: parentId, status: 'settled' } },
          { index: 1, kind: 'dex', fees, execution: { orderId: childId, status: 'settled' } },
        ],
      });
    }
    const exported = async (format: string) =>
      (await w.v.call('GET', `/api/v1/workspaces/w1/trades/export?format=${format}`, { key: admin })).text;
    const [head = '', ...rows] = (await exported('csv')).split('\r\n');
    expect(head).toMatch(/,legs,legFees$/);
    const lines = (await exported('ndjson')).split('\n').filter((line) => line !== '');
    for (const id of [parentId, childId]) {
      const fees = id === parentId ? estimated.fees : poolFees;
      const feeText = formatTokens(BigInt(fees[0]?.amount ?? '0'), token);
      expect(rows.find((row) => row.startsWith(id))).toMatch(
        new RegExp(`,rfq:lp-1 > dex:uniswap-v2,unknown > ${feeText.replace('.', '\\.')}$`),
      );
      expect(JSON.parse(lines.find((line) => line.includes(id)) ?? '{}')).toMatchObject({
        legs: [
          { kind: 'rfq', solverId: 'lp-1', fees: null },
          { kind: 'dex', solverId: 'uniswap-v2', fees },
        ],
      });
    }
    // The first leg's fees are in its own two assets, priced as those.
    const usd = (amount: string) =>
      (Number(amount) / 10 ** token.decimals) * (token.priceSymbol === 'ETH' ? 2_500 : 1);
    const { solverFee, protocolFee } = (await dossierOf(parentId))['fees'] as unknown as Fees;
    expect(solverFee).toMatchObject({ asset: middle['asset'], amount: expect.stringMatching(/^[1-9]/) });
    expect(solverFee?.usd).toBeCloseTo(usd(solverFee?.amount ?? ''), 6);
    expect(protocolFee).toMatchObject({ asset: usdcA, usd: Number(protocolFee?.amount) / 1e6 });
    const later = (await dossierOf(childId))['fees'] as unknown as Fees & { venueFees: Fees[string][] };
    expect(later.venueFees).toMatchObject([poolFees[0]]);
    expect(later.venueFees[0]?.usd).toBeCloseTo(usd(poolFees[0]?.amount ?? ''), 6);
    expect((await dossierOf(parentId))['fees']).not.toHaveProperty('venueFees');
    expect(later['protocolFee']?.asset).toBe(middle['asset']);
    expect(later['protocolFee']?.usd).toBeCloseTo(usd(later['protocolFee']?.amount ?? ''), 6);
    // Asked once more, the route says that it is done, and has no actions.
    const done = (await w.preflight(candidate)).json;
    zPreflightResponse.strict().parse(done);
    expect(done).toEqual({
      quoteId: next['quoteId'],
      ready: false,
      nextActions: [],
      order: { orderId: childId, status: 'settled', stage: 'settled' },
    });
    // Its last candidate can do nothing more either.
    expect(refusalOf(await w.preflight(next))).toEqual([422, 'quote_already_used']);
  });

  test('the taker does not return: it holds the intermediate asset, and nothing else happens', async () => {
    const taker = await w.taker();
    const candidate = await sequential(taker);
    const asset = candidate['composite']?.['legs']?.[0]?.['output']?.['asset'] as unknown as string;
    const token = [w.b.usdc, w.b.weth].find((one) => w.asset(w.b, one) === asset) as typeof w.b.usdc;
    const before = await w.held(taker, w.b, token);
    const parentId = await delivered(taker, candidate);
    expect((await w.held(taker, w.b, token)) - before).toBe(
      BigInt(candidate['composite']?.['legs']?.[0]?.['output']?.['minimumAmount'] as unknown as string),
    );
    expect(await w.v.store.nextLegs(parentId)).toEqual([]);
  });

  test('a later leg without a price: the plan says what the taker holds and to return later', async () => {
    const taker = await w.taker();
    await approved(taker);
    const candidate = await sequential(taker);
    await delivered(taker, candidate);
    poolsOpen = false;
    const gone = await w.preflight(candidate);
    poolsOpen = true;
    const held = candidate['composite']?.['legs']?.[0]?.['output'] as Json;
    expect(gone.json).toMatchObject({
      ready: false,
      nextActions: [
        {
          type: 'wait',
          purpose: 'legQuote',
          after: ['rerunPreflight'],
          details: {
            productUnavailable: { code: 'no_quotes', corridor: 'chain2-chain2' },
            holding: { amount: held['minimumAmount'], account: taker.address },
          },
        },
      ],
    });
    const { plan, next } = await secondLeg(candidate);
    await w.reaches(await w.submit(taker, next, plan), 'settled');
  });
});

describe('other endings', () => {
  test('the first leg is not filled: refunded, and the route ends', async () => {
    const taker = await w.taker();
    const candidate = await sequential(taker);
    const paid = await w.held(taker, w.a, w.a.usdc);
    const parentId = await w.submit(taker, candidate);
    const { order } = await w.reaches(parentId, 'escrowed');
    for (const chain of [w.b, w.a])
      await chain.anvil.advance(Math.max(0, order.expires + 2 - (chain.port.head()?.timestamp ?? 0)));
    await w.reaches(parentId, 'refunded');
    expect(await w.held(taker, w.a, w.a.usdc)).toBe(paid);
    const { json: status } = await w.v.call('GET', `/api/v1/router/orders/${parentId}`, { key: w.key });
    const refundTx = status['failure']?.['refundTxHash'] as unknown as string;
    expect(status['failure']).toEqual({
      code: 'expired_unfilled',
      message: `The output was not delivered before the fill deadline. The input went back to the taker in transaction ${refundTx}. Ask for a new quote to trade again.`,
      refundTxHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      refundableFrom: null,
    });
    const { fees } = await dossierOf(parentId);
    for (const name of ['protocolFee', 'solverFee', 'relayerTip'] as const)
      expect(fees?.[name], name).toMatchObject({ amount: '0', usd: 0 });
    const over = await w.preflight(candidate);
    expect([over.status, over.json['detail']?.[0]?.['type']]).toEqual([422, 'quote_already_used']);
    expect(over.json['detail']?.[0]?.['msg']).toContain('expired_unfilled');
  });

  test('the second leg is submitted twice: one order, whichever candidate is used', async () => {
    const taker = await w.taker();
    await approved(taker);
    const candidate = await sequential(taker);
    const parentId = await delivered(taker, candidate);
    const [one, other] = [await secondLeg(candidate), await secondLeg(candidate)];
    expect(one.next['quoteId']).not.toBe(other.next['quoteId']);
    const [bodyOne, bodyOther] = [
      await signPlan(taker, one.next, one.plan),
      await signPlan(taker, other.next, other.plan),
    ];
    const post = (body: object) => w.v.call('POST', '/api/v1/router/orders', { key: w.key, body });
    const answers = await Promise.all([post(bodyOne), post(bodyOther), post(bodyOne), post(bodyOther)]);
    const accepted = answers.filter(({ status }) => status === 200);
    expect(new Set(accepted.map(({ json }) => json['id'])).size).toBe(1);
    for (const refused of answers.filter(({ status }) => status !== 200))
      expect([refused.status, refused.json['detail']?.[0]?.['type']]).toEqual([422, 'quote_already_used']);
    expect(await w.v.store.nextLegs(parentId)).toHaveLength(1);
    // Neither candidate of this leg can be submitted any more.
    for (const next of [one.next, other.next])
      expect(refusalOf(await w.preflight(next))).toEqual([422, 'quote_already_used']);
    await w.reaches(accepted[0]?.json['id'] as unknown as Hex, 'settled');
  });

  test('a candidate is refused when another candidate of the same answer was used', async () => {
    const taker = await w.taker();
    const quotes = await w.candidates(
      ask(taker, { output: { asset: w.asset(w.b, w.b.weth) }, maxCandidates: 20 }),
    );
    const [direct, two] = [
      quotes.find(({ routingPath }) => (routingPath as unknown) === 'direct') as Json,
      quotes.find(isSequential) as Json,
    ];
    const used = await w.submit(taker, direct);
    // Before the chain knows anything of it, and after.
    expect(refusalOf(await w.preflight(two))).toEqual([422, 'nonce_used']);
    expect(refusalOf(await w.preflight(direct))).toEqual([422, 'quote_already_used']);
    await w.reaches(used, 'escrowed');
    expect(refusalOf(await w.preflight(two))).toEqual([422, 'nonce_used']);
    expect(refusalOf(await w.preflight(direct))).toEqual([422, 'quote_already_used']);
    await w.fill(used, lp);
    await w.reaches(used, 'settled');
  });

  test('a failed second leg may be tried again', async () => {
    const taker = await w.taker();
    await approved(taker);
    const candidate = await sequential(taker);
    const parentId = await delivered(taker, candidate);
    const { plan, next } = await secondLeg(candidate);
    // The pool goes away between quote and landing, and stays away until it is too late.
    const pool = dex.listed.findIndex(({ tokens, fee }) => fee === null && tokens.includes(third().address));
    await dex.trade(pool, w.b.weth.address, 10n ** 21n);
    const holding = await w.held(taker, w.b, w.b.usdc);
    const failedId = await w.submit(taker, next, plan);
    const failed = await w.v.store.order(failedId);
    await w.b.anvil.advance((failed?.order.fillDeadline ?? 0) + 2 - (w.b.port.head()?.timestamp ?? 0));
    await w.reaches(failedId, 'failed');
    expect(await w.held(taker, w.b, w.b.usdc)).toBe(holding);
    await dex.trade(pool, third().address, 2_500n * 10n ** 21n);
    await w.seen();

    const again = await secondLeg(candidate);
    const childId = await w.submit(taker, again.next, again.plan);
    await w.reaches(childId, 'settled');
    expect((await w.v.store.nextLegs(parentId)).map(({ orderId }) => orderId)).toEqual([failedId, childId]);
  });

  test("another workspace's route gets the same refusal as a forged one", async () => {
    const taker = await w.taker();
    const candidate = await sequential(taker);
    await w.submit(taker, candidate);
    await w.v.workspace('stranger');
    const key = await w.v.key('service', { workspaceId: 'stranger' });
    const { status, json } = await w.v.call('POST', '/api/v1/router/orders/preflight', {
      key,
      body: { quoteResponse: candidate },
    });
    expect([status, json['detail']?.[0]?.['type']]).toEqual([422, 'integrity_mismatch']);
  });
});

describe('RFQ then RFQ', () => {
  test('two LP orders, the second to another receiver', async () => {
    const taker = await w.taker();
    const receiver = account(9_950);
    const wethB = w.asset(w.b, w.b.weth);
    // Nobody makes the whole way at once.
    lpAnswers = (input, output) => !(input === usdcA && output === wethB);
    try {
      await approved(taker);
      const candidate = await sequential(taker, {
        output: { asset: wethB },
        receiver: receiver.address,
        solvers: { include: ['lp-1'] },
      });
      expect(candidate['composite']?.['legs']).toMatchObject([{ kind: 'rfq' }, { kind: 'rfq' }]);
      const parentId = await w.submit(taker, candidate);
      const parent = await w.reaches(parentId, parentStage(candidate));
      if (parent.progress.stage === 'escrowed') {
        await w.fill(parentId, lp);
        await w.reaches(parentId, 'settled');
      }
      const { plan, next } = await secondLeg(candidate);
      const before = await w.held(receiver, w.b, w.b.weth);
      const childId = await w.submit(taker, next, plan);
      const child = await w.v.store.order(childId);
      if (child && child.destChainIds[0] !== child.originChainId) {
        await w.reaches(childId, 'escrowed');
        await w.fill(childId, lp);
      }
      await w.reaches(childId, 'settled');
      expect((await w.held(receiver, w.b, w.b.weth)) - before).toBe(
        BigInt(next['preview']?.['outputs']?.[0]?.['amount'] as unknown as string),
      );
    } finally {
      lpAnswers = () => true;
    }
  });
});

/** A first leg on one chain settles at once; across the corridor it has to be filled. */
const parentStage = (candidate: Json) =>
  JSON.stringify(candidate['composite']?.['legs']?.[0]?.['output']).includes('31427')
    ? 'settled'
    : 'escrowed';
