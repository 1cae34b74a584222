/**
 * The generative fuzz, every time with another seed; it is printed, and `npm run fuzz -- --seed S` has it
 * again.
 */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arbitraryRequest } from '../../fuzz/arbitrary-request.ts';
import { fuzz } from '../../fuzz/fuzz.ts';

test('a word that is a number, put into a list, makes no list of that length', () => {
  const body = { outputs: [[1], [2]] };
  const requests = arbitraryRequest(
    {
      openapi: '3.1.0',
      info: { title: 't', version: '1' },
      paths: {
        '/x': { post: { requestBody: { content: { 'application/json': { schema: { type: 'object' } } } } } },
      },
    } as never,
    {
      happy: { 'POST /x': { path: '/x', body } },
      keys: ['k'],
      rightKey: () => 'k',
      words: ['4294967294', '90000000'],
    },
  );
  for (const { body: sent } of fc.sample(requests, { seed: 1, numRuns: 2_000 }))
    expect(sent?.length ?? 0).toBeLessThan(400_000);
});

test('ten thousand requests made from the OpenAPI document move nothing', { timeout: 300_000 }, async () => {
  const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`fuzz seed ${seed}`);
  const report = await fuzz({ runs: 10_000, seed });
  expect(report.faults).toEqual([]);
  expect(report.requests).toBe(10_000);
  // It got past the gate: every operation was refused for what was sent, and every one that reads answered
  // too.
  for (const [operation, statuses] of Object.entries(report.byOperation)) {
    expect([operation, (statuses['422'] ?? 0) > 0]).toEqual([operation, true]);
    expect([operation, (statuses['200'] ?? 0) > 0]).toEqual([operation, true]);
  }
});
