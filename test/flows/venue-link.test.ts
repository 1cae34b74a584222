/**
 * Solvers at the venue's other edge: who may join, whose answers count, how a split comes together, and what
 * the roster says about it all.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { assetId } from '../../src/domain/asset.ts';
import { encodeContext, decodeContext, type OutputContext } from '../../src/domain/context.ts';
import type { Hex } from '../../src/domain/hex.ts';
import type { StandardOrder } from '../../src/domain/order.ts';
import type { FromSolver, LinkQuote, Rfq } from '../../src/protocol/link/link.ts';
import { REJECTIONS, type RejectionCode } from '../../src/protocol/link/rejections.ts';
import { requestWithdrawalCall, settleCall, withdrawDeferredCall } from '../../src/settlement/call.ts';
import { account, DEPLOYER, type TestAccount } from '../support/devnet.ts';
import { giveInto } from '../support/gift.ts';
import { type Maker, startSolver } from '../support/solver.ts';
import { signPlan } from '../support/taker.ts';
import { type Answer, type Json, startTestVenue, type TestVenue, until } from '../support/venue.ts';

let v: TestVenue;
let key: string;
let usdc: string;
let weth: string;
let slowBalances: { asked: () => void; until: Promise<void> } | undefined;

beforeAll(async () => {
  v = await startTestVenue({
    breaker: { limit: 4, firstCoolDownMs: 1_500 },
    // One workspace asks for all inventory and submits little.
    rates: { leastSubmittedShare: 0 },
    seen: (port) => ({
      ...port,
      async ledgerBalance(...asked) {
        const before = await port.ledgerBalance(...asked);
        if (!slowBalances) return before;
        slowBalances.asked();
        await slowBalances.until;
        return port.ledgerBalance(...asked);
      },
    }),
  });
  key = await v.key('service');
  usdc = assetId({ chainId: v.chain.chain.id, token: v.chain.usdc.address });
  weth = assetId({ chainId: v.chain.chain.id, token: v.chain.weth.address });
});
afterAll(async () => {
  await v.stop();
});

const ask = (body: object = {}, taker = account(1)): Promise<Answer> =>
  v.call('POST', '/api/v1/rfq/quotes', {
    key,
    body: {
      taker: taker.address,
      input: { asset: usdc, amount: '1000000000' },
      output: { asset: weth },
      ...body,
    },
  });
const only = (...ids: string[]) => ({ solvers: { include: ids } });
const fair = (rfq: Rfq) => (BigInt(rfq.amount) * 10n ** 12n) / 2_600n;
/** What a split's candidate says of its slices. */
const fillsOf = (quote: Json): { solverId: string; portionBps: number; outputAmount: string }[] => {
  const fills = quote['splitFill']?.['fills'];
  if (!fills) throw new Error('no split');
  return fills as unknown as ReturnType<typeof fillsOf>;
};
const roster = async (id: string): Promise<Json> =>
  ((await v.call('GET', '/api/v1/solvers', { key })).json['solvers'] as unknown as Json[]).find(
    (entry) => entry['id'] === (id as never),
  ) as Json;
const withContext = (order: StandardOrder, change: Partial<OutputContext>): StandardOrder => ({
  ...order,
  outputs: order.outputs.map((output) => ({
    ...output,
    context: encodeContext({ ...(decodeContext(output.context) as OutputContext), ...change }),
  })),
});
const withOutput = (order: StandardOrder, change: object): StandardOrder => ({
  ...order,
  outputs: order.outputs.map((output) => ({ ...output, ...change })),
});
let n = 100;

describe('answers are verified before they are ranked', () => {
  const lies: Record<string, (rfq: Rfq, make: Maker) => FromSolver> = {
    'another taker': (rfq, make) =>
      make.quote(rfq, { output: fair(rfq) }, { change: (order) => ({ ...order, user: account(2).address }) }),
    'another nonce': (rfq, make) =>
      make.quote(rfq, { output: fair(rfq) }, { change: (order) => ({ ...order, nonce: order.nonce + 1n }) }),
    'another chain': (rfq, make) =>
      make.quote(rfq, { output: fair(rfq) }, { change: (order) => ({ ...order, originChainId: 1n }) }),
    'more input than asked': (rfq, make) =>
      make.quote(rfq, { input: BigInt(rfq.amount) + 1n, output: fair(rfq) }),
    'another token': (rfq, make) =>
      make.quote(
        rfq,
        { output: fair(rfq) },
        { change: (order) => withOutput(order, { token: order.outputs[0]?.settler }) },
      ),
    'another receiver': (rfq, make) =>
      make.quote(
        rfq,
        { output: fair(rfq) },
        {
          change: (order) =>
            withOutput(order, { recipient: `0x${'0'.repeat(24)}${account(2).address.slice(2)}` }),
        },
      ),
    'a callback': (rfq, make) =>
      make.quote(
        rfq,
        { output: fair(rfq) },
        { change: (order) => withOutput(order, { callbackData: '0x01' }) },
      ),
    'a smaller fee': (rfq, make) =>
      make.quote(rfq, { output: fair(rfq) }, { change: (order) => withContext(order, { feeBps: 0 }) }),
    'no relay fee': (rfq, make) =>
      make.quote(rfq, { output: fair(rfq) }, { change: (order) => withContext(order, { relayFee: 0n }) }),
    "somebody else's exclusivity": (rfq, make) =>
      make.quote(
        rfq,
        { output: fair(rfq) },
        { change: (order) => withContext(order, { exclusiveFor: account(2).address }) },
      ),
    'a shorter fill deadline': (rfq, make) =>
      make.quote(
        rfq,
        { output: fair(rfq) },
        {
          change: (order) =>
            withContext(
              { ...order, fillDeadline: order.fillDeadline - 1 },
              { startTime: order.fillDeadline },
            ),
        },
      ),
    'a late expiry': (rfq, make) =>
      make.quote(
        rfq,
        { output: fair(rfq) },
        { change: (order) => ({ ...order, expires: order.fillDeadline + 2 }) },
      ),
    'a validity beyond the limit': (rfq, make) =>
      make.quote(rfq, { output: fair(rfq) }, { validSeconds: 100_000 }),
    'a signature by somebody else': (rfq, make) =>
      make.quote(rfq, { output: fair(rfq) }, { signer: account(2) }),
    'more than it has': (rfq, make) => make.quote(rfq, { output: 10n ** 30n }),
    nothing: (rfq, make) => make.quote(rfq, { output: 0n }),
    'terms that differ from what was signed': (rfq, make) => {
      const quote = make.quote(rfq, { output: fair(rfq) });
      return {
        ...quote,
        order: {
          ...quote.order,
          outputs: quote.order.outputs.map((output) => ({
            ...output,
            amount: (BigInt(output.amount) + 1n).toString(),
          })),
        },
      };
    },
  };

  /** What the venue objects to, as its `rejected` frame says it. */
  const objections: Record<string, RejectionCode> = {
    'another taker': 'terms',
    'another nonce': 'terms',
    'another chain': 'terms',
    'more input than asked': 'amount',
    'another token': 'output',
    'another receiver': 'output',
    'a callback': 'output',
    'a smaller fee': 'context',
    'no relay fee': 'context',
    "somebody else's exclusivity": 'context',
    'a shorter fill deadline': 'times',
    'a late expiry': 'times',
    'a validity beyond the limit': 'times',
    'a signature by somebody else': 'signature',
    'more than it has': 'balance',
    nothing: 'amount',
    'terms that differ from what was signed': 'signature',
  };

  test.each(Object.entries(lies))('A46: %s never reaches a taker', async (what, lie) => {
    const number = n++;
    const solver = await v.solver(number, lie, { inventory: 1_000n });
    const { json } = await ask(only(solver.id));
    expect(json).toMatchObject({ quotes: [], productUnavailable: { code: 'no_quotes' } });
    const quote = solver.said.find(({ type }) => type === 'quote') as LinkQuote;
    const code = objections[what] as RejectionCode;
    expect(await solver.next('rejected')).toEqual({
      type: 'rejected',
      rfqId: quote.rfqId,
      quoteId: quote.quoteId,
      code,
      ...REJECTIONS[code],
    });
    await solver.stop();
  });

  test('answers that are late, malformed or foreign are rejected too, ten a second, and honest ones are not', async () => {
    let asked: Rfq | undefined;
    const solver = await v.solver(
      n++,
      (rfq, make) => ((asked = rfq), make.quote(rfq, { output: fair(rfq) })),
      { inventory: 1_000n },
    );
    expect((await ask(only(solver.id))).json['quotes']).toHaveLength(1);
    expect(solver.received.filter(({ type }) => type === 'rejected')).toEqual([]);
    const said = solver.said.find(({ type }) => type === 'quote') as LinkQuote;
    const rfqId = (asked as Rfq).rfqId;
    const commit = { ...said, type: 'commit' as const };
    const { rfqId: _, quoteId, commitment, lpSpreadBps } = commit;
    for (const [frame, expected] of [
      [said, { rfqId, quoteId, code: 'late' }],
      [
        { type: 'partial', rfqId: 'never-asked', ladder: [['1', '1']], validUntil: 1 },
        { quoteId: null, code: 'late' },
      ],
      [
        { type: 'commit', rfqId, quoteId, commitment, lpSpreadBps },
        { rfqId, quoteId, code: 'late' },
      ],
      [
        { ...said, order: { ...said.order, nonce: 7 } },
        { rfqId, quoteId, code: 'malformed', field: 'order.nonce' },
      ],
      [
        { type: 'quote', rfqId: 5 },
        { rfqId: null, quoteId: null, code: 'malformed', field: 'rfqId' },
      ],
    ] as const) {
      solver.received.length = 0;
      solver.say(JSON.stringify(frame));
      expect(await solver.next('rejected')).toMatchObject(expected);
    }
    // A decline promises nothing, so a late one needs no answer.
    solver.received.length = 0;
    solver.say({ type: 'decline', rfqId, reason: 'pair', maxAmount: null });
    for (let count = 0; count < 40; count++) solver.say(said);
    solver.say({ type: 'ping' });
    await solver.next('pong');
    const rejected = solver.received.filter(({ type }) => type === 'rejected');
    expect(rejected.length).toBeGreaterThan(0);
    expect(rejected.length).toBeLessThanOrEqual(20);
    await solver.stop();
  });

  test('A46: lying, silent, late and malformed solvers do not keep an honest solver from the taker', async () => {
    const late: (() => void)[] = [];
    const solvers = await Promise.all([
      v.solver(n++, (rfq, make) => make.quote(rfq, { output: fair(rfq) }), { inventory: 1_000n }),
      v.solver(n++, () => undefined, { inventory: 0n }),
      v.solver(n++, (rfq, make) => make.quote(rfq, { output: fair(rfq) + 5n }, { signer: account(2) }), {
        inventory: 0n,
      }),
    ]);
    const slow = await v.solver(
      n++,
      (rfq, make) => void late.push(() => slow.say(make.quote(rfq, { output: fair(rfq) * 2n }))),
      { inventory: 1_000n },
    );
    const rude = await v.solver(n++, () => undefined, { inventory: 0n });
    rude.say('{"type":"quote"}');
    rude.say('no json');
    rude.say('{"type":"greeting"}');
    const ids = [...solvers, slow, rude].map(({ id }) => id);
    const { json } = await ask(only(...ids));
    expect((json['quotes'] as unknown as Json[]).map((quote) => quote['solverId'])).toEqual([solvers[0]?.id]);
    for (const send of late) send();
    const again = await ask(only(ids[0] as string));
    expect((again.json['quotes'] as unknown as Json[]).length).toBe(1);
    for (const solver of [...solvers, slow, rude]) await solver.stop();
  });

  test('the fan-out ends when every solver has answered', async () => {
    const patient = await startTestVenue({ chainIds: [31_403], fanOut: { timeoutMs: 30_000 } });
    try {
      const patientKey = await patient.key('service');
      const { chain, usdc: u, weth: w } = patient.chain;
      const body = {
        taker: account(1).address,
        input: { asset: assetId({ chainId: chain.id, token: u.address }), amount: '1000000000' },
        output: { asset: assetId({ chainId: chain.id, token: w.address }) },
      };
      await patient.solver(1, (rfq, make) => make.quote(rfq, { output: fair(rfq) }));
      await patient.solver(2, (rfq, make) => make.decline(rfq, 'no_inventory'));
      await patient.solver(3, (rfq, make) => [
        make.quote(rfq, { output: fair(rfq) - 1n }, { validSeconds: 30 }),
        make.quote(rfq, { output: fair(rfq) - 2n }, { validSeconds: 90 }),
      ]);
      // Were it to wait for its deadline, this test would time out.
      const answers = await Promise.all(
        Array.from({ length: 4 }, () =>
          patient.call('POST', '/api/v1/rfq/quotes', { key: patientKey, body }),
        ),
      );
      for (const { json } of answers)
        expect((json['quotes'] as unknown as Json[]).length).toBeGreaterThanOrEqual(2);
      // Nor does it wait for one that died while thinking.
      const dying = await patient.solver(4, () => void dying.stop());
      const last = await patient.call('POST', '/api/v1/rfq/quotes', { key: patientKey, body });
      expect((last.json['quotes'] as unknown as Json[]).length).toBeGreaterThanOrEqual(2);
    } finally {
      await patient.stop();
    }
  });

  test('several tenors of one solver are separate candidates, best price first, and the venue waits for all announced ones', async () => {
    const number = n++;
    const solver = await v.solver(
      number,
      (rfq, make) => {
        const say = (output: bigint, validSeconds: number, more: boolean) => ({
          ...make.quote(rfq, { output }, { validSeconds }),
          more,
        });
        // The last one comes well after the moment that the venue lingers for further ones unannounced.
        const last = say(397n * 10n ** 18n, 90, false);
        setTimeout(() => solver.say(last), 60);
        return [say(400n * 10n ** 18n, 15, true), say(399n * 10n ** 18n, 40, true)];
      },
      { inventory: 1_000n },
    );
    const first = (await ask(only(solver.id))).json['quotes'] as unknown as Json[];
    expect(first.map((quote) => [quote['solverId'], quote['preview']?.['outputs']?.[0]?.['amount']])).toEqual(
      ['400', '399', '397'].map((whole) => [solver.id, `${whole}${'0'.repeat(18)}`]),
    );
    const untils = first.map((quote) => quote['validUntil'] as unknown as number) as [number, number, number];
    expect([untils[1] - untils[0], untils[2] - untils[1]]).toEqual([25, 50]);
    expect(new Set(first.map((quote) => quote['order']?.['payload']?.['message']?.['nonce'])).size).toBe(1);
    // Three of 400 would not fit into 1,000: the three answers are one promise. A second request fits, a
    // third does not.
    expect(((await ask(only(solver.id))).json['quotes'] as unknown as Json[]).length).toBe(3);
    expect(((await ask(only(solver.id))).json['quotes'] as unknown as Json[]).length).toBe(0);
    await solver.stop();
  });

  test('a solver that announces more quotes and sends none delays the answer to the deadline, not beyond', async () => {
    const solver = await v.solver(
      n++,
      (rfq, make) => ({ ...make.quote(rfq, { output: fair(rfq) }), more: true }),
      { inventory: 1_000n },
    );
    const { json } = await ask(only(solver.id));
    expect((json['quotes'] as unknown as Json[]).length).toBe(1);
    await solver.stop();
  });

  test('live quotes count against the balance, and one request counts once', async () => {
    const number = n++;
    // 1,000 WETH in the ledger; each answer takes 400.
    const solver = await v.solver(number, (rfq, make) => make.quote(rfq, { output: 400n * 10n ** 18n }), {
      inventory: 1_000n,
    });
    const taken = [];
    for (let i = 0; i < 3; i++)
      taken.push(((await ask(only(solver.id))).json['quotes'] as unknown as Json[]).length);
    expect(taken).toEqual([1, 1, 0]);
    await solver.stop();
  });

  test('a kept promise stops counting once the balance has fallen', async () => {
    const solver = await v.solver(n++, (rfq, make) => make.quote(rfq, { output: 400n * 10n ** 18n }), {
      inventory: 1_000n,
    });
    const taker = account(5_010);
    await v.chain.fund(taker.address, 10_000n);
    const quote = (await ask(only(solver.id), taker)).json['quotes']?.[0] as Json;
    const plan = (
      await v.call('POST', '/api/v1/rfq/orders/preflight', { key, body: { quoteResponse: quote } })
    ).json;
    const { json } = await v.call('POST', '/api/v1/rfq/orders', {
      key,
      body: await signPlan(taker, quote, plan),
    });
    const record = await v.store.order(json['id'] as unknown as Hex);
    if (!record) throw new Error('no order');
    await v.chain.send(
      DEPLOYER.address,
      v.chain.chain.escrow,
      settleCall(record.order, record.funding, record.quoteId, record.commitments),
    );
    // 600 are left and nothing is promised: one more of 400, not two.
    await until(async () => ((await ask(only(solver.id))).json['quotes'] as unknown as Json[]).length === 1);
    expect((await ask(only(solver.id))).json['quotes']).toEqual([]);
    await solver.stop();
  });

  test('a kept promise counts until the fallen balance was read', async () => {
    const solver = await v.solver(n++, (rfq, make) => make.quote(rfq, { output: 400n * 10n ** 18n }), {
      inventory: 1_000n,
    });
    const taker = account(5_011);
    await v.chain.fund(taker.address, 10_000n);
    const quote = (await ask(only(solver.id), taker)).json['quotes']?.[0] as Json;
    const plan = (
      await v.call('POST', '/api/v1/rfq/orders/preflight', { key, body: { quoteResponse: quote } })
    ).json;
    const { json } = await v.call('POST', '/api/v1/rfq/orders', {
      key,
      body: await signPlan(taker, quote, plan),
    });
    const record = await v.store.order(json['id'] as unknown as Hex);
    if (!record) throw new Error('no order');
    let goOn = () => {};
    const asked = new Promise<void>(
      (resolve) => (slowBalances = { asked: resolve, until: new Promise((done) => (goOn = done)) }),
    );
    try {
      await v.chain.send(
        DEPLOYER.address,
        v.chain.chain.escrow,
        settleCall(record.order, record.funding, record.quoteId, record.commitments),
      );
      await asked;
      expect([
        ((await ask(only(solver.id))).json['quotes'] as unknown as Json[]).length,
        ((await ask(only(solver.id))).json['quotes'] as unknown as Json[]).length,
      ]).toEqual([1, 0]);
    } finally {
      slowBalances = undefined;
      goOn();
    }
    await solver.stop();
  });

  test('a requested withdrawal counts as gone', async () => {
    const solver = await v.solver(n++, (rfq, make) => make.quote(rfq, { output: fair(rfq) }), {
      inventory: 1_000n,
    });
    expect((await ask(only(solver.id))).json['quotes']).toHaveLength(1);
    await v.chain.send(
      solver.lp.address,
      v.chain.chain.escrow,
      requestWithdrawalCall(v.chain.weth.address, 1_000n * 10n ** 18n),
    );
    await until(async () => ((await ask(only(solver.id))).json['quotes'] as unknown as Json[]).length === 0);
    await solver.stop();
  });
});

describe('delivery into the ledger', () => {
  const deferred = { settlement: 'ledger_auto_withdraw' };

  test('the candidate shows the receiver, and the order credits it in the ledger', async () => {
    const solver = await v.solver(n++, (rfq, make) => make.quote(rfq, { output: fair(rfq) }), {
      inventory: 1_000n,
    });
    const receiver = account(7).address;
    for (const [settlement, kind] of [
      ['ledger', '0x0100'],
      ['ledger_auto_withdraw', '0x0101'],
    ] as const) {
      const { json } = await ask({ ...only(solver.id), settlement, receiver });
      const [quote] = json['quotes'] as unknown as [Json];
      expect(quote['preview']?.['outputs']?.[0]).toMatchObject({ receiver });
      const { message } = (quote['order'] as Json)['payload'] as unknown as {
        message: { outputs: [{ settler: string }] };
      };
      const [output] = message.outputs;
      expect(output).toMatchObject({
        recipient: output.settler,
        callbackData: `${kind}${receiver.slice(2)}`,
      });
    }
    await solver.stop();
  });

  const others: Record<string, object> = {
    'as if it had not been asked for': {
      recipient: `0x${'0'.repeat(24)}${account(1).address.slice(2)}`,
      callbackData: '0x',
    },
    'without naming an account': { callbackData: '0x' },
    'to stay there': { callbackData: `0x0100${account(1).address.slice(2)}` },
    'to somebody else': { callbackData: `0x0101${account(2).address.slice(2)}` },
  };
  test.each(Object.entries(others))('a delivery %s never reaches a taker', async (_, change) => {
    const solver = await v.solver(
      n++,
      (rfq, make) => make.quote(rfq, { output: fair(rfq) }, { change: (order) => withOutput(order, change) }),
      { inventory: 1_000n },
    );
    expect((await ask({ ...only(solver.id), ...deferred })).json).toMatchObject({
      quotes: [],
      productUnavailable: { code: 'no_quotes' },
    });
    await solver.stop();
  });

  test('a deferred delivery cannot be quoted; a permanent one can', async () => {
    const wei = 10n ** 18n;
    // As many WETH as USDC, so that the request says how much the LP has to have.
    const solver = await v.solver(
      n++,
      (rfq, make) => make.quote(rfq, { output: BigInt(rfq.amount) * 10n ** 12n }),
      { inventory: 1_000n },
    );
    const quotes = async (whole: number) =>
      (
        (await ask({ ...only(solver.id), input: { asset: usdc, amount: `${whole}000000` } })).json[
          'quotes'
        ] as unknown as Json[]
      ).length;
    const giver = account(5_010).address;
    await v.chain.fund(giver);
    const gift = { from: giver, to: solver.lp.address, token: v.chain.weth.address };
    const { orderId, output } = await giveInto(v.chain, {
      ...gift,
      amount: 500n * wei,
      settlement: 'ledger_auto_withdraw',
    });
    await giveInto(v.chain, { ...gift, amount: 100n * wei, settlement: 'ledger' });
    await until(async () => (await quotes(1_100)) === 1);
    // That was all: what is promised now is the whole balance but for the deferred part.
    expect(await quotes(1)).toBe(0);
    // Time that also ends that promise.
    await v.chain.anvil.advance(901);
    await v.chain.send(giver, v.chain.chain.escrow, withdrawDeferredCall(orderId, output));
    expect(await v.chain.port.ledgerBalance(solver.lp.address, gift.token)).toBe(1_100n * wei);
    await giveInto(v.chain, { ...gift, amount: 2n * wei, settlement: 'ledger' });
    await until(async () => (await quotes(1_102)) === 1);
    expect(await quotes(1)).toBe(0);
    await solver.stop();
  });
});

describe('splits', () => {
  const ladder =
    (max: bigint, price: bigint) =>
    (rfq: Rfq): FromSolver => ({
      type: 'partial',
      rfqId: rfq.rfqId,
      validUntil: Math.max(Math.floor(Date.now() / 1000), v.chain.port.head()?.timestamp ?? 0) + 60,
      ladder: [25n, 50n, 100n].map((percent) => [
        ((max * percent) / 100n).toString(),
        ((((max * percent) / 100n) * 10n ** 12n) / price).toString(),
      ]),
    });
  const MAX = 500_000_000n;

  test('three ladders become one order that three LPs sign, settled in one transaction', async () => {
    const solvers = await Promise.all(
      [2_500n, 2_510n, 2_520n].map((price) => v.solver(n++, ladder(MAX, price), { inventory: 1_000n })),
    );
    const taker = account(5_000);
    await v.chain.fund(taker.address, 10_000n);
    const { json } = await ask(
      { ...only(...solvers.map(({ id }) => id)), input: { asset: usdc, amount: '1200000000' } },
      taker,
    );
    const [quote] = json['quotes'] as unknown as [Json];
    const fills = fillsOf(quote);
    expect(quote['splitFill']?.['executionModel']).toBe('atomic');
    expect(fills.map(({ solverId }) => solverId).sort()).toEqual(solvers.map(({ id }) => id).sort());
    expect(fills.reduce((sum, { portionBps }) => sum + portionBps, 0)).toBe(10_000);
    const total = fills.reduce((sum, { outputAmount }) => sum + BigInt(outputAmount), 0n);
    expect(quote['preview']?.['outputs']?.[0]?.['amount']).toBe(total.toString());
    expect(quote['routingPath']).toBe('direct');
    const largest = fills.reduce((best, fill) => (fill.portionBps > best.portionBps ? fill : best));
    expect(quote['solverId']).toBe(largest.solverId);

    const plan = (
      await v.call('POST', '/api/v1/rfq/orders/preflight', { key, body: { quoteResponse: quote } })
    ).json;
    const submitted = await v.call('POST', '/api/v1/rfq/orders', {
      key,
      body: await signPlan(taker, quote, plan),
    });
    expect(submitted.status, submitted.text).toBe(200);
    const id = submitted.json['id'] as unknown as Hex;
    for (const solver of solvers) {
      const award = await solver.next('award', ({ orderId }) => orderId === id);
      expect(award.commitment.lp).toBe(solver.lp.address);
    }
    const record = await v.store.order(id);
    if (!record) throw new Error('no order');
    const before = await v.chain.port.tokenBalance(taker.address, v.chain.weth.address);
    await v.chain.send(
      DEPLOYER.address,
      v.chain.chain.escrow,
      settleCall(record.order, record.funding, record.quoteId, record.commitments),
    );
    expect((await v.chain.port.tokenBalance(taker.address, v.chain.weth.address)) - before).toBe(total);
    for (const solver of solvers) await solver.stop();
  });

  test('a split into the ledger is one balance of one receiver', async () => {
    const solvers = await Promise.all(
      [2_500n, 2_510n].map((price) => v.solver(n++, ladder(MAX, price), { inventory: 1_000n })),
    );
    const taker = account(5_011);
    await v.chain.fund(taker.address, 10_000n);
    const { json } = await ask(
      {
        ...only(...solvers.map(({ id }) => id)),
        input: { asset: usdc, amount: '800000000' },
        settlement: 'ledger_auto_withdraw',
      },
      taker,
    );
    const [quote] = json['quotes'] as unknown as [Json];
    expect(fillsOf(quote)).toHaveLength(2);
    const plan = (
      await v.call('POST', '/api/v1/rfq/orders/preflight', { key, body: { quoteResponse: quote } })
    ).json;
    const submitted = await v.call('POST', '/api/v1/rfq/orders', {
      key,
      body: await signPlan(taker, quote, plan),
    });
    expect(submitted.status, submitted.text).toBe(200);
    const record = (await v.store.order(submitted.json['id'] as unknown as Hex)) ?? expect.fail('no order');
    await v.chain.send(
      DEPLOYER.address,
      v.chain.chain.escrow,
      settleCall(record.order, record.funding, record.quoteId, record.commitments),
    );
    const amount = BigInt(quote['preview']?.['outputs']?.[0]?.['amount'] as string);
    expect([
      await v.chain.port.ledgerBalance(taker.address, v.chain.weth.address),
      await v.chain.port.ledgerDeferred(taker.address, v.chain.weth.address),
    ]).toEqual([amount, amount]);
    for (const solver of solvers) await solver.stop();
  });

  test('an LP that refuses its slice is left out of the second plan', async () => {
    const solvers = await Promise.all(
      [2_500n, 2_510n, 2_520n].map((price, index) =>
        v.solver(n++, ladder(MAX, price), {
          inventory: 1_000n,
          ...(index === 0
            ? {
                slice: (slice, make) =>
                  ({ ...make.decline(slice, 'no_inventory'), quoteId: slice.quoteId }) as FromSolver,
              }
            : {}),
        }),
      ),
    );
    const { json } = await ask({
      ...only(...solvers.map(({ id }) => id)),
      input: { asset: usdc, amount: '900000000' },
    });
    const [quote] = json['quotes'] as unknown as [Json];
    expect(
      fillsOf(quote)
        .map(({ solverId }) => solverId)
        .sort(),
    ).toEqual(
      solvers
        .slice(1)
        .map(({ id }) => id)
        .sort(),
    );
    const never = await ask({
      ...only(...solvers.map(({ id }) => id)),
      input: { asset: usdc, amount: '900000000' },
      splitFill: 'never',
    });
    // A part on offer is an amount that would pass.
    expect(never.json).toMatchObject({
      quotes: [],
      productUnavailable: { code: 'amount_too_large', message: expect.stringContaining(' 500 USDC') },
    });
    for (const solver of solvers) await solver.stop();
  });

  test('a slice signed by a third party makes no split', async () => {
    const solvers = await Promise.all(
      [2_500n, 2_510n].map((price, index) =>
        v.solver(n++, ladder(MAX, price), {
          inventory: 1_000n,
          ...(index === 0 ? { slice: (slice, make) => make.commit(slice, account(2)) } : {}),
        }),
      ),
    );
    const { json } = await ask({
      ...only(...solvers.map(({ id }) => id)),
      input: { asset: usdc, amount: '900000000' },
    });
    expect(json['quotes']).toEqual([]);
    for (const solver of solvers) await solver.stop();
  });

  test('exact output is split to the unit', async () => {
    const outputs =
      (max: bigint, price: bigint) =>
      (rfq: Rfq): FromSolver =>
        ladder(max, price)(rfq);
    const solvers = await Promise.all(
      [2_500n, 2_510n].map((price) => v.solver(n++, outputs(MAX, price), { inventory: 1_000n })),
    );
    const wanted = 350_000_000_000_000_000n;
    const { json } = await ask({
      ...only(...solvers.map(({ id }) => id)),
      input: { asset: usdc },
      output: { asset: weth, amount: wanted.toString() },
    });
    const [quote] = json['quotes'] as unknown as [Json];
    expect(quote['preview']?.['outputs']?.[0]?.['amount']).toBe(wanted.toString());
    expect(fillsOf(quote).reduce((sum, { outputAmount }) => sum + BigInt(outputAmount), 0n)).toBe(wanted);
    for (const solver of solvers) await solver.stop();
  });
});

describe('joining and leaving', () => {
  test('offline when killed, active when reconnected; every transition is stored', async () => {
    const solver = await v.solver(n++, (rfq, make) => make.quote(rfq, { output: fair(rfq) }), {
      inventory: 1_000n,
    });
    expect(await roster(solver.id)).toMatchObject({ status: 'active', eligibilityNote: null });
    await solver.stop();
    await until(async () => ((await roster(solver.id))['status'] as unknown) === 'offline');
    expect((await ask(only(solver.id))).json).toMatchObject({
      productUnavailable: { code: 'no_eligible_solver' },
    });
    const spec = {
      id: solver.id,
      apiKey: solver.apiKey,
      lp: solver.lp.address,
      operator: solver.operator,
      chains: [v.chain.chain],
      corridors: ['chain1-chain1'],
      answer: () => undefined,
    };
    const back = await startSolver(v.url, spec);
    await until(async () => ((await roster(solver.id))['status'] as unknown) === 'active');
    back.say({ type: 'status', status: 'standby', note: 'rebalancing' });
    await until(async () => ((await roster(solver.id))['status'] as unknown) === 'standby');
    expect(await roster(solver.id)).toMatchObject({ eligibilityNote: 'rebalancing' });
    // A second connection takes over; the first is told so.
    const newer = await startSolver(v.url, spec);
    expect((await back.closed).code).toBe(1008);
    expect(v.venue.roster.entry(solver.id)?.session).toBeDefined();
    await newer.stop();
  });

  test("refused: another solver's id, a proof by another key, an operator unknown to the chain, a shadow where the venue wants none, a disabled solver", async () => {
    const solver = await v.solver(n++, () => undefined, { inventory: 0n });
    await solver.stop();
    const spec = {
      id: solver.id,
      apiKey: solver.apiKey,
      lp: solver.lp.address,
      operator: solver.operator,
      chains: [v.chain.chain],
      corridors: [],
      answer: () => undefined,
    };
    await expect(startSolver(v.url, { ...spec, id: 'lp-else' })).rejects.toThrow('wrong_solver');
    await expect(startSolver(v.url, { ...spec, operator: account(77) })).rejects.toThrow('not_operator');
    await expect(
      startSolver(v.url, {
        ...spec,
        operator: { ...solver.operator, address: account(77).address } as TestAccount,
      }),
    ).rejects.toThrow('bad_proof');
    await expect(startSolver(v.url, { ...spec, apiKey: key })).rejects.toThrow('403');
    const discreet = await v.replica({ shadows: false });
    await expect(startSolver(discreet.url, { ...spec, shadow: true })).rejects.toThrow('no_shadows');
    await discreet.stop();
    await v.store.putSolver({ id: solver.id, name: 'x', kind: 'lp', corridors: null, disabled: true });
    await v.bus.publish('solvers', solver.id);
    await until(() => v.venue.roster.entry(solver.id)?.disabled);
    await expect(startSolver(v.url, spec)).rejects.toThrow('not_on_roster');
    expect(await roster(solver.id)).toMatchObject({
      status: 'offline',
      eligibilityNote: 'Disabled by the venue.',
    });
  });

  test('F44: an operator revoked on chain is offline within a block, and its live quote is refused', async () => {
    const solver = await v.solver(n++, (rfq, make) => make.quote(rfq, { output: fair(rfq) }), {
      inventory: 1_000n,
    });
    const taker = account(5_001);
    await v.chain.fund(taker.address, 10_000n);
    const quote = (await ask(only(solver.id), taker)).json['quotes']?.[0] as Json;
    const plan = (
      await v.call('POST', '/api/v1/rfq/orders/preflight', { key, body: { quoteResponse: quote } })
    ).json;
    const body = await signPlan(taker, quote, plan);
    await v.chain.setOperator(solver.lp.address, solver.operator.address, false);
    expect((await solver.closed).reason).toContain('revoked');
    expect((await roster(solver.id))['status'] as unknown).toBe('offline');
    const answer = await v.call('POST', '/api/v1/rfq/orders', { key, body });
    expect([answer.status, answer.json['detail']?.[0]?.['type']]).toEqual([422, 'quote_expired']);
  });

  test('the breaker excludes a solver that sends nonsense, says until when, and readmits it', async () => {
    const solver = await v.solver(
      n++,
      (rfq, make) => make.quote(rfq, { output: fair(rfq) }, { signer: account(2) }),
      { inventory: 1_000n },
    );
    for (let i = 0; i < 5; i++) await ask(only(solver.id));
    const resting = await roster(solver.id);
    expect(resting).toMatchObject({
      status: 'standby',
      eligibilityNote: expect.stringMatching(/^Resting until \d{4}-/),
    });
    expect((await ask(only(solver.id))).json).toMatchObject({
      productUnavailable: { code: 'no_eligible_solver' },
    });
    await until(async () => ((await roster(solver.id))['status'] as unknown) === 'active');
    await solver.stop();
  });

  test('open awards are sent again on request; losing siblings are released', async () => {
    const winner = await v.solver(n++, (rfq, make) => make.quote(rfq, { output: fair(rfq) + 1n }), {
      inventory: 1_000n,
    });
    const loser = await v.solver(n++, (rfq, make) => make.quote(rfq, { output: fair(rfq) }), {
      inventory: 1_000n,
    });
    const taker = account(5_002);
    await v.chain.fund(taker.address, 10_000n);
    const quotes = (await ask(only(winner.id, loser.id), taker)).json['quotes'] as unknown as [Json, Json];
    const plan = (
      await v.call('POST', '/api/v1/rfq/orders/preflight', { key, body: { quoteResponse: quotes[0] } })
    ).json;
    const { json } = await v.call('POST', '/api/v1/rfq/orders', {
      key,
      body: await signPlan(taker, quotes[0], plan),
    });
    const id = json['id'] as unknown as Hex;
    await winner.next('award', ({ orderId }) => orderId === id);
    winner.say({ type: 'resync' });
    const resync = await winner.next('resync');
    expect(resync.awards.map(({ orderId }) => orderId)).toContain(id);

    const record = await v.store.order(id);
    const [claim] = await v.store.claim([id], 'test-worker', 10_000);
    if (!record || !claim) throw new Error('not claimed');
    const txHash = await v.chain.send(
      DEPLOYER.address,
      v.chain.chain.escrow,
      settleCall(record.order, record.funding, record.quoteId, record.commitments),
    );
    await v.store.append(
      claim,
      record,
      [
        {
          kind: 'opened',
          evidence: { chainId: v.chain.chain.id, txHash, blockNumber: 9n, blockHash: txHash, at: 1 },
        },
      ],
      { status: 'pending', final: false, event: null, atMs: Date.now() },
    );
    const released = await loser.next('released');
    expect(released).toEqual({ type: 'released', quoteIds: [quotes[1]['quoteId']], proof: 'nonce_used' });
    const news = await winner.next('order', ({ orderId }) => orderId === id);
    expect(news).toMatchObject({ stage: 'escrowed', evidence: { txHash } });
    await Promise.all([winner.stop(), loser.stop()]);
  });

  test('a shadow of a solver sees its requests and their outcome, and whatever it says counts nowhere', async () => {
    const solver = await v.solver(n++, (rfq, make) => make.quote(rfq, { output: fair(rfq) }), {
      inventory: 1_000n,
    });
    const chains = [v.chain.chain];
    const common = { corridors: ['chain1-chain1'], chains, apiKey: solver.apiKey, id: solver.id };
    const shadow = await startSolver(v.url, {
      ...{ ...common, lp: solver.lp.address, operator: solver.operator, shadow: true },
      answer: (rfq, make) => make.quote(rfq, { output: fair(rfq) * 2n }),
    });
    const entry = () => v.venue.roster.entry(solver.id) ?? expect.fail('no entry');
    await until(() => entry().shadows.length > 0);
    expect(await roster(solver.id)).toMatchObject({ status: 'active', eligibilityNote: null });

    const taker = account(5_007);
    await v.chain.fund(taker.address, 10_000n);
    const [quote] = (await ask(only(solver.id), taker)).json['quotes'] as unknown as [Json];
    const { rfqId } = await shadow.next('rfq');
    await until(() => shadow.said.some(({ type }) => type === 'quote'));
    const plan = (
      await v.call('POST', '/api/v1/rfq/orders/preflight', { key, body: { quoteResponse: quote } })
    ).json;
    const { status } = await v.call('POST', '/api/v1/rfq/orders', {
      key,
      body: await signPlan(taker, quote, plan),
    });
    expect(status).toBe(200);
    const outputAmount = ((BigInt(1_000_000_000) * 10n ** 12n) / 2_600n).toString();
    expect(await shadow.next('outcome')).toEqual({
      ...{ type: 'outcome', rfqId, inputAmount: '1000000000', outputAmount },
    });
    await solver.next('award');
    expect(shadow.received.map(({ type }) => type)).not.toContain('award');

    // The solver goes; its shadow stays, and is no reason to ask.
    await solver.stop();
    await until(() => entry().status === 'standby');
    expect(await roster(solver.id)).toMatchObject({
      status: 'standby',
      eligibilityNote: 'shadow: prices requests and signs nothing',
    });
    expect((await ask(only(solver.id), taker)).json).toMatchObject({
      quotes: [],
      productUnavailable: { code: 'no_eligible_solver' },
    });
    expect(entry().breaker.openUntil(Date.now())).toBeUndefined();
    await shadow.stop();
    await until(() => entry().status === 'offline');
  });

  test('a connection whose hello is late, repeated or missing is closed', async () => {
    const solver = await v.solver(n++, () => undefined, { inventory: 0n });
    const socket = new WebSocket(`${v.url.replace('http', 'ws')}/api/v1/solver/ws`, {
      headers: { 'X-API-Key': solver.apiKey },
    });
    const frames: string[] = [];
    socket.on('message', (data: Buffer) => frames.push(data.toString()));
    const closed = new Promise<number>((resolve) => socket.on('close', resolve));
    socket.on('open', () => socket.send('{"type":"resync"}'));
    expect(await closed).toBe(1008);
    expect(frames.at(-1)).toContain('hello_first');
    expect(v.venue.roster.entry(solver.id)?.status).toBe('active');
    await solver.stop();
  });
});
