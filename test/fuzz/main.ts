/**
 * `npm run fuzz -- [--runs 100000] [--seed S]`: the generative fuzz at length. Prints its seed, so that a
 * failure can be had again; its last line is JSON.
 */

import { parseArgs } from 'node:util';
import { fuzz } from './fuzz.ts';

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '10000' }, seed: { type: 'string' } },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
console.log(`seed ${seed}`);
const startedMs = Date.now();
const { faults, requests, statuses, byOperation } = await fuzz({ runs: Number(values.runs), seed });
for (const [operation, counts] of Object.entries(byOperation))
  console.log(
    `${operation}  ${Object.entries(counts)
      .map(([status, count]) => `${status}: ${count}`)
      .join('  ')}`,
  );
for (const fault of faults) console.log(`FAULT ${fault}`);
console.log(
  JSON.stringify({
    seed,
    requests,
    statuses,
    faults: faults.length,
    seconds: Math.round((Date.now() - startedMs) / 1000),
  }),
);
process.exitCode = faults.length === 0 ? 0 : 1;
