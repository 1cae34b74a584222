/** What a taker can look up of a solver before it trades: bonds, answer times, and claims that were paid. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { assetId } from '../../src/domain/asset.ts';
import { postBondCall } from '../../src/settlement/bond-call.ts';
import { setOperatorCall } from '../../src/settlement/call.ts';
import { createWithdrawals } from '../../src/venue/orders/advance/withdrawals.ts';
import type { TestChain } from '../support/devnet.ts';
import { bondedTaker, WETH_OUT } from '../support/bonded-taker.ts';
import { silentLog, silentMetrics } from '../support/silent.ts';
import { type Json, startTestVenue, type TestVenue } from '../support/venue.ts';

const BOND = 10n ** 18n;

let v: TestVenue;
let chain: TestChain;
let key: string;
let lp: Awaited<ReturnType<TestVenue['solver']>>;
let stopWorker: () => Promise<unknown>;

beforeAll(async () => {
  v = await startTestVenue({ chainIds: [31_441] });
  chain = v.chain;
  key = await v.key('service');
  const withdrawals = createWithdrawals({
    ...{ store: v.store, chains: new Map([[chain.chain.id, chain.port]]), transactors: new Map() },
    ...{ clock: systemClock, log: silentLog, metrics: silentMetrics },
  });
  withdrawals.start();
  stopWorker = () => withdrawals.stop();
  lp = await v.solver(1, (rfq, make) => make.quote(rfq, { output: WETH_OUT }));
  await chain.fund(lp.lp.address, 10n);
  await chain.approve(lp.lp.address, chain.weth.address, chain.deployment.quoteBond, BOND);
  await chain.send(
    lp.lp.address,
    chain.deployment.quoteBond,
    postBondCall(lp.lp.address, chain.weth.address, BOND),
  );
});
afterAll(async () => {
  await stopWorker?.();
  await v.stop();
});

const ask = (id: string, by = key) => v.call('GET', `/api/v1/solvers/${id}/firmness`, { key: by });
const view = async (id: string) => (await ask(id)).json as Json;
const ETH = () => assetId({ chainId: chain.chain.id, token: chain.weth.address });

test('a new solver has its bond and nothing else', async () => {
  // The accounts of a solver are recorded after its welcome, and a view is kept for ten seconds.
  await expect
    .poll(() => view('lp-1'), { timeout: 30_000, interval: 500 })
    .toMatchObject({
      id: 'lp-1',
      bonds: [
        {
          asset: ETH(),
          symbol: 'WETH',
          chain: chain.chain.slug,
          amount: BOND.toString(),
          leaving: '0',
          covers: (BOND * 100n).toString(),
        },
      ],
      last24h: { awarded: 0, settled: 0, faded: 0, claims: { count: 0, paid: [] } },
      fades: [],
    });
});

test('a claim is shown with the transaction that paid it, and counted in both windows', async () => {
  const { client, wallet, check } = await bondedTaker(v, chain, key, { include: [lp.id] });
  const checked = await check({ bond: 'required' });
  const signature = await client.sign(checked, wallet);
  await chain.send(lp.lp.address, chain.chain.escrow, setOperatorCall(lp.operator.address, false));
  const [claimed] = await client.claim(checked, signature, wallet);
  const share = (WETH_OUT / 200n).toString();
  await expect
    .poll(
      async () => {
        await chain.anvil.mine(1);
        return (await view('lp-1'))['fades'];
      },
      { timeout: 25_000, interval: 500 },
    )
    .toEqual([
      {
        orderId: checked.orderId,
        quoteId: checked.quoteId,
        at: expect.any(String),
        reason: 'revoked',
        claim: {
          chain: chain.chain.slug,
          txHash: claimed?.txHash,
          blockNumber: expect.any(String),
          asset: ETH(),
          promised: WETH_OUT.toString(),
          paid: share,
          forfeited: share,
        },
      },
    ]);
  const paid = { count: 1, paid: [{ asset: ETH(), amount: share }] };
  expect(await view('lp-1')).toMatchObject({ last24h: { claims: paid }, last30d: { claims: paid } });
});

test('its answers are counted', async () => {
  await expect
    .poll(async () => ((await view('lp-1'))['last24h'] as Json)['answerMs'], { timeout: 40_000 })
    .toMatchObject({ median: expect.any(Number), p99: expect.any(Number) });
});

test('error: no such solver, one that the workspace may not trade with, and a wrong kind of key', async () => {
  expect((await ask('nobody')).status).toBe(404);
  await v.workspace('narrow', { eligibleSolvers: [] });
  expect((await ask('lp-1', await v.key('service', { workspaceId: 'narrow' }))).status).toBe(404);
  expect((await ask('lp-1', await v.key('solver', { solverId: 'lp-1' }))).status).toBe(403);
});
