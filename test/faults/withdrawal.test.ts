/** F32: the owner takes the money out while promises stand on it. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LpNode } from '../../src/lp/node/interface.ts';
import type { Transactor } from '../../src/ports/transactor.ts';
import { addressToBytes32, type Hex } from '../../src/domain/hex.ts';
import { fillCall, openForCall, refundCall, requestWithdrawalCall } from '../../src/settlement/call.ts';
import { account, type Devnet, startDevnet, type TestChain } from '../support/devnet.ts';
import { createTestLp, lpConfig, testTransactors } from '../support/lp.ts';
import { awardOf, eventually, takeQuote, willingAttesters } from '../support/lp-trades.ts';
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts';
import { request, type ScriptedVenue, startScriptedVenue } from '../support/scripted-venue.ts';
import { random32 } from '../support/trade.ts';
import { diceOf } from './seed.ts';

const [owner, operator, taker, keeper] = [account(25_001), account(25_002), account(25_003), account(25_004)];
const USDC = 10n ** 6n;

let devnet: Devnet;
let here: TestChain;
let there: TestChain;
let postgres: TestPostgres;
let venue: ScriptedVenue;
let lp: LpNode;
/** What the operator's sender would not send, because the chain would refuse it. */
const refused: string[] = [];

beforeAll(async () => {
  [devnet, postgres] = await Promise.all([
    startDevnet([41_561, 41_562], { landingMarginSeconds: 600, proofWindowSeconds: 300 }),
    startTestPostgres(),
  ]);
  [here, there] = devnet.chains as [TestChain, TestChain];
  for (const chain of devnet.chains) {
    for (const { address } of [owner, operator, taker, keeper]) await chain.fund(address);
    for (const token of [chain.usdc, chain.weth])
      for (const { address } of [owner, taker])
        await chain.deposit(address, token.address, 20_000n * 10n ** BigInt(token.decimals));
    await chain.setOperator(owner.address, operator.address);
    await chain.anvil.mine(3);
  }
  venue = await startScriptedVenue(devnet.chains.map(({ chain }) => chain));
  const config = lpConfig(devnet, owner.address, {
    chains: devnet.chains.map(({ chain }) => ({
      chainId: chain.id,
      account: owner.address,
      minGas: '0.01',
      maxHeadAgeMs: 1_000_000_000,
      graceSeconds: 2,
    })),
    quoting: { validitySeconds: 60, claimSeconds: 10, fillMarginSeconds: 1, maxLandingMarginSeconds: 600 },
    lease: { aheadSeconds: 100 },
    reconcileSeconds: 1,
  });
  const senders = await testTransactors({ devnet, postgres, operator, owner: 'f32' });
  const watched = [...senders].map(([chainId, sender]): [number, Transactor] => [
    chainId,
    {
      ...sender,
      submit: (intent) =>
        sender.submit(intent).catch((error: unknown) => {
          refused.push(intent.key);
          throw error;
        }),
    },
  ]);
  lp = await createTestLp({
    devnet,
    postgres,
    venueUrl: venue.url,
    operator,
    schema: 'lp_f32',
    config,
    transactors: new Map(watched),
    proofs: willingAttesters,
  });
  await lp.start();
  await venue.until(({ status }) => status === 'active');
}, 120_000);
afterAll(async () => {
  await lp?.stop();
  await venue?.stop();
  await Promise.all([devnet?.stop(), postgres?.stop()]);
});

const bucket = () =>
  lp.inventory().find(({ chainId, token }) => chainId === there.chain.id && token === there.usdc.address) ??
  expect.fail('no such bucket');
const ask = (amount: bigint) =>
  request({
    from: here.chain,
    to: there.chain,
    give: here.usdc,
    take: there.usdc,
    amount,
    taker: taker.address,
  });
/** The owner delivers to its own wallet, for an order that nobody opened. */
async function fillOfMadeUpOrder(amount: bigint): Promise<Hex> {
  const head = await there.port.block(BigInt(await there.anvil.rpc<string>('eth_blockNumber')));
  const output = {
    oracle: addressToBytes32(there.chain.oracle),
    settler: addressToBytes32(there.chain.escrow),
    chainId: BigInt(there.chain.id),
    token: addressToBytes32(there.usdc.address),
    amount,
    recipient: addressToBytes32(owner.address),
    callbackData: '0x',
    context: '0x',
  } as const;
  return fillCall(random32(), output, (head?.timestamp ?? 0) + 3_600, owner.address);
}
const minedUntil = (what: () => boolean | Promise<boolean>) =>
  eventually(async () => {
    for (const chain of devnet.chains) await chain.anvil.mine(1);
    return what();
  });

test('F32: a requested withdrawal is not promised, a fill that cannot be paid is never sent, and the taker is refunded in full', async () => {
  const dice = diceOf('F32');
  const amount = BigInt(500 + Math.floor(dice.next() * 4_000)) * USDC;
  const [whole, nonce, money] = [
    bucket().onchain,
    await there.port.transactionCount(operator.address, 'latest'),
    await here.port.ledgerBalance(taker.address, here.usdc.address),
  ];
  const trade = await takeQuote(devnet, venue, taker, ask(amount));
  venue.send({ type: 'award', ...awardOf(trade) });
  await eventually(async () => (await lp.awards()).some(({ orderId }) => orderId === trade.id));
  expect(bucket().committed).toBe(trade.output);

  // All of it, with a promise standing on it.
  await there.send(owner.address, there.chain.escrow, requestWithdrawalCall(there.usdc.address, whole));
  await minedUntil(() => bucket().withdrawing === whole);
  expect(bucket().free <= 0n).toBe(true);
  expect(await venue.ask(ask(500n * USDC))).toMatchObject({ type: 'decline' });

  // No quote lives as long as a withdrawal takes. A fill that the owner makes up has no delay.
  await there.send(owner.address, there.chain.escrow, await fillOfMadeUpOrder(whole));
  await minedUntil(() => bucket().drift !== null);

  // The taker's money is escrowed all the same; the LP would fill now, and cannot.
  await here.send(keeper.address, here.chain.escrow, openForCall(trade.order, trade.funding));
  await minedUntil(() => refused.includes(`${trade.id}-fill`));
  expect(await venue.ask(ask(500n * USDC))).toMatchObject({ type: 'decline' });
  for (const chain of devnet.chains)
    await chain.anvil.advance(
      trade.order.expires -
        ((await chain.port.block(BigInt(await chain.anvil.rpc<string>('eth_blockNumber'))))?.timestamp ?? 0) +
        1,
    );
  await here.send(keeper.address, here.chain.escrow, refundCall(trade.order));
  await minedUntil(async () =>
    (await lp.awards()).some(({ orderId, stage }) => orderId === trade.id && stage === 'failed'),
  );

  // Nothing was sent there that could only revert, nothing was delivered, and the taker has what it gave.
  expect(await there.port.transactionCount(operator.address, 'latest')).toBe(nonce);
  expect(await there.port.ledgerBalance(owner.address, there.usdc.address)).toBe(0n);
  expect(
    (await here.port.ledgerBalance(taker.address, here.usdc.address)) +
      (await here.port.tokenBalance(taker.address, here.usdc.address)) -
      (1_000_000n - 20_000n) * USDC,
  ).toBe(money);
  expect(bucket()).toMatchObject({ committed: 0n, shortfall: 0n });
});
