/** Tests what a development chain's pool does to transactions in quick succession. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { startAnvil, type TestAnvil } from '../../../../test/support/anvil.ts';
import { DEPLOYER } from '../../../../test/support/devnet.ts';
import { until } from '../../../../test/support/venue.ts';
import { connectDev } from './deploy.ts';

let anvil: TestAnvil;
beforeAll(async () => void (anvil = await startAnvil({ chainId: 31_511 })));
afterAll(() => anvil.stop());

test('transactions that the pool queued behind a mined one are mined too', async () => {
  const nonceIs = (nonce: number) =>
    anvil.rpc('anvil_setNonce', [DEPLOYER.address, `0x${nonce.toString(16)}`]);
  await nonceIs(5);
  const dev = await connectDev({
    rpcUrl: anvil.url,
    chainId: 31_511,
    deployerPrivateKey: DEPLOYER.privateKey,
  });
  await nonceIs(4);
  for (let i = 0; i < 3; i++) dev.send(DEPLOYER.address, '0x');
  await until(async () => (await anvil.rpc<{ queued: string }>('txpool_status', [])).queued === '0x3');
  // As it is after the race: the fourth is over, and the pool does not know.
  await nonceIs(5);
  await dev.settled();
  expect(await anvil.rpc('eth_getTransactionCount', [DEPLOYER.address, 'latest'])).toBe('0x8');
});
