/** An LP with money on one chain and a venue that the test plays, for tests at the link between them. */

import type { LpNode } from '../../src/lp/node/interface.ts';
import type { Log } from '../../src/ports/log.ts';
import { type Devnet, type DevnetOptions, startDevnet, type TestAccount, type TestChain } from './devnet.ts';
import { createTestLp, lpConfig } from './lp.ts';
import { startTestPostgres } from './postgres.ts';
import { type ScriptedVenue, startScriptedVenue } from './scripted-venue.ts';

interface OneChainLp {
  devnet: Devnet;
  chain: TestChain;
  venue: ScriptedVenue;
  lp: LpNode;
  stop(): Promise<void>;
}

interface OneChainLpOptions {
  chainId: number;
  devnet?: DevnetOptions;
  owner: TestAccount;
  operator: TestAccount;
  /** Accounts that have tokens in their wallets beside the owner's. */
  others?: readonly TestAccount[];
  /** The owner's USDC in the escrow, in base units; `weth` likewise. */
  usdc: bigint;
  weth: bigint;
  schema: string;
  /** Changes to the configuration of other tests. */
  config?: object;
  log?: Log;
}

/** Resolves when the LP quotes. */
export async function startOneChainLp({
  chainId,
  devnet: devnetOptions,
  owner,
  operator,
  others = [],
  usdc,
  weth,
  schema,
  config,
  log,
}: OneChainLpOptions): Promise<OneChainLp> {
  const [devnet, postgres] = await Promise.all([startDevnet([chainId], devnetOptions), startTestPostgres()]);
  const chain = devnet.chains[0] as TestChain;
  await chain.fundAll([owner, ...others].map(({ address }) => ({ address, wholeTokens: 1_000_000n })));
  await Promise.all([
    chain.deposit(owner.address, chain.usdc.address, usdc),
    chain.deposit(owner.address, chain.weth.address, weth),
    chain.setOperator(owner.address, operator.address),
  ]);
  await chain.anvil.mine(2);
  const venue = await startScriptedVenue([chain.chain]);
  const lp = await createTestLp({
    devnet,
    postgres,
    venueUrl: venue.url,
    operator,
    schema,
    config: lpConfig(devnet, owner.address, config),
    ...(log && { more: { log } }),
  });
  await lp.start();
  await venue.until(({ status }) => status === 'active');
  return {
    ...{ devnet, chain, venue, lp },
    async stop() {
      await lp.stop();
      await venue.stop();
      await Promise.all([devnet.stop(), postgres.stop()]);
    },
  };
}
