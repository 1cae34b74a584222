/** The route venue suite on issuers: both directions of a vault, of a peg-stability module, and a rewrap. */

import { encodeFunctionData } from 'viem';
import type { IssuerKind } from '../../src/adapters/issuers/conversions.ts';
import type { TokenInfo } from '../../src/domain/chain.ts';
import { devVaultAbi } from '../../src/adapters/evm/deploy/abi/dev-vault.ts';
import { startDevnet, type TestChain } from '../support/devnet.ts';
import { startIssuers, type TestIssuers } from '../support/issuers.ts';
import { routeVenueConformance, type RouteVenueWorld } from './route-venue-suite.ts';

type Story = Pick<
  RouteVenueWorld,
  | 'inputToken'
  | 'outputToken'
  | 'amountIn'
  | 'amountOut'
  | 'tooMuch'
  | 'endow'
  | 'change'
  | 'worsen'
  | 'restore'
>;

const MODULE_TOO_MUCH = 200_000_000_000n;

const STORIES: readonly [string, IssuerKind, number, (chain: TestChain, issuers: TestIssuers) => Story][] = [
  [
    'a deposit into a vault',
    'vault',
    31_441,
    ({ usdc }, { share, earn, lose, limit }) => ({
      inputToken: usdc,
      outputToken: share,
      amountIn: 1_000_000_000n,
      amountOut: 900_000_000n,
      tooMuch: 1_100_000_000_000n,
      endow: () => limit(2_050_000_000_000n, 0n),
      worsen: () => earn(1_000_000_000n),
      restore: () => lose(1_000_000_000n),
    }),
  ],
  [
    'a redemption from a vault',
    'vault',
    31_442,
    (chain, { vault, share, earn, lose, limit }) => ({
      inputToken: share,
      outputToken: chain.usdc,
      amountIn: 1_000_000_000n,
      amountOut: 900_000_000n,
      tooMuch: 1_500_000_000n,
      async endow(taker) {
        await limit(2n ** 255n, 2n ** 255n);
        await chain.approve(taker, chain.usdc.address, vault.address);
        await chain.send(
          taker,
          vault.address,
          encodeFunctionData({ abi: devVaultAbi, functionName: 'deposit', args: [2_000_000_000n, taker] }),
        );
        await limit(2n ** 255n, 1_500_000_000n);
      },
      worsen: () => lose(1_000_000_000n),
      restore: () => earn(1_000_000_000n),
    }),
  ],
  [
    'a sale to a peg-stability module',
    'peg',
    31_443,
    ({ usdc }, { dai, setFees }) => ({
      inputToken: usdc,
      outputToken: dai,
      amountIn: 1_000_000_000n,
      amountOut: 900n * 10n ** 18n + 1n,
      tooMuch: MODULE_TOO_MUCH,
      worsen: () => setFees(10n ** 15n, 0n),
      restore: () => setFees(10n ** 14n, 0n),
    }),
  ],
  [
    'a purchase from a peg-stability module',
    'peg',
    31_444,
    (chain, { dai, setFees }) => ({
      inputToken: dai,
      outputToken: chain.usdc,
      amountIn: 1_000n * 10n ** 18n + 1n,
      amountOut: 900_000_001n,
      tooMuch: MODULE_TOO_MUCH * 10n ** 12n,
      // The price of one unit of gem, less a unit.
      change: 1_000_200_000_000n - 1n,
      worsen: () => setFees(0n, 10n ** 15n),
      restore: () => setFees(0n, 2n * 10n ** 14n),
    }),
  ],
  [
    'one wrapper of the native currency for another',
    'wrap',
    31_445,
    (chain, { wrappers: [first, second], wrap }) => {
      let kept = '0x0';
      return {
        inputToken: first,
        outputToken: second,
        amountIn: 10n ** 18n,
        amountOut: 9n * 10n ** 17n,
        tooMuch: 10n ** 24n,
        endow: (taker) => wrap(taker, first, 4n * 10n ** 18n),
        async worsen() {
          kept = await chain.anvil.rpc('eth_getBalance', [first.address, 'latest']);
          await setBalance(chain, first, '0x1');
        },
        restore: () => setBalance(chain, first, kept),
      };
    },
  ],
];

/** As a transaction would: the blocks before keep the old balance. */
async function setBalance({ anvil }: TestChain, { address }: TokenInfo, wei: string): Promise<void> {
  await anvil.rpc('evm_mine', []);
  await anvil.rpc('anvil_setBalance', [address, wei]);
  await anvil.rpc('evm_mine', []);
}

for (const [name, kind, chainId, story] of STORIES) {
  routeVenueConformance(name, async () => {
    const devnet = await startDevnet([chainId], { landingMarginSeconds: 20, moreTokens: 1 });
    const [chain] = devnet.chains as [TestChain];
    const issuers = await startIssuers(chain);
    return {
      venue: issuers.venue(kind),
      origin: chain,
      dest: chain,
      ...story(chain, issuers),
      stop: () => devnet.stop(),
    };
  });
}
