/**
 * Exchanges that lie, vanish and stand still, before an LP that runs as it ships: no quote is made of a price
 * that is old or that one of them made up.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Explanation, ExplainedQuote } from '../../src/lp/quote-log/explain.ts';
import type { TestChain } from '../support/devnet.ts';
import { diceOf } from './seed.ts';
import { broken, sceneOf } from './support/checker.ts';
import { type Client, patiently } from './support/client.ts';
import { playExchange, type PlayedExchange } from './support/exchanges.ts';
import { startWorld, type World } from './support/world.ts';

const TRUTH = 2_500;
const MAX_AGE_MS = 2_000;

let world: World;
let chain: TestChain;
let client: Client;
let exchanges: PlayedExchange[];

beforeAll(async () => {
  exchanges = await Promise.all(
    (['binance', 'coinbase', 'kraken'] as const).map((kind) => playExchange(kind, TRUTH)),
  );
  const feeds = Object.fromEntries(exchanges.map(({ kind, url }) => [kind, { kind, url }]));
  const sources = exchanges.map(({ kind, symbol }) => ({ feed: kind, symbol }));
  world = await startWorld({
    chainIds: [31_651],
    configure(part, config) {
      if (part !== 'alpha') return config;
      const lp = config['lp'] as { prices: object };
      return {
        ...config,
        feeds,
        lp: { ...lp, prices: { ...lp.prices, ETH: { sources, maxAgeMs: MAX_AGE_MS } } },
      };
    },
  });
  [chain] = world.devnet.chains as [TestChain];
  await world.startAll();
  client = await world.client();
});
afterAll(async () => {
  await world?.stop();
  await Promise.all((exchanges ?? []).map((exchange) => exchange.stop()));
});

const admin = async <T>(path: string): Promise<T> =>
  (await (await fetch(`${world.lps[0]?.adminUrl}${path}`)).json()) as T;

test('F43: one exchange is wrong by five per cent, one is offline, and then all repeat old prices', async () => {
  const dice = diceOf('F43');
  const liar = dice.pick(exchanges);
  const others = exchanges.filter((exchange) => exchange !== liar);
  // What says no time of its own counts half: left with it, the other one outvotes it, or is outvoted.
  const missing = dice.pick(others.filter(({ kind }) => kind !== 'binance'));
  const lie = TRUTH * dice.pick([0.95, 1.05]);
  const usdc = 1_000n + BigInt(Math.floor(dice.next() * 1_000));

  /**
   * What the price of a quote was made of, or undefined: nobody quoted. Whatever it is, it is near the truth
   * and young enough.
   */
  async function quoted(): Promise<ExplainedQuote | undefined> {
    const asset = (token: string) => `eip155:${chain.chain.id}/erc20:${token}`;
    const answer = await client.taker.quote({
      input: { asset: asset(chain.usdc.address), amount: (usdc * 1_000_000n).toString() },
      output: { asset: asset(chain.weth.address) },
    });
    const [candidate] = answer.quotes;
    if (!candidate) return undefined;
    const { explanations } = await admin<{ explanations: Explanation[] }>(`/explain/${candidate.quoteId}`);
    const made = explanations.find((each) => each.kind === 'quote');
    if (made?.kind !== 'quote') throw new Error('a quote that the LP cannot explain');
    const { sources } = made.inputs.mid;
    const used = sources.filter(({ dropped }) => dropped === null);
    const because = JSON.stringify(sources);
    expect(used.length, because).toBeGreaterThanOrEqual(2);
    expect(Math.max(...used.map(({ ageMs }) => ageMs)), because).toBeLessThanOrEqual(MAX_AGE_MS);
    expect(Math.abs(made.price.mid - TRUTH) / TRUTH, because).toBeLessThan(0.001);
    const output = candidate.preview.outputs[0]?.amount ?? '0';
    expect(Math.abs((Number(usdc) * 1e18) / Number(output) - TRUTH) / TRUTH, because).toBeLessThan(0.02);
    return made;
  }
  const sourceOf = ({ kind, symbol }: PlayedExchange, made: ExplainedQuote) =>
    made.inputs.mid.sources.find(({ source }) => source === `${kind}|${symbol}`);
  /** Until a quote is made without this exchange, for this reason; null: with it. */
  const until = (exchange: PlayedExchange, dropped: string | null) =>
    patiently(
      async () => {
        const made = await quoted();
        return made && sourceOf(exchange, made)?.dropped === dropped ? true : undefined;
      },
      () => `no quote in which ${exchange.kind} is ${dropped ?? 'used'}`,
    );
  const refused = (status: 'active' | 'standby') =>
    patiently(
      async () => {
        if (await quoted()) return undefined;
        const said = await admin<{ status: string; reasons: { kind: string }[] }>('/status');
        return (
          (said.reasons.some(({ kind }) => kind === 'price') &&
            (status === 'active' || said.status === status)) ||
          undefined
        );
      },
      () => 'the LP goes on quoting',
    );

  for (const exchange of exchanges) await until(exchange, null);
  // Outvoted by two.
  liar.say(lie);
  await until(liar, 'deviant');
  for (let n = 0; n < 5; n += 1) await quoted();
  liar.say(TRUTH);
  await until(liar, null);

  // One is gone: two are enough, as long as they agree.
  await missing.gone();
  await until(missing, 'stale');
  liar.say(lie);
  await refused('active');
  liar.say(TRUTH);
  await until(liar, null);
  await missing.back();
  await until(missing, null);

  // All go on talking and say nothing new.
  for (const exchange of exchanges) exchange.freeze(true);
  await refused('standby');
  for (const exchange of exchanges) exchange.freeze(false);
  for (const exchange of exchanges) await until(exchange, null);
  const id = await client.insist(await client.prepare({ usdc }), 'f43');
  expect((await client.ended(id ?? '')).status).toBe('settled');
  expect(await broken(sceneOf(world), { ended: true })).toEqual([]);
});
