/** Bridges are made of what presets say of chains, and contradictions are named. */

import { expect, test } from 'vitest';
import type { ChainPort } from '../../ports/chain.ts';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import { openBridges } from './bridges.ts';
import { zBridgeTransports } from '../config/bridges.ts';
import { zChain, zChainEntry } from '../config/parts.ts';

const contracts = { escrow: `0x${'1'.repeat(40)}`, oracle: `0x${'2'.repeat(40)}`, rpcUrls: ['http://node'] };
const section = (preset: string, change: object = {}) =>
  zChainEntry(zChain).parse({ preset, ...contracts, ...change }) as ReturnType<typeof zChain.parse>;

function opened(transports: unknown, ...sections: ReturnType<typeof section>[]) {
  const chains = sections.map(({ id, slug }) => ({ chain: { id, slug } }) as ChainPort);
  const { bridges, close } = openBridges(zBridgeTransports.parse(transports), {
    sections,
    chains,
    clock: createManualClock(),
  });
  close();
  return bridges;
}

test('CCTP serves native USDC between all chains that have it', () => {
  const [base, arc, ethereum] = [section('base'), section('arc'), section('ethereum')];
  const [cctp] = opened({ cctp: {} }, base, arc, ethereum);
  const usdc = (chain: typeof base) => ({ chainId: chain.id, token: chain.tokens[0]?.address ?? '0x' });
  expect(cctp?.id).toBe('cctp');
  for (const [from, to] of [
    [base, arc],
    [arc, base],
    [ethereum, arc],
  ] as const)
    expect(cctp?.serves({ from: usdc(from), to: usdc(to) })).toBe(true);
  const eurc = { chainId: arc.id, token: arc.tokens[1]?.address ?? '0x' };
  expect(cctp?.serves({ from: eurc, to: usdc(base) })).toBe(false);
});

test('without a section there is no bridge', () => {
  expect(opened({}, section('base'), section('arc'))).toEqual([]);
});

test.each([
  ['one chain only', {}, [section('base'), section('arc', { cctp: null })], /two chains/],
  ['a chain without its domain', {}, [section('base', { cctpDomain: null })], /cctpDomain/],
  ['real money and test money', {}, [section('base'), section('arc-testnet')], /test chains/],
  [
    'a private address',
    { attestationUrl: 'https://10.0.0.1' },
    [section('base'), section('arc')],
    /private address/,
  ],
  [
    'a service without TLS',
    { attestationUrl: 'http://iris-api.circle.com' },
    [section('base'), section('arc')],
    /https/,
  ],
])('refuses %s', (_, cctp, sections, says) => {
  expect(() => opened({ cctp }, ...sections)).toThrow(says);
});

const USDT0 = {
  asset: 'USDT0',
  chains: [
    { chainId: 1, eid: 30_101, oft: `0x${'a'.repeat(40)}`, token: `0x${'b'.repeat(40)}` },
    { chainId: 10, eid: 30_111, oft: `0x${'c'.repeat(40)}`, token: `0x${'d'.repeat(40)}` },
  ].map((each) => ({ ...each, endpoint: `0x${'e'.repeat(40)}`, seconds: 60, maxNativeFee: '0.01' })),
};
const withToken = (preset: string, token: string | undefined, decimals = 6) =>
  section(preset, {
    tokens: [{ address: token, symbol: 'USDT', name: 'Tether USD', decimals, priceSymbol: 'USD' }],
  });
const ETHEREUM = () => withToken('ethereum', USDT0.chains[0]?.token);
const OPTIMISM = () => withToken('optimism', USDT0.chains[1]?.token);

test('an OFT serves its token between the chains that are configured', () => {
  const [oft] = opened({ oft: [USDT0] }, ETHEREUM(), OPTIMISM(), section('base'));
  const [from, to] = USDT0.chains.map(({ chainId, token }) => ({ chainId, token: token as `0x${string}` }));
  if (!from || !to) throw new Error('no sides');
  expect(oft?.id).toBe('oft-usdt0');
  expect([oft?.serves({ from, to }), oft?.serves({ from: to, to: from })]).toEqual([true, true]);
  expect(oft?.serves({ from, to: { ...to, chainId: 8_453 } })).toBe(false);
});

test.each([
  ['one chain only', USDT0, () => [ETHEREUM(), section('base')], /fewer than two/],
  [
    'a chain twice',
    { ...USDT0, chains: [...USDT0.chains, USDT0.chains[0]] },
    () => [ETHEREUM(), OPTIMISM()],
    /there twice/,
  ],
  ['a token that networks lack', USDT0, () => [ETHEREUM(), section('optimism')], /has no token 0xd/],
  [
    'a token with fewer decimals than its messages',
    USDT0,
    () => [ETHEREUM(), withToken('optimism', USDT0.chains[1]?.token, 2)],
    /only 2 decimals/,
  ],
  ['real money and test money', USDT0, () => [ETHEREUM(), { ...OPTIMISM(), sandbox: true }], /test chains/],
])('refuses an OFT with %s', (_, oft, sections, says) => {
  expect(() => opened({ oft: [oft] }, ...sections())).toThrow(says);
});
