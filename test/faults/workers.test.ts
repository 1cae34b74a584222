/** Two workers of one venue: one stops for longer than its leases, the other takes over, and the first comes back believing that nothing happened. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { diceOf } from './seed.ts';
import { broken, sceneOf } from './support/checker.ts';
import type { Client } from './support/client.ts';
import type { Part } from './support/process.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
let client: Client;
let first: Part;
let second: Part;

beforeAll(async () => {
  world = await startWorld({ chainIds: [31_621], validitySeconds: 300, venues: { api: 'api', 'worker-1': 'worker', 'worker-2': 'worker' } });
  [first, second] = [world.venue('worker-1'), world.venue('worker-2')];
  await Promise.all([world.venue('api').start(), world.lps[0]?.part.start()]);
  await world.quoting();
  client = await world.client();
});
afterAll(() => world?.stop());

/** Accepted, with only the first worker there to settle it. */
async function accepted(id: string): Promise<string> {
  const dice = diceOf(id);
  const order = await client.insist(await client.prepare({ usdc: BigInt(10 + Math.floor(dice.next() * 500)) }), id);
  if (order === undefined) throw new Error('the venue refused a submission');
  return order;
}

test('F7: frozen with an order in hand for longer than its lease, thawed when another has it', async () => {
  await first.start({ FREEZE_AT: 'before_append' });
  const id = await accepted('F7');
  await first.says('reached before_append');
  await second.start({ FREEZE_AT: 'after_claim' });
  await second.says('reached after_claim');
  first.thaw();
  // Its claim is stale, though nobody has written anything since: it must not be the one to write.
  await first.says('append ');
  expect(first.said()).not.toContain('append written');
  second.thaw();
  expect((await client.ended(id)).status).toBe('settled');
  expect(await broken(sceneOf(world), { ended: true })).toEqual([]);
  await Promise.all([first.stop(), second.stop()]);
});
