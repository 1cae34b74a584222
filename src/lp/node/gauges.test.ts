import { expect, test } from 'vitest';
import { createMetrics } from '../../adapters/prometheus/metrics.ts';
import { createLedger } from '../../inventory/ledger.ts';
import { exposeGauges } from './gauges.ts';

const TOKEN = `0x${'a'.repeat(40)}` as const;
const ETH = 10n ** 18n;

test('shows an operator the inventory, and nothing of ended holds', async () => {
  const metrics = createMetrics();
  const ledger = createLedger({
    buckets: [{ chainId: 1, token: TOKEN, asset: 'USDC', decimals: 6, buffer: 5_000_000n }],
    graceSeconds: () => 2,
    limits: {},
  });
  ledger.apply({ type: 'deposited', id: 'd', chainId: 1, token: TOKEN, amount: 100_000_000n });
  let trouble = true;
  const place = {
    chainId: 1,
    slug: 'base',
    available: 3n * ETH,
    held: 0n,
    target: 4n * ETH,
    q: -0.25,
    room: undefined,
    costBps: 0,
  };
  exposeGauges(metrics, {
    ledger,
    slug: () => 'base',
    symbol: () => 'USDC',
    reasons: () => (trouble ? [{ kind: 'drift' }] : []),
    pairs: () => [{ pair: 'WETH-USDC', quoting: !trouble }],
    quoting: () => true,
    shadow: false,
    openAwards: () => 0,
    leaseSeconds: () => [],
    positions: () => [
      {
        asset: 'WETH',
        owned: 7n * ETH,
        committed: 0n,
        quoted: 0n,
        total: 7n * ETH,
        target: 4n * ETH,
        soft: 2n * ETH,
        hard: 4n * ETH,
        q: 1.5,
        places: [place, { ...place, slug: 'arc', q: 0.25 }],
      },
    ],
    receivables: () =>
      (trouble ? [true, true, false] : []).map((overdue) => ({
        orderId: '0x01',
        corridor: 'base-arc',
        owed: { chainId: 1, token: TOKEN, amount: 1n },
        seconds: 100,
        limitSeconds: 60,
        overdue,
      })),
    signals: () => [{ pair: 'WETH-USDC' }, { pair: 'gone' }],
    configuredPairs: () => ['WETH-USDC', 'WBTC-USDC'],
    venues: () => [{ name: 'v', load: () => ({ waiting: 3, dropped: 0, pauses: 1 }) }],
    advice: () =>
      trouble
        ? [{ asset: 'USDC', from: 'base', to: 'arc', amount: (25n * ETH) / 10n, cost: 1n, charges: 2n }]
        : [],
  });
  ledger.setOperatorLimit(1, TOKEN, { most: 80_000_000n, left: 20_000_000n });
  ledger.apply({ type: 'reconciled', chainId: 1, token: TOKEN, amount: 98_000_000n });
  const bad = await metrics.text();
  for (const line of [
    'firmquote_lp_inventory_units{chain="base",token="USDC",part="drift"} -2',
    'firmquote_lp_signals{pair="WETH-USDC"} 1',
    'firmquote_lp_signals{pair="WBTC-USDC"} 0',
    'firmquote_lp_inventory_units{chain="base",token="USDC",part="buffer"} 5',
    'firmquote_lp_pair_quoting{pair="WETH-USDC"} 0',
    'firmquote_lp_inventory_q{asset="WETH",chain="all"} 1.5',
    'firmquote_lp_inventory_q{asset="WETH",chain="arc"} 0.25',
    'firmquote_lp_receivables_overdue{corridor="base-arc"} 2',
    'firmquote_lp_rebalance_advice_units{asset="USDC",from="base",to="arc"} 2.5',
    'firmquote_lp_link_frames{venue="v",kind="waiting"} 3',
    'firmquote_lp_standby_reason{reason="drift"} 1',
    'firmquote_lp_operator_limit_left_share{chain="base",token="USDC"} 0.25',
  ])
    expect(bad).toContain(line);
  trouble = false;
  ledger.apply({ type: 'reconciled', chainId: 1, token: TOKEN, amount: 100_000_000n });
  ledger.setOperatorLimit(1, TOKEN, { most: 0n, left: 0n });
  const good = await metrics.text();
  expect(good).toContain('part="drift"} 0');
  expect(good).toContain('firmquote_lp_standby_reason{reason="drift"} 0');
  expect(good).not.toMatch(/receivables_overdue\{|advice_units\{|limit_left_share\{/);
});
