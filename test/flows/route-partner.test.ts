/** A partner that is killed keeps its promises, and several workers that ask for one order pay it once. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { isDecline } from '../../src/domain/decline.ts';
import type { Hex } from '../../src/domain/hex.ts';
import { orderId as orderIdOf } from '../../src/domain/order.ts';
import type { RouteAsk } from '../../src/ports/route-venue.ts';
import { openForCall } from '../../src/settlement/call.ts';
import { routeFees } from '../../src/venue/router/route-fees.ts';
import { routeOrder } from '../../src/venue/router/route-order.ts';
import { account, type Devnet, startDevnet, type TestChain } from '../support/devnet.ts';
import { startTestPartner, type TestPartner } from '../support/partner.ts';
import { fund, random32 } from '../support/trade.ts';

let devnet: Devnet;
let partner: TestPartner;
const [owner, operator, taker] = [account(6_920), account(6_921), account(6_922)];

beforeAll(async () => {
  devnet = await startDevnet([31_441, 31_442], { landingMarginSeconds: 20, proofWindowSeconds: 60 });
  const [origin, dest] = devnet.chains as [TestChain, TestChain];
  for (const chain of [origin, dest]) await chain.fund(owner.address);
  await origin.fund(taker.address);
  await dest.deposit(owner.address, dest.usdc.address, 50_000_000_000n);
  partner = await startTestPartner({ chains: [origin, dest], account: owner, operator });
});
afterAll(async () => {
  await partner?.stop();
  await devnet?.stop();
});

test('a restart between promise and delivery loses nothing, and two workers pay once', async () => {
  const [origin, dest] = devnet.chains as [TestChain, TestChain];
  const newest = async ({ anvil }: TestChain) => {
    const { number, hash, timestamp } = await anvil.rpc<Record<'number' | 'hash' | 'timestamp', Hex>>(
      'eth_getBlockByNumber',
      ['latest', false],
    );
    return { number: BigInt(number), hash, timestamp: Number(timestamp) };
  };
  const at = { origin: await newest(origin), dest: await newest(dest) };
  const request: RouteAsk = {
    origin: origin.chain,
    dest: dest.chain,
    inputToken: origin.usdc,
    outputToken: dest.usdc,
    side: 'exactInput',
    amount: 1_000_000_000n,
    taker: taker.address,
    receiver: taker.address,
    at,
    validity: { from: at.origin.timestamp + 60, to: at.origin.timestamp + 600 },
    fees: routeFees(7, () => 1_000n),
    signal: new AbortController().signal,
  };
  const quote = await partner.venue.quote(request);
  if (isDecline(quote)) throw new Error(quote.declined);
  // Its feeBps is 10, of what it is handed.
  const handed = request.fees.handedOver(quote.inputAmount, 0n);
  expect(quote.fees).toEqual([{ in: 'input', amount: handed / 1_000n }]);
  const order = routeOrder({
    ...request,
    settlement: 'wallet',
    nonce: BigInt(random32()),
    platformFeeBps: 7,
    relayFee: 1_000n,
    landingMarginSeconds: origin.chain.landingMarginSeconds,
    quote,
  });
  const orderId = orderIdOf({ chainId: origin.chain.id, escrow: origin.chain.escrow }, order);
  expect(await partner.venue.promise?.({ ask: request, quote, nonce: order.nonce })).toBe(true);
  await partner.restart();

  const { funding } = fund(origin, taker, order, 'eip3009');
  await origin.send(owner.address, origin.chain.escrow, openForCall(order, funding));
  await partner.configure({ holdDeliveries: true });
  await expect(partner.venue.deliver?.({ orderId, order, outputs: [0] })).rejects.toThrow(/on hold/);
  await partner.restart();
  await partner.configure({ holdDeliveries: false });
  const deliver = () => partner.venue.deliver?.({ orderId, order, outputs: [0] });
  await Promise.all([deliver(), deliver()]);
  await deliver();
  expect(await dest.port.tokenBalance(taker.address, dest.usdc.address)).toBe(quote.outputAmount);
});
