/** Capital: caps that follow it, losses that are losses, and what a restart must not wipe out. */

import { describe, expect, test } from 'vitest';
import type { Limits } from '../../inventory/limits.ts';
import { type Capital, createCapital, DRAWDOWN } from './capital.ts';
import type { KilledBy } from './kill-switch.ts';
import { zLpRisk } from '../config/risk-config.ts';

const HOUR = 3_600_000;
const TOKEN = '0x00000000000000000000000000000000000000aa' as const;

function world(risk: object = {}, configured: Limits = {}) {
  const state = {
    nowMs: 10 * HOUR,
    usd: 1_000_000,
    complete: true,
    killed: [] as string[],
    set: [] as Limits[],
    saved: new Map<string, object>(),
  };
  const held = new Map<KilledBy, string>();
  const make = (): Capital =>
    createCapital({
      nav: {
        now: () => ({ usd: state.usd, complete: state.complete }),
        worth: (_asset, units, decimals) => Number(units) / 10 ** decimals,
      },
      kill: { held, engage: (by, note) => (held.set(by, note), state.killed.push(by)) },
      clock: { nowMs: () => state.nowMs, monotonicMs: () => state.nowMs, after: () => () => {} },
      assetOf: () => ({ asset: 'USDC', decimals: 6 }),
      setLimits: (limits) => void state.set.push(limits),
      risk: () => parsed,
      configured: () => configured,
    });
  const parsed = zLpRisk.parse(risk);
  return {
    ...state,
    state,
    held,
    capital: make(),
    make,
    store: {
      putRisk: (name: string, value: object) => (state.saved.set(name, value), Promise.resolve(true)),
    },
  };
}

describe('caps', () => {
  test('limits follow NAV: half of it quoted, 25 bps of jump loss per side', () => {
    const { capital, state } = world();
    expect(capital.limits()).toEqual({ total: { notional: 0n }, perAssetSide: { gapLoss: 0n } });
    capital.update();
    expect(state.set).toEqual([
      { total: { notional: 500_000_000_000n }, perAssetSide: { gapLoss: 2_500_000_000n } },
    ]);
    state.usd = 1_000_500;
    capital.update();
    expect(state.set.length).toBe(1);
    state.usd = 990_000;
    capital.update();
    expect(state.set.at(-1)?.total?.notional).toBe(495_000_000_000n);
  });

  test('a tighter configured cap applies, a wider one does not', () => {
    const { capital, state } = world(
      {},
      { total: { count: 7, notional: 1_000_000n }, perAssetSide: { gapLoss: 10n ** 15n } },
    );
    capital.update();
    expect(state.set.at(-1)).toEqual({
      total: { count: 7, notional: 1_000_000n },
      perAssetSide: { gapLoss: 2_500_000_000n },
    });
  });
});

describe('losses', () => {
  test('size cut at the limit, kill switch at twice, each once', () => {
    const { capital, state } = world();
    capital.update();
    state.usd = 994_900;
    capital.update();
    expect(capital.sizesReduced).toBe(true);
    state.usd = 989_000;
    capital.update();
    capital.update();
    expect(state.killed).toEqual(['drawdown']);
  });

  test('a withdrawal of the owner is no loss, and a deposit hides none', () => {
    const { capital, state } = world();
    capital.update();
    capital.moved({ chainId: 1, token: TOKEN, amount: -500_000_000_000n });
    state.usd = 500_000;
    capital.update();
    expect(capital.status().loss?.hourBps).toBeCloseTo(0, 9);
    capital.moved({ chainId: 1, token: TOKEN, amount: 500_000_000_000n });
    state.usd = 994_000;
    capital.update();
    expect(capital.status().loss?.hourBps).toBeCloseTo(60, 9);
  });

  test('an asset that was never priced is no loss', () => {
    const { capital, state } = world();
    capital.update();
    Object.assign(state, { usd: 400_000, complete: false });
    capital.update();
    expect([capital.sizesReduced, state.killed.length]).toEqual([false, 0]);
  });

  test('a restart keeps the loss of this hour and day, without changes during the downtime', async () => {
    const { capital, state, make, store } = world();
    capital.update();
    state.usd = 994_000;
    capital.update();
    await capital.flush(store);
    const next = make();
    next.restore(JSON.parse(JSON.stringify(state.saved.get(DRAWDOWN))));
    state.usd = 1_200_000;
    next.update();
    expect(next.status().loss?.hourBps).toBeCloseTo((6_000 / 1_206_000) * 1e4, 6);
    state.nowMs += HOUR;
    next.update();
    expect(next.status().loss).toMatchObject({ hourBps: 0 });
    expect(next.status().loss?.dayBps).toBeGreaterThan(40);
  });

  test('ignores unreadable stored state', () => {
    const { capital } = world();
    for (const value of [
      null,
      1,
      {},
      { hour: {}, day: {} },
      { hour: { startMs: 1, loss: 'x' }, day: { startMs: 1, loss: 1 } },
    ])
      capital.restore(value);
    capital.update();
    expect(capital.status().loss).toEqual({ hourBps: 0, dayBps: 0 });
  });

  test('after a reset, losses are measured from that time', () => {
    const { capital, state } = world();
    capital.update();
    state.usd = 970_000;
    capital.update();
    capital.forgive();
    capital.update();
    expect(capital.status().loss).toEqual({ hourBps: 0, dayBps: 0 });
    expect(capital.sizesReduced).toBe(false);
  });
});
