/** More takers than inventory, all at once. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { assetId } from '../../src/domain/asset.ts';
import { orderDigest } from '../../src/domain/order.ts';
import { orderFromMessage, zOrderMessage } from '../../src/protocol/wire.ts';
import { ADMISSION } from '../../src/venue/options.ts';
import { account } from '../support/devnet.ts';
import { type Answer, type Json, startTestVenue, type TestVenue } from '../support/venue.ts';
import { diceOf } from './seed.ts';

const TAKERS = 200;
const ROOM = 10;

/** It is the inventory that has to say no, not the doors. */
const WIDE_OPEN = {
  places: { ...ADMISSION.places, quote: 1_000, submit: 1_000 },
  maxWaitMs: 60_000,
  targetWaitMs: { ...ADMISSION.targetWaitMs, quote: 60_000, submit: 60_000 },
  shedAtDatabaseWaitMs: 60_000,
  perChain: 1_000,
};

let v: TestVenue;
beforeAll(async () => {
  v = await startTestVenue({
    fanOut: { timeoutMs: 20_000 },
    rates: { quotesPerSecond: 1e6, submitsPerSecond: 1e6, perIpPerSecond: 1e6, leastSubmittedShare: 0 },
    admission: WIDE_OPEN,
  });
});
afterAll(() => v.stop());

test.each(['rfq', 'router'] as const)('F31: 200 at once on inventory for 10, %s', async (namespace) => {
  const dice = diceOf('F31');
  const key = await v.key('service');
  const { chain, usdc, weth } = v.chain;
  const taker = account(namespace === 'rfq' ? 61 : 62);
  await v.chain.fund(taker.address, 1_000_000n);
  await v.chain.deposit(taker.address, usdc.address, 1_000_000n * 10n ** 6n);
  // Signs all that it is asked for; its account holds ten such trades and part of an eleventh.
  const part = BigInt(Math.floor(dice.next() * 999));
  const each = ((1_000n * 10n ** 18n) / (BigInt(ROOM) * 1_000n + part)) * 1_000n;
  const number = namespace === 'rfq' ? 1 : 2;
  const lp = await v.solver(number, (rfq, make) => make.quote(rfq, { output: each }, { validSeconds: 500 }), {
    inventory: 1_000n,
  });
  const body = {
    taker: taker.address,
    input: { asset: assetId({ chainId: chain.id, token: usdc.address }), amount: '1000000000' },
    solvers: { include: [lp.id] },
    output: { asset: assetId({ chainId: chain.id, token: weth.address }) },
  };

  const asked = await Promise.all(
    Array.from({ length: TAKERS }, () => v.call('POST', `/api/v1/${namespace}/quotes`, { key, body })),
  );
  expect(new Set(asked.map(({ status }) => status))).toEqual(new Set([200]));
  const quotes = asked.flatMap(({ json }) => json['quotes'] as unknown as Json[]);
  expect(quotes).toHaveLength(ROOM);
  const refused = asked.filter(({ json }) => (json['quotes'] as unknown as Json[]).length === 0);
  expect(refused).toHaveLength(TAKERS - ROOM);
  // Once its money is known to be promised, it is not even asked.
  const codes = refused.map(({ json }) => json['productUnavailable']?.['code']);
  expect(
    codes.filter(
      (code) => !['no_quotes', 'no_eligible_solver', 'amount_too_large'].includes(code as unknown as string),
    ),
  ).toEqual([]);

  const submit = (quote: Json, copy: number): Promise<Answer> => {
    const order = orderFromMessage(zOrderMessage.parse(quote['order']?.['payload']?.['message']));
    const signature = taker.sign(orderDigest({ chainId: chain.id, escrow: chain.escrow }, order));
    return v.call('POST', `/api/v1/${namespace}/orders`, {
      key,
      body: { quoteResponse: quote, signature },
      headers: { 'Idempotency-Key': `f31-${quotes.indexOf(quote)}-${copy % 3}` },
    });
  };
  const all = await Promise.all(
    Array.from({ length: TAKERS }, (_, n) => submit(dice.pick(quotes.slice(n % ROOM, (n % ROOM) + 1)), n)),
  );
  // One id each, and whoever came twice at once was told so.
  expect(
    all
      .filter(({ status }) => status !== 200 && status !== 409)
      .map(({ status, text }) => `${status} ${text}`),
  ).toEqual([]);
  const ids = [...new Set(all.flatMap(({ status, json }) => (status === 200 ? [String(json['id'])] : [])))];
  expect(ids).toHaveLength(ROOM);
});
