/**
 * A same-chain trade at the public edge: asked, planned, signed by a wallet, submitted, settled on chain, and
 * told to everybody.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { Hex } from '../../src/domain/hex.ts';
import { assetId } from '../../src/domain/asset.ts';
import { zQuoteResponse } from '../../src/protocol/api/quote.ts';
import { zPreflightResponse } from '../../src/protocol/api/preflight.ts';
import { zOrder } from '../../src/protocol/api/submit.ts';
import { zOrderStatusResponse } from '../../src/protocol/api/status.ts';
import { decodeCommitments } from '../../src/protocol/seal-wire.ts';
import { depositCall, permit2GrantCall, settleCall } from '../../src/settlement/call.ts';
import { account, DEPLOYER, type TestAccount } from '../support/devnet.ts';
import { signPlan } from '../support/taker.ts';
import { type Json, startTestVenue, type TestVenue, until } from '../support/venue.ts';

let v: TestVenue;
let key: string;
let usdc: string;
let weth: string;
/** 2,500 USDC for one WETH, in base units. */
const wethFor = (usdcAmount: bigint) => (usdcAmount * 10n ** 12n) / 2_500n;

beforeAll(async () => {
  v = await startTestVenue();
  key = await v.key('service');
  usdc = assetId({ chainId: v.chain.chain.id, token: v.chain.usdc.address });
  weth = assetId({ chainId: v.chain.chain.id, token: v.chain.weth.address });
  // Three prices, so that the order of candidates means something.
  for (const [n, bps] of [
    [1, 10n],
    [2, 30n],
    [3, 20n],
  ] as const) {
    await v.solver(n, (rfq, make) =>
      rfq.output === weth
        ? make.quote(rfq, { output: (wethFor(BigInt(rfq.amount)) * (10_000n - bps)) / 10_000n })
        : make.quote(rfq, { output: (BigInt(rfq.amount) * 2_500n) / 10n ** 12n }),
    );
  }
});
afterAll(() => v.stop());

const ask = (taker: TestAccount, body: object = {}) =>
  v.call('POST', '/api/v1/rfq/quotes', {
    key,
    body: {
      taker: taker.address,
      input: { asset: usdc, amount: '1000000000' },
      output: { asset: weth },
      ...body,
    },
  });

let takers = 0;
async function fundedTaker(): Promise<TestAccount> {
  const taker = account(3_000 + takers++);
  await v.chain.fund(taker.address, 10_000n);
  return taker;
}

/** What a worker will do: read the order, settle it on chain with exactly what was stored. */
async function settle(orderId: string): Promise<Hex> {
  const record = await v.store.order(orderId as Hex);
  if (!record) throw new Error('no order');
  return v.chain.send(
    DEPLOYER.address,
    v.chain.chain.escrow,
    settleCall(record.order, record.funding, record.quoteId, record.commitments),
  );
}

describe('quotes', () => {
  test('ranked best first, every field present, every signature verifiable', async () => {
    const taker = await fundedTaker();
    const { status, json, headers } = await ask(taker);
    expect(status).toBe(200);
    expect(zQuoteResponse.strict().parse(json)).toBeTruthy();
    const quotes = json['quotes'] as unknown as Json[];
    expect(quotes.map((quote) => quote['solverId'])).toEqual(['lp-1', 'lp-3', 'lp-2']);
    const [best] = quotes as [Json];
    expect(Object.keys(best).sort()).toEqual([
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
      'splitFill',
      'validUntil',
      'validity',
      'warnings',
    ]);
    expect(best).toMatchObject({
      executionMode: 'apiSubmit',
      routingPath: 'direct',
      splitFill: null,
      platformFeeBps: 2,
      lpSpreadBps: 8,
      eta: 2,
      gas: { native: '0', usd: 0 },
      warnings: [],
      order: { type: 'escrow-v0' },
    });
    expect(best['preview']?.['outputs']?.[0]).toMatchObject({
      asset: weth,
      amount: '399600000000000000',
      minimumAmount: '399600000000000000',
      decimals: 18,
      symbol: 'WETH',
      priceUsd: 2500,
      receiver: taker.address,
      deltaFromMid: -0.001,
    });
    expect(best['preview']?.['inputs']).toEqual([
      { asset: usdc, amount: '1000000000', decimals: 6, symbol: 'USDC', priceUsd: 1 },
    ]);
    expect(decodeCommitments((best['integrityChecksum'] as string).split('.')[3] as string)).toHaveLength(1);
    // One nonce for all candidates: at most one of them can ever execute.
    expect(new Set(quotes.map((quote) => quote['order']?.['payload']?.['message']?.['nonce'])).size).toBe(1);
    // The bucket holds a burst of two seconds, and has lost one request.
    expect(headers.get('ratelimit-limit')).toBe('2000');
    expect(headers.get('ratelimit-policy')).toBe('1000;w=1;burst=2000');
    expect(Number(headers.get('ratelimit-remaining'))).toBeLessThan(2_000);
  });

  test('the relayer is paid out of the trade, and the LP learns how much', async () => {
    const taker = await fundedTaker();
    const { json } = await ask(taker, { solvers: { include: ['lp-1'] } });
    const context = json['quotes']?.[0]?.['order']?.['payload']?.['message']?.['outputs']?.[0]?.[
      'context'
    ] as unknown as string;
    expect(BigInt(`0x${context.slice(-32)}`)).toBeGreaterThan(0n);
  });

  test('solvers: include, exclude, maxCandidates', async () => {
    const taker = await fundedTaker();
    const ids = async (body: object) =>
      ((await ask(taker, body)).json['quotes'] as unknown as Json[]).map((quote) => quote['solverId']);
    expect(await ids({ solvers: { exclude: ['lp-1'] } })).toEqual(['lp-3', 'lp-2']);
    expect(await ids({ maxCandidates: 1 })).toEqual(['lp-1']);
    expect((await ask(taker, { solvers: { include: ['nobody'] } })).json).toMatchObject({
      quotes: [],
      productUnavailable: { code: 'no_eligible_solver', corridor: 'chain1-chain1' },
    });
  });
});

describe('every lock', () => {
  async function trade(
    taker: TestAccount,
    body: object = {},
    expectLock?: string,
  ): Promise<{ order: Json; plan: Json; candidate: Json }> {
    const candidate = (await ask(taker, body)).json['quotes']?.[0] as Json;
    const preflight = await v.call('POST', '/api/v1/rfq/orders/preflight', {
      key,
      body: { quoteResponse: candidate },
    });
    expect(preflight.status, preflight.text).toBe(200);
    zPreflightResponse.strict().parse(preflight.json);
    const plan = preflight.json;
    if (expectLock !== undefined) expect(plan['fundingLock']).toBe(expectLock);
    if (plan['fundingLock'] !== ('ResourceLock' as unknown))
      expect(plan['lockDetails']).toMatchObject({ signature: '0x' });
    expect(plan['ready']).toBe(true);
    const submitted = await v.call('POST', '/api/v1/rfq/orders', {
      key,
      body: await signPlan(taker, candidate, plan),
    });
    expect(submitted.status, submitted.text).toBe(200);
    zOrder.strict().parse(submitted.json);
    expect(submitted.json).toMatchObject({ status: 'pending', quoteId: candidate['quoteId'] });
    return { order: submitted.json, plan, candidate };
  }

  async function delivered(
    taker: TestAccount,
    { order, candidate }: { order: Json; candidate: Json },
    input = v.chain.usdc,
    output = v.chain.weth,
  ): Promise<void> {
    const before = await v.chain.port.tokenBalance(taker.address, output.address);
    const held =
      (await v.chain.port.tokenBalance(taker.address, input.address)) +
      (await v.chain.port.ledgerBalance(taker.address, input.address));
    await settle(order['id'] as string);
    const amount = BigInt(candidate['preview']?.['outputs']?.[0]?.['amount'] as string);
    expect((await v.chain.port.tokenBalance(taker.address, output.address)) - before).toBe(amount);
    const left =
      (await v.chain.port.tokenBalance(taker.address, input.address)) +
      (await v.chain.port.ledgerBalance(taker.address, input.address));
    expect(held - left).toBe(BigInt(candidate['preview']?.['inputs']?.[0]?.['amount'] as string));
    expect(await v.chain.port.orderStatus(order['id'] as Hex)).toBe('claimed');
  }

  test('EIP-3009: two signatures and nothing else', async () => {
    const taker = await fundedTaker();
    const made = await trade(taker, {}, 'EIP-3009');
    expect((made.plan['nextActions'] as unknown as Json[]).map((action) => action['purpose'])).toEqual([
      'eip3009Authorization',
      'orderSignature',
    ]);
    await delivered(taker, made);
    expect(v.woken).toContain(made.order['id']);
  });

  const sell = { input: { asset: '', amount: '400000000000000000' }, output: { asset: '' } };
  const selling = () => ({ ...sell, input: { ...sell.input, asset: weth }, output: { asset: usdc } });

  test('Permit2: approval first, then an inline lock', async () => {
    const taker = await fundedTaker();
    const candidate = (await ask(taker, selling())).json['quotes']?.[0] as Json;
    const first = (
      await v.call('POST', '/api/v1/rfq/orders/preflight', { key, body: { quoteResponse: candidate } })
    ).json;
    expect(first).toMatchObject({ ready: false, fundingLock: 'Permit2' });
    const actions = first['nextActions'] as unknown as Json[];
    expect(actions.map((action) => action['purpose'])).toEqual([
      'tokenApproval',
      'permit2Grant',
      'permit2Lock',
      'orderSignature',
    ]);
    const tx = actions[0]?.['tx'] as Json;
    expect(tx).toMatchObject({
      to: v.chain.weth.address,
      value: '0',
      chainId: v.chain.chain.id,
      from: taker.address,
      gas: expect.any(Number),
      gasPrice: expect.any(Number),
    });
    await v.chain.send(taker.address, tx['to'] as unknown as Hex, tx['data'] as unknown as Hex);
    await delivered(taker, await trade(taker, selling(), 'Permit2'), v.chain.weth, v.chain.usdc);
  });

  test('Permit2: a standing grant needs the order signature alone', async () => {
    const taker = await fundedTaker();
    await v.chain.approve(taker.address, v.chain.weth.address, v.chain.chain.permit2);
    await v.chain.send(
      taker.address,
      v.chain.chain.permit2,
      permit2GrantCall(v.chain.weth.address, v.chain.chain.escrow, 10n ** 20n, 4_000_000_000),
    );
    const made = await trade(taker, selling(), 'Permit2');
    expect((made.plan['nextActions'] as unknown as Json[]).map((action) => action['purpose'])).toEqual([
      'orderSignature',
    ]);
    await delivered(taker, made, v.chain.weth, v.chain.usdc);
  });

  test('ResourceLock: the balance exists already', async () => {
    const taker = await fundedTaker();
    await v.chain.approve(taker.address, v.chain.weth.address, v.chain.chain.escrow);
    await v.chain.send(taker.address, v.chain.chain.escrow, depositCall(v.chain.weth.address, 10n ** 18n));
    const made = await trade(taker, selling(), 'ResourceLock');
    expect(made.plan['lockDetails']).toEqual({
      token: v.chain.weth.address,
      account: taker.address,
      available: (10n ** 18n).toString(),
      withdrawableAt: null,
    });
    await delivered(taker, made, v.chain.weth, v.chain.usdc);
  });

  test('ResourceLock on request: approval and deposit are planned', async () => {
    const taker = await fundedTaker();
    const candidate = (await ask(taker)).json['quotes']?.[0] as Json;
    const plan = (
      await v.call('POST', '/api/v1/rfq/orders/preflight', {
        key,
        body: { quoteResponse: candidate, fundingLock: 'ResourceLock' },
      })
    ).json;
    expect(
      (plan['nextActions'] as unknown as Json[]).map((action) => [action['purpose'], action['after']]),
    ).toEqual([
      ['tokenApproval', []],
      ['resourceLockDeposit', ['rerunPreflight']],
      ['orderSignature', []],
    ]);
    for (const action of plan['nextActions'] as unknown as Json[])
      if (action['tx'])
        await v.chain.send(
          taker.address,
          action['tx']['to'] as unknown as Hex,
          action['tx']['data'] as unknown as Hex,
        );
    const again = (
      await v.call('POST', '/api/v1/rfq/orders/preflight', { key, body: { quoteResponse: candidate } })
    ).json;
    expect(again).toMatchObject({ ready: true, fundingLock: 'ResourceLock' });
  });

  test('an order carries the referenceId of its quote request, and none without', async () => {
    for (const referenceId of ['desk 7: "größe" \u2028 #1', '', undefined]) {
      const { order } = await trade(await fundedTaker(), {
        ...(referenceId !== undefined && { referenceId }),
      });
      const followed = await v.call('GET', `/api/v1/rfq/orders/${order['id'] as unknown as string}`, { key });
      zOrderStatusResponse.strict().parse(followed.json);
      expect(followed.json['referenceId']).toBe(referenceId);
    }
    const forged = (await ask(await fundedTaker(), { referenceId: 'one' })).json['quotes']?.[0] as Json;
    const parts = (forged['integrityChecksum'] as unknown as string).split('.');
    const other = Buffer.from(
      JSON.stringify({ venue: null, through: null, parent: null, next: null, referenceId: 'two' }),
    ).toString('base64url');
    for (const last of [[], [other]]) {
      const quoteResponse = {
        ...(forged as object),
        integrityChecksum: [...parts.slice(0, 4), ...last].join('.'),
      };
      const refused = await v.call('POST', '/api/v1/rfq/orders/preflight', { key, body: { quoteResponse } });
      expect(refused.json['detail']?.[0]?.['type']).toBe('integrity_mismatch');
    }
  });

  test('once submitted, neither the candidate nor its siblings are ready: pending or settled', async () => {
    const taker = await fundedTaker();
    const { json } = await ask(taker);
    const [chosen, sibling] = json['quotes'] as unknown as [Json, Json];
    const preflight = (quoteResponse: Json) =>
      v.call('POST', '/api/v1/rfq/orders/preflight', { key, body: { quoteResponse } });
    const plan = (await preflight(chosen)).json;
    expect(plan['ready']).toBe(true);
    const submitted = await v.call('POST', '/api/v1/rfq/orders', {
      key,
      body: await signPlan(taker, chosen, plan),
    });
    const id = submitted.json['id'] as unknown as Hex;
    const refusals = async () => {
      const answers = [await preflight(chosen), await preflight(sibling)];
      return answers.map(({ status, json: body }) => [status, body['detail']?.[0]?.['type']]);
    };
    const both = [
      [422, 'quote_already_used'],
      [422, 'nonce_used'],
    ];
    expect(await refusals()).toEqual(both);
    expect((await preflight(chosen)).text).toContain(`order ${id} is pending`);
    await settle(id);
    expect(await refusals()).toEqual(both);
    // A new request of the same taker is ready as before.
    expect((await preflight((await ask(taker)).json['quotes']?.[0] as Json)).json['ready']).toBe(true);
  });

  test('walletBroadcast: the relayer cannot pay, so the wallet sends the prepared call', async () => {
    const taker = await fundedTaker();
    v.relayer.healthy = false;
    try {
      const candidate = (await ask(taker)).json['quotes']?.[0] as Json;
      expect(candidate['executionMode']).toBe('walletBroadcast');
      expect(BigInt(candidate['gas']?.['native'] as string)).toBeGreaterThan(0n);
      const plan = (
        await v.call('POST', '/api/v1/rfq/orders/preflight', { key, body: { quoteResponse: candidate } })
      ).json;
      const actions = plan['nextActions'] as unknown as Json[];
      expect(actions.map((action) => action['purpose'])).toEqual([
        'tokenApproval',
        'orderSignature',
        'settlementBroadcast',
      ]);
      const submitted = await v.call('POST', '/api/v1/rfq/orders', {
        key,
        body: await signPlan(taker, candidate, plan),
      });
      expect(submitted.status, submitted.text).toBe(200);
      // Submitted, but not broadcast: only the wallet's own transactions are left.
      const again = await v.call('POST', '/api/v1/rfq/orders/preflight', {
        key,
        body: { quoteResponse: candidate },
      });
      expect(again.json).toMatchObject({
        ready: false,
        nextActions: [{ purpose: 'tokenApproval' }, { purpose: 'settlementBroadcast' }],
      });
      for (const action of actions)
        if (action['tx'])
          await v.chain.send(
            taker.address,
            action['tx']['to'] as unknown as Hex,
            action['tx']['data'] as unknown as Hex,
          );
      expect(await v.chain.port.orderStatus(submitted.json['id'] as unknown as Hex)).toBe('claimed');
      // Mined and not final yet: nobody is told to send it again.
      const sent = await v.call('POST', '/api/v1/rfq/orders/preflight', {
        key,
        body: { quoteResponse: candidate },
      });
      expect([sent.status, sent.json['detail']?.[0]?.['type']]).toEqual([422, 'quote_already_used']);
    } finally {
      v.relayer.healthy = true;
    }
  });

  test('walletBroadcast sent before the submission: the trade is made, and the taker is told not to repeat it', async () => {
    const taker = await fundedTaker();
    v.relayer.healthy = false;
    try {
      const candidate = (await ask(taker)).json['quotes']?.[0] as Json;
      const preflight = () =>
        v.call('POST', '/api/v1/rfq/orders/preflight', { key, body: { quoteResponse: candidate } });
      const plan = (await preflight()).json;
      const actions = plan['nextActions'] as unknown as Json[];
      expect(actions.map(({ purpose, after }) => [purpose, after])).toEqual([
        ['tokenApproval', []],
        ['orderSignature', ['submitOrder']],
        ['settlementBroadcast', []],
      ]);
      for (const { tx } of actions)
        if (tx) await v.chain.send(taker.address, tx['to'] as unknown as Hex, tx['data'] as unknown as Hex);
      const body = await signPlan(taker, candidate, plan);
      for (const answer of [await v.call('POST', '/api/v1/rfq/orders', { key, body }), await preflight()]) {
        const [detail] = answer.json['detail'] as unknown as Json[];
        expect([answer.status, detail?.['type']]).toEqual([422, 'nonce_used']);
        expect(detail?.['msg']).toContain('the trade was made as signed. Do not repeat it.');
      }
    } finally {
      v.relayer.healthy = true;
    }
  });
});

describe('awards and events', () => {
  async function submitted(): Promise<{ id: string; candidate: Json }> {
    const taker = await fundedTaker();
    const candidate = (await ask(taker)).json['quotes']?.[0] as Json;
    const plan = (
      await v.call('POST', '/api/v1/rfq/orders/preflight', { key, body: { quoteResponse: candidate } })
    ).json;
    const { json } = await v.call('POST', '/api/v1/rfq/orders', {
      key,
      body: await signPlan(taker, candidate, plan),
    });
    return { id: json['id'] as string, candidate };
  }

  function subscribe(topics: string[], apiKey = key): Promise<{ frames: Json[]; socket: WebSocket }> {
    const socket = new WebSocket(`${v.url.replace('http', 'ws')}/api/v1/ws`, {
      headers: { 'X-API-Key': apiKey },
    });
    const frames: Json[] = [];
    socket.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString()) as Json));
    return new Promise((resolve, reject) => {
      socket.on('error', reject);
      socket.on('open', () => {
        socket.send(JSON.stringify({ op: 'subscribe', topics, id: 7 }));
        resolve({ frames, socket });
      });
    });
  }

  test('the LP is awarded the order; a subscriber sees it created and settled, and the same again after a reconnect', async () => {
    const all = await subscribe(['orders']);
    await until(() => all.frames.length > 0);
    const { id, candidate } = await submitted();
    const one = await subscribe([`orders:${id}`]);
    await until(() => one.frames.length >= 2);
    expect(one.frames[0]).toEqual({ op: 'subscribed', topics: [`orders:${id}`], id: 7 });
    expect(one.frames[1]).toMatchObject({
      topic: `orders:${id}`,
      type: 'order.created',
      seq: 1,
      orderId: id,
      data: { id, status: 'pending', stage: 'awaiting_escrow' },
    });
    expect(Object.keys(one.frames[1]?.['data'] as unknown as object)).toEqual([
      'id',
      'status',
      'quoteId',
      'createdAt',
      'updatedAt',
      'stage',
    ]);

    const txHash = await settle(id);
    const record = await v.store.order(id as Hex);
    const [claim] = await v.store.claim([id as Hex], 'test-worker', 10_000);
    if (!record || !claim) throw new Error('not claimed');
    const evidence = { chainId: v.chain.chain.id, txHash, blockNumber: 1n, blockHash: txHash, at: 1 };
    const output = record.order.outputs[0];
    if (!output) throw new Error('no output');
    const lp = (record.commitments[0] as { lp: Hex }).lp;
    await v.store.append(
      claim,
      record,
      [
        { kind: 'opened', evidence },
        { kind: 'filled', outputIndex: 0, solver: lp, timestamp: 1, amount: output.amount, evidence },
        { kind: 'finalised', evidence },
      ],
      { status: 'settled', final: true, event: 'order.settled', atMs: Date.now() },
    );
    await until(() => one.frames.length >= 3);
    await until(() =>
      all.frames.some(
        (frame) => frame['type'] === ('order.settled' as never) && frame['orderId'] === (id as never),
      ),
    );
    const polled = await v.call('GET', `/api/v1/rfq/orders/${id}`, { key });
    zOrderStatusResponse.strict().parse(polled.json);
    expect(polled.json).toMatchObject({
      status: 'settled',
      stage: 'settled',
      txHash,
      settledAmounts: {
        [weth]: {
          amount: candidate['preview']?.['outputs']?.[0]?.['amount'],
          decimals: 18,
          symbol: 'WETH',
          txHash,
        },
      },
    });
    expect(polled.json).not.toHaveProperty('failure');
    expect(one.frames[2]).toMatchObject({ type: 'order.settled', seq: 2, data: polled.json });

    const again = await subscribe([`orders:${id}`]);
    await until(() => again.frames.length >= 3);
    expect(again.frames.slice(1)).toEqual(one.frames.slice(1));
    for (const { socket } of [all, one, again]) socket.close();
  });
});
