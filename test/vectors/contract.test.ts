/**
 * TypeScript and Solidity are two spellings of one order: every hash of thousands of random orders, ours
 * against the contract library's on a real chain.
 */

import { toAddress } from '../../src/domain/address.ts';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import fc from 'fast-check';
import { createPublicClient, createWalletClient, http, type Abi, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { orderDigest, orderId, outputHash, type StandardOrder } from '../../src/domain/order.ts';
import { orderFromMessage, zOrderMessage } from '../../src/protocol/wire.ts';
import { startAnvil, type TestAnvil } from '../support/anvil.ts';
import { arbOrder } from '../support/arbitrary-order.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const RUNS = 2_000;
/** The first public development key: funded on every anvil. */
const DEV_KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';

let anvil: TestAnvil;
let hashes: (order: StandardOrder) => Promise<readonly [Hex, Hex, readonly Hex[]]>;
let domain: { chainId: number; escrow: Hex };

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 8453 });
  const { abi, bytecode } = compile('contracts/test/support/OrderHarness.sol', 'OrderHarness');
  const transport = http(anvil.url, { batch: { batchSize: 100 } });
  const reader = createPublicClient({ transport, pollingInterval: 20 });
  const wallet = createWalletClient({ account: privateKeyToAccount(DEV_KEY), transport });
  const hash = await wallet.deployContract({ abi, bytecode, chain: null });
  const { contractAddress } = await reader.waitForTransactionReceipt({ hash });
  if (!contractAddress) throw new Error('the harness was not deployed');
  domain = { chainId: anvil.chainId, escrow: toAddress(contractAddress) };
  hashes = (order) =>
    reader.readContract({
      address: contractAddress,
      abi,
      functionName: 'hashes',
      args: [order],
    }) as ReturnType<typeof hashes>;
});

afterAll(() => anvil?.stop());

async function expectEqual(order: StandardOrder): Promise<void> {
  const [id, digest, outputs] = await hashes(order);
  expect({ id, digest, outputs }).toEqual({
    id: orderId(domain, order),
    digest: orderDigest(domain, order),
    outputs: order.outputs.map(outputHash),
  });
}

test(`law: orderId, digest and output hashes equal the contract's over ${RUNS} random orders`, async () => {
  const orders = fc.sample(arbOrder, { numRuns: RUNS, seed: 20_261_120 });
  expect(orders).toHaveLength(RUNS);
  for (let at = 0; at < orders.length; at += 200)
    await Promise.all(orders.slice(at, at + 200).map(expectEqual));
});

test('the shared vectors too', async () => {
  const { orders } = JSON.parse(readFileSync(resolve(ROOT, 'test/vectors/orders.json'), 'utf8')) as {
    orders: { order: unknown }[];
  };
  expect(orders).toHaveLength(4);
  await Promise.all(orders.map(({ order }) => expectEqual(orderFromMessage(zOrderMessage.parse(order)))));
});

function compile(path: string, name: string): { abi: Abi; bytecode: Hex } {
  const solc = createRequire(import.meta.url)('solc') as {
    compile(input: string, options: { import(path: string): { contents: string } }): string;
  };
  const source = (file: string) =>
    readFileSync(resolve(ROOT, file.startsWith('@') ? `node_modules/${file}` : file), 'utf8');
  const settings = {
    optimizer: { enabled: true, runs: 200 },
    evmVersion: 'cancun',
    viaIR: true,
    outputSelection: { '*': { [name]: ['abi', 'evm.bytecode.object'] } },
  };
  const output = JSON.parse(
    solc.compile(
      JSON.stringify({ language: 'Solidity', sources: { [path]: { content: source(path) } }, settings }),
      { import: (file) => ({ contents: source(file) }) },
    ),
  ) as {
    errors?: { severity: string; formattedMessage: string }[];
    contracts: Record<string, Record<string, { abi: Abi; evm: { bytecode: { object: string } } }>>;
  };
  const broken = output.errors?.filter(({ severity }) => severity === 'error') ?? [];
  const contract = output.contracts?.[path]?.[name];
  if (broken.length > 0 || !contract)
    throw new Error(broken.map(({ formattedMessage }) => formattedMessage).join('\n'));
  return { abi: contract.abi, bytecode: `0x${contract.evm.bytecode.object}` };
}
