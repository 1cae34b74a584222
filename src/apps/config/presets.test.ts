/** Chain presets fill in what a configuration leaves out, and what it says itself wins. */

import { hashDomain } from 'viem';
import { describe, expect, test } from 'vitest';
import { zAttesterConfig } from '../attester/config.ts';
import { zVenueConfig } from '../venue/config.ts';
import { parseConfig } from './load.ts';
import { presetNames, presetOf, readPreset } from './presets.ts';

const contracts = { escrow: `0x${'1'.repeat(40)}`, oracle: `0x${'2'.repeat(40)}` };

const attester = (chains: unknown, env: NodeJS.ProcessEnv = {}) =>
  parseConfig(
    zAttesterConfig,
    { app: 'attester', keys: { attester: { env: 'KEY', development: true } }, chains },
    env,
  ).config.chains;

test.each(presetNames())('%s is a chain, once it has contracts and tokens', (name) => {
  const tokens = readPreset(name).tokens ?? [
    { address: `0x${'3'.repeat(40)}`, symbol: 'T', name: 'T', decimals: 18 },
  ];
  const [chain] = attester([{ preset: name, ...contracts, tokens }]);
  expect(chain).toMatchObject({ slug: name, permit2: '0x000000000022d473030f116ddee9f6b43ac78ba3' });
  expect(presetOf(chain?.id ?? 0)?.slug).toBe(name);
});

test('on Arc gas is USDC, and one block is final', () => {
  const [chain] = attester([{ preset: 'arc', ...contracts }]);
  expect(chain).toMatchObject({
    id: 5042,
    depth: 1,
    blockTimeMs: 500,
    minBaseFeeGwei: 20,
    native: {
      symbol: 'USDC',
      priceSymbol: 'USD',
      token: { address: '0x3600000000000000000000000000000000000000', decimals: 6 },
    },
  });
});

/** The separator is the one that a node of the chain answered to `DOMAIN_SEPARATOR()`. */
test("the EIP-712 name of Arc's USDC is the one of its separator", () => {
  const [chain] = attester([{ preset: 'arc-testnet', ...contracts }]);
  const [usdc] = chain?.tokens ?? [];
  const types = {
    EIP712Domain: ['name', 'version', 'chainId', 'verifyingContract'].map((name, at) => ({
      name,
      type: ['string', 'string', 'uint256', 'address'][at] as string,
    })),
  };
  const domain = { ...usdc?.eip3009, chainId: BigInt(chain?.id ?? 0), verifyingContract: usdc?.address };
  expect(hashDomain({ domain: domain as never, types })).toBe(
    '0x361191522483d32a83e70ae7183b4b9629442c13a78bc9921d6f707911c8c6b0',
  );
});

describe('an entry', () => {
  test('may be the name alone; what a preset cannot know is asked for', () => {
    expect(() => attester(['base'])).toThrow(/chains\.0\.escrow: .*\n.*chains\.0\.oracle: /s);
  });

  test('wins over its preset, also within a section', () => {
    const [chain] = attester([
      { preset: 'base', ...contracts, slug: 'mine', depth: 9, native: { priceSymbol: 'WETH' } },
    ]);
    expect(chain).toMatchObject({
      id: 8453,
      slug: 'mine',
      depth: 9,
      native: { symbol: 'ETH', priceSymbol: 'WETH' },
    });
  });

  test('picks tokens of the preset by symbol, and describes others', () => {
    const own = { address: `0x${'4'.repeat(40)}`, symbol: 'MINE', name: 'Mine', decimals: 2 };
    const [chain] = attester([{ preset: 'base', ...contracts, tokens: ['WETH', own] }]);
    expect(chain?.tokens.map(({ symbol, decimals }) => [symbol, decimals])).toEqual([
      ['WETH', 18],
      ['MINE', 2],
    ]);
    expect(() => attester([{ preset: 'base', ...contracts, tokens: ['WBTC'] }])).toThrow(
      'chains.0: the preset "base" has no token "WBTC": name one of USDC, EURC, DAI, WETH, cbBTC, or describe the token',
    );
  });

  test.each([
    ['bas', 'did you mean "base"?'],
    ['solana', 'arc, arc-testnet, base, devnet, ethereum, optimism'],
    ['../lp.example', 'arc, arc-testnet, base'],
  ])('with the unknown preset %s names the known ones', (name, hint) => {
    expect(() => attester([name])).toThrow(hint);
    expect(() => attester([{ preset: name }])).toThrow(`chains.0: there is no chain preset "${name}"`);
  });

  test('a misspelt option is named with its path', () => {
    expect(() => attester([{ preset: 'base', ...contracts, dept: 3 }])).toThrow(
      'chains.0.dept: no such option; did you mean "depth"?',
    );
  });

  test('is changed by the environment, also where it is a name', () => {
    const env = {
      FIRMQUOTE__CHAINS__0__DEPTH: '7',
      FIRMQUOTE__CHAINS__0__ESCROW: contracts.escrow,
      FIRMQUOTE__CHAINS__0__ORACLE: contracts.oracle,
    };
    expect(attester(['base'], env)).toEqual([
      expect.objectContaining({ id: 8453, depth: 7, escrow: contracts.escrow }),
    ]);
    expect(attester([{ preset: 'base', ...contracts }], { FIRMQUOTE__CHAINS__0__DEPTH: '7' })[0]?.depth).toBe(
      7,
    );
  });
});

test('two entries of one preset are one chain too many', () => {
  const twice = { preset: 'base', ...contracts };
  expect(() =>
    parseConfig(
      zVenueConfig,
      {
        app: 'venue',
        venueId: 'v',
        keys: { relayer: { env: 'KEY', development: true }, seals: [{ id: 'k', secret: { env: 'SEAL' } }] },
        chains: [twice, twice],
      },
      {},
    ),
  ).toThrow('chains.1.id: is 8453, which entry 0 is already: correct or remove one');
});
