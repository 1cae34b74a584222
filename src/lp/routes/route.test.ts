import { describe, expect, test } from 'vitest';
import { ETHER, type Chain, type TokenInfo } from '../../domain/chain.ts';
import type { Address } from '../../domain/hex.ts';
import { DEFAULT_PARAMS } from '../../pricing/params.ts';
import { zLpChain, zLpPair } from '../config/config.ts';
import { createRoutes } from './route.ts';

const word = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`;
const token = (symbol: string, decimals: number, n: number): TokenInfo => ({
  address: word(n),
  symbol,
  name: symbol,
  decimals,
  eip3009: null,
  priceSymbol: null,
});
const place = (id: number, slug: string) => ({
  config: zLpChain.parse({ chainId: id, account: word(99) }),
  chain: {
    id,
    slug,
    sandbox: true,
    escrow: word(id * 10),
    oracle: word(id * 10 + 1),
    permit2: word(3),
    depth: 1,
    blockTimeMs: 1_000,
    native: ETHER,
    landingMarginSeconds: 30,
    proofWindowSeconds: 60,
    tokens: [token('USDC', 6, id * 100), token('WETH', 18, id * 100 + 1)],
  } satisfies Chain,
});
const places = [place(1, 'base'), place(2, 'arc')];
const routes = (pair: object) =>
  createRoutes(places, [zLpPair.parse({ base: 'WETH', quote: 'USDC', ...pair })]).all;
const on = (pair: object, corridor: string) =>
  routes(pair).find(({ market }) => market.corridor === corridor) ?? expect.fail(`no route on ${corridor}`);

describe('pricing params', () => {
  test("defaults, overridden by the pair's, then by the corridor's", () => {
    const pair = {
      params: { omega: 0.5, minEdgeBps: 2 },
      corridorParams: { 'base-arc': { omega: 0.7, lockSeconds: 300 } },
    };
    expect(on(pair, 'base-base').params).toEqual({ ...DEFAULT_PARAMS, omega: 0.5, minEdgeBps: 2 });
    expect(on(pair, 'base-arc').params).toEqual({ ...DEFAULT_PARAMS, omega: 0.7, minEdgeBps: 2 });
    expect([on(pair, 'base-arc').lockSeconds, on(pair, 'arc-base').lockSeconds]).toEqual([300, undefined]);
    expect(on(pair, 'base-arc').market).toEqual({ pair: 'WETH-USDC', corridor: 'base-arc' });
  });
  test('apply to both directions of a corridor', () => {
    const both = routes({ corridorParams: { 'base-arc': { omega: 0.7 } } }).filter(
      ({ market }) => market.corridor === 'base-arc',
    );
    expect(both.map(({ lp, params }) => [lp, params.omega])).toEqual([
      ['buy', 0.7],
      ['sell', 0.7],
    ]);
  });
  test.each([
    [
      { corridorParams: { 'base-arcc': {} } },
      /WETH-USDC has corridorParams for base-arcc, which it does not serve: write one of base-base, base-arc/,
    ],
    [
      { corridors: ['base-base'], corridorParams: { 'base-arc': {} } },
      /which it does not serve: write one of base-base, or take it out/,
    ],
  ])('for a corridor that is not served they are refused: %j', (pair, why) =>
    expect(() => routes(pair)).toThrow(why),
  );
  test('refuses unknown ones with their path', () => {
    expect(() =>
      zLpPair.parse({ base: 'WETH', quote: 'USDC', corridorParams: { 'base-arc': { omga: 1 } } }),
    ).toThrow(/omga/);
  });
});
