import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arbAddress } from '../../test/support/arbitrary-order.ts';
import { assetId, parseAssetId } from './asset.ts';
import { corridorOf, parseCorridor } from './corridor.ts';
import { addressToBytes32, bytes32ToAddress, HexError, ZERO_BYTES32 } from './hex.ts';
import { assertClockLaw, ClockLawError, orderTimes } from './time.ts';

const someToken = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';

test('law: an asset id round-trips, in any case of its address', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), arbAddress, (chainId, token) => {
      fc.pre(!token.startsWith(`0x${'0'.repeat(36)}`));
      expect(parseAssetId(assetId({ chainId, token }))).toEqual({ chainId, token });
      expect(parseAssetId(`eip155:${chainId}/erc20:0x${token.slice(2).toUpperCase()}`)).toEqual({
        chainId,
        token,
      });
    }),
  );
});

test.each([
  '',
  'eip155:1',
  `eip155:0/erc20:${someToken}`,
  `eip155:01/erc20:${someToken}`,
  `eip155:9007199254740993/erc20:${someToken}`,
  `eip155:1/erc721:${someToken}`,
  `EIP155:1/erc20:${someToken}`,
  'eip155:1/erc20:0x0000000000000000000000000000000000000000',
  'eip155:1/erc20:0x0000000000000000000000000000000000000009',
  `eip155:1/erc20:${someToken}00`,
  ` eip155:1/erc20:${someToken}`,
])('error: %j names no asset', (text) => expect(parseAssetId(text)).toBeUndefined());

test('behavior: slugs with hyphens split only between two chains', () => {
  const chains = [{ slug: 'arc' }, { slug: 'arc-testnet' }, { slug: 'base' }];
  for (const source of chains)
    for (const dest of chains)
      expect(parseCorridor(corridorOf(source, dest), chains)).toEqual({ source, dest });
  expect(parseCorridor('testnet-arc', chains)).toBeUndefined();
  expect(parseCorridor('base', chains)).toBeUndefined();
});

test('law: an address round-trips through a word, and a word with non-zero upper bytes is refused', () => {
  fc.assert(fc.property(arbAddress, (address) => bytes32ToAddress(addressToBytes32(address)) === address));
  expect(() => bytes32ToAddress(`0x01${ZERO_BYTES32.slice(4)}`)).toThrow(HexError);
});

test('law: order times keep the clock law for every pair of positive margins', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 4_000_000_000 }),
      fc.integer({ min: 1, max: 1e6 }),
      fc.integer({ min: 1, max: 1e6 }),
      (validUntil, landing, proof) => {
        const times = orderTimes(validUntil, { landingMarginSeconds: landing, proofWindowSeconds: proof });
        expect(times.validUntil < times.fillDeadline && times.fillDeadline < times.expires).toBe(true);
        expect([times.fillDeadline - validUntil, times.expires - times.fillDeadline]).toEqual([
          landing,
          proof,
        ]);
      },
    ),
  );
  expect(() => orderTimes(100, { landingMarginSeconds: 0, proofWindowSeconds: 1 })).toThrow(ClockLawError);
  expect(() => orderTimes(2 ** 32 - 2, { landingMarginSeconds: 1, proofWindowSeconds: 1 })).toThrow(
    ClockLawError,
  );
  expect(() => assertClockLaw({ validUntil: 1.5, fillDeadline: 3, expires: 4 })).toThrow(ClockLawError);
});
