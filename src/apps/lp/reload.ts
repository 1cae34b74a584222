/** Reloads the configuration of a running LP: all or nothing. */

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { LpNode } from '../../lp/node/interface.ts';
import type { PairPreview } from '../../lp/quoting/preview.ts';
import { type Change, changesBetween, isReloadable } from '../../lp/config/reload.ts';
import type { AuditEntry } from '../../ports/stores/audit-log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import { ConfigError, type Loaded } from '../config/load.ts';
import { redacted } from '../config/print.ts';
import type { LpAppConfig } from './config.ts';
import type { OperatorLog } from './operator-log.ts';

export interface Reload {
  applied: boolean;
  reasons: readonly string[];
  changes: AuditEntry['changes'];
}

export interface ReloadPreview extends Omit<Reload, 'applied'> {
  /** Quotes of the last hour, priced again; empty for a refused configuration. */
  pairs: readonly PairPreview[];
}

export type Reloader = ReturnType<typeof createReloader>;

interface ReloaderDeps {
  node: Pick<LpNode, 'reload' | 'preview'>;
  log: Pick<OperatorLog, 'note'>;
  metrics: Metrics;
  file: string;
  read(): Promise<Loaded<LpAppConfig>>;
}

export function createReloader({ node, log, metrics, file, read }: ReloaderDeps, running: LpAppConfig) {
  const reloads = metrics.counter(
    'firmquote_lp_reloads_total',
    'Times that the configuration was read again, by what came of it',
    { outcome: ['applied', 'refused'] },
  );
  let current = running;
  let queue: Promise<unknown> = Promise.resolve();

  /** The file as it is now, with what keeps it from being applied. */
  async function examine(): Promise<{ wanted?: LpAppConfig } & Omit<Reload, 'applied'>> {
    let wanted: LpAppConfig;
    try {
      wanted = (await read()).config;
    } catch (error) {
      if (error instanceof ConfigError) return { reasons: error.problems, changes: [] };
      throw error;
    }
    const changes = changesBetween(current, wanted);
    const fixed = changes.filter(({ path: [section, ...rest] }) => section !== 'lp' || !isReloadable(rest));
    return {
      wanted,
      reasons: fixed.map(
        ({ path }) => `${path.join('.')} is read only at start: restart the LP to change it.`,
      ),
      changes: changes.map(redactChange),
    };
  }

  async function attempt(): Promise<Reload> {
    const { wanted, reasons, changes } = await examine();
    if (wanted === undefined || reasons.length > 0) return { applied: false, reasons, changes };
    if (changes.length === 0) return { applied: true, reasons, changes };
    const answer = await node.reload(wanted.lp);
    if ('refused' in answer) return { applied: false, reasons: answer.refused, changes };
    current = wanted;
    return { applied: true, reasons, changes };
  }

  return {
    /** What `reload` would do now. Changes and logs nothing. */
    async preview(): Promise<ReloadPreview> {
      const { wanted, reasons, changes } = await examine();
      if (wanted === undefined || reasons.length > 0) return { reasons, changes, pairs: [] };
      const answer = node.preview(wanted.lp);
      return 'refused' in answer
        ? { reasons: answer.refused, changes, pairs: [] }
        : { reasons, changes, pairs: answer.pairs };
    },
    /** Runs one at a time. Does not throw for mistakes in the file. */
    reload(who: string): Promise<Reload> {
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
        });
        return done;
      });
      queue = next.catch(() => {});
      return next;
    },
  };
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
