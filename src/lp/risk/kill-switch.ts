/**
 * The kill switch, with several sources. Effective immediately, on other replicas once they read the store,
 * and across restarts.
 */

import type { Log } from '../../ports/log.ts';
import type { LpStore } from '../../ports/stores/lp-store.ts';

/** Names the source that engaged it. The file still exists after a restart; the other sources are stored. */
export type KilledBy = 'operator' | 'file' | 'signal' | 'drawdown';

export interface KillSwitch {
  /** The notes of the sources that hold it. Nothing is signed while it has an entry. */
  readonly held: ReadonlyMap<KilledBy, string>;
  engage(by: KilledBy, note: string): void;
  /** Called by the operator: releases every source but a kill file that still exists. */
  release(): void;
  /** Called when the kill file is gone. */
  releaseFile(): void;
  /** Engages it again with the stored sources, at start. */
  restore(saved: unknown): void;
  /** Stores what is not stored yet; after a failure the next call tries again. */
  flush(store: Pick<LpStore, 'putRisk' | 'putKillReasons'>): Promise<void>;
  /** With several replicas, applies what another one stored. Rejects when the store does. */
  follow(store: Pick<LpStore, 'killReasons'>): Promise<void>;
}

export const KILL = 'kill';
const STORED_SOURCES: readonly KilledBy[] = ['operator', 'signal', 'drawdown'];

/** `changed`: on every change. `killed`: each time it is engaged here. `shared`: several replicas. */
export function createKillSwitch(
  { log, changed, killed }: { log: Log; changed(): void; killed(by: KilledBy, note: string): void },
  { shared }: { shared: boolean },
): KillSwitch {
  const held = new Map<KilledBy, string>();
  /** Commands given here and not stored yet: sources with their notes, or null for a release. */
  const unwritten: (Readonly<Record<string, string>> | null)[] = [];
  let writing: Promise<void> | undefined;
  /** Counts local commands: a store read from before the last one is outdated. */
  let commands = 0;

  function record(command: Readonly<Record<string, string>> | null): void {
    commands += 1;
    unwritten.push(command);
  }

  function drop(sources: readonly KilledBy[]): boolean {
    const dropped = sources.filter((by) => held.delete(by));
    if (dropped.length > 0)
      log.warn(
        { dropped, held: [...held.keys()] },
        held.size === 0 ? 'kill switch released' : 'kill switch released in part: it still holds',
      );
    return dropped.length > 0;
  }

  async function write(store: Pick<LpStore, 'putRisk' | 'putKillReasons'>): Promise<void> {
    for (let command = unwritten[0]; command !== undefined; command = unwritten[0]) {
      const due = unwritten.length;
      if (shared) {
        await store.putKillReasons(command);
        unwritten.shift();
      } else {
        await store.putRisk(KILL, Object.fromEntries([...held].filter(([by]) => by !== 'file')));
        unwritten.splice(0, due);
      }
    }
  }

  return {
    held,
    engage(by, note) {
      if (held.get(by) === note) return;
      held.set(by, note);
      if (by !== 'file') record({ [by]: note });
      log.fatal({ by, note }, 'kill switch: nothing is signed from now on, live quotes stay honoured');
      changed();
      killed(by, note);
    },
    release() {
      const dropped = drop(STORED_SOURCES);
      // Another replica may hold what this one has not read yet.
      if (!dropped && !shared) return;
      record(null);
      changed();
    },
    releaseFile() {
      if (drop(['file'])) changed();
    },
    restore(saved) {
      for (const [by, note] of sourcesOf(saved)) {
        if (held.has(by)) continue;
        held.set(by, note);
        log.warn({ by, note }, 'the kill switch still holds after the restart: `resume` releases it');
      }
    },
    flush(store) {
      writing ??= write(store).finally(() => (writing = undefined));
      return writing;
    },
    async follow(store) {
      if (unwritten.length > 0) return;
      const before = commands;
      const stored = sourcesOf(await store.killReasons());
      if (before !== commands) return;
      const fresh = [...stored].filter(([by, note]) => held.get(by) !== note);
      for (const [by, note] of fresh) {
        held.set(by, note);
        log.fatal(
          { by, note },
          'kill switch, engaged at another replica: nothing is signed from now on, live quotes stay honoured',
        );
      }
      if (drop(STORED_SOURCES.filter((by) => !stored.has(by))) || fresh.length > 0) changed();
    },
  };
}

function sourcesOf(saved: unknown): Map<KilledBy, string> {
  const sources = new Map<KilledBy, string>();
  if (typeof saved !== 'object' || saved === null) return sources;
  for (const by of STORED_SOURCES) {
    const note = (saved as Record<string, unknown>)[by];
    if (typeof note === 'string') sources.set(by, note);
  }
  return sources;
}
