/** The route venue suite on a partner over HTTP: the example of the protocol, in a process of its own. */

import { account, startDevnet, type TestChain } from '../support/devnet.ts';
import { startTestPartner } from '../support/partner.ts';
import { drainUsdc } from '../support/trade.ts';
import { routeVenueConformance } from './route-venue-suite.ts';

routeVenueConformance('a partner over HTTP', async () => {
  const devnet = await startDevnet([31_431, 31_432], { landingMarginSeconds: 20, proofWindowSeconds: 60 });
  const [origin, dest] = devnet.chains as [TestChain, TestChain];
  const [owner, operator] = [account(6_910), account(6_911)];
  const inventory = 50_000_000_000n;
  for (const chain of [origin, dest]) await chain.fund(owner.address);
  await dest.deposit(owner.address, dest.usdc.address, inventory);
  const partner = await startTestPartner({ chains: [origin, dest], account: owner, operator });
  return {
    venue: partner.venue,
    origin,
    dest,
    inputToken: origin.usdc,
    outputToken: dest.usdc,
    amountIn: 1_000_000_000n,
    amountOut: 999_000_000n,
    tooMuch: 80_000_000_000n,
    worsen: () => drainUsdc(dest, owner.address),
    restore: () => dest.deposit(owner.address, dest.usdc.address, inventory),
    async stop() {
      await partner.stop();
      await devnet.stop();
    },
  };
});
