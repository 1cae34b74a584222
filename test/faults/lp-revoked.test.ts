/** The operator's key is revoked on chain while its quotes are live. */

import { afterEach, expect, test } from 'vitest';
import { settleCall } from '../../src/settlement/call.ts';
import { assetId } from '../../src/domain/asset.ts';
import { account } from '../support/devnet.ts';
import { eventually } from '../support/lp-trades.ts';
import { signPlan } from '../support/taker.ts';
import { type Json, startTestVenue, type TestVenue } from '../support/venue.ts';
import { ALONE, type LpProcesses, startLpProcesses } from './support/lp-processes.ts';
import { diceOf } from './seed.ts';

let lps: LpProcesses | undefined;
let venue: TestVenue | undefined;

afterEach(async () => {
  await Promise.all([lps?.stop(), venue?.stop()]);
  [lps, venue] = [undefined, undefined];
});

test('F44: the operator is revoked on chain: the LP stops signing, the venue shows it offline, and its live quotes cost nobody anything', async () => {
  const dice = diceOf('F44');
  const size = 1_000 + Math.floor(dice.next() * 4_000);

  // The LP, with a venue that has not noticed.
  lps = await startLpProcesses({ chainId: 31_644, replicas: [ALONE], accounts: 4_400 });
  await lps.part(ALONE).start();
  await lps.pricing(ALONE);
  const live = await lps.ask(size, ALONE);
  if (!('id' in live)) throw new Error('no quote');
  await lps.revoke();
  await eventually(() => lps?.venue.statuses.at(-1)?.note?.startsWith('operator:') === true);
  expect(await lps.ask(size, ALONE)).toMatchObject({ declined: 'standby' });
  const before = await lps.chain.port.ledgerBalance(live.order.user, lps.chain.usdc.address);
  await expect(
    lps.chain.send(
      account(4_403).address,
      lps.chain.chain.escrow,
      settleCall(live.order, live.funding, live.message.quoteId, [live.message.commitment]),
    ),
  ).rejects.toThrow();
  expect([
    await lps.chain.port.ledgerBalance(live.order.user, lps.chain.usdc.address),
    await lps.chain.port.orderStatus(live.id),
  ]).toEqual([before, 'none']);

  // The venue, with a solver that keeps quoting.
  const v = (venue = await startTestVenue());
  const key = await v.key('service');
  const solver = await v.solver(
    100,
    (rfq, make) => make.quote(rfq, { output: (BigInt(rfq.amount) * 10n ** 12n) / 2_600n }),
    { inventory: 1_000n },
  );
  const taker = account(4_410);
  await v.chain.fund(taker.address, 10_000n);
  const assets = {
    input: {
      asset: assetId({ chainId: v.chain.chain.id, token: v.chain.usdc.address }),
      amount: String(size * 1_000_000),
    },
    output: { asset: assetId({ chainId: v.chain.chain.id, token: v.chain.weth.address }) },
  };
  const quote = (
    await v.call('POST', '/api/v1/rfq/quotes', {
      key,
      body: { taker: taker.address, ...assets, solvers: { include: [solver.id] } },
    })
  ).json['quotes']?.[0] as Json;
  const plan = (await v.call('POST', '/api/v1/rfq/orders/preflight', { key, body: { quoteResponse: quote } }))
    .json;
  const body = await signPlan(taker, quote, plan);
  const owned = await v.chain.port.tokenBalance(taker.address, v.chain.usdc.address);
  await v.chain.setOperator(solver.lp.address, solver.operator.address, false);
  expect((await solver.closed).reason).toContain('revoked');
  const roster = (await v.call('GET', '/api/v1/solvers', { key })).json['solvers'] as unknown as Json[];
  expect(roster.find((entry) => entry['id'] === (solver.id as never))?.['status']).toBe('offline');
  const answer = await v.call('POST', '/api/v1/rfq/orders', { key, body });
  expect([answer.status, answer.json['detail']?.[0]?.['type']]).toEqual([422, 'quote_expired']);
  expect(await v.chain.port.tokenBalance(taker.address, v.chain.usdc.address)).toBe(owned);
});
