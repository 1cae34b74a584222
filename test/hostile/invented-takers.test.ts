/** Takers that one API key invents reach a real LP: other workspaces keep its inventory, nothing remains. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMetrics } from '../../src/adapters/prometheus/metrics.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { createLinkClient } from '../../src/adapters/ws/link-client.ts';
import { assetId } from '../../src/domain/asset.ts';
import type { LpNode } from '../../src/lp/node/interface.ts';
import { account } from '../support/devnet.ts';
import { createTestLp, lpConfig } from '../support/lp.ts';
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts';
import { silentLog } from '../support/silent.ts';
import { UNLIMITED } from '../support/unlimited.ts';
import { type Answer, startTestVenue, type TestVenue, until } from '../support/venue.ts';

const [owner, operator] = [account(9_100), account(9_101)];
/** For about 1 of the 100 WETH that the LP has. */
const USDC_PER_WETH = 2_500_000_000n;
const REQUESTS = 150;
/** `npm run soak -- --hostile` invents 100,000. */
const TAKERS = 1_500;
const AT_ONCE = 30;
const LITTLE = 100_000_000n;

const metrics = createMetrics();
let postgres: TestPostgres;
let v: TestVenue;
let lp: LpNode;
let honest: string;

beforeAll(async () => {
  [v, postgres] = await Promise.all([
    startTestVenue({ chainIds: [31_464], metrics, rates: { openQuotes: 10_000 } }),
    startTestPostgres(),
  ]);
  const { chain } = v;
  await chain.fund(owner.address);
  await chain.deposit(owner.address, chain.usdc.address, 250_000n * 10n ** 6n);
  await chain.deposit(owner.address, chain.weth.address, 100n * 10n ** 18n);
  await chain.setOperator(owner.address, operator.address);
  await chain.anvil.mine(2);
  await chain.anvil.rpc('evm_setIntervalMining', [1]);
  await v.store.putSolver({ id: 'lp-a', name: 'Alpha', kind: 'lp', corridors: null, disabled: false });
  await v.bus.publish('solvers', 'lp-a');
  await until(() => v.venue.roster.entry('lp-a'));
  const apiKey = await v.key('solver', { solverId: 'lp-a' });
  lp = await createTestLp({
    devnet: v.devnet,
    postgres,
    venueUrl: v.url,
    operator,
    schema: 'lp_invented_takers',
    config: lpConfig(v.devnet, owner.address, {
      risk: UNLIMITED.risk,
      quoting: { pointsSeconds: [], validitySeconds: 60, maxValiditySeconds: 60 },
    }),
    more: {
      links: [
        createLinkClient({ clock: systemClock, log: silentLog }, { name: 'venue', url: v.url, apiKey }),
      ],
    },
    alone: true,
  });
  await lp.start();
  await until(() => v.venue.roster.entry('lp-a')?.status === 'active');
  honest = await v.key('service');
}, 120_000);
afterAll(async () => {
  await lp?.stop();
  await v?.stop();
  await postgres?.stop();
});

const taker = (n: number): string => `0x${(0xabc0_0000 + n).toString(16).padStart(40, '0')}`;

const ask = (key: string, n: number, amount = USDC_PER_WETH, path = 'rfq/quotes'): Promise<Answer> =>
  v.call('POST', `/api/v1/${path}`, {
    key,
    body: {
      taker: taker(n),
      input: {
        asset: assetId({ chainId: v.chain.chain.id, token: v.chain.usdc.address }),
        amount: amount.toString(),
      },
      output: { asset: assetId({ chainId: v.chain.chain.id, token: v.chain.weth.address }) },
    },
  });
const quoted = ({ json }: Answer): boolean => (json['quotes'] as unknown[] | undefined)?.length === 1;

test('takers that one workspace invents leave inventory for the takers of another', async () => {
  await v.workspace('hostile');
  // A second key of the workspace gets no second part.
  const keys = [
    await v.key('service', { workspaceId: 'hostile' }),
    await v.key('service', { workspaceId: 'hostile' }),
  ];
  const answers = await Promise.all(
    Array.from({ length: REQUESTS }, (_, n) => ask(keys[n % 2] as string, n)),
  );
  const given = answers.filter(quoted).length;
  expect(given).toBeGreaterThan(40);
  expect(given).toBeLessThan(80);
  const last = await ask(keys[0] as string, REQUESTS);
  expect([last.status, last.json['error']?.['code']]).toEqual([429, 'rate_limited']);
  expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await ask(keys[1] as string, REQUESTS + 1, USDC_PER_WETH, 'router/quotes')).status).toBe(429);
  for (let n = 0; n < 10; n += 1) expect(quoted(await ask(honest, 10_000 + n))).toBe(true);
  expect(await metrics.text()).toMatch(/firmquote_venue_unsubmitted_total\{result="refused"\} [1-9]/);
});

test(
  `${TAKERS} distinct takers that reach the LP leave nothing at venue and LP`,
  { timeout: 120_000 },
  async () => {
    await v.workspace('crowd');
    await v.chain.deposit(owner.address, v.chain.weth.address, 200n * 10n ** 18n);
    await v.chain.anvil.mine(2);
    const key = await v.key('service', { workspaceId: 'crowd' });
    let asked = 0;
    const refusals = new Set<string>();
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        while (asked < TAKERS) {
          const answer = await ask(key, 100_000 + (asked += 1), LITTLE);
          if (!quoted(answer)) refusals.add(answer.text.slice(-200));
        }
      }),
    );
    expect([...refusals]).toEqual([]);
    expect(quoted(await ask(honest, 20_000))).toBe(true);
    const live = async () =>
      Number(/^firmquote_venue_open_quote_groups (\d+)$/m.exec(await metrics.text())?.[1]);
    expect(await live()).toBeGreaterThan(100);
    expect(lp.status().liveQuotes).toBeGreaterThan(100);
    await v.chain.anvil.rpc('evm_increaseTime', [600]);
    await v.chain.anvil.mine(2);
    await expect.poll(live, { timeout: 20_000 }).toBe(0);
    await expect.poll(() => lp.status().liveQuotes, { timeout: 20_000 }).toBe(0);
  },
);
