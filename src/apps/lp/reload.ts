/** Reloads the configuration of a running LP: all or nothing. */

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { RequestError } from '../../domain/errors.ts';
import type { LpNode } from '../../lp/node/interface.ts';
import type { PairPreview } from '../../lp/quoting/preview.ts';
import { type Change, changesBetween, isReloadable } from '../../lp/config/reload.ts';
import type { AuditEntry } from '../../ports/stores/audit-log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import { ConfigError, type Loaded, readConfigText } from '../config/load.ts';
import { redacted } from '../config/print.ts';
import { type LpAppConfig, lpWarnings } from './config.ts';
import type { KillFile } from './kill-file.ts';
import type { OperatorLog } from './operator-log.ts';
import type { LoadedPlugin } from './plugin.ts';
import { replaceConfigFile, requireUnchanged } from './pricing/config-file.ts';
import { parametersIn } from './pricing/change.ts';
import type { PricingHistory } from './pricing/versions.ts';
import { forNode, type LpSources } from './sources.ts';

export interface Reload {
  applied: boolean;
  reasons: readonly string[];
  changes: AuditEntry['changes'];
  /** Warnings about the new configuration that did not hold for the old one. */
  warnings: readonly string[];
}

export interface ReloadPreview extends Omit<Reload, 'applied'> {
  /** Quotes of the last hour, priced again; empty for a refused configuration. */
  pairs: readonly PairPreview[];
}

/** A configuration with the text that it was read from. */
export type ReadConfig = Loaded<LpAppConfig> & { text: string };

export interface Reloader {
  /** Returns the configuration in force, with the text of its file. */
  current(): ReadConfig;
  /** Tells what `reload` would do now, or `replace` with this text. Changes and logs nothing. */
  preview(text?: string): Promise<ReloadPreview>;
  /** Runs one at a time. Does not throw for mistakes in the file. */
  reload(who: string, address?: string | null): Promise<Reload>;
  /**
   * Makes `text` the configuration in the file and in force, or changes neither. `was`: the text that it was
   * made from. Throws `RequestError` where the file or the configuration in force is another by now.
   */
  replace(text: string, by: Author & { was: string }): Promise<Reload>;
}

interface ReloaderDeps {
  node: Pick<LpNode, 'reload' | 'preview'>;
  killFile: Pick<KillFile, 'watch'>;
  log: Pick<OperatorLog, 'note'>;
  history: Pick<PricingHistory, 'note'>;
  metrics: Metrics;
  file: string;
  /** Throws `ConfigError`. */
  parse(text: string): ReadConfig;
  /** Feeds and plug-in of a configuration; what equals the running ones is not made again. */
  make(config: LpAppConfig, running: LpSources): Promise<LpSources>;
}

interface Wanted {
  read: ReadConfig;
  sources: LpSources;
}

export function createReloader(
  { node, killFile, log, history, metrics, file, parse, make }: ReloaderDeps,
  running: Wanted,
): Reloader {
  const reloads = metrics.counter(
    'firmquote_lp_reloads_total',
    'Times that the configuration was read again, by what came of it',
    { outcome: ['applied', 'refused'] },
  );
  let current = running;
  let queue: Promise<unknown> = Promise.resolve();

  /** A configuration, or the file as it is now, with what keeps it from being applied. */
  async function examine(text?: string): Promise<{ wanted?: Wanted } & Omit<Reload, 'applied'>> {
    let read: ReadConfig;
    try {
      read = parse(text ?? (await readConfigText(file)));
    } catch (error) {
      if (error instanceof ConfigError) return { reasons: error.problems, changes: [], warnings: [] };
      throw error;
    }
    const { config } = read;
    const before = lpWarnings(current.read.config);
    const warnings = lpWarnings(config).filter((each) => !before.includes(each));
    const changes = changesBetween(current.read.config, config);
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
        ...{ wanted: { read, sources }, reasons: [], warnings },
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
    if (found.changes.length === 0) {
      current = { ...current, read: wanted.read };
      return { applied: true, ...found };
    }
    const { lp } = wanted.read.config;
    const answer = await node.reload(lp, forNode(wanted.sources));
    if ('refused' in answer) return { applied: false, ...found, reasons: answer.refused };
    current = wanted;
    killFile.watch(lp.risk.killFile);
    return { applied: true, ...found };
  }

  return {
    current: () => current.read,
    async preview(text) {
      const { wanted, ...found } = await examine(text);
      if (wanted === undefined) return { ...found, pairs: [] };
      const answer = await node.preview(wanted.read.config.lp, forNode(wanted.sources));
      return 'refused' in answer
        ? { ...found, reasons: answer.refused, pairs: [] }
        : { ...found, pairs: answer.pairs };
    },
    reload(who, address = null) {
      return oneAtATime(async () => {
        const done = await attempt();
        const note = done.changes.length === 0 ? 'no changes' : null;
        await record('reload', done, { who, address, note });
        return done;
      });
    },
    replace(text, { was, ...by }) {
      return oneAtATime(async () => {
        await requireUnchanged(file, was);
        if (was !== current.read.text) throw changedMeanwhile();
        const { wanted, ...found } = await examine(text);
        const done = wanted === undefined ? { applied: false, ...found } : await write(text, was);
        await record('pricing', done, by);
        return done;
      });
    },
  };

  function oneAtATime<T>(run: () => Promise<T>): Promise<T> {
    const next = queue.then(run);
    queue = next.catch(() => {});
    return next;
  }

  /** Writes the file first: after a crash in between, the next start reads the new configuration. */
  async function write(text: string, was: string): Promise<Reload> {
    await replaceConfigFile(file, text, was);
    try {
      const done = await attempt();
      if (!done.applied) await replaceConfigFile(file, was, text);
      return done;
    } catch (error) {
      await replaceConfigFile(file, was, text);
      throw error;
    }
  }

  async function record(what: string, done: Reload, { who, address, note }: Author): Promise<void> {
    reloads.add({ outcome: done.applied ? 'applied' : 'refused' });
    const { text } = current.read;
    if (done.applied) void history.note(who, note, parametersIn(text));
    await log.note(who, done.applied ? what : `${what}_refused`, {
      ...{ note: done.applied ? note : done.reasons.join(' '), changes: done.changes, address },
      configSha256: await sha256Of(file),
    });
  }
}

interface Author {
  who: string;
  address: string | null;
  note: string | null;
}

const changedMeanwhile = (): RequestError =>
  new RequestError(
    'The configuration was changed since you looked at it. Nothing was written. Look at the parameters again, then repeat your change.',
    { code: 'config_changed' },
  );

/** Everything under `feeds`, and what the node can change. */
const mayReload = ([section, ...rest]: readonly string[]): boolean =>
  section === 'feeds' || (section === 'lp' && isReloadable(rest));

/** Finds a plug-in whose text changed under the same path. */
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
