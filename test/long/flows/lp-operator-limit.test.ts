/**
 * An operator with a spending limit on a real chain: the LP promises nothing beyond it, says why, and goes on
 * when the window has ended.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LpNode } from '../../../src/lp/node/interface.ts';
import { fillCall, limitOperatorCall, settleCall, setOperatorCall } from '../../../src/settlement/call.ts';
import { account, type Devnet, type TestChain } from '../../support/devnet.ts';
import { eventually, takeQuote } from '../../support/lp-trades.ts';
import { startOneChainLp } from '../../support/one-chain-lp.ts';
import { request, type ScriptedVenue } from '../../support/scripted-venue.ts';

const owner = account(91);
const operator = account(92);
const taker = account(93);
const keeper = account(94);
const USDC = 10n ** 6n;
const WETH = 10n ** 18n;
const CHAIN_ID = 41_651;
const WINDOW_SECONDS = 3_600;
const LIMIT = 2n * WETH;

let devnet: Devnet;
let chain: TestChain;
let venue: ScriptedVenue;
let lp: LpNode;
let stop: () => Promise<void>;

beforeAll(async () => {
  ({ devnet, chain, venue, lp, stop } = await startOneChainLp({
    chainId: CHAIN_ID,
    owner,
    operator,
    others: [taker, keeper, operator],
    usdc: 50_000n * USDC,
    weth: 20n * WETH,
    schema: 'lp_limit',
    config: {
      // Only the event can tell it of a first limit in time.
      reconcileSeconds: 3_600,
      quoting: { validitySeconds: 5 },
      chains: [{ chainId: CHAIN_ID, account: owner.address, maxHeadAgeMs: 1_000_000_000, graceSeconds: 2 }],
    },
  }));
  await chain.deposit(taker.address, chain.usdc.address, 100_000n * USDC);
}, 120_000);

afterAll(() => stop?.());

const limit = (most: bigint) =>
  chain.send(
    owner.address,
    chain.chain.escrow,
    limitOperatorCall(operator.address, chain.weth.address, most, WINDOW_SECONDS),
  );
const weth = () =>
  lp.inventory().find(({ token }) => token === chain.weth.address) ?? expect.fail('no such bucket');
const buying = (dollars: bigint) =>
  request({
    from: chain.chain,
    to: chain.chain,
    give: chain.usdc,
    take: chain.weth,
    amount: dollars * USDC,
    taker: taker.address,
  });
const minedUntil = (what: () => boolean) =>
  eventually(async () => {
    await chain.anvil.mine(1);
    return what();
  });

test('no more is promised than the operator may spend, and what is settled counts against it', async () => {
  expect(weth()).toMatchObject({ onchain: 20n * WETH, operatorLimit: null, free: 20n * WETH });
  await limit(LIMIT);
  await minedUntil(() => weth().operatorLimit?.left === LIMIT);
  expect(weth()).toMatchObject({ onchain: 20n * WETH, free: LIMIT });
  expect(await venue.ask(buying(20_000n))).toMatchObject({ type: 'decline', reason: 'no_inventory' });

  const trade = await takeQuote(devnet, venue, taker, buying(3_000n));
  expect(weth().free).toBe(LIMIT - trade.output);
  await chain.send(
    keeper.address,
    chain.chain.escrow,
    settleCall(trade.order, trade.funding, trade.message.quoteId, [trade.message.commitment]),
  );
  await minedUntil(() => weth().committed === 0n && weth().onchain === 20n * WETH - trade.output);
  expect(weth()).toMatchObject({
    operatorLimit: { most: LIMIT, left: LIMIT - trade.output },
    free: LIMIT - trade.output,
    drift: null,
  });
});

test('a pair whose limit is used up is not quoted, and its status says why; other ways are', async () => {
  await limit(1n);
  await minedUntil(() => weth().operatorLimit?.left === 0n);
  expect(await venue.ask(buying(100n))).toMatchObject({ type: 'decline' });
  await limit(0n);
  await minedUntil(() => weth().operatorLimit?.most === 0n);
  await eventually(async () =>
    lp.status().pairs.some(({ reason }) => reason?.includes('lets this operator spend none') === true),
  );
});

test('when the window has ended, all of the limit is there again', async () => {
  await limit(LIMIT);
  await minedUntil(() => weth().operatorLimit?.most === LIMIT);
  expect(weth().operatorLimit?.left).toBeLessThan(LIMIT);
  await chain.anvil.advance(WINDOW_SECONDS);
  await minedUntil(() => weth().operatorLimit?.left === LIMIT);
  // Holds end, and the status changes, shortly after the block.
  await eventually(async () => (await venue.ask(buying(3_000n))).type === 'quote');
});

test('a thief of the key gets the limit and no more; revoked, nothing', async () => {
  const to = { callbackData: '0x', context: '0x', amount: LIMIT + 1n } as const;
  const word = (address: string) => `0x${address.slice(2).padStart(64, '0')}` as const;
  const output = {
    ...to,
    oracle: word(chain.chain.oracle),
    settler: word(chain.chain.escrow),
    chainId: BigInt(chain.chain.id),
    token: word(chain.weth.address),
    recipient: word(keeper.address),
  };
  const steal = (amount: bigint, made: string) =>
    chain.send(
      operator.address,
      chain.chain.escrow,
      fillCall(`0x${made.padStart(64, '0')}`, { ...output, amount }, 4_000_000_000, owner.address),
    );
  const stolen = () => chain.port.tokenBalance(keeper.address, chain.weth.address);
  const before = await stolen();
  await chain.anvil.advance(WINDOW_SECONDS);
  await expect(steal(LIMIT + 1n, '1')).rejects.toThrow();
  await steal(LIMIT, '2');
  await expect(steal(1n, '3')).rejects.toThrow();
  await chain.anvil.advance(WINDOW_SECONDS);
  await chain.send(owner.address, chain.chain.escrow, setOperatorCall(operator.address, false));
  await expect(steal(1n, '4')).rejects.toThrow();
  expect((await stolen()) - before).toBe(LIMIT);
});
