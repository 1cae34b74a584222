/**
 * Contracts that use up all gas or answer with megabytes, read together with honest ones: a taker chooses its
 * wallet, and a listed token may change.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { createViewCaller } from '../../src/adapters/evm/chain/multicall.ts';
import { type ChainRpc, createRpc } from '../../src/adapters/evm/rpc/rpc.ts';
import type { Address } from '../../src/domain/hex.ts';
import { type Devnet, startDevnet, type TestChain } from '../support/devnet.ts';

const BURNER: Address = `0x${'b1'.repeat(20)}`;
const BOMB: Address = `0x${'b0'.repeat(20)}`;
const CODE: Record<Address, Hex> = {
  // An endless loop.
  [BURNER]: '0x5b600056',
  // Returns a megabyte.
  [BOMB]: '0x621000006000f3',
};

let devnet: Devnet;
let chain: TestChain;
let rpc: ChainRpc;

beforeAll(async () => {
  devnet = await startDevnet([31_471]);
  [chain] = devnet.chains as [TestChain];
  for (const [address, code] of Object.entries(CODE)) await chain.anvil.rpc('anvil_setCode', [address, code]);
  rpc = createRpc([chain.anvil.url]);
});
afterAll(async () => {
  rpc.close();
  await devnet.stop();
});

const balanceOf = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [BURNER] });

test.each([
  ['use up all gas', BURNER],
  ['answer with a megabyte', BOMB],
])('views of contracts that %s: the views of others in the same bundle are answered', async (_, hostile) => {
  const view = createViewCaller(rpc);
  const bundle = (withHostile: boolean) =>
    Promise.all([
      ...(withHostile
        ? [1, 2, 3, 4, 5, 6].map(() => view(hostile, balanceOf, undefined).catch(() => {}))
        : []),
      ...[1, 2, 3, 4].map(() => view(chain.usdc.address, balanceOf, undefined)),
    ]);
  const honest = await bundle(false);
  expect(honest.every((answer) => answer?.length === 66)).toBe(true);
  expect((await bundle(true)).slice(-4)).toEqual(honest);
});

test('checks of wallets that answer with a megabyte each: the calls of the same moment are answered', async () => {
  const wallets = Array.from({ length: 12 }, () =>
    rpc.request<Hex>('eth_call', [{ to: BOMB }, 'latest']).then(
      (answer) => answer.length,
      (error: Error) => error.message,
    ),
  );
  const [id, head] = await Promise.all([
    rpc.request('eth_chainId', []),
    rpc.request<{ number: Hex }>('eth_getBlockByNumber', ['latest', false]),
  ]);
  expect([id, BigInt(head.number) >= 0n]).toEqual([`0x${(31_471).toString(16)}`, true]);
  expect(new Set(await Promise.all(wallets))).toEqual(new Set([2 + 2 * 2 ** 20]));
});
