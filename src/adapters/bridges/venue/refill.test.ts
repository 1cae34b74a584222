/** Estimates of bridges as a cost: the cheapest counts, fees included, and an old one only for a while. */

import { expect, test } from 'vitest';
import { createManualClock } from '../../../../test/support/manual-clock.ts';
import { type Chain, ETHER, type TokenInfo } from '../../../domain/chain.ts';
import type { Bridge, BridgeEstimate } from '../../../ports/bridge.ts';
import { bridgeRefill, type RefillRoute } from './refill.ts';

const token = (decimals: number): TokenInfo => ({
  address: `0x${String(decimals).padStart(40, '0')}`,
  symbol: 'USDC',
  name: 'USD Coin',
  decimals,
  eip3009: null,
  priceSymbol: 'USD',
});
const side = (id: number, decimals: number) => ({
  chain: { id, native: ETHER } as Chain,
  token: token(decimals),
});
const route: RefillRoute = { from: side(1, 6), to: side(2, 18), lot: 1_000_000_000n };

type Answer = Awaited<ReturnType<Bridge['estimate']>> | Error;

/** A bridge whose service answers as the test says. */
function played(answer: () => Answer, serves = true) {
  const asked: bigint[] = [];
  const bridge = {
    serves: () => serves,
    async estimate({ amount }) {
      asked.push(amount);
      const now = answer();
      if (now instanceof Error) throw now;
      return now;
    },
  } as Pick<Bridge, 'serves' | 'estimate'> as Bridge;
  return { bridge, asked };
}

/** `arrives` in millionths of the 18 decimals. */
const estimate = (arrives: bigint, nativeFee = 0n, seconds = 20): BridgeEstimate => ({
  leastReceived: arrives * 10n ** 12n,
  nativeFee,
  seconds,
});
const account = `0x${'ac'.repeat(20)}` as const;

function costsOf(bridges: readonly Bridge[], clock = createManualClock()) {
  // 1 wei of gas costs a thousandth of a base unit.
  const tokenForNativeUp = (_: TokenInfo, __: unknown, wei: bigint) => (wei + 999n) / 1_000n;
  return { costs: bridgeRefill({ bridges, account, tokenForNativeUp, clock }), clock };
}
const settled = () => new Promise((done) => setTimeout(done, 0));

test('what does not arrive and the fee of the send are parts of the lot', async () => {
  const { bridge, asked } = played(() => estimate(999_900_000n, 50_000_000n, 33));
  expect(await costsOf([bridge]).costs(route)).toEqual({ share: 150_000n, seconds: 33 });
  expect(asked).toEqual([1_000_000_000n]);
});

test('the cheapest bridge that serves the route counts', async () => {
  const dear = played(() => estimate(990_000_000n));
  const cheap = played(() => estimate(999_000_000n));
  const elsewhere = played(() => estimate(1_000_000_000n), false);
  const broken = played(() => new Error('no answer'));
  const refusing = played(() => ({ refused: 'unavailable', detail: 'no capacity' }));
  const bridges = [dear, cheap, elsewhere, broken, refusing].map(({ bridge }) => bridge);
  expect(await costsOf(bridges).costs(route)).toMatchObject({ share: 1_000_000n });
  expect(elsewhere.asked).toEqual([]);
});

test('an estimate is renewed in the background, and the last one counts for ten minutes', async () => {
  let answer: Answer = estimate(999_900_000n);
  const { bridge, asked } = played(() => answer);
  const { costs, clock } = costsOf([bridge]);
  const first = await costs(route);
  expect(await costs(route)).toEqual(first);
  expect(asked).toHaveLength(1);

  answer = estimate(999_000_000n);
  clock.advance(31_000);
  expect(await costs(route)).toEqual(first);
  await settled();
  expect(await costs(route)).toMatchObject({ share: 1_000_000n });

  answer = new Error('no answer');
  clock.advance(599_000);
  expect(await costs(route)).toMatchObject({ share: 1_000_000n });
  await settled();
  clock.advance(2_000);
  expect(await costs(route)).toBeUndefined();
});
