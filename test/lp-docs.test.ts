/**
 * Each command that a page of the LP shows in a block is typed by a test, or listed with the reason why not
 * (test/lp-day/docs-table.ts).
 */

import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { NOTHING_TO_TYPE, SHOWN, TYPED_ELSEWHERE } from './lp-day/docs-table.ts';
import { commandsOf } from './lp-day/support/pages.ts';
import { ROOT } from './support/page.ts';

test('every page of docs/lp is typed here, typed by another test, or shows nothing to type', () => {
  const pages = readdirSync(join(ROOT, 'docs', 'lp')).map((name) => `docs/lp/${name}`);
  expect(pages.toSorted()).toEqual(
    [...Object.keys(SHOWN), ...Object.keys(TYPED_ELSEWHERE), ...NOTHING_TO_TYPE].toSorted(),
  );
});

test.each([...Object.keys(SHOWN), ...NOTHING_TO_TYPE])(
  '%s: each command is listed, as written',
  async (page) => {
    expect(await commandsOf(page)).toEqual((SHOWN[page] ?? []).map(({ command }) => command));
  },
);

test('what another test types is in that test', async () => {
  for (const [page, file] of Object.entries(TYPED_ELSEWHERE))
    expect(await readFile(join(ROOT, file), 'utf8'), page).toContain(page);
});
