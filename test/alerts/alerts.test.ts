/**
 * Every alert of ops/rules.yml fires by the fault that it is there for, in a real Prometheus over real
 * processes, and not before; and what an operator does on purpose wakes nobody.
 */

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CAUSES, type Cause, FIRST, LAST } from './causes.ts';
import { ruleNames } from './prometheus.ts';
import { type Stage, startStage } from './stage.ts';
import { order } from './trades.ts';
import type { Client } from '../faults/support/client.ts';

/** For a fault to become a metric, and the metric an alert. */
const PATIENCE_MS = 180_000;
/**
 * Half a second without an answer, also about the roster, or a second's wait for the event loop or for a
 * connection with the database is an alert here: a busy machine causes it before the fault does.
 */
const BY_LOAD = ['EventLoopBlocked', 'ProcessDown', 'NobodyQuotes', 'DatabaseBusy'];
/** Whatever costs takers a quote or an order counts here. ops/*.test.yml say when these do not fire. */
const BY_ANY_FAULT = ['SloBurnsFast', 'SloBurnsSlowly', 'FirmnessBroken', 'OrderStuck'];
/** Of these, only that they fire is judged. */
const UNTIMED = new Set([...BY_LOAD, ...BY_ANY_FAULT]);

let stage: Stage;
let sinceMs: number;

beforeAll(async () => {
  stage = await startStage();
  sinceMs = Date.now();
}, 300_000);
afterAll(async () => {
  await stage?.stop();
}, 60_000);

test('the table names every rule, and no other', () => {
  const named = [...FIRST, ...CAUSES.flat(), ...LAST].flatMap(({ fires }) => Object.keys(fires));
  expect([...new Set(named)].toSorted()).toEqual(ruleNames().toSorted());
});

async function checkMetrics(opsUrl: string): Promise<string> {
  const input = await (await fetch(`${opsUrl}/metrics`)).text();
  const { stdout, stderr, status } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' });
  return status === 0 ? `${stdout}${stderr}` : `${status}: ${stdout}${stderr}`;
}

test('promtool accepts the metrics of every process', async () => {
  for (const { instance, opsUrl } of stage.targets)
    expect([instance, await checkMetrics(opsUrl)]).toEqual([instance, '']);
});

test('trades and a planned drain fire nothing', async () => {
  await stage.admin('idle', 'POST', '/pause');
  const client = await stage.world.client();
  const { home, away } = stage;
  for (const to of [home, away]) {
    const ended = await client.ended(await order(client, { lp: 'alpha', from: home, to, usdc: 200n }));
    expect(ended.status).toBe('settled');
  }
  expect(await stage.prometheus.problems()).toEqual([]);
  const fired = await stage.prometheus.allFired(sinceMs);
  const late = [...BY_LOAD, 'SloBurnsFast', 'SloBurnsSlowly'];
  expect(fired.filter((alert) => !late.some((rule) => alert.startsWith(rule)))).toEqual([]);
}, 180_000);

const DASHBOARDS = join(import.meta.dirname, '..', '..', 'ops', 'grafana', 'dashboards');
interface Panel {
  title: string;
  targets?: { expr: string }[];
}

test.each(readdirSync(DASHBOARDS))('each panel of the dashboard %s shows something', async (file) => {
  const { panels } = JSON.parse(readFileSync(join(DASHBOARDS, file), 'utf8')) as { panels: Panel[] };
  const queries = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
  expect(queries.length).toBeGreaterThan(10);
  const empty: string[] = [];
  for (const { title, expr } of queries) {
    const filled = expr.replaceAll('$instance', '.+').replaceAll('$__rate_interval', '2m');
    if ((await stage.prometheus.count(filled)) === 0) empty.push(`${title}: ${filled}`);
  }
  expect(empty).toEqual([]);
});

/** What is wrong with it; nothing, where every rule fired by it and not before. */
async function proven(cause: Cause, client: Client): Promise<string[]> {
  const { prometheus } = stage;
  const rules = Object.entries(cause.fires);
  const wrong: string[] = [];
  for (const [rule, labels] of rules)
    if (!UNTIMED.has(rule) && (await prometheus.fired(rule, labels, sinceMs)))
      wrong.push(`${rule} fired before: ${cause.fault}`);
  const startMs = Date.now();
  await cause.bring(stage, client);
  let open = rules;
  while (open.length > 0 && Date.now() < startMs + PATIENCE_MS) {
    const fired = await Promise.all(open.map(([rule, labels]) => prometheus.fired(rule, labels, startMs)));
    open = open.filter((_, n) => !fired[n]);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  for (const [rule] of open) wrong.push(`${rule} did not fire after: ${cause.fault}`);
  await cause.heal?.(stage, client);
  return wrong;
}

async function allProven(causes: readonly Cause[]): Promise<string[]> {
  const client = await stage.world.client();
  const wrong: string[] = [];
  for (const cause of causes)
    wrong.push(
      ...(await proven(cause, client).catch((error: unknown) => [`${cause.fault}: ${String(error)}`])),
    );
  return wrong;
}

test('each rule fires by its fault and not before', async () => {
  const wrong = [await allProven(FIRST), ...(await Promise.all(CAUSES.map(allProven)))];
  expect(wrong.flat()).toEqual([]);
  for (const rule of ['LpNotQuoting', 'LpKilled'])
    expect([rule, await stage.prometheus.fired(rule, { instance: 'idle' }, sinceMs)]).toEqual([rule, false]);
}, 600_000);

test('each rule about the end of the world fires by it', async () => {
  expect(await allProven(LAST)).toEqual([]);
}, 600_000);

test('promtool accepts the metrics of a venue with both roles and route venues', async () => {
  const whole = stage.world.venue('whole');
  await whole.start();
  expect(await checkMetrics(whole.opsUrl)).toBe('');
}, 180_000);
