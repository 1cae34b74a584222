/**
 * Transfers in the simulation: nothing is created or lost but the bridge's fee, and the policy that the live
 * LP asks decides here too.
 */

import { describe, expect, test } from 'vitest';
import { simulatedMaker, simulatedMarket } from '../../test/support/simulated.ts';
import type { MakerSetup } from './maker/setup.ts';
import { type ReplayResult, runReplay } from './replay.ts';
import type { RfqRecord } from './rfq-record.ts';
import type { SimPlace, SimTransfers } from './transfers.ts';

const startMs = Date.UTC(2026, 0, 1);
const SECONDS = 3_000;
const place = (chainId: number, changed: Partial<SimPlace> = {}): SimPlace => ({
  ...{ chainId, slug: `c${chainId}`, costBps: 5, share: 1_000_000n, softShare: 500_000n },
  ...{ hardShare: undefined, ...changed },
});
const places = new Map([
  ['USDC', [place(1), place(2)]],
  ['WETH', [place(1, { costBps: 0 }), place(2, { costBps: 0 })]],
]);
const transfers: SimTransfers = {
  rule: { startQ: 0.6, stopQ: 0.2, cooldownSeconds: 0 },
  policy: { mode: 'automatic', mostUsd: 250_000, mostUsdPerDay: 1_000_000 },
  ...{ everySeconds: 10, delaySeconds: 300 },
  bridge: { assets: ['USDC'], feeBps: 1, seconds: 60, gasUsd: 0.5 },
};

/** Takers sell WETH on the first chain for USDC of the second: its USDC runs out, and all accept. */
const drain = (count: number): RfqRecord[] =>
  Array.from({ length: count }, (_, n) => ({
    ...{ atMs: startMs + 20_000 + n * 70_000, id: `r${n}`, taker: `0x${n}`, corridor: 'c1-c2' },
    ...{ input: 'WETH', output: 'USDC', side: 'exactInput', amount: (8n * 10n ** 18n).toString() },
    ...{
      platformFeeBps: 0,
      minValidSeconds: 0,
      outcome: null,
      quoted: null,
      acceptedAtMs: null,
      rival: null,
    },
  }));

function replay(changed: Partial<SimTransfers> = {}, of: Partial<MakerSetup> = {}): ReplayResult {
  const without = simulatedMaker({ name: 'without', risk: null, noiseBps: 0, places, ...of });
  const prices = Array.from({ length: SECONDS + 1 }, () => 2_500);
  const { takers, paths } = simulatedMarket([prices], [without]);
  // Nobody refuses.
  const eager = { ...takers, alpha: -20, beta: 0.01 };
  const makers = [without, { ...without, name: 'with', transfers: { ...transfers, ...changed } }] as const;
  return runReplay({
    ...{ seed: 1, startMs, paths, takers: eager, records: drain(40), makers, sampleSeconds: 10 },
  });
}

const declines = ({ makers }: ReplayResult, at: 0 | 1): number => makers[at].declines['no_inventory'] ?? 0;

describe('transfers between chains in a replay', () => {
  test('serve takers whom an empty chain would have refused, and cost what the bridge keeps', () => {
    const result = replay();
    const [idle, moving] = result.inventories;
    expect(idle).toMatchObject({ transfers: 0, bridgeFeesUsd: 0, transferGasUsd: 0, byHand: {} });
    expect(moving.transfers).toBeGreaterThan(0);
    expect(declines(result, 0)).toBeGreaterThan(declines(result, 1));
    expect(result.makers[1].fills).toBeGreaterThan(result.makers[0].fills);
    expect(moving.bridgeFeesUsd).toBeCloseTo(moving.movedUsd / 10_000, 2);
    expect(moving.transferGasUsd).toBeGreaterThanOrEqual(0.5 * moving.transfers);
    expect(moving.underWaySeconds / moving.transfers).toBeCloseTo(360, -1);
    expect(moving.outOfBand['USDC on c2']).toBeLessThan(idle.outOfBand['USDC on c2'] ?? 0);
  });

  test('whose bridge is free change the profit by what was traded only: money on its way is not lost', () => {
    const { makers, series, inventories } = replay({
      bridge: { ...transfers.bridge, feeBps: 0, gasUsd: 0, seconds: 600 },
    });
    expect(inventories[1].transfers).toBeGreaterThan(0);
    for (const { makers: samples } of series)
      expect(Math.abs(samples[1]?.pnlUsd ?? 0)).toBeLessThanOrEqual(makers[1].spreadUsd + 1);
    expect(makers[1].pnlUsd).toBeCloseTo(makers[1].spreadUsd + makers[1].pickOffUsd, 2);
  });

  test('above a limit of the policy wait for the operator, with the reason of the live LP', () => {
    const { inventories } = replay({ policy: { ...transfers.policy, mostUsd: 100 } });
    expect(inventories[1].transfers).toBe(0);
    expect(Object.keys(inventories[1].byHand)).toEqual(['it is worth more than transfers.mostUsd (100)']);
  });

  test('begin again within the limit of a day only', () => {
    const { inventories } = replay({ policy: { ...transfers.policy, mostUsdPerDay: 60_000 } });
    expect(inventories[1].movedUsd).toBeLessThanOrEqual(60_000);
    const [reason] = Object.keys(inventories[1].byHand);
    expect(reason).toContain('transfers.mostUsdPerDay (60000)');
  });

  test('that cost more than the advice reckons with do not begin', () => {
    const { inventories } = replay({ bridge: { ...transfers.bridge, feeBps: 50 } });
    expect(inventories[1].transfers).toBe(0);
    expect(Object.keys(inventories[1].byHand)[0]).toContain('transportBps of USDC');
  });

  test('leave a configuration without places as it was', () => {
    const result = replay({}, { places: new Map() });
    expect(result.changed).toBe(0);
    expect(result.inventories[1]).toMatchObject({ transfers: 0, outOfBand: {} });
  });
});
