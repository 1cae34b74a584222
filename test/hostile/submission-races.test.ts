/** A taker that races its own submissions and preflights gets one order, and nobody pays for two. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { assetId } from '../../src/domain/asset.ts';
import { account } from '../support/devnet.ts';
import { signPlan } from '../support/taker.ts';
import { type Answer, type Json, startTestVenue, type TestVenue, until } from '../support/venue.ts';

const taker = account(8_501);
let v: TestVenue;
let key: string;

beforeAll(async () => {
  v = await startTestVenue({ chainIds: [31_457] });
  key = await v.key('service');
  for (const n of [1, 2])
    await v.solver(n, (rfq, make) =>
      make.quote(rfq, { output: (BigInt(rfq.amount) * 10n ** 12n) / (2_600n + BigInt(n)) }),
    );
  await v.chain.fund(taker.address, 10_000n);
});
afterAll(() => v.stop());

const post = (path: string, body: unknown) => v.call('POST', `/api/v1/rfq/${path}`, { key, body });

test('two candidates of one request, submitted at once among preflights: one order, one award', async () => {
  const { chain, usdc, weth } = v.chain;
  const { json } = await post('quotes', {
    taker: taker.address,
    input: { asset: assetId({ chainId: chain.id, token: usdc.address }), amount: '1000000000' },
    output: { asset: assetId({ chainId: chain.id, token: weth.address }) },
  });
  const quotes = json['quotes'] as unknown as Json[];
  expect(quotes).toHaveLength(2);
  const preflight = (quote: Json) => post('orders/preflight', { quoteResponse: quote });
  const submissions = await Promise.all(
    quotes.map(async (quote) => signPlan(taker, quote, (await preflight(quote)).json)),
  );
  const [orders, looks]: [Answer[], Answer[]] = [[], []];
  await Promise.all(
    Array.from({ length: 10 }, (_, round) =>
      quotes.map(async (quote, index) => {
        const body = submissions[(index + round) % 2];
        const [order, look] = await Promise.all([post('orders', body), preflight(quote)]);
        orders.push(order);
        looks.push(look);
      }),
    ).flat(),
  );
  const placed = new Set(
    orders.filter(({ status }) => status === 200).map(({ json: order }) => String(order['id'])),
  );
  expect(placed.size).toBe(1);
  for (const { status } of [...orders, ...looks]) expect([200, 409, 422]).toContain(status);
  const awards = () => v.solvers.flatMap((solver) => solver.received.filter(({ type }) => type === 'award'));
  await until(() => awards().length > 0);
  expect(awards()).toHaveLength(1);
});
