import { expect, test } from 'vitest';
import { createLedger, type Ledger } from '../../inventory/ledger.ts';
import { createBands } from './bands.ts';
import { zLpAsset, zLpPair } from '../config/config.ts';
import { pricingParams } from '../config/params.ts';
import type { QuoteRoute } from '../routes/route.ts';

const USDC = {
  address: `0x${'a'.repeat(40)}`,
  symbol: 'USDC',
  name: 'USDC',
  decimals: 6,
  eip3009: null,
  priceSymbol: 'USD',
} as const;
const WETH = {
  ...USDC,
  address: `0x${'b'.repeat(40)}`,
  symbol: 'WETH',
  decimals: 18,
  priceSymbol: 'ETH',
} as const;
const networks = new Map([
  [1, { slug: 'base' }],
  [2, { slug: 'arc' }],
]);
const ETH = 10n ** 18n;
const USD = 10n ** 6n;

/** 100 WETH and 200,000 USDC on two chains; WETH at 2,500. */
function made({
  assets = {},
  ...change
}: { assets?: object; weth?: [bigint, bigint]; usdc?: [bigint, bigint] } = {}) {
  const ledger = createLedger({
    buckets: [1, 2].flatMap((chainId) =>
      [USDC, WETH].map(({ address, symbol, decimals }) => ({
        chainId,
        token: address,
        asset: symbol,
        decimals,
      })),
    ),
    graceSeconds: () => 2,
    limits: {},
  });
  const { weth = [50n, 50n], usdc = [100_000n, 100_000n] } = change;
  for (const chainId of [1, 2] as const) {
    ledger.apply({
      type: 'deposited',
      id: `w${chainId}`,
      chainId,
      token: WETH.address,
      amount: (weth[chainId - 1] ?? 0n) * ETH,
    });
    ledger.apply({
      type: 'deposited',
      id: `u${chainId}`,
      chainId,
      token: USDC.address,
      amount: (usdc[chainId - 1] ?? 0n) * USD,
    });
  }
  const config = {
    USDC: zLpAsset.parse({ price: 'USD' }),
    WETH: zLpAsset.parse({ price: 'ETH' }),
    ...Object.fromEntries(
      Object.entries(assets).map(([name, given]) => [
        name,
        zLpAsset.parse({ price: name === 'USDC' ? 'USD' : 'ETH', ...given }),
      ]),
    ),
  };
  const startedWith = new Map(['USDC', 'WETH'].map((asset) => [asset, ledger.exposure(asset).owned]));
  return {
    ledger,
    bands: createBands(
      { ledger, networks, startedWith },
      { assets: config, pairs: [zLpPair.parse({ base: 'WETH', quote: 'USDC' })] },
    ),
  };
}

function route(lp: 'buy' | 'sell', from: number, to: number): QuoteRoute {
  const [inputToken, outputToken] = lp === 'buy' ? [WETH, USDC] : [USDC, WETH];
  return {
    pair: { base: 'WETH', quote: 'USDC' },
    params: pricingParams({}),
    lp,
    origin: { id: from },
    dest: { id: to },
    sameChain: from === to,
    inputToken,
    outputToken,
  } as unknown as QuoteRoute;
}

function fill(
  ledger: Ledger,
  orderId: string,
  weth: bigint,
  { probability, accept = true }: { probability?: number; accept?: boolean } = {},
) {
  const held = ledger.hold(
    {
      orderId,
      chainId: 1,
      token: USDC.address,
      amount: 1n,
      input: { chainId: 1, token: WETH.address, amount: weth * ETH },
      group: orderId,
      lapsesAt: 2_000,
      taker: 't',
      pair: 'p',
      side: 'buy',
      notional: 1n,
      ...(probability !== undefined && { fillProbabilityBps: probability }),
    },
    1_000,
  );
  expect(held).toEqual({ held: true });
  if (accept) ledger.apply({ type: 'accepted', orderId });
}

test("defaults: the target is the first balance, the soft band the pair's, the hard band twice that, for the base asset only", () => {
  const { ledger, bands } = made();
  expect(bands.termsOf(route('buy', 1, 1), 2_500)).toMatchObject({ q: 0, halfBand: 200_000 });
  // Twice 200,000 USD at 2,500.
  expect(bands.termsOf(route('buy', 1, 1), 2_500).room).toEqual({ input: 160n * ETH });
  expect(bands.termsOf(route('sell', 1, 1), 2_500).room).toEqual({ output: 160n * ETH });
  fill(ledger, 'q', 100n);
  expect(bands.termsOf(route('buy', 1, 1), 2_500)).toMatchObject({ q: 1.25, halfBand: 200_000 });
  expect(bands.termsOf(route('buy', 1, 1), 2_500).room).toEqual({ input: 60n * ETH });
  expect(bands.termsOf(route('sell', 1, 1), 2_500).room).toEqual({ output: 260n * ETH });
});

test('q counts owned, accepted and in-transit amounts in full, live quotes by their chance', () => {
  const { ledger, bands } = made();
  const q = () => bands.termsOf(route('buy', 1, 1), 2_500).q;
  fill(ledger, 'live', 40n, { probability: 2_500, accept: false });
  expect(q()).toBeCloseTo(0.125, 6);
  ledger.apply({ type: 'accepted', orderId: 'live' });
  expect(q()).toBeCloseTo(0.5, 6);
  ledger.apply({ type: 'filled', orderId: 'live', id: 'x' });
  expect(q()).toBeCloseTo(0.5, 6);
  ledger.apply({ type: 'fill_final', orderId: 'live', id: 'x' });
  expect(q()).toBeCloseTo(0.5, 6);
  // Owed for too long: not ours any more as far as the price goes.
  ledger.apply({ type: 'overdue', orderId: 'live' });
  expect(q()).toBeCloseTo(0, 6);
  ledger.apply({ type: 'finalised', orderId: 'live', id: 'x', received: 40n * ETH });
  expect(q()).toBeCloseTo(0.5, 6);
});

test('bands of an asset, in tokens: soft bands measure q, hard bands bound both legs', () => {
  const { ledger, bands } = made({
    assets: { WETH: { target: '80', softBand: '40', hardBand: '60' }, USDC: { hardBand: '50000' } },
  });
  expect(bands.termsOf(route('buy', 1, 1), 2_500)).toMatchObject({ q: 0.5, halfBand: 100_000 });
  expect(bands.termsOf(route('buy', 1, 1), 2_500).room).toEqual({ input: 40n * ETH, output: 50_000n * USD });
  expect(bands.termsOf(route('sell', 1, 1), 2_500).room).toEqual({ input: 50_000n * USD, output: 80n * ETH });
  fill(ledger, 'q', 50n);
  expect(bands.termsOf(route('buy', 1, 1), 2_500).room.input).toBe(0n);
});

test('one chain: its reserve stays, whatever is accepted, and inflow is bounded too', () => {
  const assets = { WETH: { chains: { base: { share: 3, hardShare: 0.9 }, arc: { hardShare: 0.5 } } } };
  const { ledger, bands } = made({ assets, weth: [75n, 25n] });
  // 10 % of 75 stays on base, and no more than half as much again comes to arc.
  expect(bands.termsOf(route('sell', 2, 1), 2_500).room.output).toBe((675n * ETH) / 10n);
  expect(bands.termsOf(route('buy', 2, 1), 2_500).room.input).toBe((125n * ETH) / 10n);
  ledger.hold(
    {
      orderId: 'q',
      chainId: 1,
      token: WETH.address,
      amount: 60n * ETH,
      input: { chainId: 1, token: USDC.address, amount: 1n },
      group: 'q',
      lapsesAt: 2_000,
      taker: 't',
      pair: 'p',
      side: 'sell',
      notional: 1n,
      fillProbabilityBps: 1,
    },
    1_000,
  );
  expect(bands.termsOf(route('sell', 2, 1), 2_500).room.output).toBe((75n * ETH) / 10n);
});

test('rebalancing charges for draining a short chain, and returns half of it for filling one', () => {
  const { bands } = made({
    assets: { USDC: { transportBps: 4, chains: { arc: { transportBps: 10 } } } },
    usdc: [180_000n, 20_000n],
  });
  // 20,000 where 100,000 is the fair part: q -0.8, ramp 0.75.
  expect(bands.termsOf(route('buy', 1, 2), 2_500).rebalanceBps).toBeCloseTo(7.5, 9);
  expect(bands.termsOf(route('sell', 2, 1), 2_500).rebalanceBps).toBeCloseTo(-3.75, 9);
  expect(bands.termsOf(route('buy', 2, 1), 2_500).rebalanceBps).toBeCloseTo(0, 9);
});

test('refuses a band for a token that the chain does not have', () => {
  expect(() => made({ assets: { WETH: { chains: { bass: {} } } } })).toThrow(
    /band on bass, where it is not: write one of base, arc/,
  );
});

test('displays every asset with its bands and places', () => {
  const { bands } = made({ assets: { WETH: { softBand: '40' } }, weth: [80n, 20n] });
  const [usdc, weth] = bands.positions((asset) => (asset === 'WETH' ? 2_500 : 1));
  expect(usdc).toMatchObject({ asset: 'USDC', soft: undefined, hard: undefined, q: undefined });
  expect(weth).toMatchObject({ asset: 'WETH', target: 100n * ETH, soft: 40n * ETH, hard: 80n * ETH, q: 0 });
  expect(weth?.places.map(({ slug, q }) => [slug, q])).toEqual([
    ['base', 0.6],
    ['arc', -0.6],
  ]);
});
