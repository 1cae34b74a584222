/** The bridge suite on an OFT: locked on one chain, minted on the other. */

import { encodeFunctionData } from 'viem';
import { expect } from 'vitest';
import type { TokenInfo } from '../../../src/domain/chain.ts';
import { startDevnet, type TestChain } from '../../support/devnet.ts';
import { NATIVE_FEE, startOft } from '../../support/oft.ts';
import { devTokenAbi } from '../../../src/adapters/evm/deploy/abi/dev-token.ts';
import { bridgeConformance } from '../../conformance/bridge-suite.ts';

/** Base units of a token of 18 decimals that are one of a message of 6. */
const UNIT = 10n ** 12n;

/** Each block takes a second at least, so the chain with more of them runs ahead of the other. */
async function sameTime(chains: readonly TestChain[]): Promise<void> {
  const times = await Promise.all(
    chains.map(async ({ anvil }) =>
      Number((await anvil.rpc<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false])).timestamp),
    ),
  );
  const latest = Math.max(...times);
  for (const [at, { anvil }] of chains.entries())
    if (times[at] !== latest) await anvil.advance(latest - (times[at] ?? 0));
  await expect.poll(() => chains.every(({ port }) => (port.head()?.timestamp ?? 0) >= latest)).toBe(true);
}

for (const isReal of [false, true])
  bridgeConformance(
    `OFT over ${isReal ? 'the endpoint of LayerZero' : 'the endpoint of devnets'}`,
    async () => {
      const devnet = await startDevnet(isReal ? [31_435, 31_436] : [31_433, 31_434], { moreTokens: 1 });
      const [a, b] = devnet.chains as [TestChain, TestChain];
      const locked = a.chain.tokens[2] as TokenInfo;
      const oft = await startOft(
        [
          { chain: a, eid: 30_101, token: locked },
          { chain: b, eid: 30_184, token: null },
        ],
        { isReal },
      );
      const [adapter, minted] = oft.deployments as [(typeof oft.deployments)[0], (typeof oft.deployments)[0]];
      // What is on the other chain is locked here.
      await oft.own(
        a,
        locked.address,
        encodeFunctionData({ abi: devTokenAbi, functionName: 'mint', args: [adapter.oft, 10n ** 26n] }),
      );
      return {
        open: () => oft.open(),
        sides: [
          { chain: a, token: locked },
          { chain: b, token: { ...locked, symbol: 'OFT', address: minted.token } },
        ],
        account: oft.account,
        amount: 25_000n * 10n ** 18n,
        tooMuch: 2n ** 64n * UNIT,
        tooLittle: UNIT - 1n,
        async settle() {
          for (const { anvil } of [a, b]) await anvil.mine(1);
          await oft.verify();
          await sameTime([a, b]);
        },
        feesTaken: async () => 0n,
        makeDear: () => oft.setFee(3n * NATIVE_FEE),
        async restore() {
          oft.setFaults({});
          await oft.setFee(NATIVE_FEE);
          await oft.setPaused(1, false);
        },
        faults: [
          {
            name: 'its verifiers do not verify',
            begin: async () => oft.setFaults({ silent: true }),
            follow: 'waiting',
            says: /have not verified/,
          },
          {
            name: 'they verify another packet',
            begin: async () => oft.setFaults({ forge: true }),
            follow: 'stuck',
            says: /another packet/,
          },
          {
            name: 'the owner takes the verification back',
            async begin() {
              await oft.nilifyNewest(1);
              oft.setFaults({ silent: true });
            },
            follow: 'stuck',
            says: /took the verification .* back/,
          },
          {
            name: 'the OFT is paused',
            begin: () => oft.setPaused(1, true),
            follow: 'stuck',
            says: /refuses the delivery/,
          },
        ],
        stop: () => devnet.stop(),
      };
    },
  );
