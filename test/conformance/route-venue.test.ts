/**
 * The route venue suite on bridges that really deliver from a float, by what refills it. DEX adapters,
 * issuers and partners run the same suite beside their own tests.
 */

import { TRANSACTION_MIGRATIONS } from '../../src/adapters/postgres/migrations/transactions.ts';
import { VENUE_MIGRATIONS } from '../../src/adapters/postgres/migrations/venue.ts';
import type { Bridge } from '../../src/ports/bridge.ts';
import { startCctp } from '../support/cctp.ts';
import { startOft } from '../support/oft.ts';
import { fillFloat, startTestBridge } from '../support/bridge.ts';
import { account, startDevnet, type TestChain } from '../support/devnet.ts';
import { startTestPostgres } from '../support/postgres.ts';
import { drainUsdc } from '../support/trade.ts';
import { routeVenueConformance } from './route-venue-suite.ts';

/** What may bring the money back, between these chains. */
type RefillBy = (origin: TestChain, dest: TestChain) => Promise<{ bridge: Bridge; stop(): Promise<void> }>;

const REFILLS: Readonly<Record<string, RefillBy | undefined>> = {
  'a bridge with a float': undefined,
  'a float that CCTP refills': async (origin, dest) => {
    const cctp = await startCctp([
      { chain: origin, domain: 6 },
      { chain: dest, domain: 26, isFinalAtOnce: true },
    ]);
    return { bridge: cctp.open({ fast: false }), stop: cctp.stop };
  },
  'a float that an OFT refills': async (origin, dest) => {
    const oft = await startOft([
      { chain: origin, eid: 30_101, token: origin.usdc },
      { chain: dest, eid: 30_111, token: dest.usdc },
    ]);
    return { bridge: oft.open(), stop: async () => {} };
  },
};

for (const [name, refillBy] of Object.entries(REFILLS))
  routeVenueConformance(name, async () => {
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
    const refill = await refillBy?.(origin, dest);
    const bridge = await startTestBridge({
      ...{ account: float, operator, chains: [origin, dest], db },
      ...(refill && { refillBy: [refill.bridge] }),
    });
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
        await refill?.stop();
        await postgres.stop();
        await devnet.stop();
      },
    };
  });
