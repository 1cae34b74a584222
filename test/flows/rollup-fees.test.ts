/** What a rollup charges beyond gas is in the relay fee, in the taker's own cost, and in the receipt. */

import { encodeFunctionData } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createChain } from '../../src/adapters/evm/chain/chain.ts';
import { GAS_PRICE_ORACLE } from '../../src/adapters/evm/chain/rollup-fees.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import type { Hex } from '../../src/domain/hex.ts';
import { devGasOracleAbi } from '../support/abi/dev-gas-oracle.ts';
import { openForCall, settleCall, withdrawDeferredCall } from '../../src/settlement/call.ts';
import { encodeFunding } from '../../src/settlement/funding.ts';
import type { ChainPort } from '../../src/ports/chain.ts';
import type { VenueDeps } from '../../src/venue/deps.ts';
import type { Prices } from '../../src/venue/market/prices.ts';
import { createRelayFees, type Shape } from '../../src/venue/quoting/relay-fee.ts';
import { startRpcProxy } from '../faults/support/rpc-proxy.ts';
import { putCode } from '../support/code.ts';
import { account, DEPLOYER, type Devnet, startDevnet, type TestChain } from '../support/devnet.ts';
import { silentLog, silentMetrics } from '../support/silent.ts';
import { creationCodeOf } from '../../src/adapters/evm/deploy/creation-code.ts';

const WEI_PER_BYTE = 10n ** 9n;
/** Per million gas, and a constant: the values of a public report of a receipt. */
const SCALAR = 500_000n;
const CONSTANT = 10_000_000_000n;
const SIGNATURE_BYTES = 68n;

let devnet: Devnet;
let rollup: TestChain;
let plain: TestChain;

beforeAll(async () => {
  devnet = await startDevnet([51_011, 51_012]);
  [rollup, plain] = devnet.chains as [TestChain, TestChain];
  await putOracle(rollup);
});
afterAll(() => devnet.stop());

async function putOracle(chain: TestChain): Promise<void> {
  await putCode(chain, GAS_PRICE_ORACLE, creationCodeOf('test/DevGasOracle'));
  const set = (functionName: 'set' | 'setOperatorFee', args: [bigint, boolean] | [bigint, bigint]) =>
    chain.send(
      DEPLOYER.address,
      GAS_PRICE_ORACLE,
      encodeFunctionData({ abi: devGasOracleAbi, functionName, args } as Parameters<
        typeof encodeFunctionData
      >[0]),
    );
  await set('set', [WEI_PER_BYTE, true]);
  await set('setOperatorFee', [SCALAR, CONSTANT]);
}

const dataFee = (bytes: bigint) => (bytes + SIGNATURE_BYTES) * WEI_PER_BYTE;
const operatorFee = (gas: bigint) => (gas * SCALAR) / 1_000_000n + CONSTANT;

test.each([650, 1_000, 1_900, 5_000, 40_000])('%i bytes cost what the oracle says', async (unsignedBytes) => {
  const feeOf = await rollup.port.rollupFees();
  expect(feeOf({ unsignedBytes, gas: 230_000n })).toBe(
    dataFee(BigInt(unsignedBytes)) + operatorFee(230_000n),
  );
});

test('a chain without the oracle charges nothing', async () => {
  const feeOf = await plain.port.rollupFees();
  expect(feeOf({ unsignedBytes: 100_000, gas: 30_000_000n })).toBe(0n);
});

test('an oracle that gives no answer is no oracle that charges nothing', async () => {
  // Code that answers every call with nothing.
  await plain.anvil.rpc('anvil_setCode', [GAS_PRICE_ORACLE, '0x00']);
  const fresh = createChain(plain.chain, {
    rpcUrls: [plain.anvil.url],
    clock: systemClock,
    log: silentLog,
    metrics: silentMetrics,
  });
  await expect(fresh.rollupFees()).rejects.toMatchObject({ code: 'view_failed' });
  await plain.anvil.rpc('anvil_setCode', [GAS_PRICE_ORACLE, '0x']);
  await fresh.close();
});

/** One unit of the input for one wei, and a relayer that can pay or not. */
async function relayFees(port: ChainPort, healthy: boolean) {
  const id = port.chain.id;
  const fees = createRelayFees(
    {
      chains: new Map([[id, port]]),
      relayers: new Map([[id, { healthy: () => healthy }]]) as unknown as VenueDeps['relayers'],
      prices: { tokenForNativeUp: (_token: unknown, _native: unknown, wei: bigint) => wei } as Prices,
      log: silentLog,
    },
    new Map([[id, { relayBufferBps: 0 }]]),
  );
  await fees.start();
  const terms = (shape: Shape) => fees.terms(id, rollup.usdc, shape);
  return { ...fees, terms };
}

test.each<[string, Shape, bigint]>([
  ['a settlement', { crossChain: false, outputs: 1 }, 1_900n],
  ['a split', { crossChain: false, outputs: 3 }, 1_900n + 2n * 720n],
  ['an opening', { crossChain: true, outputs: 1 }, 1_550n],
  ['a settlement through a filler', { crossChain: false, outputs: 1, fillGas: 100_000n }, 2_000n],
])('%s: relayer and taker are charged its bytes and gas', async (_, shape, bytes) => {
  const id = rollup.chain.id;
  const landed = await relayFees(rollup.port, true);
  const { settleGas, outputGas, openGas, throughGas } = landed.settings(id);
  const gas = shape.crossChain
    ? openGas
    : shape.fillGas === undefined
      ? settleGas + outputGas * BigInt(shape.outputs - 1)
      : throughGas + shape.fillGas;
  const wei = ({ weiPerGas }: typeof landed) =>
    (weiPerGas(id) ?? 0n) * gas + dataFee(bytes) + operatorFee(gas);
  expect(landed.terms(shape)).toEqual({ executionMode: 'apiSubmit', relayFee: wei(landed), takerGasWei: 0n });
  const broadcast = await relayFees(rollup.port, false);
  expect(broadcast.terms(shape)).toMatchObject({
    executionMode: 'walletBroadcast',
    takerGasWei: wei(broadcast),
  });
  for (const fees of [landed, broadcast]) fees.stop();
});

test('a chain whose fees were never read charges nobody a guess: the taker sends', async () => {
  const unread = { ...rollup.port, fees: () => Promise.reject(new Error('away')) };
  const fees = await relayFees(unread, true);
  expect(fees.terms({ crossChain: false, outputs: 1 })).toEqual({
    executionMode: 'walletBroadcast',
    relayFee: 0n,
    takerGasWei: 0n,
  });
  fees.stop();
});

test('the sizes that are charged are those of real transactions with the longest funding of a key', () => {
  const word: Hex = `0x${'00'.repeat(12)}${'ab'.repeat(20)}`;
  const address: Hex = `0x${'cd'.repeat(20)}`;
  const signature: Hex = `0x${'12'.repeat(65)}`;
  const output = {
    ...{ oracle: word, settler: word, chainId: 8_453n, token: word, amount: 10n ** 18n, recipient: word },
    callbackData: '0x' as Hex,
    context: `0x${'ef'.repeat(58)}` as Hex,
  };
  const order = (outputs: number) => ({
    ...{ user: address, nonce: 5n, originChainId: 8_453n, expires: 1, fillDeadline: 1 },
    inputOracle: address,
    inputs: [[1n, 2n]] as const,
    outputs: Array.from({ length: outputs }, () => output),
  });
  const funding = encodeFunding({
    mode: 'eip3009',
    orderSignature: signature,
    validAfter: 0n,
    validBefore: 1n,
    nonce: word,
    authSignature: signature,
  });
  const commitment = { lp: address, deadline: 1, signature };
  /** What a signed transaction has beside its calldata: fees, nonce, gas, address and their lengths. */
  const envelope = 80;
  const bytes = (data: Hex) => (data.length - 2) / 2 + envelope;
  const settle = (outputs: number) =>
    bytes(
      settleCall(
        order(outputs),
        funding,
        word,
        Array.from({ length: outputs }, () => commitment),
      ),
    );
  const near = (charged: number, real: number) => {
    expect(charged).toBeGreaterThanOrEqual(real);
    expect(charged).toBeLessThan(real + 200);
  };
  near(1_900, settle(1));
  near(720, settle(2) - settle(1));
  near(1_550, bytes(openForCall(order(1), funding)));
  near(600, bytes(withdrawDeferredCall(word, output)));
});

test('a receipt counts the fee for data and the fee of the operator', async () => {
  const proxy = await startRpcProxy(rollup.anvil.url);
  const port = createChain(rollup.chain, {
    rpcUrls: [proxy.url],
    clock: systemClock,
    log: silentLog,
    metrics: silentMetrics,
  });
  proxy.fault('eth_getTransactionReceipt', {
    do: 'lie',
    answer: (honest) => ({
      ...(honest as object),
      l1Fee: '0x3e8',
      operatorFeeScalar: '0x7a120',
      operatorFeeConstant: '0x2540be400',
    }),
  });
  await rollup.fund(account(77).address);
  const hash = await rollup.send(DEPLOYER.address, account(77).address, '0x');
  const receipt = await port.receipt(hash);
  expect(receipt?.rollupFee).toBe(1_000n + operatorFee(receipt?.gasUsed ?? 0n));
  expect((await rollup.port.receipt(hash))?.rollupFee).toBe(0n);
  await port.close();
  await proxy.stop();
});
