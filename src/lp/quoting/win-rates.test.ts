/** Learning from outcomes over the real store; routes and quotes are played, and so is time. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog, silentMetrics } from '../../../test/support/silent.ts';
import { startTestPostgres, type TestPostgres } from '../../../test/support/postgres.ts';
import { createLpStore } from '../../adapters/postgres/lp/lp-store.ts';
import { LP_MIGRATIONS } from '../../adapters/postgres/migrations/lp.ts';
import { atOnce } from '../../domain/steps.ts';
import type { LpStore } from '../../ports/stores/lp-store.ts';
import type { OpenAward } from '../settlement/awards.ts';
import { type CalibrationConfig, type Calibrator, createCalibrator } from './win-rates.ts';
import { zLpPricing } from '../config/config.ts';
import type { QuoteRecord } from '../quote-log/quote-events.ts';
import { groupOf } from './order.ts';
import { pricingParams } from '../config/params.ts';
import type { Route } from './route.ts';

let postgres: TestPostgres;
let store: LpStore;
beforeAll(async () => {
  postgres = await startTestPostgres();
  store = createLpStore(await postgres.database('lp_calibrate', LP_MIGRATIONS));
});
afterAll(() => postgres.stop());

const route = (corridor = 'base-base', params = {}) =>
  ({ market: { pair: 'WETH-USDC', corridor }, params: pricingParams(params) }) as unknown as Route;
const HERE = route();
const config = (change: Partial<CalibrationConfig> = {}): CalibrationConfig => ({
  ...zLpPricing.parse({}).calibration,
  minOutcomes: 40,
  ...change,
});

interface Player {
  calibrator: Calibrator;
  /** Quotes now, firm for 10 s, to a new taker unless one is named; answers its orderId. */
  quote(options?: {
    delta?: number;
    size?: number;
    taker?: string;
    nonce?: bigint;
    on?: Route;
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
  const calibrator = createCalibrator(
    { clock, log: silentLog, metrics: silentMetrics, store },
    config(change),
    stored,
  );
  return {
    calibrator,
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
        hold: { group: groupOf(1, USER, nonce) },
        slice,
      };
      calibrator.quoted(record as unknown as QuoteRecord);
      return orderId;
    },
    accept: (orderId) =>
      calibrator.accepted({
        orderId,
        order: { originChainId: 1n, user: USER, nonce: nonces.get(orderId) ?? 0n },
      } as unknown as OpenAward),
    wait: (seconds) => void (nowMs += seconds * 1000),
    pass(seconds) {
      nowMs += seconds * 1000;
      atOnce(calibrator.tick());
    },
  };
}

const counts = ({ calibrator }: Player) =>
  atOnce(calibrator.curves()).map(({ corridor, size, won, lost }) => [corridor, size, won, lost]);

describe('what counts', () => {
  test('taken is won at once; run out is lost, once an award can no longer be on its way', () => {
    const player = play();
    player.accept(player.quote());
    player.quote();
    expect(counts(player)).toEqual([['base-base', '1000-10000', 1, 0]]);
    player.pass(19);
    expect(counts(player)).toEqual([['base-base', '1000-10000', 1, 0]]);
    player.pass(2);
    expect(counts(player)).toEqual([['base-base', '1000-10000', 1, 1]]);
  });
  test('a crowd that runs out at once is taken in by steps, none of it twice and none of it forgotten', () => {
    const { calibrator, quote, pass, wait } = play();
    for (let n = 0; n < 2_500; n += 1) quote({ taker: `crowd-${n}` });
    wait(21);
    const lost = () => atOnce(calibrator.curves())[0]?.lost ?? 0;
    let [before, most] = [0, 0];
    for (const _ of calibrator.tick()) {
      most = Math.max(most, lost() - before);
      before = lost();
    }
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(100);
    const learned = atOnce(calibrator.curves());
    pass(60);
    expect(atOnce(calibrator.curves())).toEqual(learned);
    // The steps leave no trace in what was learned.
    const whole = play();
    for (let n = 0; n < 2_500; n += 1) whole.quote({ taker: `crowd-${n}` });
    whole.pass(21);
    expect(atOnce(calibrator.curves())).toEqual(atOnce(whole.calibrator.curves()));
  });

  test('every corridor and size has a curve of its own', () => {
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
  test('several firm times of one nonce are one outcome: lost at the best price, or won at the one that was taken', () => {
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
    expect(atOnce(lost.calibrator.curves())[0]?.learned).toEqual(
      atOnce(single.calibrator.curves())[0]?.learned,
    );
    expect(atOnce(won.calibrator.curves())[0]?.learned).toEqual(
      atOnce(singleWon.calibrator.curves())[0]?.learned,
    );
  });
  test('one that asks all the time and takes nothing counts once a minute', () => {
    const player = play();
    for (let n = 0; n < 100; n++) {
      player.quote({ taker: 'spam', seconds: 0 });
      player.pass(1);
    }
    player.pass(60);
    expect(counts(player)[0]?.[3]).toBeLessThanOrEqual(3);
  });
  test('slices, strangers and repeated awards do not', () => {
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
  test('nothing is used before enough is known, nor while it only learns, nor when it is off', () => {
    expect(taught({ minOutcomes: 1_000 }).calibrator.params(HERE, 5_000)).toBe(HERE.params);
    const learning = taught({ mode: 'learn' });
    expect(learning.calibrator.params(HERE, 5_000)).toBe(HERE.params);
    expect(atOnce(learning.calibrator.curves())[0]).toMatchObject({ inUse: false, won: 200, lost: 100 });
    const off = taught({ mode: 'off' }).calibrator;
    expect(atOnce(off.curves())).toEqual([]);
    expect(Array.from({ length: 500 }, (_, n) => off.explore(`${n}`)).every((noise) => noise === 0)).toBe(
      true,
    );
  });
  test('then the curve goes into the params of that size and corridor, and the object stays the same until something is learned', () => {
    const player = taught();
    const { calibrator } = player;
    const params = calibrator.params(HERE, 5_000);
    const [view] = atOnce(calibrator.curves());
    expect(view).toMatchObject({ inUse: true, pair: 'WETH-USDC', configured: { alpha: -2, beta: 0.25 } });
    // More is taken than configured, so half of all takers take a wider spread.
    expect(-params.alpha / params.beta).toBeGreaterThan(8.5);
    expect(-params.alpha / params.beta).toBeLessThanOrEqual(12);
    expect({ ...params, alpha: -2, beta: 0.25 }).toEqual(HERE.params);
    expect(calibrator.params(HERE, 9_999)).toBe(params);
    expect(calibrator.params(HERE, 50_000)).toBe(HERE.params);
    expect(calibrator.params(route('base-arc'), 5_000)).not.toBe(params);
    player.accept(player.quote());
    expect(calibrator.params(HERE, 5_000)).not.toBe(params);
  });
  test('a configuration that starts from another curve begins anew', () => {
    const { calibrator } = taught();
    const changed = route('base-base', { alpha: -3 });
    expect(calibrator.params(changed, 5_000)).toBe(changed.params);
  });
  test('switched off while it runs', () => {
    const { calibrator } = taught();
    expect(calibrator.params(HERE, 5_000)).not.toBe(HERE.params);
    calibrator.configure(config({ mode: 'learn' }));
    expect(calibrator.params(HERE, 5_000)).toBe(HERE.params);
  });
  test('noise comes from the seed and the request', () => {
    const noise = (seed: string) => {
      const { calibrator } = play({ seed });
      return Array.from({ length: 2_000 }, (_, n) => calibrator.explore(`rfq-${n}`)).join();
    };
    expect(noise('a')).toBe(noise('a'));
    expect(noise('a')).not.toBe(noise('b'));
  });
});

describe('a restart', () => {
  test('finds what was learned', async () => {
    expect((await store.open()).curves).toBeNull();
    const before = taught();
    await before.calibrator.flush();
    const { curves } = await store.open();
    const after = play({}, curves);
    expect(atOnce(after.calibrator.curves())).toEqual(atOnce(before.calibrator.curves()));
    expect(after.calibrator.params(HERE, 5_000)).toEqual(before.calibrator.params(HERE, 5_000));
  });
  test('begins anew where what was stored cannot be read', () => {
    expect(atOnce(play({}, { version: 2 }).calibrator.curves())).toEqual([]);
    expect(atOnce(play({}, 'nonsense').calibrator.curves())).toEqual([]);
  });
  test('what another process has taken over is left alone', async () => {
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
