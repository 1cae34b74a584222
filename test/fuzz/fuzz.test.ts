/** The generative fuzz, every time with another seed; it is printed, and `npm run fuzz -- --seed S` has it again. */

import { expect, test } from 'vitest';
import { fuzz } from './fuzz.ts';

test('ten thousand requests made from the OpenAPI document move nothing', { timeout: 300_000 }, async () => {
  const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`fuzz seed ${seed}`);
  const report = await fuzz({ runs: 10_000, seed });
  expect(report.faults).toEqual([]);
  expect(report.requests).toBe(10_000);
  // It got past the gate: every operation was refused for what was sent, and every one that reads answered too.
  for (const [operation, statuses] of Object.entries(report.byOperation)) {
    expect([operation, (statuses['422'] ?? 0) > 0]).toEqual([operation, true]);
    expect([operation, (statuses['200'] ?? 0) > 0]).toEqual([operation, true]);
  }
});
