/** The alert rules load, they watch metrics that exist, and what is deployed is pinned. */

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const rules = readFileSync(join(ROOT, 'ops', 'rules.yml'), 'utf8');

test('promtool accepts the rules', () => {
  const checked = spawnSync('promtool', ['check', 'rules', join(ROOT, 'ops', 'rules.yml')], {
    encoding: 'utf8',
  });
  expect(checked.stderr ?? checked.error?.message).toBe('');
  expect(checked.status).toBe(0);
});

test('price alerts fire on their condition and not before', () => {
  const tested = spawnSync('promtool', ['test', 'rules', join(ROOT, 'ops', 'rules.test.yml')], {
    encoding: 'utf8',
  });
  expect(`${tested.stdout}${tested.stderr}`).toContain('SUCCESS');
  expect(tested.status).toBe(0);
});

test('every metric in the rules is exported', () => {
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => readFileSync(join(ROOT, 'src', name), 'utf8'))
    .join('\n');
  const named = [...new Set(rules.match(/\bfirmquote_[a-z0-9_]+/g))];
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !sources.includes(`'${name}'`))).toEqual([]);
});

test('every alert has a summary and an action', () => {
  const alerts = rules.split(/\n\s+- alert: /).slice(1);
  for (const alert of alerts) expect(alert).toMatch(/summary: ".+"\n\s+action: ".+"/);
});

test('Alertmanager routes every severity to a receiver that exists', () => {
  const routing = readFileSync(join(ROOT, 'ops', 'alertmanager.yml'), 'utf8');
  const severities = new Set([...rules.matchAll(/severity: (\w+)/g)].map(([, severity]) => severity));
  const routed = [...routing.matchAll(/receiver: ([\w-]+)\n\s+matchers: \['severity="(\w+)"'\]/g)];
  expect(new Set(routed.map(([, , severity]) => severity))).toEqual(severities);
  const receivers = [...routing.matchAll(/- name: ([\w-]+)/g)].map(([, name]) => name);
  expect(receivers).toEqual(expect.arrayContaining(routed.map(([, receiver]) => receiver)));
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
