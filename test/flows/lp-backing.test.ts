/** An LP signs no quote that outlives its money in the escrow: a venue would refuse it. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { orderFromMessage } from '../../src/protocol/wire.ts';
import { account, type TestChain } from '../support/devnet.ts';
import { startOneChainLp } from '../support/one-chain-lp.ts';
import { request, type ScriptedVenue } from '../support/scripted-venue.ts';

const [owner, operator, taker] = [account(84), account(85), account(86)] as const;
const CHAIN_ID = 41_662;
const USDC = 10n ** 6n;
const WETH = 10n ** 18n;
const WITHDRAWAL_SECONDS = 900;
/** With the tenor of ten minutes it is more than the delay. */
const LANDING_SECONDS = 420;

let chain: TestChain;
let venue: ScriptedVenue;
let stop: () => Promise<void>;

beforeAll(async () => {
  ({ chain, venue, stop } = await startOneChainLp({
    chainId: CHAIN_ID,
    devnet: { landingMarginSeconds: LANDING_SECONDS },
    owner,
    operator,
    others: [taker],
    usdc: 50_000n * USDC,
    weth: 20n * WETH,
    schema: 'lp_backing',
    config: {
      chains: [{ chainId: CHAIN_ID, account: owner.address, maxHeadAgeMs: 1_000_000_000, graceSeconds: 2 }],
      quoting: { validitySeconds: 600, pointsSeconds: [], maxValiditySeconds: 840 },
    },
  }));
}, 120_000);
afterAll(() => stop?.());

const ask = (minValidUntil: number | null = null) =>
  venue.ask(
    request({
      from: chain.chain,
      to: chain.chain,
      give: chain.usdc,
      take: chain.weth,
      amount: 100n * USDC,
      taker: taker.address,
      minValidUntil,
    }),
  );
/** The LP leaves a block's time, since the venue may have seen one block less. */
const latestDeadline = (): number =>
  (chain.port.head()?.timestamp ?? 0) + WITHDRAWAL_SECONDS - chain.chain.blockTimeMs / 1_000;

test('a long quote is shortened to what the withdrawal delay allows', async () => {
  const answer = await ask();
  if (answer.type !== 'quote') throw new Error(JSON.stringify(answer));
  expect(orderFromMessage(answer.order).fillDeadline).toBe(latestDeadline());
});

test('a validity up to there is quoted, and a second more declined', async () => {
  const latest = latestDeadline() - LANDING_SECONDS;
  expect(await ask(latest)).toMatchObject({ type: 'quote', validUntil: latest });
  expect(await ask(latest + 1)).toMatchObject({ type: 'decline', reason: 'validity' });
});
