/** The kill switch: several hands may pull it, it holds from that instant, and a restart does not let go of it. */

import type { Log } from '../ports/log.ts';
import type { LpStore } from '../ports/lp-store.ts';

/** Who pulled it. A file speaks for itself after a restart; the others are written down. */
export type KilledBy = 'operator' | 'file' | 'signal' | 'drawdown';

export interface KillSwitch {
  engage(by: KilledBy, note: string): void;
  /** The operator's word: ends everything but a file that is still there. */
  release(): void;
  /** The file is gone. */
  releaseFile(): void;
  /** What each hand said, while it holds. */
  readonly held: ReadonlyMap<KilledBy, string>;
  /** Takes over what was held when the last process ended. */
  restore(saved: unknown): void;
  /** Writes what is not written yet; what fails stays due. */
  flush(store: Pick<LpStore, 'putRisk'>): Promise<void>;
}

export const KILL = 'kill';
const HANDS: readonly KilledBy[] = ['operator', 'signal', 'drawdown'];

/** `changed` is called whenever the answer to "may we sign?" may have changed, `pulled` once for each time that somebody pulled it. */
export function createKillSwitch({ log, changed, pulled }: { log: Log; changed(): void; pulled(by: KilledBy, note: string): void }): KillSwitch {
  const held = new Map<KilledBy, string>();
  let due = false;

  function drop(hands: readonly KilledBy[]): void {
    const dropped = hands.filter((by) => held.delete(by));
    if (dropped.length === 0) return;
    due ||= dropped.some((by) => by !== 'file');
    log.warn({ dropped, held: [...held.keys()] }, held.size === 0 ? 'kill switch released' : 'kill switch released in part: it still holds');
    changed();
  }

  return {
    held,
    engage(by, note) {
      if (held.get(by) === note) return;
      held.set(by, note);
      due ||= by !== 'file';
      log.fatal({ by, note }, 'kill switch: nothing is signed from now on, live quotes stay honoured');
      changed();
      pulled(by, note);
    },
    release: () => drop(HANDS),
    releaseFile: () => drop(['file']),
    restore(saved) {
      if (typeof saved !== 'object' || saved === null) return;
      for (const by of HANDS) {
        const note = (saved as Record<string, unknown>)[by];
        if (typeof note !== 'string' || held.has(by)) continue;
        held.set(by, note);
        log.warn({ by, note }, 'the kill switch holds as before the restart: resume ends it');
      }
      changed();
    },
    async flush(store) {
      if (!due) return;
      due = false;
      const saved = Object.fromEntries([...held].filter(([by]) => by !== 'file'));
      await store.putRisk(KILL, saved).catch((error: unknown) => {
        due = true;
        throw error;
      });
    },
  };
}
