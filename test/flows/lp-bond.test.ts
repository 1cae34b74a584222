/** An LP whose bond is smaller than its venue demands quotes nothing that is refused there, and says why. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LpNode } from '../../src/lp/node/interface.ts';
import type { Address } from '../../src/domain/hex.ts';
import { postBondCall, requestTakeBackCall } from '../../src/settlement/bond-call.ts';
import { account, type TestChain } from '../support/devnet.ts';
import { eventually } from '../support/lp-trades.ts';
import { startOneChainLp } from '../support/one-chain-lp.ts';
import { request, type ScriptedVenue } from '../support/scripted-venue.ts';

const [owner, operator, taker] = [account(81), account(82), account(83)] as const;
const CHAIN_ID = 41_661;
const USDC = 10n ** 6n;
const WETH = 10n ** 18n;

let chain: TestChain;
let venue: ScriptedVenue;
let lp: LpNode;
let stop: () => Promise<void>;

beforeAll(async () => {
  ({ chain, venue, lp, stop } = await startOneChainLp({
    chainId: CHAIN_ID,
    owner,
    operator,
    others: [taker],
    usdc: 50_000n * USDC,
    weth: 20n * WETH,
    schema: 'lp_bond',
    config: {
      chains: [{ chainId: CHAIN_ID, account: owner.address, maxHeadAgeMs: 1_000_000_000, graceSeconds: 2 }],
    },
  }));
}, 120_000);
afterAll(() => stop?.());

/** The LP meets the venue again, which demands this now. */
async function demand(...demands: [Address, bigint][]): Promise<void> {
  venue.minBond = demands.map(([token, amount]) => ({ chainId: CHAIN_ID, token, amount: amount.toString() }));
  venue.statuses.length = 0;
  venue.drop();
  // Asked before, it would not answer.
  await venue.until(() => true);
}
async function post(token: Address, amount: bigint): Promise<void> {
  await chain.approve(owner.address, token, chain.deployment.quoteBond, amount);
  await chain.send(owner.address, chain.deployment.quoteBond, postBondCall(owner.address, token, amount));
}
const ask = (from: 'usdc' | 'weth', to: 'usdc' | 'weth', amount: bigint) =>
  venue.ask(
    request({
      from: chain.chain,
      to: chain.chain,
      give: chain[from],
      take: chain[to],
      amount,
      taker: taker.address,
    }),
  );
const buys = () => ask('usdc', 'weth', 100n * USDC);
const sells = () => ask('weth', 'usdc', WETH / 10n);

test('without a demand no bond is needed', async () => {
  expect(await buys()).toMatchObject({ type: 'quote' });
});

test('what is demanded in one token stops the trades whose claim it would pay', async () => {
  await demand([chain.weth.address, WETH]);
  await eventually(async () => (await buys()).type === 'decline');
  expect(await sells()).toMatchObject({ type: 'quote' });
  await eventually(async () => lp.status().reasons.length > 0);
  expect(lp.status().reasons.map(({ note }) => note)).toEqual([
    expect.stringContaining('the bond is 0 WETH, and a venue demands 1 WETH'),
  ]);
  await post(chain.weth.address, WETH);
  await eventually(async () => (await buys()).type === 'quote');
});

test('with no token covered it is in standby, and the venue learns no amount', async () => {
  await demand([chain.weth.address, 2n * WETH], [chain.usdc.address, 100n * USDC]);
  await venue.until(({ status, note }) => status === 'standby' && note?.startsWith('bond') === true);
  expect(venue.statuses.at(-1)?.note).toBe('bond: its bond is less than a venue demands');
  await post(chain.weth.address, WETH);
  await post(chain.usdc.address, 100n * USDC);
  await venue.until(({ status }) => status === 'active');
});

test('what the owner has asked to take back does not count', async () => {
  await chain.send(owner.address, chain.deployment.quoteBond, requestTakeBackCall(chain.weth.address, 1n));
  await eventually(async () => (await buys()).type === 'decline');
  await demand();
  await eventually(async () => (await buys()).type === 'quote');
});
