/**
 * The venue's small ledgers against naive models of themselves: promises, open quotes, buckets, breaker,
 * signatures, prices.
 */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Clock } from '../ports/clock.ts';
import { noble } from '../adapters/secp256k1/ecdsa.ts';
import { createRecovery } from '../adapters/secp256k1/recovery.ts';
import { createSigner } from '../adapters/secp256k1/signer.ts';
import { ETHER, type TokenInfo } from '../domain/chain.ts';
import type { Hex } from '../domain/hex.ts';
import { keccak } from '../domain/keccak.ts';
import { createBreaker } from './solvers/breaker.ts';
import { createBuckets } from './access/token-buckets.ts';
import { createOpenQuotes } from './market/open-quotes.ts';
import type { Liquidity } from './market/liquidity.ts';
import { referenceAt } from '../../test/support/reference.ts';
import { createPrices } from './market/prices.ts';
import type { SolverSession } from './solvers/roster-entry.ts';
import { createUnsubmittedQuotes } from './quoting/unsubmitted.ts';
import { isWrapped, normalSignature } from './orders/signatures.ts';
import { silentMetrics } from '../../test/support/silent.ts';
import type { ApiError } from '../protocol/errors.ts';
import { whyNoQuotes } from './quoting/unavailable.ts';

/** One replica alone. */
const ALONE = { publishSoon() {} };
const LP: Hex = `0x${'11'.repeat(20)}`;
const QUOTE: Hex = `0x${'33'.repeat(32)}`;
const TOKEN: Hex = `0x${'22'.repeat(20)}`;

test("law: exposure is the sum over nonce groups of each group's largest live quote", () => {
  const event = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('add' as const),
        group: fc.constantFrom('a', 'b', 'c', 'd'),
        amount: fc.bigInt(1n, 100n),
        until: fc.integer({ min: 1, max: 30 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('release' as const),
        group: fc.constantFrom('a', 'b', 'c', 'd'),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('lapse' as const), by: fc.integer({ min: 1, max: 10 }) }),
    },
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const openQuotes = createOpenQuotes(ALONE);
      const model = new Map<string, { amount: bigint; until: number }>();
      let now = 0;
      for (const next of events) {
        if (next.kind === 'add') {
          const until = now + next.until;
          openQuotes.addPromised({
            solverId: 'lp-1',
            quoteId: QUOTE,
            chainId: 1,
            lp: LP,
            token: TOKEN,
            amount: next.amount,
            group: next.group,
            until,
          });
          const known = model.get(next.group);
          model.set(next.group, {
            amount: known && known.amount > next.amount ? known.amount : next.amount,
            until: Math.max(known?.until ?? 0, until),
          });
        } else if (next.kind === 'release') {
          openQuotes.settle(next.group);
          model.delete(next.group);
        } else {
          now += next.by;
          openQuotes.expire(now);
          for (const [group, { until }] of model) if (until < now) model.delete(group);
        }
        for (const except of ['a', 'z']) {
          const expected = [...model].reduce(
            (sum, [group, { amount }]) => (group === except ? sum : sum + amount),
            0n,
          );
          expect(openQuotes.promised(1, LP, TOKEN, except)).toBe(expected);
        }
        expect(openQuotes.size()).toBe(model.size);
      }
    }),
  );
});

test('law: open quotes count live groups only, and closing one makes room', () => {
  const open = createOpenQuotes(ALONE);
  const refused = (now: number) => {
    try {
      open.reserve('k', { count: 2, notionalUsd: 1_000 }, now);
      open.release('k');
      return false;
    } catch {
      return true;
    }
  };
  expect(refused(0)).toBe(false);
  open.addOfKey('a', 'k', 10, 5);
  open.addOfKey('b', 'k', 10, 9);
  expect(refused(0)).toBe(true);
  open.close('b');
  open.close('b');
  expect(refused(0)).toBe(false);
  open.addOfKey('c', 'k', 995, 9);
  expect(refused(4)).toBe(true);
  // 'a' has lapsed, but 'c' and its notional have not.
  expect(refused(5)).toBe(false);
  open.addOfKey('d', 'k', 10, 9);
  expect(refused(5)).toBe(true);
  expect(refused(9)).toBe(false);
});

test('A44: requests in flight count, so concurrent requests gain nothing', () => {
  const open = createOpenQuotes(ALONE);
  const ask = () => open.reserve('k', { count: 3, notionalUsd: 1_000 }, 0);
  open.addOfKey('a', 'k', 10, 5);
  ask();
  ask();
  expect(ask).toThrow('as many live quotes as it may');
  open.release('k');
  open.addOfKey('b', 'k', 10, 5);
  expect(ask).toThrow('as many live quotes as it may');
  open.release('k');
  ask();
});

describe('quotes that a workspace does not submit', () => {
  const session = (account: Hex) =>
    ({ accounts: new Map([[1, { account, operator: account }]]) }) as unknown as SolverSession;
  const [one, other] = [session(LP), session(TOKEN)];

  function ledger(leastShare = 0.01) {
    let [nowMs, group] = [0, 0];
    const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, after: () => () => {} };
    const liquidity = { available: () => 1_000n } as unknown as Liquidity;
    const openQuotes = createOpenQuotes(ALONE);
    const unsubmitted = createUnsubmittedQuotes(
      { liquidity, clock, metrics: silentMetrics, openQuotes },
      leastShare,
    );
    const now = () => Math.floor(nowMs / 1_000);
    const begin = (amount: bigint | undefined, sessions = [one], workspaceId = 'w') =>
      unsubmitted.reserve(sessions, {
        ...{ workspaceId, chainId: 1, token: TOKEN, amount, group: `${++group}`, now: now() },
      });
    return {
      unsubmitted,
      begin,
      /** A firm quote for ten seconds; its group, or the seconds to wait. */
      quote(amount: bigint, workspaceId = 'w'): string | number | null {
        try {
          const budget = begin(amount, [one], workspaceId);
          for (const each of budget.sessions) budget.quoted(each, amount, now() + 10);
          budget.done();
          return `${group}`;
        } catch (error) {
          return (error as ApiError).retryAfterSeconds;
        }
      },
      pass(seconds: number) {
        nowMs += seconds * 1_000;
        openQuotes.expire(now());
        unsubmitted.expire();
      },
    };
  }

  test('a new workspace gets most of the inventory once, later a part of it, and never less than an eighth', () => {
    const { quote, pass } = ledger();
    const given = (): number => {
      let count = 0;
      while (typeof quote(10n) === 'string') count++;
      return count * 10;
    };
    expect([given(), quote(10n), quote(10n, 'another')]).toEqual([710, 10, '74']);
    pass(11);
    expect(given()).toBe(440);
    for (let round = 0; round < 60; round++) {
      pass(11);
      given();
    }
    pass(11);
    expect(given()).toBe(120);
  });

  test('a workspace that submits what it is expected to is not limited', () => {
    const { unsubmitted, quote, pass } = ledger();
    for (let n = 0; n < 2_000; n++) {
      const group = quote(90n);
      expect(group).toBeTypeOf('string');
      if (n % 50 === 0) unsubmitted.submitted(group as string);
      pass(1);
    }
  });

  test('A44: requests in progress count, and end without a quote', () => {
    const { begin, quote } = ledger();
    const first = begin(900n);
    expect(() => begin(400n)).toThrow('submits too few of its quotes');
    expect(begin(400n, [one, other]).sessions).toEqual([other]);
    first.done();
    expect(quote(400n)).toBeTypeOf('string');
    // Of unknown amount, several may be in progress.
    for (let n = 0; n < 2; n++) begin(undefined);
  });

  test('without a least share nothing is limited', () => {
    const { quote } = ledger(0);
    for (let n = 0; n < 100; n++) expect(quote(900n)).toBeTypeOf('string');
  });
});

test('buckets: a burst, then the rate, per id', () => {
  let nowMs = 0;
  const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, after: () => () => {} };
  const buckets = createBuckets(clock, { perSecond: 10, burst: 2 });
  const taken = () => Array.from({ length: 30 }, () => buckets.take('a').ok).filter(Boolean).length;
  expect(taken()).toBe(20);
  expect(buckets.take('b').ok).toBe(true);
  expect(buckets.take('a')).toMatchObject({ ok: false, limit: 20, remaining: 0, resetSeconds: 1 });
  nowMs += 500;
  expect(taken()).toBe(5);
});

test('breaker: opens at its limit, stays open longer each time, and recovers', () => {
  const breaker = createBreaker({
    limit: 3,
    halfLifeMs: 1_000,
    firstCoolDownMs: 100,
    longestCoolDownMs: 350,
    forgiveAfterMs: 10_000,
  });
  expect([breaker.fault('invalid', 0), breaker.fault('invalid', 0), breaker.fault('invalid', 0)]).toEqual([
    false,
    false,
    true,
  ]);
  expect([breaker.openUntil(99), breaker.openUntil(100)]).toEqual([100, undefined]);
  expect(breaker.fault('fade', 200)).toBe(true);
  expect(breaker.openUntil(200)).toBe(400);
  expect(breaker.fault('fade', 500)).toBe(true);
  expect(breaker.openUntil(500)).toBe(850);
  expect(breaker.reason()).toBe('fade');
  // Spread out, the same faults never add up.
  for (let at = 20_000; at < 200_000; at += 5_000) expect(breaker.fault('invalid', at)).toBe(false);
  expect(breaker.fault('fade', 300_000)).toBe(true);
  expect(breaker.openUntil(300_000)).toBe(300_100);
});

test('law: every accepted encoding of a signature becomes the same 65 bytes', async () => {
  const recovery = createRecovery(noble);
  await fc.assert(
    fc.asyncProperty(fc.uint8Array(), fc.bigInt(1n, 1n << 250n), async (message, key) => {
      const signer = createSigner(`0x${key.toString(16).padStart(64, '0')}`, noble);
      const signature = await signer.sign(message);
      const v = Number.parseInt(signature.slice(130), 16) - 27;
      const compact: Hex = `0x${signature.slice(2, 66)}${(BigInt(`0x${signature.slice(66, 130)}`) | (BigInt(v) << 255n)).toString(16).padStart(64, '0')}`;
      for (const spelling of [signature, `${signature.slice(0, 130)}0${v}` as Hex, compact]) {
        expect(normalSignature(spelling)).toBe(signature);
        expect(recovery.recover(keccak(message), normalSignature(spelling) as Hex)).toBe(signer.address);
      }
    }),
    { numRuns: 20 },
  );
  for (const bad of ['0x', '0x00', `0x${'00'.repeat(66)}`, `0x${'00'.repeat(64)}1d`] as Hex[])
    expect(normalSignature(bad)).toBeUndefined();
  expect(isWrapped(`0x00${'6492'.repeat(16)}`)).toBe(true);
  expect(isWrapped(`0x${'6492'.repeat(15)}`)).toBe(false);
});

describe('prices', () => {
  const token = (decimals: number, priceSymbol: string | null): TokenInfo => ({
    address: TOKEN,
    symbol: 'T',
    name: 'T',
    decimals,
    eip3009: null,
    priceSymbol,
  });
  const prices = createPrices(referenceAt({ USD: '1', ETH: '2500', TINY: '0.000000219' }));

  test('the relayer is paid at least its gas, and at most one unit more', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 21n), (wei) => {
        const paid = prices.tokenForNativeUp(token(6, 'USD'), ETHER, wei) as bigint;
        expect(paid * 10n ** 12n >= wei * 2_500n).toBe(true);
        expect((paid - 1n) * 10n ** 12n < wei * 2_500n).toBe(true);
      }),
    );
    expect(prices.tokenForNativeUp(token(6, null), ETHER, 1n)).toBeUndefined();
    expect(prices.tokenForNativeUp(token(6, 'USD'), { ...ETHER, priceSymbol: 'BTC' }, 1n)).toBeUndefined();
  });

  test('delta from mid: negative is worse for the taker', () => {
    expect(prices.deltaFromMid(token(6, 'USD'), 2_500_000_000n, token(18, 'ETH'), 10n ** 18n)).toBe(0);
    expect(prices.deltaFromMid(token(6, 'USD'), 2_500_000_000n, token(18, 'ETH'), 999n * 10n ** 15n)).toBe(
      -0.001,
    );
    expect(prices.deltaFromMid(token(6, null), 1n, token(18, 'ETH'), 1n)).toBeNull();
    expect([prices.amountUsd(token(6, 'USD'), 1_234_567n), prices.priceUsd(token(6, null))]).toEqual([
      1.234567,
      null,
    ]);
  });

  test('a price of many digits keeps them, and no amount that is worth something becomes 0', () => {
    const tiny = token(18, 'TINY');
    expect(prices.priceUsd(tiny)).toBe(0.000000219);
    expect(prices.amountUsd(tiny, 10n ** 30n)).toBe(219_000);
    expect(prices.amountUsd(tiny, 1n)).toBe(1e-8);
    expect(prices.amountUsd(tiny, 0n)).toBe(0);
    // One native unit is 2,500 dollars, so 11,415,525,114.155… of these.
    expect(prices.tokenForNativeUp(tiny, { ...ETHER, priceSymbol: 'ETH' }, 10n ** 18n)).toBe(
      11_415_525_114_155_251_141_552_511_416n,
    );
    expect(prices.exchangedUp(tiny, 10n ** 30n, token(6, 'USD'))).toBe(219_000_000_000n);
    expect(prices.deltaFromMid(tiny, 10n ** 30n, token(6, 'USD'), 218_781_000_000n)).toBe(-0.001);
  });

  test('the estimate takes the side that is worth more, and old prices; without any it is unknown', () => {
    const stale = createPrices({ ...referenceAt({}), lastUsd: referenceAt({ ETH: '2500' }).lastUsd });
    const [eth, none] = [token(18, 'ETH'), token(6, null)];
    expect(stale.amountUsd(eth, 10n ** 18n)).toBeNull();
    expect(
      stale.estimateUsd([
        [none, 5n],
        [eth, 10n ** 18n],
      ]),
    ).toBe(2_500);
    expect(stale.estimateUsd([[none, 5n]])).toBeNull();
    expect(
      prices.estimateUsd([
        [token(6, 'USD'), 3_000_000_000n],
        [eth, 10n ** 18n],
      ]),
    ).toBe(3_000);
  });
});

test('without candidates, the reason that a taker can act on comes first', () => {
  const context = { asked: 3, invalid: 0, corridor: 'a-b', unit: { decimals: 6, symbol: 'USDC' } };
  const of = (...reasons: [Parameters<typeof whyNoQuotes>[0][number]['reason'], bigint | null][]) =>
    whyNoQuotes(
      reasons.map(([reason, named]) => ({
        solverId: 'x',
        reason,
        maxAmount: reason === 'size_below_min' ? null : named,
        minAmount: reason === 'size_below_min' ? named : null,
      })),
      context,
    );
  expect(of(['size_below_min', null], ['size_above_max', 5n], ['no_inventory', 7n])).toEqual({
    code: 'amount_too_large',
    message: 'No solver takes this much at once. The most that would pass now is 0.000007 USDC.',
    corridor: 'a-b',
  });
  expect(of(['no_inventory', null], ['size_below_min', null]).code).toBe('amount_too_small');
  // The least that any of them would take.
  expect(of(['size_below_min', 9_000_000n], ['size_below_min', 7n], ['size_below_min', null])).toEqual({
    code: 'amount_too_small',
    message:
      'The amount does not cover the cost of settling it. The least that would pass now is 0.000007 USDC.',
    corridor: 'a-b',
  });
  expect(of(['validity', null], ['pair', null]).code).toBe('validity_unavailable');
  expect(of(['stale_price', null])).toMatchObject({
    code: 'no_quotes',
    message: expect.stringContaining('3 solvers were asked: 1 declined, 2 did not answer'),
  });
});
