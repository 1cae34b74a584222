/**
 * Two workers of one venue: one stops for longer than its leases, the other takes over, and the first comes
 * back believing that nothing happened.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { diceOf } from './seed.ts';
import { broken, sceneOf } from './support/checker.ts';
import { type Client, someUsdc } from './support/client.ts';
import type { Part } from './support/process.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
let client: Client;
let folder: string;
let first: Part;
let second: Part;

beforeAll(async () => {
  [world, folder] = await Promise.all([
    startWorld({
      chainIds: [31_621],
      validitySeconds: 300,
      venues: { api: 'api', 'worker-1': 'worker', 'worker-2': 'worker' },
    }),
    mkdtemp(join(tmpdir(), 'firmquote-workers-')),
  ]);
  [first, second] = [world.venue('worker-1'), world.venue('worker-2')];
  await Promise.all([world.venue('api').start(), world.lps[0]?.part.start()]);
  await world.quoting();
  client = await world.client();
});
afterAll(async () => {
  await world?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Accepted, with only the first worker there to settle it. */
async function accepted(id: string): Promise<string> {
  const dice = diceOf(id);
  const order = await client.insist(await client.prepare({ usdc: someUsdc(dice) }), id);
  if (order === undefined) throw new Error('the venue refused a submission');
  return order;
}

test('F7: a worker frozen longer than its lease resumes when another worker has its order', async () => {
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

test("F9: a worker's event loop is blocked longer than its leases", async () => {
  const file = join(folder, 'blocked');
  await writeFile(file, '');
  await first.start({ BLOCK_AT: 'before_persist', BLOCK_FILE: file }, 'ready');
  const id = await accepted('F9');
  await first.says('reached before_persist');
  await second.start();
  // The other takes the signer over, and the order with it.
  expect((await client.ended(id)).status).toBe('settled');
  const asked = fetch(`${first.opsUrl}/readyz`);
  await rm(file);
  // The question waits for the loop, however long: it is the first thing that the process hears.
  const answer = await asked;
  expect([answer.status, await answer.text()]).toEqual([
    503,
    expect.stringMatching(/the process stood still for \d+\.\d s and is catching up/),
  ]);
  await first.says('attempts ');
  expect(first.said()).not.toContain('attempts written');
  await expect.poll(() => first.ready()).toEqual({ status: 200, reasons: [] });
  expect(await broken(sceneOf(world), { ended: true })).toEqual([]);
});
