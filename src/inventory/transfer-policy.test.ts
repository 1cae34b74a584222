/** Which transfers of one look begin by themselves: within the limits; all others say why they wait. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromAttoDown, fromAttoUp, toAtto } from './bucket.ts';
import { begunUsdSince, type TransferPolicy, type WantedTransfer, whyEachByHand } from './transfer-policy.ts';

const WHOLE = 10n ** 18n;
const policy: TransferPolicy = { mode: 'automatic', mostUsd: 50_000, mostUsdPerDay: 100_000 };
const wanted = (changed: Partial<WantedTransfer> = {}): WantedTransfer => ({
  ...{ asset: 'USDC', from: 'base', amount: 40_000n * WHOLE, decimals: 6, usd: 40_000, fee: 0n, cost: 0n },
  ...changed,
});
const details = (of: readonly WantedTransfer[], begunUsd: number | undefined = 0, by = policy) =>
  whyEachByHand(by, of, begunUsd).map((why) => why?.detail);
const only = (of: Partial<WantedTransfer>) => details([wanted(of)])[0];

describe('the limit of a day', () => {
  test('counts what begins earlier in the same look', () => {
    const [first, second, third] = details([
      wanted({ from: 'base' }),
      wanted({ from: 'arc' }),
      wanted({ from: 'optimism' }),
    ]);
    expect([first, second]).toEqual([undefined, undefined]);
    expect(third).toBe(
      'the transfers of 24 hours would be worth more than transfers.mostUsdPerDay (100000): 40000 USDC are worth 40000.00 USD; transfers worth 80000.00 USD begin before it',
    );
  });

  test('leaves room for a smaller transfer after one that waits', () => {
    const [large, small] = details(
      [wanted(), wanted({ from: 'arc', amount: 20_000n * WHOLE, usd: 20_000 })],
      80_000,
    );
    expect(large).toContain('transfers.mostUsdPerDay (100000)');
    expect(small).toBeUndefined();
  });

  test('is reached when it is not known how much began', () => {
    const [why] = whyEachByHand(policy, [wanted({ usd: 0 })], undefined);
    expect(why?.rule).toContain('transfers.mostUsdPerDay (100000)');
    expect(why?.detail).toContain('how much has begun is not known now');
  });

  test('is never exceeded, whatever is wanted', () => {
    const usd = fc.option(fc.integer({ min: 0, max: 80_000 }), { nil: undefined });
    const from = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    fc.assert(
      fc.property(fc.array(fc.record({ usd, from })), fc.integer({ min: 0, max: 120_000 }), (list, begun) => {
        const whys = whyEachByHand(policy, list.map(wanted), begun);
        const begins = list.filter((_, at) => whys[at] === undefined);
        const sum = begins.reduce((all, each) => all + (each.usd ?? Number.POSITIVE_INFINITY), 0);
        expect(begins.length === 0 || begun + sum <= policy.mostUsdPerDay).toBe(true);
        expect(new Set(begins.map((each) => each.from)).size).toBe(begins.length);
      }),
    );
  });
});

describe('a transfer waits for the operator, and its reason names amounts in tokens', () => {
  test('above the limit of one transfer', () => {
    expect(only({ amount: 60_000n * WHOLE + 1n, usd: 60_000 })).toBe(
      'it is worth more than transfers.mostUsd (50000): 60000 USDC are worth 60000.00 USD',
    );
  });
  test('when the bridge may keep too much: the fee is rounded up, the most that it may be down', () => {
    expect(only({ fee: 4n * WHOLE + 1n, cost: 4n * WHOLE - 1n })).toBe(
      'the bridge may take more than transportBps of USDC reckons with: up to 4.000001 USDC, not 3.999999 USDC',
    );
  });
  test('when its value is not known', () => {
    expect(only({ usd: undefined })).toContain('there is no price of USDC');
    expect(only({ usd: Number.NaN })).toBeDefined();
  });
  test('when another transfer leaves the same chain first', () => {
    expect(details([wanted({ usd: 1 }), wanted({ usd: 1 })])[1]).toBe(
      'another transfer of USDC leaves base first',
    );
  });
  test('when it cannot begin now; then it takes nothing from the limit of the day', () => {
    const blocked = wanted({ obstacle: 'live quotes and open orders need it' });
    expect(details([blocked, wanted()], 60_000)).toEqual([
      'it cannot begin now: live quotes and open orders need it',
      undefined,
    ]);
  });
  test('when the configuration says so', () => {
    expect(details([wanted()], 0, { ...policy, mode: 'by_hand' })).toEqual(['transfers.mode is by_hand']);
  });
});

describe('the sum of a day', () => {
  const begun = (createdAtMs: number, usd: number | undefined = 10, isAutomatic = true) => ({
    ...{ createdAtMs, isAutomatic, usd },
  });

  test('counts automatic transfers of the day', () => {
    expect(begunUsdSince(100, [begun(300), begun(200, 5), begun(150, 7, false), begun(100)], 10)).toBe(15);
  });
  test('is not known when the list may have been cut, or a value is not known', () => {
    expect(begunUsdSince(100, [begun(300), begun(200)], 2)).toBeUndefined();
    expect(begunUsdSince(250, [begun(300), begun(200)], 2)).toBe(10);
    expect(begunUsdSince(100, [{ ...begun(300), usd: undefined }], 10)).toBeUndefined();
  });
});

test('an amount in base units, rounded by name, is at most one unit off', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 2n ** 200n }),
      fc.integer({ min: 0, max: 24 }),
      (atto, decimals) => {
        const [down, up] = [fromAttoDown(atto, decimals), fromAttoUp(atto, decimals)];
        expect(toAtto(down, decimals) <= atto && toAtto(up, decimals) >= atto).toBe(true);
        expect(up - down <= 1n).toBe(true);
      },
    ),
  );
});
