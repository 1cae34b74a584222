/**
 * Base and Arc as a deployment finds them, on anvil: their ids, tokens, fees and missing contracts, each
 * behind a node that refuses as one provider does.
 */

import { encodeDeployData, encodeFunctionData, type Hex, pad, stringToHex, toHex } from 'viem';
import { GAS_PRICE_ORACLE } from '../../src/adapters/evm/chain/rollup-fees.ts';
import { readPreset } from '../../src/apps/config/presets.ts';
import type { Address } from '../../src/domain/hex.ts';
import { devGasOracleAbi } from '../support/abi/dev-gas-oracle.ts';
import { devTokenAbi } from '../../src/adapters/evm/deploy/abi/dev-token.ts';
import { devUsdAbi } from '../../src/adapters/evm/deploy/abi/dev-usd.ts';
import { type RpcProxy, startRpcProxy } from '../faults/support/rpc-proxy.ts';
import { startAnvil, type TestAnvil } from '../support/anvil.ts';
import { account } from '../support/devnet.ts';
import { type PlayedProvider, playProvider, type ProviderName } from '../support/providers.ts';
import { creationCodeOf } from '../../src/adapters/evm/deploy/creation-code.ts';

export interface PublicChain {
  slug: 'base' | 'arc';
  anvil: TestAnvil;
  proxy: RpcProxy;
  provider: PlayedProvider;
  token(symbol: string): Address;
  /** Whole native units. */
  giveNative(to: Address, units: bigint): Promise<void>;
  /** Base units. */
  mint(symbol: string, to: Address, amount: bigint): Promise<void>;
  /** Mined, from an account whose key is not needed. */
  send(from: Address, to: Address, data: Hex): Promise<void>;
  stop(): Promise<void>;
}

const FUNDER = account(9_700).address;
const ETHER = 10n ** 18n;

export async function startPublicChain(
  slug: PublicChain['slug'],
  provider: ProviderName,
): Promise<PublicChain> {
  const { id, tokens = [] } = readPreset(slug);
  const anvil = await startAnvil({
    chainId: id,
    blockTimeSeconds: 1,
    args: slug === 'arc' ? ['--block-base-fee-per-gas', '20000000000'] : [],
  });
  const token = (symbol: string) =>
    (tokens.find((each) => each.symbol === symbol)?.address ?? '').toLowerCase() as Address;
  const setNative = (to: Address, wei: bigint) => anvil.rpc('anvil_setBalance', [to, toHex(wei)]);

  async function send(from: Address, to: Address | undefined, data: Hex): Promise<Address | null> {
    const hash = await anvil.rpc<Hex>('eth_sendTransaction', [
      { from, ...(to && { to }), data, gas: '0x4c4b40' },
    ]);
    for (;;) {
      const receipt = await anvil.rpc<{ status: Hex; contractAddress: Address | null } | null>(
        'eth_getTransactionReceipt',
        [hash],
      );
      if (receipt?.status === '0x1') return receipt.contractAddress;
      // Asked again, the node says why.
      if (receipt) await anvil.rpc('eth_call', [{ from, to, data }, 'latest']);
      if (receipt) throw new Error(`${slug}: ${hash} reverted`);
      await new Promise((done) => setTimeout(done, 50));
    }
  }
  /** The code of a contract at a place of the real chain; `words`: short texts by storage slot. */
  async function put(place: Address, deployData: Hex, words: Record<number, string> = {}): Promise<void> {
    const made = await send(FUNDER, undefined, deployData);
    await anvil.rpc('anvil_setCode', [place, await anvil.rpc('eth_getCode', [made, 'latest'])]);
    for (const [slot, text] of Object.entries(words)) {
      const word = pad(stringToHex(text), { dir: 'right', size: 31 });
      await anvil.rpc('anvil_setStorageAt', [
        place,
        toHex(Number(slot), { size: 32 }),
        `${word}${toHex(2 * text.length, { size: 1 }).slice(2)}`,
      ]);
    }
  }

  await anvil.rpc('anvil_autoImpersonateAccount', [true]);
  await setNative(FUNDER, 1_000n * ETHER);
  if (slug === 'base') {
    // OpenZeppelin's ERC20 keeps name and symbol in its slots 3 and 4.
    await put(
      token('USDC'),
      encodeDeployData({ abi: devUsdAbi, bytecode: creationCodeOf('devnet/DevUsd'), args: ['USD Coin'] }),
      { 3: 'USD Coin', 4: 'USDC' },
    );
    await put(
      token('WETH'),
      encodeDeployData({
        abi: devTokenAbi,
        bytecode: creationCodeOf('devnet/DevToken'),
        args: ['Wrapped Ether', 'WETH', 18],
      }),
      { 3: 'Wrapped Ether', 4: 'WETH' },
    );
    await put(GAS_PRICE_ORACLE, creationCodeOf('test/DevGasOracle'));
    await send(
      FUNDER,
      GAS_PRICE_ORACLE,
      encodeFunctionData({ abi: devGasOracleAbi, functionName: 'set', args: [1_000_000n, true] }),
    );
  } else await put(token('USDC'), creationCodeOf('devnet/DevGasUsd'));

  const proxy = await startRpcProxy(anvil.url);
  const played = playProvider(provider);
  return {
    slug,
    anvil,
    proxy,
    provider: played,
    token,
    giveNative: async (to, units) => void (await setNative(to, units * ETHER)),
    mint: async (symbol, to, amount) =>
      void (await send(
        FUNDER,
        token(symbol),
        encodeFunctionData({ abi: devTokenAbi, functionName: 'mint', args: [to, amount] }),
      )),
    send: async (from, to, data) => void (await send(from, to, data)),
    async stop() {
      await proxy.stop();
      await anvil.stop();
    },
  };
}
