/**
 * Runs vitest and names every failed test. Up to eight failed files run once more, alone: a test that passes
 * only then is reported as UNSTEADY instead of FAILED. With FIRMQUOTE_UNSTEADY=fails, as in CI, it counts as
 * failed.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** The most failed files that are run again; more mean broken code rather than a busy machine. */
const MOST_REPEATED = 8;
const LONGEST = 'test/longest.json';

/**
 * @param {(words: string[]) => Promise<number>} run starts vitest with these words
 * @param {string} folder where reports are written
 * @param {string} root the checkout
 * @returns {Promise<{ passed: number, failed: number, lines: string[] }>} `lines` name every failed and every
 * unsteady test
 */
export async function vitest(run, folder, root) {
  const first = await once(run, join(folder, 'first.json'), []);
  if (!first) return { passed: 0, failed: 1, lines: ['FAILED vitest wrote no report'] };
  reportLongest(first, root);
  const broken = first.testResults.filter(({ status }) => status === 'failed').map(({ name }) => name);
  if (broken.length === 0 || broken.length > MOST_REPEATED) return verdictOf(first, undefined, root);
  console.log(`\n== vitest: ${broken.length} file${broken.length === 1 ? '' : 's'} failed; once more, alone`);
  const second = await once(run, join(folder, 'second.json'), [
    '--maxWorkers=1',
    ...broken.map((name) => relative(root, name)),
  ]);
  return verdictOf(first, second, root);
}

/** What two reports say together; the second is of the files that failed in the first. */
export function verdictOf(first, second, root, unsteadyFails = process.env.FIRMQUOTE_UNSTEADY === 'fails') {
  if (!second) return { ...counts(first), lines: named(first, 'FAILED', root) };
  const still = new Set(named(second, 'FAILED', root).map(nameOf));
  const unsteady = named(first, 'UNSTEADY', root).filter((line) => !still.has(nameOf(line)));
  const before = counts({ testResults: first.testResults.filter(({ status }) => status !== 'failed') });
  const after = counts(second);
  // A set-up that failed once is a failure without a test: its tests passed.
  const unsteadyTests = unsteady.filter((line) => nameOf(line).includes(' > ')).length;
  return {
    passed: before.passed + after.passed - (unsteadyFails ? unsteadyTests : 0),
    failed: before.failed + after.failed + (unsteadyFails ? unsteady.length : 0),
    lines: [...unsteady, ...named(second, 'FAILED', root)],
  };
}

/**
 * Prints which files took longest. With RENEW_LONGEST=yes they take their place in test/longest.json, by
 * which the next run starts the longest first, so that none of them ends alone.
 */
function reportLongest({ testResults }, root) {
  const files = testResults
    .map(({ name, startTime, endTime }) => ({ file: relative(root, name), s: (endTime - startTime) / 1000 }))
    .sort((a, b) => b.s - a.s);
  const shown = files.slice(0, 8).map(({ file, s }) => `${file} ${s.toFixed(0)} s`);
  console.log(`\n== vitest: longest files: ${shown.join(', ')}`);
  if (process.env.RENEW_LONGEST !== 'yes') return;
  const ran = new Set(files.map(({ file }) => file));
  const path = join(root, LONGEST);
  const others = JSON.parse(readFileSync(path, 'utf8')).filter((file) => !ran.has(file));
  const long = files.filter(({ s }) => s >= 10).map(({ file }) => file);
  writeFileSync(path, `${JSON.stringify([...others, ...long], null, 2)}\n`);
}

async function once(run, report, words) {
  await run(['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...words]);
  return existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : undefined;
}

/** A file whose set-up failed counts as one failure, though no test of it ran. */
function counts({ testResults }) {
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = tests.filter(({ status }) => status === 'failed').length;
  const withoutTests = testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
  ).length;
  return { passed: tests.filter(({ status }) => status === 'passed').length, failed: failed + withoutTests };
}

function named({ testResults }, word, root) {
  return testResults
    .filter(({ status }) => status === 'failed')
    .flatMap(({ name, message, assertionResults }) => {
      const file = relative(root, name);
      const failed = assertionResults.filter(({ status }) => status === 'failed');
      if (failed.length === 0) return [`${word} ${file} | its set-up: ${beginning(message)}`];
      return failed.map(
        ({ fullName, failureMessages }) => `${word} ${file} > ${fullName} | ${beginning(failureMessages[0])}`,
      );
    });
}

const nameOf = (line) => line.slice(line.indexOf(' ') + 1).split(' | ')[0];
const beginning = (message = '') =>
  stripVTControlCharacters(message).split('\n').slice(0, 8).join(' ').slice(0, 600);
