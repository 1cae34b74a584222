/**
 * The route venue suite on a bridge that really delivers. DEX adapters run the same suite beside their own
 * tests.
 */

import { TRANSACTION_MIGRATIONS } from '../../src/adapters/postgres/migrations/transactions.ts';
import { VENUE_MIGRATIONS } from '../../src/adapters/postgres/migrations/venue.ts';
import { fillFloat, startTestBridge } from '../support/bridge.ts';
import { account, startDevnet, type TestChain } from '../support/devnet.ts';
import { startTestPostgres } from '../support/postgres.ts';
import { drainUsdc } from '../support/trade.ts';
import { routeVenueConformance } from './route-venue-suite.ts';

routeVenueConformance('a bridge with a float', async () => {
  const [devnet, postgres] = await Promise.all([
    startDevnet([31_411, 31_412], { landingMarginSeconds: 20, proofWindowSeconds: 60 }),
    startTestPostgres(),
  ]);
  const db = await postgres.database('venue', [...VENUE_MIGRATIONS, ...TRANSACTION_MIGRATIONS]);
  const [origin, dest] = devnet.chains as [TestChain, TestChain];
  const float = account(6_900);
  const operator = account(6_901);
  const inventory = 50_000_000_000n;
  for (const chain of [origin, dest]) {
    await chain.fund(float.address);
    await chain.fund(operator.address, 0n);
    await chain.setOperator(float.address, operator.address);
  }
  await fillFloat(dest, float, inventory);
  const bridge = await startTestBridge({ account: float, operator, chains: [origin, dest], db });
  return {
    venue: bridge.venue,
    origin,
    dest,
    inputToken: origin.usdc,
    outputToken: dest.usdc,
    amountIn: 1_000_000_000n,
    amountOut: 999_000_000n,
    tooMuch: 80_000_000_000n,
    worsen: () => drainUsdc(dest, float.address),
    restore: () => fillFloat(dest, float, inventory),
    async stop() {
      await bridge.stop();
      await postgres.stop();
      await devnet.stop();
    },
  };
});
