/**
 * What a cross-chain trade costs us to settle, on real chains: gas, and on one of them the fee for publishing
 * its data.
 */

import { encodeFunctionData } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GAS_PRICE_ORACLE } from '../../src/adapters/evm/chain/rollup-fees.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { isDecline } from '../../src/domain/decline.ts';
import type { ChainState } from '../../src/lp/routes/chain-state.ts';
import { createGas } from '../../src/lp/settlement/gas.ts';
import { createMarket } from '../../src/lp/market/market.ts';
import { createRoutes, type QuoteRoute } from '../../src/lp/routes/route.ts';
import { devGasOracleAbi } from '../support/abi/dev-gas-oracle.ts';
import { putCode } from '../support/code.ts';
import { account, DEPLOYER, type Devnet, startDevnet, type TestChain } from '../support/devnet.ts';
import { lpConfig } from '../support/lp.ts';
import { creationCodeOf } from '../../src/adapters/evm/deploy/creation-code.ts';

const owner = account(51);
let devnet: Devnet;
let op: TestChain;
let plain: TestChain;

beforeAll(async () => {
  devnet = await startDevnet([51_001, 51_002]);
  [op, plain] = devnet.chains as [TestChain, TestChain];
  await putCode(op, GAS_PRICE_ORACLE, creationCodeOf('test/DevGasOracle'));
});
afterAll(() => devnet.stop());

const charge = (weiPerByte: bigint, isFjord: boolean) =>
  op.send(
    DEPLOYER.address,
    GAS_PRICE_ORACLE,
    encodeFunctionData({ abi: devGasOracleAbi, functionName: 'set', args: [weiPerByte, isFjord] }),
  );

function desk() {
  const config = lpConfig(devnet, owner.address, { prices: { USD: { fixed: '1' }, ETH: { fixed: '2500' } } });
  const chains = new Map(
    config.chains.map((chain): [number, ChainState] => {
      const port = (chain.chainId === op.chain.id ? op : plain).port;
      return [
        chain.chainId,
        { port, config: chain, weiPerGas: undefined, extraFees: undefined, native: undefined },
      ];
    }),
  );
  const routes = createRoutes(
    config.chains.map((chain) => ({
      config: chain,
      chain: (chains.get(chain.chainId) as ChainState).port.chain,
    })),
    config.pairs,
  ).all;
  const gas = createGas({ chains, market: createMarket({ clock: systemClock }, config) }, config);
  const route = (from: TestChain, to: TestChain): QuoteRoute =>
    routes.find(
      ({ origin, dest, lp, pair }) =>
        origin.id === from.chain.id && dest.id === to.chain.id && lp === 'buy' && pair.base === 'WETH',
    ) ?? expect.fail('no route');
  const own = (from: TestChain, to: TestChain): bigint => {
    const cost = gas.own(route(from, to));
    return typeof cost === 'bigint' ? cost : expect.fail(cost.detail);
  };
  return { gas, chains, route, own };
}

/** USDC units for wei, at 2,500. */
const usdc = (wei: bigint) => (wei * 2_500n * 10n ** 6n + 10n ** 18n - 1n) / 10n ** 18n;

test.each([true, false])(
  'fill on the destination, proof and claim on the origin, each with its data where data is charged (Fjord: %s)',
  async (isFjord) => {
    await charge(10n ** 9n, isFjord);
    const { gas, chains, own } = desk();
    await gas.refresh(owner.address);
    const price = (chain: TestChain) => chains.get(chain.chain.id)?.weiPerGas as bigint;
    const data = (bytes: bigint) => (bytes + 68n) * 10n ** 9n;
    expect(chains.get(op.chain.id)?.extraFees).toEqual({
      fill: data(650n),
      prove: data(900n),
      claim: data(1_150n),
    });
    expect(own(plain, op)).toBe(usdc(price(op) * 150_000n + data(650n)) + usdc(price(plain) * 300_000n));
    expect(own(op, plain)).toBe(
      usdc(price(plain) * 150_000n) + usdc(price(op) * 300_000n + data(900n) + data(1_150n)),
    );
    expect(chains.get(plain.chain.id)?.extraFees).toEqual({ fill: 0n, prove: 0n, claim: 0n });
    expect(own(op, op)).toBe(0n);
  },
);

test('without a reading, or with an oracle that stops answering, there is no price; other chains are still read', async () => {
  const before = desk();
  expect(isDecline(before.gas.own(before.route(plain, op)) as object)).toBe(true);
  await op.anvil.rpc('anvil_setCode', [GAS_PRICE_ORACLE, '0x']);
  const { gas, chains, route } = desk();
  await expect(gas.refresh(owner.address)).rejects.toThrow(/getL1Fee view gave no valid answer/);
  expect(gas.own(route(plain, op))).toMatchObject({ declined: 'standby' });
  expect(chains.get(plain.chain.id)?.weiPerGas).toBeGreaterThan(0n);
});
