/** A bridge venue carries USDC out of its float, refuses more, and refunds when the float is gone. */

import { approveCall, depositCall } from '../../../../settlement/call.ts';
import { fillOfMadeUpOrder, senderOf } from '../fade.ts';
import { type DemoWorld, trustlessTaker, viewChain } from '../../world.ts';
import { type DemoCheck, eventually, expect, expectEqual, expectSettled } from '../check.ts';
import { inputOf, inTokens, outputOf, SETTLE_TIMEOUT_MS } from '../trade.ts';

const TAKEN = '3000';
const BROKEN = '500';

export const bridgeCheck: DemoCheck = {
  name: 'router: a bridge venue delivers from its float, refuses more, and refunds',
  async run(world, tally) {
    const { bridge } = world;
    const story = storyOf(world);
    const { base, arc, client, taker, wallet, request } = story;

    const before = await arc.balance(taker, 'USDC');
    const { checked, status } = await client.trade({
      request: request(TAKEN),
      wallet,
      signal: AbortSignal.timeout(SETTLE_TIMEOUT_MS),
    });
    expectSettled(status, tally);
    const got = (await arc.balance(taker, 'USDC')) - before;
    expectEqual(got, checked.outputAmount, 'USDC that arrived on arc');
    const legs = ('composite' in checked.candidate && checked.candidate.composite?.legs) || [];
    expectEqual(legs.map(({ kind, venue }) => `${kind} ${venue}`).join(), `bridge ${bridge.id}`, 'legs');

    const float = await arc.ledger(bridge.account, 'USDC');
    const { quotes, productUnavailable } = await client.requestQuotes(
      request(String(float / 1_000_000n + 1_000n)),
    );
    expectEqual(quotes.length, 0, 'quotes for more than the float');
    expectEqual(productUnavailable?.code, 'amount_too_large', 'reason for no quote');

    const refunded = await broken(story);
    tally.failed += 1;
    tally.refunded += 1;
    return `${TAKEN} USDC on base -> ${inTokens(arc, 'USDC', got)} on arc from the float; more than its ${inTokens(arc, 'USDC', float)} was refused; without the float an order of ${inTokens(base, 'USDC', refunded)} was refunded`;
  },
};

function storyOf(world: DemoWorld) {
  const { bridge } = world;
  const { client, taker, wallet } = trustlessTaker(world, 'router');
  const [base, arc] = [viewChain(world.manifest, 'base'), viewChain(world.manifest, 'arc')];
  const request = (whole: string) => ({
    taker,
    input: { asset: base.asset('USDC'), amount: base.units('USDC', whole) },
    output: { asset: arc.asset('USDC') },
    solvers: { include: [bridge.id] },
  });
  return { bridge, base, arc, client, taker, wallet, request };
}

/** The owner moves the float away after the quote, and brings it back at the end. */
async function broken({
  bridge,
  base,
  arc,
  client,
  taker,
  wallet,
  request,
}: ReturnType<typeof storyOf>): Promise<bigint> {
  const owner = senderOf(arc, bridge.ownerKey);
  const asked = request(BROKEN);
  const [candidate] = (await client.requestQuotes(asked)).quotes;
  expect(candidate !== undefined, 'the bridge does not quote');
  const checked = await client.check(candidate, { request: asked });
  const float = await arc.ledger(bridge.account, 'USDC');
  await owner(arc.chain.escrow, await fillOfMadeUpOrder(arc, bridge.account, 'USDC', float));
  try {
    const [held, got] = [await base.balance(taker, 'USDC'), await arc.balance(taker, 'USDC')];
    const { status } = await client.take(checked, { wallet, signal: AbortSignal.timeout(150_000) });
    expectEqual(status.failure?.code, 'expired_unfilled', 'failure of the order');
    await eventually('the input is back', SETTLE_TIMEOUT_MS, async () => {
      return (await base.balance(taker, 'USDC')) === held;
    });
    expectEqual(await arc.balance(taker, 'USDC'), got, 'USDC of the taker on arc');
    expect(outputOf(candidate) > 0n, 'the candidate promised nothing');
    return inputOf(candidate);
  } finally {
    const { address } = arc.token('USDC');
    await owner(address, approveCall(arc.chain.escrow, float));
    await owner(arc.chain.escrow, depositCall(address, float));
  }
}
