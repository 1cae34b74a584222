/**
 * The route venue suite on a bridge that really delivers. DEX adapters run the same suite beside their own
 * tests.
 */

import { addressToBytes32 } from '../../src/domain/hex.ts';
import { fillCall } from '../../src/settlement/call.ts';
import { createTestBridge } from '../support/bridge.ts';
import { account, startDevnet, type TestChain } from '../support/devnet.ts';
import { random32 } from '../support/trade.ts';
import { routeVenueConformance } from './route-venue-suite.ts';

routeVenueConformance('a bridge with an account of its own', async () => {
  const devnet = await startDevnet([31_411, 31_412], { landingMarginSeconds: 20, proofWindowSeconds: 60 });
  const [origin, dest] = devnet.chains as [TestChain, TestChain];
  const bridge = account(6_900);
  const inventory = 50_000_000_000n;
  for (const chain of [origin, dest]) await chain.fund(bridge.address);
  await dest.deposit(bridge.address, dest.usdc.address, inventory);
  return {
    venue: createTestBridge({ account: bridge, chains: [origin, dest] }),
    origin,
    dest,
    inputToken: origin.usdc,
    outputToken: dest.usdc,
    amountIn: 1_000_000_000n,
    amountOut: 999_000_000n,
    tooMuch: 80_000_000_000n,
    // Its money leaves by the fastest way there is: a fill of nobody's order, to itself.
    async worsen() {
      const amount = await dest.port.ledgerBalance(bridge.address, dest.usdc.address);
      const output = {
        oracle: addressToBytes32(dest.chain.oracle),
        settler: addressToBytes32(dest.chain.escrow),
        chainId: BigInt(dest.chain.id),
        token: addressToBytes32(dest.usdc.address),
        amount,
        recipient: addressToBytes32(bridge.address),
        callbackData: '0x',
        context: '0x',
      } as const;
      await dest.send(
        bridge.address,
        dest.chain.escrow,
        fillCall(random32(), output, 0xffff_ffff, bridge.address),
      );
    },
    restore: () => dest.deposit(bridge.address, dest.usdc.address, inventory),
    stop: () => devnet.stop(),
  };
});
