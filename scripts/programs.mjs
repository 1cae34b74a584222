/**
 * The programs that some tests need and npm does not carry: which are missing, and which tests that leaves
 * out.
 */

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Each with what serves as well, its package in Debian and in Homebrew, and the test files that start it. */
export const PROGRAMS = [
  {
    name: 'redis-server',
    debian: 'redis-server',
    brew: 'redis',
    tests: [
      'test/alerts/alerts.test.ts',
      'test/long/conformance/queue.test.ts',
      'test/conformance/shared-inventory.test.ts',
      'test/long/flows/doctor.test.ts',
      'test/long/flows/webhooks-processes.test.ts',
      'test/faults/lp-crash.test.ts',
      'test/faults/lp-failover.test.ts',
      'test/faults/runbooks.test.ts',
      'test/faults/venue-replicas.test.ts',
      'test/lp-day/lp-day.test.ts',
    ],
  },
  {
    name: 'promtool',
    debian: 'prometheus',
    brew: 'prometheus',
    tests: [
      'test/ops.test.ts',
      'src/adapters/prometheus/metrics.test.ts',
      'test/alerts/alerts.test.ts',
      'test/long/flows/lp-operator.test.ts',
    ],
  },
  {
    name: 'prometheus',
    debian: 'prometheus',
    brew: 'prometheus',
    tests: ['test/alerts/alerts.test.ts', 'test/long/flows/doctor.test.ts'],
  },
  ...['amtool', 'prometheus-alertmanager'].map((name) => ({
    name,
    debian: 'prometheus-alertmanager',
    brew: 'alertmanager',
    tests: ['test/ops/alertmanager.test.ts'],
  })),
  {
    name: 'pgbouncer',
    debian: 'pgbouncer',
    brew: 'pgbouncer',
    tests: ['test/long/flows/doctor.test.ts', 'test/long/flows/pooler.test.ts'],
  },
  ...['nginx', 'haproxy', 'openssl'].map((name) => ({
    name,
    debian: name,
    brew: name,
    tests: ['test/ops/proxy.test.ts'],
  })),
  {
    // Without windows to draw it takes a quarter less CPU.
    name: 'chromium-headless-shell',
    or: 'chromium',
    debian: 'chromium-headless-shell',
    brew: '--cask chromium',
    tests: [
      'test/long/abuse/docs-page.test.ts',
      'test/flows/client-browser.test.ts',
      'test/long/flows/docs-page.test.ts',
      'test/long/flows/lp-console.test.ts',
      'test/long/flows/lp-pricing-console.test.ts',
      'test/long/flows/lp-shadow.test.ts',
      'test/long/flows/lp-transfers-console.test.ts',
      'test/long/flows/operator-console.test.ts',
      'test/long/flows/workspace-console.test.ts',
      'test/long/flows/workspace-history.test.ts',
      'test/long/flows/workspace-pages.test.ts',
      'test/long/flows/workspace-trade.test.ts',
    ],
  },
];

/**
 * Installs what is missing where it may (root on Debian) and prints one line about what is missing still,
 * with one command that installs it.
 *
 * @returns {{ name: string, tests: string[] }[]} the programs that are missing
 */
export function missingPrograms() {
  const missing = () => PROGRAMS.filter(({ name, or = name }) => !isOnPath(name) && !isOnPath(or));
  if (missing().length > 0 && process.getuid?.() === 0 && isOnPath('apt-get')) installDebian(missing());
  const left = missing();
  if (left.length > 0)
    console.error(
      `Missing: ${left.map(({ name }) => name).join(', ')}. Their tests are left out. To install: ${commandFor(left)}`,
    );
  return left;
}

/** What the test configurations read, so that test files of missing programs are left out. */
export const withoutTestsOf = (missing) => ({
  FIRMQUOTE_TESTS_LEFT_OUT: missing.flatMap(({ tests }) => tests).join(','),
});

/** For the end of a run: which test files did not run, and why. */
export const notRun = (missing) =>
  missing.map(({ name, tests }) => `NOT RUN without ${name}: ${tests.join(' ')}`);

function commandFor(programs) {
  if (process.platform === 'darwin') return `brew install ${programs.map(({ brew }) => brew).join(' ')}`;
  return `sudo apt-get install -y ${programs.map(({ debian }) => debian).join(' ')}`;
}

function installDebian(programs) {
  console.error(`Installing ${programs.map(({ name }) => name).join(', ')} for the tests (apt-get) …`);
  const apt = (...words) =>
    spawnSync('apt-get', words, {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
    });
  apt('-qq', 'update');
  apt('-qq', 'install', '-y', '--no-install-recommends', ...programs.map(({ debian }) => debian));
}

const isOnPath = (program) =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));
