/**
 * Three rounds of the kill test, one demo, a new seed every time. At length: npm run test:kill -- --seed S
 */

import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DemoProcess, startDemo } from './demo-process.ts';
import { killRound } from './rounds.ts';
import { seeded } from './seeded.ts';

const ROUNDS = 3;
const seed = Math.floor(Math.random() * 1e9);
const random = seeded(seed);
let dataDir = '';
let demo: DemoProcess;

beforeAll(async () => {
  console.log(`kill test: seed ${seed} (again: npm run test:kill -- --seed ${seed} --rounds ${ROUNDS})`);
  dataDir = await mkdtemp(join(tmpdir(), 'fq-kill-'));
  demo = await startDemo({ dataDir, port: 8700 });
}, 180_000);

afterAll(async () => {
  await demo?.stop();
  await rm(dataDir, { recursive: true, force: true });
});

test.each(Array.from({ length: ROUNDS }, (_, index) => index + 1))(
  `any process may die at any moment, round %i (seed ${seed})`,
  async (number) => {
    const { settled, failed, refused } = await killRound(demo, random, number, console.log);
    expect(settled + failed + refused).toBe(5);
    // A round in which nothing was ever accepted would have proved nothing.
    expect(settled + failed).toBeGreaterThan(0);
  },
  300_000,
);

test('the demo ends on request and leaves no process and no file behind', async () => {
  const pids = Object.values(demo.manifest().processes);
  expect(pids.length).toBe(11);
  expect(await demo.stop()).toBe(0);
  expect(pids.filter(isAlive)).toEqual([]);
  expect(await readdir(dataDir).catch(() => [])).toEqual([]);
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
