/**
 * The kill switch: several hands may pull it, it holds from that instant, at every replica within a look at
 * the store, and a restart does not let go of it.
 */

import type { Log } from '../../ports/log.ts';
import type { LpStore } from '../../ports/stores/lp-store.ts';

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
  flush(store: Pick<LpStore, 'putRisk' | 'sayKill'>): Promise<void>;
  /**
   * Of several replicas: holds what any of them was told, and lets go of what any was told to let go of.
   * Throws what the store throws.
   */
  follow(store: Pick<LpStore, 'killSaid'>): Promise<void>;
}

export const KILL = 'kill';
const HANDS: readonly KilledBy[] = ['operator', 'signal', 'drawdown'];

/**
 * `changed` is called whenever the answer to "may we sign?" may have changed, `pulled` once for each time
 * that somebody pulled it here. `shared`: the switch is that of several replicas.
 */
export function createKillSwitch(
  { log, changed, pulled }: { log: Log; changed(): void; pulled(by: KilledBy, note: string): void },
  { shared }: { shared: boolean },
): KillSwitch {
  const held = new Map<KilledBy, string>();
  /** What was said here and is not written yet: hands that pulled, or null, everybody let go. */
  const unwritten: (Readonly<Record<string, string>> | null)[] = [];
  let writing: Promise<void> | undefined;
  /** Grows with every word said here: what was read before it is old. */
  let words = 0;

  function say(word: Readonly<Record<string, string>> | null): void {
    words += 1;
    unwritten.push(word);
  }

  function drop(hands: readonly KilledBy[]): boolean {
    const dropped = hands.filter((by) => held.delete(by));
    if (dropped.length > 0)
      log.warn(
        { dropped, held: [...held.keys()] },
        held.size === 0 ? 'kill switch released' : 'kill switch released in part: it still holds',
      );
    return dropped.length > 0;
  }

  async function write(store: Pick<LpStore, 'putRisk' | 'sayKill'>): Promise<void> {
    for (let word = unwritten[0]; word !== undefined; word = unwritten[0]) {
      const due = unwritten.length;
      if (shared) {
        await store.sayKill(word);
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
      if (by !== 'file') say({ [by]: note });
      log.fatal({ by, note }, 'kill switch: nothing is signed from now on, live quotes stay honoured');
      changed();
      pulled(by, note);
    },
    release() {
      const dropped = drop(HANDS);
      // Another replica may hold what this one has not heard of yet.
      if (dropped || shared) say(null);
      if (dropped || shared) changed();
    },
    releaseFile() {
      if (drop(['file'])) changed();
    },
    restore(saved) {
      for (const [by, note] of handsOf(saved)) {
        if (held.has(by)) continue;
        held.set(by, note);
        log.warn({ by, note }, 'the kill switch holds as before the restart: resume ends it');
      }
      changed();
    },
    flush(store) {
      writing ??= write(store).finally(() => (writing = undefined));
      return writing;
    },
    async follow(store) {
      if (unwritten.length > 0) return;
      const before = words;
      const said = handsOf(await store.killSaid());
      if (before !== words) return;
      const fresh = [...said].filter(([by, note]) => held.get(by) !== note);
      for (const [by, note] of fresh) {
        held.set(by, note);
        log.fatal(
          { by, note },
          'kill switch, said to another replica: nothing is signed from now on, live quotes stay honoured',
        );
      }
      if (drop(HANDS.filter((by) => !said.has(by))) || fresh.length > 0) changed();
    },
  };
}

function handsOf(saved: unknown): Map<KilledBy, string> {
  const hands = new Map<KilledBy, string>();
  if (typeof saved !== 'object' || saved === null) return hands;
  for (const by of HANDS) {
    const note = (saved as Record<string, unknown>)[by];
    if (typeof note === 'string') hands.set(by, note);
  }
  return hands;
}
