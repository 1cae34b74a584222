/** One order of several LPs, one of which fails: before the taker signs, and after. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { assetId } from '../../src/domain/asset.ts';
import type { Hex } from '../../src/domain/hex.ts';
import type { FromSolver, Rfq } from '../../src/protocol/link/link.ts';
import { settleCall } from '../../src/settlement/call.ts';
import { account, DEPLOYER } from '../support/devnet.ts';
import type { SolverSpec } from '../support/solver.ts';
import { signPlan } from '../support/taker.ts';
import { type Json, startTestVenue, type TestVenue } from '../support/venue.ts';
import { diceOf } from './seed.ts';

const MAX = 500_000_000n;
const taker = account(8_801);
let v: TestVenue;
let key: string;
let n = 880;

beforeAll(async () => {
  // The LPs answer promptly; a busy machine does not.
  v = await startTestVenue({
    fanOut: { timeoutMs: 20_000, sliceTimeoutMs: 2_000 },
    breaker: { limit: 1_000 },
  });
  key = await v.key('service');
  await v.chain.fund(taker.address, 100_000n);
}, 120_000);
afterAll(() => v?.stop());

const ladder =
  (price: bigint) =>
  (rfq: Rfq): FromSolver => ({
    type: 'partial',
    rfqId: rfq.rfqId,
    validUntil: Math.max(Math.floor(Date.now() / 1000), v.chain.port.head()?.timestamp ?? 0) + 120,
    ladder: [25n, 50n, 100n].map((percent) => [
      ((MAX * percent) / 100n).toString(),
      ((((MAX * percent) / 100n) * 10n ** 12n) / price).toString(),
    ]),
  });

/** The candidates for 900 USDC. No single LP quotes more than 500. */
const quotes = async (ids: readonly string[]) =>
  (
    await v.call('POST', '/api/v1/rfq/quotes', {
      key,
      body: {
        taker: taker.address,
        input: {
          asset: assetId({ chainId: v.chain.chain.id, token: v.chain.usdc.address }),
          amount: '900000000',
        },
        output: { asset: assetId({ chainId: v.chain.chain.id, token: v.chain.weth.address }) },
        solvers: { include: ids },
      },
    })
  ).json['quotes'] as unknown as Json[];
const partners = (quote: Json | undefined) =>
  ((quote?.['splitFill']?.['fills'] ?? []) as unknown as { solverId: string }[])
    .map(({ solverId }) => solverId)
    .sort();

test('F35: one LP of a split is silent, signs with a foreign key, or loses its operator: the whole order settles or nothing does', async () => {
  const dice = diceOf('F35');
  const prices = [2_500n, 2_510n, 2_520n];
  const bad: NonNullable<SolverSpec['slice']>[] = [
    () => undefined,
    (slice, make) => make.commit(slice, account(2)),
    (slice, make) => ({ ...make.decline(slice, 'no_inventory'), quoteId: slice.quoteId }) as FromSolver,
  ];
  for (const slice of bad) {
    const which = Math.floor(dice.next() * 2);
    const lps = await Promise.all(
      prices.map((price, index) =>
        v.solver(n++, ladder(price), { inventory: 1_000n, ...(index === which && { slice }) }),
      ),
    );
    // The two remaining LPs can serve it; without a third there is no candidate.
    expect(partners((await quotes(lps.map(({ id }) => id)))[0])).toEqual(
      lps
        .filter((_, index) => index !== which)
        .map(({ id }) => id)
        .sort(),
    );
    expect(await quotes(lps.slice(0, 2).map(({ id }) => id))).toEqual([]);
    await Promise.all(lps.map((lp) => lp.stop()));
  }

  // All have signed and the order is accepted. Then one LP loses its authority to pay.
  const lps = await Promise.all(
    prices.slice(0, 2).map((price) => v.solver(n++, ladder(price), { inventory: 1_000n })),
  );
  const [quote] = await quotes(lps.map(({ id }) => id));
  if (!quote) throw new Error('no split');
  const plan = (await v.call('POST', '/api/v1/rfq/orders/preflight', { key, body: { quoteResponse: quote } }))
    .json;
  const submitted = await v.call('POST', '/api/v1/rfq/orders', {
    key,
    body: await signPlan(taker, quote, plan),
  });
  expect(submitted.status, submitted.text).toBe(200);
  const record = await v.store.order(submitted.json['id'] as unknown as Hex);
  if (!record) throw new Error('no order');
  const held = async () =>
    Promise.all([
      v.chain.port.tokenBalance(taker.address, v.chain.usdc.address),
      v.chain.port.tokenBalance(taker.address, v.chain.weth.address),
      ...lps.flatMap(({ lp }) =>
        [v.chain.usdc, v.chain.weth].map((token) => v.chain.port.ledgerBalance(lp.address, token.address)),
      ),
    ]);
  const before = await held();
  const gone = dice.pick(lps);
  await v.chain.setOperator(gone.lp.address, gone.operator.address, false);
  const call = settleCall(record.order, record.funding, record.quoteId, record.commitments);
  await expect(v.chain.send(DEPLOYER.address, v.chain.chain.escrow, call)).rejects.toThrow();
  expect(await held()).toEqual(before);
  expect(await v.chain.port.orderStatus(record.orderId)).toBe('none');
  // Once the authority is back, the whole order settles.
  await v.chain.setOperator(gone.lp.address, gone.operator.address, true);
  await v.chain.send(DEPLOYER.address, v.chain.chain.escrow, call);
  const total = record.order.outputs.reduce((sum, { amount }) => sum + amount, 0n);
  expect((await held())[1]).toBe((before[1] as bigint) + total);
});
