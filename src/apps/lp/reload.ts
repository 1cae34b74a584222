/** Reloads the configuration of a running LP: all or nothing. */

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { RequestError } from '../../domain/errors.ts';
import type { LpNode } from '../../lp/node/interface.ts';
import type { PairPreview } from '../../lp/quoting/preview.ts';
import { type Change, changesBetween, isReloadable } from '../../lp/config/reload.ts';
import type { AuditEntry } from '../../ports/stores/audit-log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import { ConfigError, type Loaded } from '../config/load.ts';
import { redacted } from '../config/print.ts';
import { type LpAppConfig, lpWarnings } from './config.ts';
import type { KillFile } from './kill-file.ts';
import type { OperatorLog } from './operator-log.ts';
import type { LoadedPlugin } from './plugin.ts';
import { forNode, type LpSources } from './sources.ts';

export interface Reload {
  applied: boolean;
  reasons: readonly string[];
  changes: AuditEntry['changes'];
  /** What an operator should know of the new configuration, and was not so before. */
  warnings: readonly string[];
}

export interface ReloadPreview extends Omit<Reload, 'applied'> {
  /** Quotes of the last hour, priced again; empty for a refused configuration. */
  pairs: readonly PairPreview[];
}

export type Reloader = ReturnType<typeof createReloader>;

interface ReloaderDeps {
  node: Pick<LpNode, 'reload' | 'preview'>;
  killFile: Pick<KillFile, 'watch'>;
  log: Pick<OperatorLog, 'note'>;
  metrics: Metrics;
  file: string;
  read(): Promise<Loaded<LpAppConfig>>;
  /** Feeds and plug-in of a configuration; what equals the running ones is not made again. */
  make(config: LpAppConfig, running: LpSources): Promise<LpSources>;
}

interface Wanted {
  config: LpAppConfig;
  sources: LpSources;
}

export function createReloader(
  { node, killFile, log, metrics, file, read, make }: ReloaderDeps,
  running: Wanted,
) {
  const reloads = metrics.counter(
    'firmquote_lp_reloads_total',
    'Times that the configuration was read again, by what came of it',
    { outcome: ['applied', 'refused'] },
  );
  let current = running;
  let queue: Promise<unknown> = Promise.resolve();

  /** The file as it is now, with what keeps it from being applied. */
  async function examine(): Promise<{ wanted?: Wanted } & Omit<Reload, 'applied'>> {
    let config: LpAppConfig;
    try {
      config = (await read()).config;
    } catch (error) {
      if (error instanceof ConfigError) return { reasons: error.problems, changes: [], warnings: [] };
      throw error;
    }
    const before = lpWarnings(current.config);
    const warnings = lpWarnings(config).filter((each) => !before.includes(each));
    const changes = changesBetween(current.config, config);
    const fixed = changes.filter(({ path }) => !mayReload(path));
    const found = { changes: changes.map(redactChange), warnings };
    if (fixed.length > 0)
      return {
        ...found,
        reasons: fixed.map(
          ({ path }) => `${path.join('.')} is read only at start: restart the LP to change it.`,
        ),
      };
    try {
      const sources = await make(config, current.sources);
      const module = moduleChange(current.sources, sources);
      return {
        ...{ wanted: { config, sources }, reasons: [], warnings },
        changes: module === undefined ? found.changes : [...found.changes, module],
      };
    } catch (error) {
      if (error instanceof RequestError) return { ...found, reasons: [error.message] };
      throw error;
    }
  }

  async function attempt(): Promise<Reload> {
    const { wanted, ...found } = await examine();
    if (wanted === undefined) return { applied: false, ...found };
    if (found.changes.length === 0) return { applied: true, ...found };
    const answer = await node.reload(wanted.config.lp, forNode(wanted.sources));
    if ('refused' in answer) return { applied: false, ...found, reasons: answer.refused };
    current = wanted;
    killFile.watch(wanted.config.lp.risk.killFile);
    return { applied: true, ...found };
  }

  return {
    /** What `reload` would do now. Changes and logs nothing. */
    async preview(): Promise<ReloadPreview> {
      const { wanted, ...found } = await examine();
      if (wanted === undefined) return { ...found, pairs: [] };
      const answer = node.preview(wanted.config.lp, forNode(wanted.sources));
      return 'refused' in answer
        ? { ...found, reasons: answer.refused, pairs: [] }
        : { ...found, pairs: answer.pairs };
    },
    /** Runs one at a time. Does not throw for mistakes in the file. */
    reload(who: string, address: string | null = null): Promise<Reload> {
      const next = queue.then(async () => {
        const done = await attempt();
        reloads.add({ outcome: done.applied ? 'applied' : 'refused' });
        const note = done.applied
          ? done.changes.length === 0
            ? 'no changes'
            : null
          : done.reasons.join(' ');
        await log.note(who, done.applied ? 'reload' : 'reload_refused', {
          note,
          changes: done.changes,
          configSha256: await sha256Of(file),
          address,
        });
        return done;
      });
      queue = next.catch(() => {});
      return next;
    },
  };
}

/** Everything under `feeds`, and what the node can change. */
const mayReload = ([section, ...rest]: readonly string[]): boolean =>
  section === 'feeds' || (section === 'lp' && isReloadable(rest));

/** A plug-in whose text changed under the same path. */
function moduleChange({ loaded: before }: LpSources, { loaded: after }: LpSources) {
  if (before === undefined || after === undefined || before.sha256 === after.sha256) return undefined;
  const short = ({ sha256 }: LoadedPlugin) => sha256.slice(0, 12);
  return { path: 'lp.pricing.module (sha256 of the file)', from: short(before), to: short(after) };
}

const redactChange = ({ path, from, to }: Change) => ({
  path: path.join('.'),
  from: side(path, from),
  to: side(path, to),
});
const side = (path: readonly string[], value: unknown): string =>
  value === undefined ? '-' : redacted(path, value);

export const sha256Of = (file: string): Promise<string | null> =>
  readFile(file).then(
    (bytes) => createHash('sha256').update(bytes).digest('hex'),
    () => null,
  );
