/**
 * Indicative levels from the LP: two-sided, from the pricing that quotes, never better than a quote, and only
 * while it quotes.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { assetId } from '../../src/domain/asset.ts';
import type { LpNode } from '../../src/lp/node/interface.ts';
import { account, type TestChain } from '../support/devnet.ts';
import { startOneChainLp } from '../support/one-chain-lp.ts';
import { request, type ScriptedVenue } from '../support/scripted-venue.ts';
import { until } from '../support/venue.ts';

const owner = account(21);
const operator = account(22);
const USDC = 1_000_000n;
const WETH = 10n ** 18n;

let chain: TestChain;
let venue: ScriptedVenue;
let lp: LpNode;
let stop: () => Promise<void>;

beforeAll(async () => {
  ({ chain, venue, lp, stop } = await startOneChainLp({
    chainId: 41_011,
    devnet: { blockTimeSeconds: 1 },
    owner,
    operator,
    usdc: 100_000n * USDC,
    weth: 40n * WETH,
    schema: 'lp_levels',
    config: {
      prices: {
        USD: { fixed: '1' },
        ETH: { sources: [{ feed: 'constant', symbol: 'ETHUSD' }], maxAgeMs: 10_000 },
      },
      levels: { everyMs: 250 },
      pricing: { calibration: { mode: 'off' } },
    },
  }));
}, 60_000);

afterAll(() => stop?.());

const weth = () => assetId({ chainId: chain.chain.id, token: chain.weth.address });
const usdc = () => assetId({ chainId: chain.chain.id, token: chain.usdc.address });
const last = (input: string, output: string, from = 0) =>
  venue.levels.slice(from).findLast((message) => message.input === input && message.output === output);

test('levels of both sides rise, cost more with size, and equal a real quote of that size', async () => {
  const bids = await until(() => last(weth(), usdc()));
  const asks = await until(() => last(usdc(), weth()));
  for (const { levels } of [bids, asks]) {
    expect(levels.length).toBeGreaterThan(1);
    const steps = levels.map(([input, output]) => [BigInt(input), BigInt(output)] as const);
    for (const [index, [input, output]] of steps.entries()) {
      const before = steps[index - 1];
      if (!before) continue;
      expect(input > before[0] && output > before[1]).toBe(true);
      // No better at the margin than before.
      expect(output * before[0] <= before[1] * input || index === 1).toBe(true);
    }
  }
  // 2,500 is the mid: selling gets less, buying costs more.
  const [sold, got] = (bids.levels[1] as [string, string]).map(BigInt) as [bigint, bigint];
  expect(Number(got) / 1e6 / (Number(sold) / 1e18)).toBeLessThan(2_500);
  const [paid, bought] = (asks.levels[1] as [string, string]).map(BigInt) as [bigint, bigint];
  expect(Number(paid) / 1e6 / (Number(bought) / 1e18)).toBeGreaterThan(2_500);
  const quote = await venue.ask(
    request({
      from: chain.chain,
      to: chain.chain,
      give: chain.weth,
      take: chain.usdc,
      amount: sold,
      taker: account(23).address,
      platformFeeBps: 0,
    }),
  );
  if (quote.type !== 'quote') throw new Error(`a ${quote.type}`);
  const firm = BigInt(quote.order.outputs[0]?.amount ?? 0);
  // The shorter quote is paid a little better, volatility moves a little: within five basis points of each
  // other.
  expect(Number(firm - got) / Number(got)).toBeGreaterThan(-0.0005);
  expect(Number(firm - got) / Number(got)).toBeLessThan(0.0005);
  // Nothing is held, nothing is signed for it.
  expect(lp.status().liveQuotes).toBeLessThanOrEqual(2);
  expect(venue.broken).toEqual([]);
});

test('levels are repeated, withheld during a pause, and sent again to a venue that reconnects', async () => {
  const before = venue.levels.length;
  await until(() => last(weth(), usdc(), before));
  lp.pause('test');
  await venue.until(({ status }) => status === 'standby');
  // A round that had begun may still send what it had made.
  await new Promise((done) => setTimeout(done, 350));
  const paused = venue.levels.length;
  await new Promise((done) => setTimeout(done, 700));
  expect(venue.levels.length).toBe(paused);
  lp.resume();
  await until(() => last(weth(), usdc(), paused));
  venue.drop();
  const dropped = venue.levels.length;
  await until(() => last(weth(), usdc(), dropped) && last(usdc(), weth(), dropped));
});

test("the operator's signal moves the levels by what it moves quotes, on its side only, until it ends", async () => {
  const perUnit = ({ levels }: { levels: readonly (readonly [string, string])[] }) =>
    Number(levels[1]?.[1]) / Number(levels[1]?.[0]);
  const settled = async () => {
    const from = venue.levels.length;
    await until(() => last(weth(), usdc(), from) && last(usdc(), weth(), from));
    const next = venue.levels.length;
    return {
      bid: perUnit(await until(() => last(weth(), usdc(), next))),
      ask: perUnit(await until(() => last(usdc(), weth(), next))),
    };
  };
  const plain = await settled();
  const signal = {
    ...{ pair: 'WETH-USDC', skewBps: 0, fairValueShiftBps: 0, widthBps: 20 },
    ...{ side: 'buy' as const, expiresAtMs: Date.now() + 60_000, note: 'CPI', by: 'desk' },
  };
  lp.setSignal(signal);
  const wide = await settled();
  expect((wide.bid / plain.bid - 1) * 1e4).toBeCloseTo(-20, -1);
  expect(Math.abs(wide.ask / plain.ask - 1) * 1e4).toBeLessThan(5);
  lp.clearSignals('WETH-USDC');
  const after = await settled();
  expect(Math.abs(after.bid / plain.bid - 1) * 1e4).toBeLessThan(5);
});
