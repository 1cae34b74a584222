/** A process with a wrong clock quotes nothing; accepted orders continue by the chain's clock. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { assetId } from '../../src/domain/asset.ts';
import { diceOf } from './seed.ts';
import type { Client } from './support/client.ts';
import type { Part } from './support/process.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
let client: Client;

beforeAll(async () => {
  // On a busy machine blocks come late by some seconds; the tested skew is two minutes.
  const strict = (chains: unknown) =>
    (chains as object[]).map((chain) => ({ ...chain, maxClockSkewMs: 60_000 }));
  world = await startWorld({
    chainIds: [41_231],
    venues: { api: 'api', worker: 'worker' },
    validitySeconds: 20,
    configure: (_, config) => ({
      ...config,
      ...('chains' in config && { chains: strict(config['chains']) }),
      ...('networks' in config && { networks: strict(config['networks']) }),
    }),
  });
});
afterAll(() => world?.stop());

const skewed = (seconds: number) => ({ FIRMQUOTE_CLOCK_OFFSET_MS: String(seconds * 1_000) });

test('F15: a process whose clock is two minutes wrong quotes nothing until it agrees with the chain; orders continue by chain time', async () => {
  const seconds = diceOf('F15').pick([120, -120]);
  const [lp] = world.lps;
  if (lp === undefined) throw new Error('no LP');
  // The worker's clock is wrong from the start, and it settles orders all the same.
  await world.venue('worker').start(skewed(seconds));
  await world.startAll();
  client = await world.client();
  const id = await client.insist(await client.prepare(), 'by chain time');
  expect((await client.ended(id ?? '')).status).toBe('settled');

  await lp.part.stop();
  await lp.part.start(skewed(seconds));
  const unready = async (part: Part) => {
    const answer = await part.ready();
    return `${answer?.status ?? ''} ${answer?.reasons.join('; ') ?? ''}`;
  };
  const wrong =
    seconds > 0
      ? /^503 .*this machine's clock is \d+ s ahead of the chain's/
      : /^503 .*this machine's clock is \d+ s behind the chain's/;
  await expect.poll(() => unready(lp.part), { timeout: 60_000 }).toMatch(wrong);

  await world.venue('api').stop();
  await world.venue('api').start(skewed(seconds));
  const [chain] = world.devnet.chains;
  if (chain === undefined) throw new Error('no chain');
  const asset = (token: { address: `0x${string}` }) =>
    assetId({ chainId: chain.chain.id, token: token.address });
  const quote = async () =>
    (
      await client.taker
        .quote({
          input: { asset: asset(chain.usdc), amount: '100000000' },
          output: { asset: asset(chain.weth) },
        })
        .catch(() => undefined)
    )?.productUnavailable?.message ?? '';
  await expect.poll(quote, { timeout: 60_000 }).toContain('our clock and the chain’s differ');
  await expect.poll(() => unready(world.venue('api')), { timeout: 60_000 }).toMatch(wrong);

  // Both clocks are right again.
  await lp.part.stop();
  await world.venue('api').stop();
  await world.venue('api').start();
  await lp.part.start();
  await world.quoting();
  const later = await client.insist(await client.prepare(), 'with the right time');
  expect((await client.ended(later ?? '')).status).toBe('settled');
});
