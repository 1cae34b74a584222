/** The alert rules load, they watch metrics that exist, and what is deployed is pinned. */

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { STUCK_AFTER_SECONDS } from '../src/venue/admin/open-orders.ts';

const ROOT = join(import.meta.dirname, '..');
const rules = readFileSync(join(ROOT, 'ops', 'rules.yml'), 'utf8');

test('promtool accepts the rules', () => {
  const checked = spawnSync('promtool', ['check', 'rules', join(ROOT, 'ops', 'rules.yml')], {
    encoding: 'utf8',
  });
  expect(checked.stderr ?? checked.error?.message).toBe('');
  expect(checked.status).toBe(0);
});

test.each(['rules', 'rules-seconds', 'slo'])(
  'alerts fire on their condition and not before (%s.test.yml)',
  (name) => {
    const tested = spawnSync('promtool', ['test', 'rules', join(ROOT, 'ops', `${name}.test.yml`)], {
      encoding: 'utf8',
    });
    expect(`${tested.stdout}${tested.stderr}`).toContain('SUCCESS');
    expect(tested.status).toBe(0);
  },
);

test('every metric in the rules is exported', () => {
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => readFileSync(join(ROOT, 'src', name), 'utf8'))
    .join('\n');
  // A histogram `x` shows `x_bucket`, `x_sum` and `x_count`.
  const histogram = /_seconds_(?:bucket|sum|count)$/;
  const named = [
    ...new Set(
      rules
        .match(/\bfirmquote_[a-z0-9_]+/g)
        ?.map((name) => (histogram.test(name) ? name.replace(/_[a-z]+$/, '') : name)),
    ),
  ];
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !sources.includes(`'${name}'`))).toEqual([]);
});

test('an order is stuck by the objective of settlement_time', () => {
  for (const [flow, seconds] of Object.entries(STUCK_AFTER_SECONDS))
    expect(
      [...rules.matchAll(new RegExp(`flow="${flow}",le="(\\d+)"`, 'g'))].map(([, le]) => Number(le)),
    ).toEqual(Array.from({ length: 4 }, () => seconds));
});

/** The text below the heading of that name, to the next heading. */
const sectionOf = (page: string, name: string): string | undefined =>
  readFileSync(join(ROOT, page), 'utf8')
    .split(/^(?=#{2,4} )/m)
    .find((section) => new RegExp(`^#+ ${name}\n`).test(section));

test.each(
  rules
    .split(/\n\s+- alert: /)
    .slice(1)
    .map((alert) => [/^\w+/.exec(alert)?.[0] ?? '', alert] as const),
)('the alert %s has a summary, an action, and a section of a runbook', (name, alert) => {
  expect(alert).toMatch(/summary: ".+"\n\s+action: ".+"\n\s+runbook: ".+"/);
  const [, page = '', anchor] = /runbook: "(.+)#(.+)"/.exec(alert) ?? [];
  expect(anchor).toBe(name.toLowerCase());
  const section = sectionOf(page, name) ?? expect.fail(`${page} has no section ${name}`);
  // What it means, and at least one thing to look at or to do.
  expect(section.length).toBeGreaterThan(200);
  expect(section).toMatch(/`[^`]+`|\]\(/);
});

test('every package in the lock has an integrity hash and names no registry', () => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { integrity?: string; resolved?: string; link?: boolean }>;
  };
  const bad = Object.entries(packages).filter(
    ([place, { integrity, resolved, link }]) =>
      place !== '' && (link === true || resolved !== undefined || !integrity?.startsWith('sha512-')),
  );
  expect(bad.map(([place]) => place)).toEqual([]);
});

test('compose pins every image by version and asks both stores for a password', () => {
  const compose = readFileSync(join(ROOT, 'compose.yaml'), 'utf8');
  const images = [...compose.matchAll(/^\s+image: (\S+)$/gm)].map(([, image]) => image);
  expect(images.length).toBeGreaterThan(3);
  for (const image of images)
    if (image !== 'firmquote:local') expect(image).toMatch(/^[a-z/]+:v?\d+\.\d+(?:\.\d+)?(?:-[a-z0-9.]+)?$/);
  const base = /^ARG NODE_IMAGE=(.+)$/m.exec(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'))?.[1];
  expect(base).toMatch(/^node:\d+\.\d+\.\d+-[a-z-]+$/);
  for (const store of ['POSTGRES', 'REDIS']) expect(compose).toContain(`\${${store}_PASSWORD:?`);
  expect(compose).toContain('--requirepass');
  expect(compose).toMatch(/REDIS_URL: redis:\/\/:\$\{REDIS_PASSWORD\}@/);
});

test('the dashboards are what their tables say', () => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/dashboards.mjs', '--check'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
});

test('the image runs as a user without rights and says whether it is healthy', () => {
  const image = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
  expect(image).toMatch(/^USER node$/m);
  expect(image).toMatch(/^HEALTHCHECK [^\n]*\\\n +CMD \["node"[^\n]*OPS_PORT[^\n]*\/healthz/m);
  const compose = readFileSync(join(ROOT, 'compose.yaml'), 'utf8');
  for (const port of ['9200', '9300']) expect(compose).toContain(`OPS_PORT: ${port}`);
});

test('CI runs on the oldest Node that the package allows, and on newer ones', () => {
  const workflow = readFileSync(join(ROOT, '.github/workflows/ci.yml'), 'utf8');
  const tested = [...(/node: \[(.+)\]/.exec(workflow)?.[1] ?? '').matchAll(/"(\d+)"/g)].map(([, major]) =>
    Number(major),
  );
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    engines: { node: string };
  };
  expect(Math.min(...tested)).toBe(Number(/\d+/.exec(engines.node)?.[0]));
  expect(tested).toHaveLength(3);
  expect(workflow).toContain('.ci/run');
});
