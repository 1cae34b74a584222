/** A real Prometheus over real processes, with ops/rules.yml in less time: its hour is half a minute. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnWatched } from '../../src/adapters/process/parent-watchdog.ts';
import { freePort } from '../../src/adapters/postgres/embedded/embedded.ts';

const RULES = join(import.meta.dirname, '..', '..', 'ops', 'rules.yml');

/** How many times shorter each duration of the rules is. */
const FACTOR = 120;
/** The deployed interval is 10 s. Shorter than a twentieth of it would only load the machine. */
const EVERY_MS = 500;

const MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export type Labels = Readonly<Record<string, string>>;

export interface Target {
  job: string;
  instance: string;
  opsUrl: string;
}

export interface Prometheus {
  /** Whether an alert of this rule with at least these labels fired since that time (Unix ms). */
  fired(rule: string, labels: Labels, sinceMs: number): Promise<boolean>;
  /** Every alert that fired since that time, as `rule{labels}`; of one severity, or of all. */
  allFired(sinceMs: number, severity?: string): Promise<string[]>;
  /** How many series an expression has now. Throws when Prometheus refuses it. */
  count(expression: string): Promise<number>;
  /** Rules that could not be evaluated, with the reason. */
  problems(): Promise<string[]>;
  stop(): Promise<void>;
}

/** The names of all rules, in the order of the file. */
export const ruleNames = (): string[] =>
  [...readFileSync(RULES, 'utf8').matchAll(/^\s+- alert: (\S+)$/gm)].map(([, name]) => name as string);

/**
 * The rules with every `for:` and every range (`[10m]`) divided by the factor, and nothing else changed: not
 * an expression, not a threshold, not a label.
 */
function shortened(rules: string): string {
  const short = (duration: string) =>
    `${Math.round(
      [...duration.matchAll(/(\d+)(ms|[smhd])/g)].reduce(
        (sum, [, count, unit]) => sum + Number(count) * (MS[unit as string] ?? Number.NaN),
        0,
      ) / FACTOR,
    )}ms`;
  return rules
    .replaceAll(/^(\s+for: )(\S+)$/gm, (_, start: string, duration: string) => start + short(duration))
    .replaceAll(/\[((?:\d+(?:ms|[smhd]))+)\]/g, (_, duration: string) => `[${short(duration)}]`);
}

/** Resolves when it has scraped every target and then evaluated the rules. */
export async function startPrometheus(targets: readonly Target[]): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'firmquote-prometheus-'));
  const port = await freePort();
  writeFileSync(join(folder, 'rules.yml'), shortened(readFileSync(RULES, 'utf8')));
  const every = `${EVERY_MS}ms`;
  const jobs = [...new Set(targets.map(({ job }) => job))];
  writeFileSync(
    join(folder, 'prometheus.yml'),
    // JSON is YAML.
    JSON.stringify({
      global: { scrape_interval: every, scrape_timeout: every, evaluation_interval: every },
      rule_files: ['rules.yml'],
      scrape_configs: jobs.map((job) => ({
        job_name: job,
        static_configs: targets
          .filter((target) => target.job === job)
          .map(({ instance, opsUrl }) => ({ targets: [new URL(opsUrl).host], labels: { instance } })),
      })),
    }),
  );
  const child = await spawnWatched(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { cwd: folder, graceMs: 5_000 },
  );

  async function api<T>(path: string): Promise<T> {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
    const { data, error } = (await answer.json()) as { data: T; error?: string };
    if (error !== undefined) throw new Error(`Prometheus refused ${path}: ${error}`);
    return data;
  }
  const query = async (expression: string) =>
    (
      await api<{ result: { metric: Record<string, string> }[] }>(
        `query?query=${encodeURIComponent(expression)}`,
      )
    ).result;
  /** A range that begins there. It is never empty. */
  const since = (ms: number) => `[${Math.max(1, Math.ceil(Date.now() - ms))}ms]`;
  const selector = (labels: Labels) =>
    Object.entries({ alertstate: 'firing', ...labels })
      .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
      .join();

  const self: Prometheus = {
    fired: async (rule, labels, sinceMs) =>
      (await query(`count_over_time(ALERTS{${selector({ alertname: rule, ...labels })}}${since(sinceMs)})`))
        .length > 0,
    async allFired(sinceMs, severity) {
      const found = await query(
        `count_over_time(ALERTS{${selector(severity === undefined ? {} : { severity })}}${since(sinceMs)})`,
      );
      return found
        .map(({ metric: { alertname, ...labels } }) => `${alertname}${JSON.stringify(labels)}`)
        .toSorted();
    },
    count: async (expression) => (await query(expression)).length,
    async problems() {
      const { groups } = await api<{ groups: { rules: { name: string; lastError?: string }[] }[] }>('rules');
      return groups
        .flatMap(({ rules }) => rules)
        .flatMap(({ name, lastError }) => (lastError === undefined ? [] : [`${name}: ${lastError}`]));
    },
    async stop() {
      await child.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  const deadline = performance.now() + 60_000;
  for (;;) {
    const up = await query('up == 1').catch(() => []);
    if (up.length === targets.length) break;
    if (child.hasExited() || performance.now() > deadline) {
      await self.stop();
      throw new Error(`Prometheus did not start, or sees ${up.length} of ${targets.length} processes.`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await new Promise((resolve) => setTimeout(resolve, 6 * EVERY_MS));
  return self;
}
