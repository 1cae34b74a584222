/** Tests when an api process calls a relayer able to pay, on a real chain. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { account, type Devnet, startDevnet, type TestChain } from '../../../test/support/devnet.ts';
import { watchRelayers } from './relayer.ts';

let devnet: Devnet;
let chain: TestChain;
beforeAll(async () => {
  devnet = await startDevnet([41_421]);
  chain = devnet.chains[0] as TestChain;
}, 60_000);
afterAll(() => devnet?.stop());

test('one account of several with what its operator demands is enough', async () => {
  const leastBalance = 10n ** 18n;
  const [first, second] = [account(41_421).address, account(41_422).address];
  const set = (address: string, wei: bigint) =>
    chain.anvil.rpc('anvil_setBalance', [address, `0x${wei.toString(16)}`]);
  await set(first, leastBalance - 1n);
  await set(second, leastBalance - 1n);
  const watched = watchRelayers(chain.port, [first, second], { maxFeePerGasCap: 10n ** 12n, leastBalance });
  const free = watchRelayers(chain.port, [first], { maxFeePerGasCap: 10n ** 12n, leastBalance: 0n });
  await expect.poll(free.healthy, { timeout: 20_000 }).toBe(true);
  expect(watched.healthy()).toBe(false);
  await set(second, leastBalance);
  const healthyNow = async () => {
    await chain.anvil.mine();
    return watched.healthy();
  };
  await expect.poll(healthyNow, { timeout: 20_000, interval: 200 }).toBe(true);
  await set(second, 0n);
  await expect.poll(healthyNow, { timeout: 20_000, interval: 200 }).toBe(false);
  for (const each of [watched, free]) each.stop();
});
