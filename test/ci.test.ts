/** scripts/ci.mjs: the order in which `.ci/run` runs its suites, and how it counts what they say. */

import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

interface Suite {
  name: string;
  ms: number;
}
type Result = { passed: number; failed: number; lines: string[] };
const { countChecks, countTests, inTwoLanes } = (await import(
  join(import.meta.dirname, '..', 'scripts/ci.mjs')
)) as {
  countChecks(name: string, output: string, status: number): Result;
  countTests(name: string, output: string, status: number): Result;
  inTwoLanes(
    suites: Suite[],
    run: (suite: Suite, print: (text: string) => void) => Promise<string>,
    show: (text: string) => void,
  ): Promise<string[]>;
};

async function runInLanes(suites: Suite[]) {
  const begun: string[] = [];
  const shown: string[] = [];
  const run = async ({ name, ms }: Suite, print: (text: string) => void) => {
    begun.push(name);
    print(`${name} begins`);
    await sleep(ms);
    print(`${name} ends`);
    return name;
  };
  const results = await inTwoLanes(suites, run, (text) => shown.push(text));
  return { begun, shown, results };
}

test('the lanes take suites from both ends and meet in the middle', async () => {
  const { begun, results } = await runInLanes([
    { name: 'long', ms: 200 },
    { name: 'middle', ms: 20 },
    { name: 'short', ms: 20 },
    { name: 'last', ms: 20 },
  ]);
  expect(begun).toEqual(['long', 'last', 'short', 'middle']);
  expect(results.toSorted()).toEqual(['last', 'long', 'middle', 'short']);
});

test('what two suites print at once is not mixed', async () => {
  const { shown } = await runInLanes([
    { name: 'a', ms: 80 },
    { name: 'b', ms: 20 },
  ]);
  expect(shown).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
});

test('a suite counts by its closing line, and its failures are named again', () => {
  const output = 'FAILED a.test.ts > one | why\nPROVED BEFORE 7 forge tests\n\n5 passed, 1 failed\n';
  expect(countTests('test', output, 1)).toEqual({
    passed: 5,
    failed: 1,
    lines: ['FAILED a.test.ts > one | why', 'PROVED BEFORE 7 forge tests'],
  });
});

test('a suite without a closing line failed, and so did one with a status that its line does not explain', () => {
  expect(countTests('test', 'killed', 137)).toMatchObject({ passed: 0, failed: 1 });
  expect(countTests('test', '5 passed, 0 failed\n', 1)).toMatchObject({ passed: 5, failed: 1 });
  expect(countTests('test', '5 passed, 0 failed\n', 0)).toEqual({ passed: 5, failed: 0, lines: [] });
});

test('the demo counts by its checks; without any it failed', () => {
  const said = (...checks: unknown[]) => `ready\n${JSON.stringify({ checks })}\n`;
  const good = { name: 'settles', ok: true };
  const bad = { name: 'refunds', ok: false, detail: 'why' };
  expect(countChecks('demo', said(good), 0)).toEqual({ passed: 1, failed: 0, lines: [] });
  expect(countChecks('demo', said(good, bad), 1)).toEqual({
    passed: 1,
    failed: 1,
    lines: ['FAILED demo > refunds | why'],
  });
  expect(countChecks('demo', said(good), 1)).toMatchObject({ passed: 1, failed: 1 });
  expect(countChecks('demo', 'nothing', 0)).toMatchObject({ passed: 0, failed: 1 });
});
