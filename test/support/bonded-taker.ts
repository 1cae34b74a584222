/** A taker with a client that knows the bond contract, for tests of bonds and claims. */

import { createPublicClient, createWalletClient, erc20Abi, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import {
  type Checked,
  type Client,
  createClient,
  type Limits,
  type TradeRequest,
  type Wallet,
} from '../../src/client/client.ts';
import { assetId } from '../../src/domain/asset.ts';
import type { Address } from '../../src/domain/hex.ts';
import { account, type TestChain } from './devnet.ts';
import type { TestVenue } from './venue.ts';

/** The amount that the LPs of these tests pay for `USDC_IN`. */
export const WETH_OUT = 400_000_000_000_000_000n;
export const USDC_IN = 1_000_000_000n;

let count = 0;

export const readerOf = (chain: TestChain) =>
  createPublicClient({ transport: http(chain.anvil.url), cacheTime: 0 });

/** A new one each time, who sells `USDC_IN` for WETH on this chain. */
export async function bondedTaker(
  v: TestVenue,
  origin: TestChain,
  key: string,
  solvers: NonNullable<TradeRequest['solvers']>,
  more: Partial<TradeRequest> = {},
) {
  const who = account(7_500 + count++);
  await origin.fund(who.address, 10_000n);
  const client: Client = createClient({
    url: v.url,
    key,
    chains: Object.fromEntries(
      v.devnet.chains.map((chain) => [
        chain.chain.id,
        {
          rpc: readerOf(chain),
          escrow: chain.chain.escrow,
          oracles: [chain.chain.oracle],
          quoteBond: chain.deployment.quoteBond,
        },
      ]),
    ),
  });
  const wallet: Wallet = createWalletClient({
    account: privateKeyToAccount(who.privateKey),
    transport: http(origin.anvil.url),
  });
  const request: TradeRequest = {
    taker: who.address,
    input: { asset: assetId({ chainId: origin.chain.id, token: origin.usdc.address }), amount: USDC_IN },
    output: { asset: assetId({ chainId: origin.chain.id, token: origin.weth.address }) },
    splitFill: 'never',
    solvers,
    ...more,
  };
  return {
    ...{ client, wallet, request },
    async check(limits: Limits = {}): Promise<Checked> {
      const { quotes, productUnavailable } = await client.requestQuotes(request);
      if (!quotes[0]) throw new Error(`no quote: ${JSON.stringify(productUnavailable)}`);
      return client.check(quotes[0], { request, ...limits });
    },
    held: (token: Address): Promise<bigint> =>
      readerOf(origin).readContract({
        address: token,
        abi: erc20Abi,
        functionName: 'balanceOf',
        args: [who.address],
      }),
  };
}
