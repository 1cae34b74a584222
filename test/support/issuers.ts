/**
 * Issuers on a test chain: a vault of USDC whose share is worth 1.05, a peg-stability module of USDC and T0,
 * and the real WETH9 twice, as two wrappers of one native currency.
 */

import wethArtifact from 'canonical-weth/build/contracts/WETH9.json' with { type: 'json' };
import { type Abi, encodeFunctionData, parseAbi } from 'viem';
import { connectDev } from '../../src/adapters/evm/deploy/deploy.ts';
import { deployIssuers, type IssuersDeployment } from '../../src/adapters/evm/deploy/deploy-issuers.ts';
import { createIssuerVenue, type IssuerVenueOptions } from '../../src/adapters/issuers/venue.ts';
import { MAX_UINT256 } from '../../src/domain/amount.ts';
import type { TokenInfo } from '../../src/domain/chain.ts';
import type { Address, Hex } from '../../src/domain/hex.ts';
import type { RouteVenue } from '../../src/ports/route-venue.ts';
import { devPsmAbi } from '../../src/adapters/evm/deploy/abi/dev-psm.ts';
import { devTokenAbi } from '../../src/adapters/evm/deploy/abi/dev-token.ts';
import { devVaultAbi } from '../../src/adapters/evm/deploy/abi/dev-vault.ts';
import { account, DEPLOYER, type TestChain } from './devnet.ts';

export interface TestIssuers extends IssuersDeployment {
  share: TokenInfo;
  dai: TokenInfo;
  wrappers: readonly [TokenInfo, TokenInfo];
  venue(kind: IssuerVenueOptions['kind'], change?: Partial<IssuerVenueOptions>): RouteVenue;
  /** Makes shares dearer by as many base units of USDC. */
  earn(assets: bigint): Promise<void>;
  lose(assets: bigint): Promise<void>;
  /** The most assets in the vault, and the most that one redemption takes out. */
  limit(cap: bigint, liquid: bigint): Promise<void>;
  setFees(tin: bigint, tout: bigint): Promise<void>;
  wrap(owner: Address, wrapper: TokenInfo, amount: bigint): Promise<void>;
}

export const UNLIMITED = MAX_UINT256;

const SOMEBODY = account(8_100);

/** The chain needs one token more than USDC and WETH. */
export async function startIssuers(chain: TestChain): Promise<TestIssuers> {
  const { usdc, deployment } = chain;
  const dai = deployment.tokens[2];
  if (!dai) throw new Error('start the devnet with moreTokens: 1');
  const access = {
    rpcUrl: chain.anvil.url,
    chainId: chain.chain.id,
    deployerPrivateKey: DEPLOYER.privateKey,
  };
  const made = await deployIssuers({
    ...access,
    escrow: chain.chain.escrow,
    vault: {
      ...{ asset: usdc.address, name: 'Savings USDC', symbol: 'sUSDC' },
      ...{ deposited: 1_000_000_000_000n, earned: 50_000_000_000n, cap: UNLIMITED },
    },
    psm: {
      ...{ gem: usdc.address, dai: dai.address },
      ...{ amounts: [100_000_000_000n, 100_000n * 10n ** 18n], tin: 10n ** 14n, tout: 2n * 10n ** 14n },
    },
  });
  const dev = await connectDev(access);
  const weth9 = { abi: wethArtifact.abi as Abi, bytecode: wethArtifact.bytecode as Hex };
  const addresses = [dev.create(weth9), dev.create(weth9)];
  await dev.settled();
  await chain.fund(SOMEBODY.address, 0n);

  const plain = { decimals: 18, eip3009: null, priceSymbol: 'ETH' };
  const wrappers = addresses.map((address, n) => ({
    ...plain,
    address,
    symbol: `WETH${n}`,
    name: 'Wrapped Ether',
  })) as unknown as readonly [TokenInfo, TokenInfo];
  const by = (to: Address, data: Hex) => chain.send(SOMEBODY.address, to, data).then(() => undefined);
  return {
    ...made,
    share: {
      address: made.vault.address,
      symbol: 'sUSDC',
      name: 'Savings USDC',
      decimals: 6,
      eip3009: null,
      // Roughly: only the relayer's pay is computed from it.
      priceSymbol: 'USD',
    },
    dai,
    wrappers,
    venue: (kind, change = {}) =>
      createIssuerVenue({
        id: `issuer-${kind}`,
        name: 'Issuer',
        kind,
        places: [
          {
            chain: chain.port,
            filler: { vault: made.vault.filler, peg: made.psm.filler, wrap: made.wrapFiller }[kind],
            products: [
              {
                tokens: {
                  vault: [usdc.address, made.vault.address] as const,
                  peg: [usdc.address, dai.address] as const,
                  wrap: [wrappers[0].address, wrappers[1].address] as const,
                }[kind],
                psm: kind === 'peg' ? made.psm.address : null,
                gas: null,
              },
            ],
          },
        ],
        toleranceBps: 0,
        validSeconds: 30,
        limits: { timeoutMs: 5_000, maxInFlight: 8 },
        ...change,
      }),
    earn: (assets) =>
      by(
        usdc.address,
        encodeFunctionData({ abi: devTokenAbi, functionName: 'mint', args: [made.vault.address, assets] }),
      ),
    lose: (assets) =>
      by(made.vault.address, encodeFunctionData({ abi: devVaultAbi, functionName: 'lose', args: [assets] })),
    limit: (cap, liquid) =>
      by(
        made.vault.address,
        encodeFunctionData({ abi: devVaultAbi, functionName: 'limit', args: [cap, liquid] }),
      ),
    setFees: (tin, tout) =>
      by(
        made.psm.address,
        encodeFunctionData({ abi: devPsmAbi, functionName: 'setFees', args: [tin, tout] }),
      ),
    async wrap(owner, wrapper, amount) {
      await chain.anvil.rpc('eth_sendTransaction', [
        {
          from: owner,
          to: wrapper.address,
          value: `0x${amount.toString(16)}`,
          data: encodeFunctionData({ abi: parseAbi(['function deposit() payable']) }),
        },
      ]);
    },
  };
}
