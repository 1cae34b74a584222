/** Links one LP on a real chain to an honest venue and to another one, which the test plays. */

import { createMetrics } from '../../src/adapters/prometheus/metrics.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { createLinkClient } from '../../src/adapters/ws/link-client.ts';
import type { LpNode } from '../../src/lp/node/interface.ts';
import type { Log } from '../../src/ports/log.ts';
import { account, type Devnet, startDevnet, type TestChain } from './devnet.ts';
import { createTestLp, lpConfig } from './lp.ts';
import { startTestPostgres } from './postgres.ts';
import { request, type ScriptedVenue, startScriptedVenue } from './scripted-venue.ts';
import { silentLog } from './silent.ts';

const [owner, operator] = [account(9_100), account(9_101)];
const USDC = 1_000_000n;

export interface TwoVenues {
  chain: TestChain;
  devnet: Devnet;
  honest: ScriptedVenue;
  lp: LpNode;
  /** Reads a series of the LP's metrics, with its labels; 0 if absent. */
  metric(series: string): Promise<number>;
  /** Returns the answer to this taker of a venue for 2,500 USDC: 'quote', or why there is none. */
  answerTo(taker: number, venue?: ScriptedVenue): Promise<string>;
  stop(): Promise<void>;
}

export async function startTwoVenues(
  chainId: number,
  otherUrl: (chain: TestChain) => Promise<string>,
  {
    config = {},
    log = silentLog,
    honestId,
    otherId,
  }: { config?: object; log?: Log; honestId?: string; otherId?: string } = {},
): Promise<TwoVenues> {
  const [devnet, postgres] = await Promise.all([startDevnet([chainId]), startTestPostgres()]);
  const chain = devnet.chains[0] as TestChain;
  await chain.fund(owner.address);
  await Promise.all([
    chain.deposit(owner.address, chain.usdc.address, 100_000n * USDC),
    chain.deposit(owner.address, chain.weth.address, 100n * 10n ** 18n),
    chain.setOperator(owner.address, operator.address),
  ]);
  await chain.anvil.mine(2);
  await chain.anvil.rpc('evm_setIntervalMining', [1]);
  const honest = await startScriptedVenue([chain.chain]);
  const metrics = createMetrics();
  const links = Object.entries({ honest: honest.url, other: await otherUrl(chain) }).map(([name, url]) =>
    createLinkClient(
      { clock: systemClock, log },
      { name, url, apiKey: 'fq_test_solver', venueId: name === 'other' ? otherId : honestId },
    ),
  );
  const lp = await createTestLp({
    devnet,
    postgres,
    venueUrl: honest.url,
    operator,
    schema: 'lp_two_venues',
    config: lpConfig(devnet, owner.address, config),
    more: { links, metrics, log },
    alone: true,
  });
  await lp.start();
  await honest.until(({ status }) => status === 'active');
  return {
    chain,
    devnet,
    honest,
    lp,
    async metric(series) {
      const line = (await metrics.text()).split('\n').find((each) => each.startsWith(`${series} `));
      return Number(line?.slice(series.length + 1) ?? 0);
    },
    async answerTo(taker, venue = honest) {
      const answer = await venue.ask(
        request({
          from: chain.chain,
          to: chain.chain,
          give: chain.usdc,
          take: chain.weth,
          amount: 2_500n * USDC,
          taker: account(taker).address,
        }),
      );
      return answer.type === 'decline' ? `${answer.reason} ${answer.code ?? ''}` : answer.type;
    },
    async stop() {
      await lp.stop();
      await honest.stop();
      await Promise.all([devnet.stop(), postgres.stop()]);
    },
  };
}
