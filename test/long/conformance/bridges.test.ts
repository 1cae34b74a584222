/** The bridge suite on every bridge. */

import { startCctp } from '../../support/cctp.ts';
import { startDevnet, type TestChain } from '../../support/devnet.ts';
import { bridgeConformance } from '../../conformance/bridge-suite.ts';

bridgeConformance('CCTP between a chain like Base and one like Arc', async () => {
  const devnet = await startDevnet([31_431, 31_432], { arcIds: [31_432] });
  const [base, arc] = devnet.chains as [TestChain, TestChain];
  const cctp = await startCctp([
    { chain: base, domain: 6 },
    { chain: arc, domain: 26, isFinalAtOnce: true },
  ]);
  const { circle } = cctp;
  return {
    open: () => cctp.open(),
    sides: [
      { chain: base, token: base.usdc },
      { chain: arc, token: arc.usdc },
    ],
    account: cctp.account,
    mover: cctp.mover.address,
    amount: 25_000_000_000n,
    tooMuch: 10_000_000_000_001n,
    tooLittle: 1n,
    async settle() {
      for (const { anvil } of [base, arc]) await anvil.mine(1);
    },
    feesTaken: ({ chain, token }) => chain.port.tokenBalance(cctp.feeRecipient, token.address),
    makeDear: async () => circle.setFees({ fast: 25, standard: 21 }),
    async restore() {
      circle.setFaults({});
      circle.setFees({ fast: 1.3, standard: 0 });
    },
    faults: [
      {
        name: 'it has not seen the burn',
        begin: async () => circle.setFaults({ status: 404 }),
        follow: 'waiting',
        says: /not seen/,
      },
      {
        name: 'it takes no more requests',
        begin: async () => circle.setFaults({ status: 429, retryAfter: 300 }),
        follow: 'throws',
        says: /for 300 s/,
      },
      {
        name: 'it fails',
        begin: async () => circle.setFaults({ status: 503 }),
        follow: 'throws',
        says: /503/,
      },
      {
        name: 'it breaks connections',
        begin: async () => circle.setFaults({ reset: true }),
        follow: 'throws',
        says: /ECONNRESET/,
      },
      {
        name: 'it is too slow',
        begin: async () => circle.setFaults({ delayMs: 1_500 }),
        follow: 'throws',
        says: /within 1000 ms/,
      },
      {
        name: 'its answer is no JSON',
        begin: async () => circle.setFaults({ garbage: true }),
        follow: 'throws',
        says: /cannot be read/,
      },
      {
        name: 'it does not attest',
        begin: async () => circle.setFaults({ pending: true }),
        follow: 'waiting',
        says: /final/,
      },
      {
        name: 'it attests another recipient',
        begin: async () =>
          circle.setFaults({
            change: (message) => ({ ...message, mintRecipient: `0x${'00'.repeat(12)}${'ee'.repeat(20)}` }),
          }),
        follow: 'stuck',
        says: /mintRecipient/,
      },
      {
        name: 'it attests another amount',
        begin: async () =>
          circle.setFaults({ change: (message) => ({ ...message, amount: message.amount * 2n }) }),
        follow: 'stuck',
        says: /amount/,
      },
      {
        name: 'it takes a larger fee than was allowed',
        begin: async () =>
          circle.setFaults({ change: (message) => ({ ...message, fee: message.maxFee + 1n }) }),
        follow: 'stuck',
        says: /fee/,
      },
      {
        name: 'somebody else signed',
        begin: async () => circle.setFaults({ forge: true }),
        follow: 'stuck',
        says: /not attester/,
      },
      {
        name: 'its attestation has expired',
        begin: async () => circle.setFaults({ change: (message) => ({ ...message, expirationBlock: 1n }) }),
        follow: 'waiting',
        says: /expired/,
      },
    ],
    async stop() {
      await cctp.stop();
      await devnet.stop();
    },
  };
});
