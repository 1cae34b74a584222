/** A bridge venue that contradicts itself, its chains or its keys is refused when the venue starts. */

import { expect, test } from 'vitest';
import { account } from '../../../test/support/devnet.ts';
import { silentLog, silentMetrics } from '../../../test/support/silent.ts';
import { createRedactor } from '../../adapters/pino/redact.ts';
import { zChain, zChainEntry } from '../config/parts.ts';
import { openBridgeVenues, zBridges } from './bridges.ts';

const contracts = { escrow: `0x${'1'.repeat(40)}`, oracle: `0x${'2'.repeat(40)}`, rpcUrls: ['http://node'] };
const sections = ['base', 'arc'].map((preset) =>
  zChainEntry(zChain).parse({ preset, ...contracts }),
) as ReturnType<typeof zChain.parse>[];
const [base, arc] = sections;
const at = (section: typeof base, change: object = {}) => ({
  chainId: section?.id,
  token: section?.tokens[0]?.address,
  ...change,
});
const operator = account(8_800);
const mover = account(8_803);
const bridge = (change: object = {}) => ({
  id: 'float',
  name: 'Float',
  account: account(8_801).address,
  operator: { env: 'OPERATOR_KEY', development: true },
  assets: [{ on: [at(base), at(arc)] }],
  refill: { costBps: 1, seconds: 900 },
  ...change,
});

async function open(bridges: object[], relayers = [account(8_802).address]) {
  const stops: (() => unknown)[] = [];
  const ground = {
    chains: sections.map(({ id, slug, tokens }) => ({ chain: { id, slug, tokens } })),
    // Only used once a bridge quotes or fills.
    ...{ floats: {}, orders: {}, transfers: {}, transactions: {}, bus: {}, reference: {} },
    ...{ relayers, works: false, log: silentLog, metrics: silentMetrics },
    life: { onStop: (_: string, stop: () => unknown) => void stops.push(stop) },
    secrets: {
      env: { OPERATOR_KEY: operator.privateKey, MOVER_KEY: mover.privateKey },
      mounted: false,
      redactor: createRedactor(),
    },
  };
  const opened = await openBridgeVenues(
    { bridges: zBridges.parse(bridges), chains: sections.map((section) => ({ ...section, maxFeeGwei: 1 })) },
    ground as unknown as Parameters<typeof openBridgeVenues>[1],
  );
  for (const stop of stops) await stop();
  return opened.map(({ venue }) => venue);
}

test('it serves its token between its chains, in both directions', async () => {
  const [venue] = await open([bridge()]);
  const [input, output] = [at(base), at(arc)] as { chainId: number; token: `0x${string}` }[];
  if (!input || !output) return expect.fail('no places');
  expect([venue?.serves({ input, output }), venue?.serves({ input: output, output: input })]).toEqual([
    true,
    true,
  ]);
  expect(venue?.serves({ input, output: input })).toBe(false);
});

test('the cost of a refill may come from bridges', async () => {
  expect(await open([bridge({ refill: { by: { cctp: {} } } })])).toHaveLength(1);
});

test.each([
  ['one chain', { assets: [{ on: [at(base)] }] }, /2 items|>=2/],
  [
    'a chain twice',
    { assets: [{ on: [at(base), at(base, { token: `0x${'9'.repeat(40)}` })] }] },
    /on a chain/,
  ],
  [
    'a token of two assets',
    { assets: [{ on: [at(base), at(arc)] }, { on: [at(base), at(arc)] }] },
    /no other asset/,
  ],
  ['a refill by nothing', { refill: { by: {} } }, /must name a bridge/],
])('the configuration refuses %s', (_, change, says) => {
  expect(() => zBridges.parse([bridge(change)])).toThrow(says);
});

test.each([
  [
    'a token that the chain does not list',
    { assets: [{ on: [at(base), at(arc, { token: `0x${'9'.repeat(40)}` })] }] },
    /not among the tokens/,
  ],
  [
    'more decimals than the token has',
    { assets: [{ on: [at(base, { keep: '0.0000001' }), at(arc)] }] },
    /more decimals than USDC/,
  ],
  ['a lot of nothing', { assets: [{ on: [at(base, { lot: '0' }), at(arc)] }] }, /lot must be above 0/],
])('the venue refuses %s', async (_, change, says) => {
  await expect(open([bridge(change)])).rejects.toThrow(says);
});

const moves = (change: object = {}) => ({
  moves: { mover: { env: 'MOVER_KEY', development: true }, mostPerDay: '100000', ...change },
  refill: { by: { cctp: {} } },
  assets: [{ on: [at(base), at(arc, { low: '100' })] }],
});

test('it may move its money by a mover of its own, over the bridges of its refill', async () => {
  expect(await open([bridge(moves())])).toHaveLength(1);
  await expect(open([bridge(moves({ mover: { env: 'OPERATOR_KEY', development: true } }))])).rejects.toThrow(
    /mover of the bridge "float".*the operator of the bridge "float"/,
  );
});

test.each([
  ['without bridges', { refill: { costBps: 1, seconds: 900 } }, /refill\.by, or set moves to null/],
  ['without a place that can be low', { assets: [{ on: [at(base), at(arc)] }] }, /no place has a low/],
  ['without a limit', { moves: { mover: { env: 'MOVER_KEY', development: true } } }, /mostPerDay/],
])('the configuration refuses moves %s', (_, change, says) => {
  expect(() => zBridges.parse([bridge({ ...moves(), ...change })])).toThrow(says);
});

test('an operator of its own: not the relayer, nor that of another bridge', async () => {
  await expect(open([bridge()], [operator.address])).rejects.toThrow(/relayer of the venue/);
  const second = bridge({ id: 'second', account: account(8_804).address });
  await expect(open([bridge(), second])).rejects.toThrow(/the bridge "float"/);
});

test('the configuration refuses two floats in one account', () => {
  expect(() => zBridges.parse([bridge(), bridge({ id: 'second' })])).toThrow(/promise the same money/);
});
