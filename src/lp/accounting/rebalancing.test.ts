import { expect, test } from 'vitest';
import { silentLog } from '../../../test/support/silent.ts';
import type { Chain } from '../../domain/chain.ts';
import type { Clock } from '../../ports/clock.ts';
import type { OpenAward } from '../settlement/awards.ts';
import type { Bands, ChainPosition } from './bands.ts';
import { zLpAsset, zLpConfig } from '../config/config.ts';
import { createQuoteEvents } from '../quote-log/quote-events.ts';
import { createRebalancing } from './rebalancing.ts';

const ME = `0x${'1'.repeat(40)}` as const;
const USDC = `0x${'a'.repeat(40)}` as const;
const WHOLE = 10n ** 18n;
const seen = { chainId: 1, blockNumber: 2n, blockHash: '0x', txHash: '0x' } as const;
const chains = new Map(
  [1, 2].map((id) => [
    id,
    { id, slug: id === 1 ? 'base' : 'arc', tokens: [{ address: USDC, symbol: 'USDC', decimals: 6 }] },
  ]),
) as unknown as Map<number, Chain>;

/** 10,000 USDC on two chains, of which `arc` lie on one; bringing some there costs 10 bps. */
function made() {
  let arc = 5_000n;
  let now = 1_000_000;
  const lines: string[] = [];
  const say = (facts: object, message: string) =>
    void lines.push(`${message} ${Object.values(facts).join(' | ')}`);
  const place = (slug: string, available: bigint): ChainPosition => ({
    chainId: slug === 'base' ? 1 : 2,
    slug,
    available: available * WHOLE,
    held: 0n,
    target: 5_000n * WHOLE,
    q: Number(available - 5_000n) / 5_000,
    room: undefined,
    costBps: 10,
  });
  const quoteEvents = createQuoteEvents({ log: silentLog });
  const bands = () =>
    ({
      places: (asset: string) => (asset === 'USDC' ? [place('base', 10_000n - arc), place('arc', arc)] : []),
    }) as unknown as Bands;
  const { rebalancing: settings } = zLpConfig.pick({ rebalancing: true }).parse({});
  const rebalancing = createRebalancing(
    {
      bands,
      quoteEvents,
      chains,
      clock: { nowMs: () => now * 1_000 } as Clock,
      log: { ...silentLog, info: say, warn: say },
    },
    { assets: { USDC: zLpAsset.parse({ price: 'USD' }) }, rebalancing: settings, account: ME },
    [],
  );
  return {
    rebalancing,
    quoteEvents,
    lines,
    advice(onArc: bigint, seconds = 3) {
      arc = onArc;
      now += seconds;
      rebalancing.advise();
      return rebalancing.advice().map(({ from, to, amount }) => `${amount / WHOLE} from ${from} to ${to}`);
    },
    drain: (amount: bigint) =>
      quoteEvents.filled(
        { slice: { pays: { chainId: 2, token: USDC, amount: amount * 10n ** 6n } } } as unknown as OpenAward,
        seen,
      ),
  };
}

test('logs advice once, again when it changes much, and when it ends', () => {
  const world = made();
  expect(world.advice(900n)).toEqual([]);
  world.drain(20_000n);
  expect(world.advice(900n)).toEqual(['4100 from base to arc']);
  world.advice(900n);
  world.advice(800n);
  expect(world.lines).toEqual([
    expect.stringMatching(
      /^rebalancing: this is worth moving USDC: base to arc \| 4100 USDC \| 4\.1 USDC \| 15\.\d+ USDC$/,
    ),
  ]);
  expect(world.advice(2_500n)).toEqual(['2500 from base to arc']);
  expect(world.lines).toHaveLength(2);
  expect(world.advice(4_100n)).toEqual([]);
  expect(world.lines.at(-1)).toBe('rebalancing: this move is no longer needed USDC: base to arc');
});

test("no more advice while the owner's withdrawal is in transit", () => {
  const world = made();
  world.drain(20_000n);
  expect(world.advice(900n)).toHaveLength(1);
  world.quoteEvents.moved({ chainId: 1, token: USDC, amount: -4_100n * 10n ** 6n }, 'out');
  expect(world.advice(900n, 600)).toEqual([]);
  expect(world.advice(900n, 3_600)).toHaveLength(1);
  // Paying in is no reason to be silent.
  world.quoteEvents.moved({ chainId: 2, token: USDC, amount: 1n }, 'in');
  expect(world.advice(900n)).toHaveLength(1);
});
