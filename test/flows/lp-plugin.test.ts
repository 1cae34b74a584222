/**
 * A market maker's own pricing in a real LP: what a module answers is what is quoted, and a module that fails
 * is never signed for.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadPlugin } from '../../src/apps/lp/plugin.ts';
import type { LpNode } from '../../src/lp/node/interface.ts';
import { pricingParams } from '../../src/lp/config/params.ts';
import type { PricingPlugin, PricingView } from '../../src/pricing/price-inputs.ts';
import { account, type Devnet, startDevnet, type TestChain } from '../support/devnet.ts';
import { createTestLp, lpConfig } from '../support/lp.ts';
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts';
import { request, type ScriptedVenue, startScriptedVenue } from '../support/scripted-venue.ts';

const EXAMPLES = resolve(import.meta.dirname, '../../docs/examples');
const [owner, operator, taker] = [account(61), account(62), account(63)];

describe('plug-in module', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'firmquote-plugin-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test.each([
    ['nothing', undefined, /no such file/],
    ['syntax', 'export default {', /throws when it is loaded/],
    ['throws', 'throw new Error("no licence");', /throws when it is loaded \(no licence\)/],
    ['empty', 'export const name = "a";', /no default export/],
    [
      'wrong',
      'export default { name: "a", term: { x: 1 } };',
      /term: no such part.*either terms or a pricer/,
    ],
  ])('that is none is refused with what is wrong: %s', async (name, text, why) => {
    const file = join(folder, `${name}.mjs`);
    if (text !== undefined) await writeFile(file, text);
    await expect(loadPlugin(file)).rejects.toThrow(why);
    await expect(loadPlugin(file)).rejects.toMatchObject({ code: 'bad_config' });
  });
});

describe('plug-in in an LP', () => {
  let devnet: Devnet;
  let chain: TestChain;
  let postgres: TestPostgres;
  let venue: ScriptedVenue;
  let lp: LpNode;
  let pricer: (view: PricingView) => Readonly<Record<string, number>>;

  beforeAll(async () => {
    [devnet, postgres] = await Promise.all([
      startDevnet([61_001], { blockTimeSeconds: 1 }),
      startTestPostgres(),
    ]);
    chain = devnet.chains[0] as TestChain;
    await chain.fund(owner.address);
    await chain.deposit(owner.address, chain.usdc.address, 100_000n * 10n ** 6n);
    await chain.setOperator(owner.address, operator.address);
    await chain.anvil.mine(2);
    venue = await startScriptedVenue([chain.chain]);
    const plugin: PricingPlugin = { name: 'under-test', pricer: (view) => pricer(view) };
    lp = await createTestLp({
      devnet,
      postgres,
      venueUrl: venue.url,
      operator,
      schema: 'lp_plugin',
      config: lpConfig(devnet, owner.address, { quoting: { pointsSeconds: [] } }),
      plugin,
    });
    await lp.start();
    await venue.until(({ status }) => status === 'active');
  });
  afterAll(async () => {
    await lp?.stop();
    await venue?.stop();
    await Promise.all([devnet?.stop(), postgres?.stop()]);
  });

  const sell = () =>
    request({
      from: chain.chain,
      to: chain.chain,
      give: chain.weth,
      take: chain.usdc,
      amount: 10n ** 18n,
      taker: taker.address,
    });
  /** Of one WETH at 2,500 USDC with 2 bps of fee. */
  const outputAt = (spread: number) =>
    (2_500_000_000n * (100_000_000n - BigInt(Math.ceil(spread * 1e4)))) / 100_000_000n - 500_000n;

  test('its spread is quoted to the unit', async () => {
    pricer = () => ({ edge: 12.5, risk: 7.5 });
    const quote = await venue.ask(sell());
    if (quote.type !== 'quote') throw new Error(JSON.stringify(quote));
    expect(quote.lpSpreadBps).toBe(20);
    expect(BigInt(quote.order.outputs[0]?.amount ?? 0)).toBe(outputAt(20));
  });

  test('the example from the documentation quotes', async () => {
    const { plugin: example } = await loadPlugin(join(EXAMPLES, 'pricing-pricer.mjs'));
    let seen: PricingView | undefined;
    pricer = (view) => example.pricer?.((seen = view)) ?? {};
    const quote = await venue.ask(sell());
    if (quote.type !== 'quote' || seen === undefined) throw new Error(JSON.stringify(quote));
    expect(seen).toMatchObject({
      pair: 'WETH-USDC',
      corridor: 'chain1-chain1',
      lp: 'buy',
      size: 2_500,
      mid: 2_500,
      fee: 2,
      gas: 0,
      params: pricingParams({}),
    });
    const parts = Object.values(example.pricer?.(seen) ?? {}).reduce((sum, bps) => sum + bps, 0);
    expect(BigInt(quote.order.outputs[0]?.amount ?? 0)).toBe(outputAt(parts));
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('out of luck');
      },
    ],
    ['answers nonsense', () => ({ edge: Number.NaN })],
    ['answers later', () => Promise.resolve({ edge: 3 })],
    ['is far too dear', () => ({ edge: 5_000 })],
  ])('one that %s is declined, and nothing is held', async (_name, failing) => {
    pricer = failing as typeof pricer;
    const live = lp.status().liveQuotes;
    expect(await venue.ask(sell())).toMatchObject({ type: 'decline' });
    expect(lp.status().liveQuotes).toBe(live);
  });

  test('a plug-in that prices too low is limited to the minimum spread', async () => {
    pricer = () => ({ gift: -9_999 });
    const quote = await venue.ask(sell());
    if (quote.type !== 'quote') throw new Error(JSON.stringify(quote));
    // D = 0.5 less 2 bps of fee.
    expect(BigInt(quote.order.outputs[0]?.amount ?? 0)).toBe(outputAt(-1.5));
  });
});
