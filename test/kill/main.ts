/**
 * `npm run test:kill -- --seed S [--rounds 20] [--port 8600] [--victims venue,postgres]`: the long kill test.
 * Prints its seed, so that a failure can be repeated.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import build from '../support/build.ts';
import { startDemo } from './demo-process.ts';
import { killRound, type Round } from './rounds.ts';
import { seeded } from './seeded.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    rounds: { type: 'string', default: '20' },
    port: { type: 'string', default: '8600' },
    victims: { type: 'string' },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e9));
const random = seeded(seed);
const dataDir = await mkdtemp(join(tmpdir(), 'fq-kill-'));
console.log(`seed ${seed}`);
build();
const rounds: Round[] = [];
let problem: string | undefined;
const demo = await startDemo({ dataDir, port: Number(values.port) });
try {
  for (let number = 1; number <= Number(values.rounds); number++)
    rounds.push(await killRound(demo, random, number, console.log, values.victims?.split(',')));
} catch (error) {
  problem = error instanceof Error ? error.message : String(error);
  console.log(problem);
  process.exitCode = 1;
} finally {
  await demo.stop();
  await rm(dataDir, { recursive: true, force: true });
}
const sum = (of: (round: Round) => number) => rounds.reduce((total, round) => total + of(round), 0);
console.log(
  JSON.stringify({
    seed,
    rounds: rounds.length,
    ok: problem === undefined,
    settled: sum(({ settled }) => settled),
    failed: sum(({ failed }) => failed),
    refused: sum(({ refused }) => refused),
  }),
);
