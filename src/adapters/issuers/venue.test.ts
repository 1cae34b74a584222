/** The limits that issuers name are exact: the largest amount passes, one unit more does not. */

import { encodeFunctionData } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { account, type Devnet, startDevnet, type TestChain } from '../../../test/support/devnet.ts';
import { startIssuers, type TestIssuers, UNLIMITED } from '../../../test/support/issuers.ts';
import { isDecline } from '../../domain/decline.ts';
import type { Address, Hex } from '../../domain/hex.ts';
import type { TokenInfo } from '../../domain/chain.ts';
import type { RouteAsk, RouteVenue } from '../../ports/route-venue.ts';
import { devVaultAbi } from '../evm/deploy/abi/dev-vault.ts';

const TAKER = account(8_200);
const WAD = 10n ** 18n;

let devnet: Devnet;
let chain: TestChain;
let issuers: TestIssuers;

beforeAll(async () => {
  devnet = await startDevnet([31_451], { moreTokens: 1 });
  [chain] = devnet.chains as [TestChain];
  issuers = await startIssuers(chain);
  await chain.fund(TAKER.address, 100_000n);
  await chain.approve(TAKER.address, chain.usdc.address, issuers.vault.address);
  await chain.send(
    TAKER.address,
    issuers.vault.address,
    encodeFunctionData({ abi: devVaultAbi, functionName: 'deposit', args: [50_000_000_000n, TAKER.address] }),
  );
});
afterAll(() => devnet.stop());

async function ask(
  venue: RouteVenue,
  [inputToken, outputToken]: readonly [TokenInfo, TokenInfo],
  side: RouteAsk['side'],
  amount: bigint,
  change: Partial<RouteAsk> = {},
) {
  const block = await chain.anvil.rpc<{ number: Hex; hash: Hex; timestamp: Hex }>('eth_getBlockByNumber', [
    'latest',
    false,
  ]);
  const at = { number: BigInt(block.number), hash: block.hash, timestamp: Number(block.timestamp) };
  return venue.quote({
    origin: chain.chain,
    dest: chain.chain,
    inputToken,
    outputToken,
    side,
    amount,
    taker: TAKER.address,
    receiver: TAKER.address,
    at: { origin: at, dest: at },
    validity: { from: at.timestamp + 1, to: at.timestamp + 60 },
    // 0.07 % and 1,234 base units, as the escrow rounds them.
    fees: {
      handedOver: (input) => (input > 1_300n ? input - (input * 7n) / 10_000n - 1_234n : 0n),
      inputFor: (handed) => ((handed + 1_234n - 1n) * 10_000n) / 9_993n + 1n,
    },
    signal: new AbortController().signal,
    ...change,
  });
}

type Story = [string, 'vault' | 'peg', () => readonly [TokenInfo, TokenInfo], () => Promise<void>];
const STORIES: readonly Story[] = [
  [
    'a deposit',
    'vault',
    () => [chain.usdc, issuers.share],
    () => issuers.limit(1_100_000_000_000n + 7_777_777_777n, UNLIMITED),
  ],
  [
    'a redemption',
    'vault',
    () => [issuers.share, chain.usdc],
    () => issuers.limit(UNLIMITED, 12_345_678_901n),
  ],
  ['a sale', 'peg', () => [chain.usdc, issuers.dai], () => issuers.setFees(123_456_789_012_345n, 0n)],
  ['a purchase', 'peg', () => [issuers.dai, chain.usdc], () => issuers.setFees(0n, 123_456_789_012_345n)],
];

describe.each(STORIES)('%s', (_, kind, pair, limited) => {
  beforeAll(() => limited());

  test.each(['exactInput', 'exactOutput'] as const)('%s: the largest amount, to the unit', async (side) => {
    for (const toleranceBps of [0, 7]) {
      const venue = issuers.venue(kind, { toleranceBps });
      const refused = await ask(venue, pair(), side, 10n ** 30n);
      if (!isDecline(refused) || refused.declined !== 'no_inventory' || refused.maxAmount === undefined)
        throw new Error('nothing was refused');
      const most = refused.maxAmount;
      expect(most).toBeGreaterThan(10n ** 9n);
      expect(await ask(venue, pair(), side, most)).not.toHaveProperty('declined');
      expect(await ask(venue, pair(), side, most + 1n)).toMatchObject({
        declined: 'no_inventory',
        maxAmount: most,
      });
    }
  });

  test('an exact output is given by its input, with the tolerance, and by no much smaller one', async () => {
    const venue = issuers.venue(kind, { toleranceBps: 7 });
    const wanted = 1_000n * 10n ** BigInt(pair()[1].decimals) + 1n;
    const backward = await ask(venue, pair(), 'exactOutput', wanted);
    if (isDecline(backward)) throw new Error(backward.declined);
    const forward = await ask(venue, pair(), 'exactInput', backward.inputAmount);
    if (isDecline(forward)) throw new Error(forward.declined);
    const withTolerance = wanted + (wanted * 7n + 9_999n) / 10_000n;
    expect(forward.outputAmount).toBeGreaterThanOrEqual(withTolerance);
    expect(forward.minimumOutput).toBe((forward.outputAmount * 9_993n + 9_999n) / 10_000n);
    // One unit of gem is worth 10^12 of dai.
    const step = pair()[0].decimals === 18 ? 3n * 10n ** 12n : 3n;
    const less = await ask(venue, pair(), 'exactInput', backward.inputAmount - step);
    if (isDecline(less)) throw new Error(less.declined);
    expect(less.outputAmount).toBeLessThan(withTolerance);
  });
});

describe('what cannot be quoted', () => {
  const pairs = {
    sale: () => [chain.usdc, issuers.dai] as const,
    purchase: () => [issuers.dai, chain.usdc] as const,
  };

  test('a halted module is closed, in that direction alone', async () => {
    await issuers.setFees(UNLIMITED, 0n);
    const venue = issuers.venue('peg');
    expect(await ask(venue, pairs.sale(), 'exactInput', 10n ** 9n)).toMatchObject({
      declined: 'closed',
      opensAt: null,
    });
    expect(await ask(venue, pairs.purchase(), 'exactInput', 10n ** 21n)).not.toHaveProperty('declined');
    await issuers.setFees(0n, UNLIMITED);
    expect(await ask(venue, pairs.purchase(), 'exactInput', 10n ** 21n)).toMatchObject({
      declined: 'closed',
    });
    // A fee of all of it is no halt: nothing comes out.
    await issuers.setFees(WAD, 0n);
    expect(await ask(venue, pairs.sale(), 'exactInput', 10n ** 9n)).toMatchObject({
      declined: 'size_below_min',
    });
    expect(await ask(venue, pairs.sale(), 'exactOutput', 10n ** 9n)).toMatchObject({
      declined: 'no_inventory',
    });
  });

  test('a vault that takes or pays nothing', async () => {
    await issuers.limit(0n, 0n);
    const venue = issuers.venue('vault');
    for (const [pair, side] of [
      [[chain.usdc, issuers.share], 'exactInput'],
      [[chain.usdc, issuers.share], 'exactOutput'],
      [[issuers.share, chain.usdc], 'exactInput'],
      [[issuers.share, chain.usdc], 'exactOutput'],
    ] as const)
      expect(await ask(venue, pair, side, 10n ** 9n)).toEqual({ declined: 'no_inventory' });
    // Of a taker without shares the vault's limit is not known.
    const taker = account(8_201).address;
    expect(
      await ask(venue, [issuers.share, chain.usdc], 'exactInput', 10n ** 9n, { taker }),
    ).not.toHaveProperty('declined');
    await issuers.limit(UNLIMITED, UNLIMITED);
  });

  test('another contract, or none, at the configured address', async () => {
    const at = (share: Address) =>
      issuers.venue('vault', {
        places: [
          {
            chain: chain.port,
            filler: issuers.vault.filler,
            products: [{ tokens: [chain.usdc.address, share], psm: null, gas: null }],
          },
        ],
      });
    for (const address of [chain.weth.address, TAKER.address])
      expect(
        await ask(at(address), [chain.usdc, { ...issuers.share, address }], 'exactInput', 10n ** 9n),
      ).toMatchObject({ declined: 'pair', detail: 'there is no vault at the configured address' });
  });

  test('a block that is not on the chain any more', async () => {
    const head = await chain.anvil.rpc<{ number: Hex; timestamp: Hex }>('eth_getBlockByNumber', [
      'latest',
      false,
    ]);
    const gone = {
      number: BigInt(head.number),
      hash: `0x${'11'.repeat(32)}` as const,
      timestamp: Number(head.timestamp),
    };
    expect(
      await ask(issuers.venue('vault'), [chain.usdc, issuers.share], 'exactInput', 10n ** 9n, {
        at: { origin: gone, dest: gone },
      }),
    ).toMatchObject({ declined: 'stale_price' });
  });
});
