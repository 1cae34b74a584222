/**
 * Sandbox scenarios on processes: a venue, an ordinary LP and one of `lp.sandbox.neverFills`, over real
 * chains and a real database. Each outcome in one process is in sandbox.test.ts.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import type * as z from 'zod';
import type { zQuoteResponse } from '../../../src/protocol/api/quote.ts';
import { assetId } from '../../../src/domain/asset.ts';
import { type Config, startWorld, type World } from '../../faults/support/world.ts';
import { PROGRAM } from '../../support/build.ts';
import type { TestChain } from '../../support/devnet.ts';

type QuoteResponse = z.infer<typeof zQuoteResponse>;

let world: World;
/** 100 USD, with the digits of the scenario. */
const WETH = 40_000_000_000_000_103n;

let here: TestChain;
let there: TestChain;

beforeAll(async () => {
  const parts: Record<string, (config: Config) => Config> = {
    venue: (config) => ({ ...config, sandbox: { scenarios: true, unfilled: ['never'], faded: [] } }),
    never: (config) => ({ ...config, lp: { ...(config['lp'] as object), sandbox: { neverFills: true } } }),
  };
  world = await startWorld({
    chainIds: [41_411, 41_412],
    lps: ['alpha', 'never'],
    program: PROGRAM,
    configure: (part, config) => parts[part]?.(config) ?? config,
  });
  [here, there] = world.devnet.chains as [TestChain, TestChain];
  await world.startAll();
}, 180_000);
afterAll(() => world?.stop());

async function ask(amount: bigint, to = here): Promise<{ status: number; json: QuoteResponse }> {
  const { wallet } = await world.client();
  const answer = await fetch(`${world.venueUrl()}/api/v1/rfq/quotes`, {
    method: 'POST',
    headers: { 'x-api-key': world.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({
      taker: wallet.address,
      input: { asset: assetId({ chainId: here.chain.id, token: here.usdc.address }), amount: `${amount}` },
      output: { asset: assetId({ chainId: to.chain.id, token: to.weth.address }) },
    }),
  });
  return { status: answer.status, json: (await answer.json()) as QuoteResponse };
}

const solversOf = ({ json }: { json: QuoteResponse }) => json.quotes.map(({ solverId }) => solverId);

test('an ordinary amount settles, by the ordinary LP alone', async () => {
  expect(solversOf(await ask(100_000_000n))).toEqual(['alpha']);
  const client = await world.client();
  const id = await client.insist(await client.prepare({ usdc: 100n }), 'ordinary');
  expect(await client.ended(id ?? '')).toMatchObject({ status: 'settled' });
}, 120_000);

test('what the venue plays: no quotes, the limit, and an answer that waits', async () => {
  const none = await ask(100_000_101n);
  expect([none.status, none.json.quotes]).toEqual([200, []]);
  expect(none.json.productUnavailable?.message).toContain('Sandbox scenario 101');
  expect((await ask(100_000_106n)).status).toBe(429);
  expect(solversOf(await ask(100_000_107n))).toEqual(['alpha']);
});

test('103: an LP process that never fills, and the worker refunds the taker from the escrow', async () => {
  const client = await world.client();
  const prepared = await client.prepare({ from: here, to: there, weth: WETH });
  expect(prepared.candidate.solverId).toBe('never');
  const held = () => here.port.tokenBalance(client.wallet.address, here.weth.address);
  const before = await held();
  const id = (await client.insist(prepared, 'never filled')) ?? '';
  await expect
    .poll(async () => (await client.look(id))?.stage, { timeout: 60_000, interval: 250 })
    .toBe('escrowed');
  expect(await held()).toBe(before - WETH);
  // Past the deadlines of the order, on both chains.
  for (const { anvil } of [here, there]) await anvil.advance(200);
  expect(await client.ended(id)).toMatchObject({ status: 'failed', failure: { code: 'expired_unfilled' } });
  expect(await held()).toBe(before);
}, 180_000);
