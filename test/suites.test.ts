/**
 * The folder of a test file says which command runs it, and its text says which programs it needs. So no
 * list can forget a test.
 */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import config from '../vitest.config.ts';

const ROOT = join(import.meta.dirname, '..');
const { PROGRAMS, testsOf } = (await import(join(ROOT, 'scripts/programs.mjs'))) as {
  PROGRAMS: { name: string; starts: RegExp }[];
  testsOf(program: { starts: RegExp }): string[];
};
const FILES = ['src', 'test'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `${folder}/${name}`),
);

type Project = { test: { name: string; include: string[]; exclude: string[] } };
const projects = (config.test?.projects ?? []) as unknown as Project[];
/** Each pattern is a folder and all test files below it. */
const covers = (pattern: string, file: string) => file.startsWith(pattern.replace('**/*.test.ts', ''));
const runs = ({ test: { include, exclude } }: Project, file: string) =>
  include.some((pattern) => covers(pattern, file)) && !exclude.some((pattern) => covers(pattern, file));

test('each test file belongs to exactly one project', () => {
  const of = (file: string) => projects.filter((each) => runs(each, file)).map((each) => each.test.name);
  expect(FILES.filter((file) => of(file).length !== 1)).toEqual([]);
  expect(new Set(FILES.flatMap(of)).size).toBe(projects.length);
});

test.each(PROGRAMS)('$name is started by a test', (program) => {
  expect(testsOf(program).length).toBeGreaterThan(0);
  expect(FILES).toEqual(expect.arrayContaining(testsOf(program)));
});

test('a file starts a program through the files that it imports', () => {
  const redis = PROGRAMS.find(({ name }) => name === 'redis-server');
  if (redis === undefined) throw new Error('PROGRAMS has no redis-server');
  expect(testsOf(redis)).toContain('test/lp-day/lp-day.test.ts');
  expect(testsOf(redis)).not.toContain('test/flows/lp-risk.test.ts');
});
