/** Links in README, CONTRIBUTING, SECURITY, contracts/ and docs/ lead somewhere, and pages stay short. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');
const ARCHITECTURE = 'docs/develop/architecture.md';
/** Generated from test/faults/list, one row per fault. */
const GENERATED = 'docs/reference/faults.md';

const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'contracts/README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join('docs', path)),
].sort();

/** The page without its code: links are checked in prose and tables only. */
const prose = (text: string) => text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '').replaceAll(/`[^`\n]*`/g, '');

/** Heading anchors as GitHub makes them. */
function anchorsOf(text: string): Set<string> {
  const seen = new Map<string, number>();
  const withoutBlocks = text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');
  return new Set(
    [...withoutBlocks.matchAll(/^#{1,6} +(.+?) *$/gm)].map(([, heading = '']) => {
      const anchor = heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-');
      const repeats = seen.get(anchor) ?? 0;
      seen.set(anchor, repeats + 1);
      return repeats === 0 ? anchor : `${anchor}-${repeats}`;
    }),
  );
}

const targetsOf = (text: string) =>
  [...prose(text.replaceAll(/\[`([^`\n]*)`\]/g, '[$1]')).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));

/** What is wrong with the relative links of one page; `page` is its path from the root. */
function brokenLinks(page: string, text: string): string[] {
  return targetsOf(text).flatMap((target) => {
    const [path = '', anchor] = target.split('#');
    const file = path === '' ? join(ROOT, page) : resolve(ROOT, dirname(page), path);
    if (relative(ROOT, file).startsWith('..')) return [`${page}: ${target} is outside the repository`];
    if (!existsSync(file)) return [`${page}: ${target} does not exist`];
    if (anchor === undefined) return [];
    const headings = anchorsOf(path === '' ? text : readFileSync(file, 'utf8'));
    return headings.has(anchor) ? [] : [`${page}: ${target} names no heading`];
  });
}

const read = (page: string) => readFileSync(join(ROOT, page), 'utf8');
const linesOf = (text: string) => text.trimEnd().split('\n').length;

test('the check finds a missing file, a missing heading and a link out of the repository', () => {
  const text =
    '# Some `code` here\n[a](nowhere.md) [b](#some-code-here) [c](#none) [d](../../outside/x) [`e`](none.ts)\n```\n[f](no)\n```\n';
  expect(brokenLinks('docs/README.md', text)).toEqual([
    'docs/README.md: nowhere.md does not exist',
    'docs/README.md: #none names no heading',
    'docs/README.md: ../../outside/x is outside the repository',
    'docs/README.md: none.ts does not exist',
  ]);
  expect(brokenLinks('README.md', '[x](docs/README.md#no-such-heading)')).toHaveLength(1);
});

test.each(PAGES)('%s: every relative link leads somewhere', (page) => {
  expect(brokenLinks(page, read(page))).toEqual([]);
});

test('README has at most 130 lines, and each page of docs/ at most 160', () => {
  expect(linesOf(read('README.md'))).toBeLessThanOrEqual(130);
  const long = PAGES.filter((page) => page.startsWith('docs/') && page !== GENERATED)
    .map((page) => [page, linesOf(read(page))] as const)
    .filter(([, lines]) => lines > 160);
  expect(long).toEqual([]);
});

test('docs/README.md links to every page', () => {
  const linked = new Set(
    targetsOf(read('docs/README.md')).map((target) => join('docs', target.split('#')[0] ?? '')),
  );
  const missing = PAGES.filter(
    (page) => page.startsWith('docs/') && page !== 'docs/README.md' && !linked.has(page),
  );
  expect(missing).toEqual([]);
});

test('the architecture page leads into the code', () => {
  const files = targetsOf(read(ARCHITECTURE))
    .map((target) => relative(ROOT, resolve(ROOT, dirname(ARCHITECTURE), target.split('#')[0] ?? '')))
    .filter((path) => path.startsWith('src/'));
  expect(files.length).toBeGreaterThanOrEqual(20);
  expect(files.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

const QUESTIONS = 'docs/develop/questions.md';
const answers = read(QUESTIONS)
  .split(/^## /m)
  .slice(1)
  .map((section) => {
    const [question = '', ...lines] = section.trim().split('\n');
    return { question, lines: lines.filter((line) => line !== ''), text: lines.join('\n') };
  });

test.each(answers)('$question: three lines, one link, names that the code has', ({ lines, text }) => {
  expect(lines).toHaveLength(3);
  expect(targetsOf(text)).toHaveLength(1);
  const words = [...text.matchAll(/`([^`\n]+)`/g)].map(([, word = '']) => word);
  const named = [...targetsOf(text), ...words].filter((word) => word.endsWith('.ts'));
  const code = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .map((path) => `/src/${path}`)
    .filter((path) => named.some((name) => path.endsWith(`/${name.replace(/^(?:\.\.\/)+/, '')}`)))
    .map((path) => read(path))
    .join('\n');
  const identifiers = words.filter((word) => /^\w+$/.test(word) && code !== '');
  expect(identifiers.filter((word) => !new RegExp(`\\b${word}\\b`).test(code))).toEqual([]);
});

const SOURCES = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).map(
  (path) => `/src/${path}`,
);

test.each(PAGES)('%s: every file in code font exists', (page) => {
  const named = [...read(page).matchAll(/`([\w./-]+\.ts)`/g)].map(([, name = '']) => name);
  const missing = named.filter(
    (name) => !existsSync(join(ROOT, name)) && !SOURCES.some((path) => path.endsWith(`/${name}`)),
  );
  expect(missing).toEqual([]);
});
