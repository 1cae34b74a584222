/** Learning win rates from outcomes, with the real store and a simulated clock. */

import { nonceGroupOf } from '../../domain/order.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog, silentMetrics } from '../../../test/support/silent.ts';
import { startTestPostgres, type TestPostgres } from '../../../test/support/postgres.ts';
import { createLpStore } from '../../adapters/postgres/lp/lp-store.ts';
import { LP_MIGRATIONS } from '../../adapters/postgres/migrations/lp.ts';
import type { LpStore } from '../../ports/stores/lp-store.ts';
import type { OpenAward } from '../settlement/awards.ts';
import { type CalibrationConfig, type WinRates, createWinRates } from './win-rates.ts';
import { zLpPricing } from '../config/config.ts';
import type { QuoteRecord } from '../quote-log/quote-events.ts';
import { pricingParams } from '../config/params.ts';
import type { QuoteRoute } from '../routes/route.ts';

let postgres: TestPostgres;
let store: LpStore;
beforeAll(async () => {
  postgres = await startTestPostgres();
  store = createLpStore(await postgres.database('lp_calibrate', LP_MIGRATIONS));
});
afterAll(() => postgres.stop());

const route = (corridor = 'base-base', params = {}) =>
  ({ market: { pair: 'WETH-USDC', corridor }, params: pricingParams(params) }) as unknown as QuoteRoute;
const HERE = route();
const config = (change: Partial<CalibrationConfig> = {}): CalibrationConfig => ({
  ...zLpPricing.parse({}).calibration,
  minOutcomes: 40,
  ...change,
});

interface Player {
  winRates: WinRates;
  /** Quotes now, firm for 10 s, to a new taker unless one is named; answers its orderId. */
  quote(options?: {
    delta?: number;
    size?: number;
    taker?: string;
    nonce?: bigint;
    on?: QuoteRoute;
    slice?: boolean;
    seconds?: number;
  }): string;
  accept(orderId: string): void;
  /** Time goes by, unnoticed. */
  wait(seconds: number): void;
  pass(seconds: number): void;
}

const USER = `0x${'a'.repeat(40)}` as const;
let number = 0;
const nonces = new Map<string, bigint>();
function play(change: Partial<CalibrationConfig> = {}, stored: unknown = null): Player {
  let nowMs = 1_700_000_000_000;
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, after: () => () => {} };
  const winRates = createWinRates(
    { clock, log: silentLog, metrics: silentMetrics, store },
    config(change),
    stored,
  );
  return {
    winRates,
    quote({
      delta = 8,
      size = 5_000,
      taker = `taker-${number}`,
      nonce = BigInt(number),
      on = HERE,
      slice = false,
      seconds = 10,
    } = {}) {
      const orderId = `order-${(number += 1)}`;
      nonces.set(orderId, nonce);
      const record = {
        orderId,
        route: on,
        times: { fillDeadline: nowMs / 1000 + seconds },
        taker,
        inputs: {},
        priced: { terms: { D: delta }, notional: BigInt(size) * 1_000_000n },
        hold: { group: nonceGroupOf(1, USER, nonce) },
        slice,
      };
      winRates.quoted(record as unknown as QuoteRecord);
      return orderId;
    },
    accept: (orderId) =>
      winRates.accepted({
        orderId,
        order: { originChainId: 1n, user: USER, nonce: nonces.get(orderId) ?? 0n },
      } as unknown as OpenAward),
    wait: (seconds) => void (nowMs += seconds * 1000),
    pass(seconds) {
      nowMs += seconds * 1000;
      winRates.countExpired();
    },
  };
}

const counts = ({ winRates }: Player) =>
  winRates.curves().map(({ corridor, size, won, lost }) => [corridor, size, won, lost]);

describe('what counts', () => {
  test('an accepted quote is won immediately, an expired one lost after the settling time', () => {
    const player = play();
    player.accept(player.quote());
    player.quote();
    expect(counts(player)).toEqual([['base-base', '1000-10000', 1, 0]]);
    player.pass(19);
    expect(counts(player)).toEqual([['base-base', '1000-10000', 1, 0]]);
    player.pass(2);
    expect(counts(player)).toEqual([['base-base', '1000-10000', 1, 1]]);
  });
  test('many requests that expire together are each counted once', () => {
    const player = play();
    for (let n = 0; n < 2_500; n += 1) player.quote({ taker: `crowd-${n}` });
    player.pass(21);
    expect(counts(player)).toEqual([['base-base', '1000-10000', 0, 2_500]]);
    player.pass(60);
    expect(counts(player)).toEqual([['base-base', '1000-10000', 0, 2_500]]);
  });

  test('every corridor and size has its own curve', () => {
    const player = play();
    player.accept(player.quote({ size: 10 }));
    player.accept(player.quote({ size: 20_000 }));
    player.accept(player.quote({ on: route('base-arc') }));
    expect(counts(player)).toEqual([
      ['base-base', '0-1000', 1, 0],
      ['base-base', '10000-100000', 1, 0],
      ['base-arc', '1000-10000', 1, 0],
    ]);
  });
  test('tenors of one nonce are one outcome: lost at the best price, or won at the accepted one', () => {
    const [lost, won] = [play(), play()];
    for (const player of [lost, won])
      for (const delta of [9, 8, 10]) player.quote({ delta, nonce: 77n, taker: 't' });
    const orders = [number - 2, number - 1, number].map((n) => `order-${n}`);
    lost.pass(60);
    won.accept(orders[2] as string);
    won.pass(60);
    expect([counts(lost), counts(won)]).toEqual([
      [['base-base', '1000-10000', 0, 1]],
      [['base-base', '1000-10000', 1, 0]],
    ]);
    const [single, singleWon] = [play(), play()];
    single.quote({ delta: 8 });
    single.pass(60);
    singleWon.accept(singleWon.quote({ delta: 10 }));
    expect(lost.winRates.curves()[0]?.learned).toEqual(single.winRates.curves()[0]?.learned);
    expect(won.winRates.curves()[0]?.learned).toEqual(singleWon.winRates.curves()[0]?.learned);
  });
  test('losses of one taker count once a minute', () => {
    const player = play();
    for (let n = 0; n < 100; n++) {
      player.quote({ taker: 'spam', seconds: 0 });
      player.pass(1);
    }
    player.pass(60);
    expect(counts(player)[0]?.[3]).toBeLessThanOrEqual(3);
  });
  test('slices, unknown orders and repeated awards do not count', () => {
    const player = play();
    player.accept(player.quote({ slice: true }));
    player.accept('order-unknown');
    const order = player.quote();
    player.accept(order);
    player.accept(order);
    player.pass(100);
    expect(counts(player)).toEqual([['base-base', '1000-10000', 1, 0]]);
  });
});

/** Two of three quotes at 8 bps are taken, where the configured curve says one of two. */
function taught(change: Partial<CalibrationConfig> = {}, outcomes = 300): Player {
  const player = play(change);
  for (let n = 0; n < outcomes; n++) {
    const order = player.quote({ delta: 4 + (n % 9) });
    if (n % 3 > 0) player.accept(order);
    player.pass(25);
  }
  return player;
}

describe('use', () => {
  test('params are unchanged before enough outcomes, in mode learn, and in mode off', () => {
    expect(taught({ minOutcomes: 1_000 }).winRates.params(HERE, 5_000)).toBe(HERE.params);
    const learning = taught({ mode: 'learn' });
    expect(learning.winRates.params(HERE, 5_000)).toBe(HERE.params);
    expect(learning.winRates.curves()[0]).toMatchObject({ inUse: false, won: 200, lost: 100 });
    const off = taught({ mode: 'off' }).winRates;
    expect(off.curves()).toEqual([]);
    expect(Array.from({ length: 500 }, (_, n) => off.explore(`${n}`)).every((noise) => noise === 0)).toBe(
      true,
    );
  });
  test('after enough outcomes the params contain the learned curve, as one object until more is learned', () => {
    const player = taught();
    const { winRates } = player;
    const params = winRates.params(HERE, 5_000);
    const [view] = winRates.curves();
    expect(view).toMatchObject({ inUse: true, pair: 'WETH-USDC', configured: { alpha: -2, beta: 0.25 } });
    // More is taken than configured, so half of all takers take a wider spread.
    expect(-params.alpha / params.beta).toBeGreaterThan(8.5);
    expect(-params.alpha / params.beta).toBeLessThanOrEqual(12);
    expect({ ...params, alpha: -2, beta: 0.25 }).toEqual(HERE.params);
    expect(winRates.params(HERE, 9_999)).toBe(params);
    expect(winRates.params(HERE, 50_000)).toBe(HERE.params);
    expect(winRates.params(route('base-arc'), 5_000)).not.toBe(params);
    player.accept(player.quote());
    expect(winRates.params(HERE, 5_000)).not.toBe(params);
  });
  test('a changed configured curve starts learning over', () => {
    const { winRates } = taught();
    const changed = route('base-base', { alpha: -3 });
    expect(winRates.params(changed, 5_000)).toBe(changed.params);
  });
  test('a reload can switch its use off', () => {
    const { winRates } = taught();
    expect(winRates.params(HERE, 5_000)).not.toBe(HERE.params);
    winRates.configure(config({ mode: 'learn' }));
    expect(winRates.params(HERE, 5_000)).toBe(HERE.params);
  });
  test('exploration noise follows from the seed and the rfq id', () => {
    const noise = (seed: string) => {
      const { winRates } = play({ seed });
      return Array.from({ length: 2_000 }, (_, n) => winRates.explore(`rfq-${n}`)).join();
    };
    expect(noise('a')).toBe(noise('a'));
    expect(noise('a')).not.toBe(noise('b'));
  });
});

describe('a restart', () => {
  test('a new process continues from the stored curves', async () => {
    expect((await store.open()).curves).toBeNull();
    const before = taught();
    await before.winRates.flush();
    const { curves } = await store.open();
    const after = play({}, curves);
    expect(after.winRates.curves()).toEqual(before.winRates.curves());
    expect(after.winRates.params(HERE, 5_000)).toEqual(before.winRates.params(HERE, 5_000));
  });
  test('unreadable stored curves are ignored', () => {
    expect(play({}, { version: 2 }).winRates.curves()).toEqual([]);
    expect(play({}, 'nonsense').winRates.curves()).toEqual([]);
  });
  test('a process that was replaced cannot store curves', async () => {
    const [first, second] = [
      createLpStore(await postgres.database('lp_calibrate_2', LP_MIGRATIONS)),
      createLpStore(await postgres.database('lp_calibrate_2', LP_MIGRATIONS)),
    ];
    await first.open();
    await second.open();
    expect(await first.putCurves('{}')).toBe(false);
    expect((await second.open()).curves).toBeNull();
  });
});
