/**
 * Pairs and chains that the operator paused. The rest of the LP quotes on. They survive a restart, and every
 * replica follows them.
 */

import type { Decline } from '../../domain/decline.ts';
import type { Log } from '../../ports/log.ts';
import type { LpStore } from '../../ports/stores/lp-store.ts';
import type { QuoteRoute } from '../routes/route.ts';

/** A pair name such as `WETH-USDC`, or a chain's slug. */
export type PauseScope = { pair: string } | { chain: string };

export interface ScopedPause {
  scope: PauseScope;
  note: string;
}

export interface ScopedPauses {
  pause(scope: PauseScope, note: string): void;
  /** Returns whether it was paused. */
  resume(scope: PauseScope): boolean;
  /** Ends all pauses, including those of another replica that this one has not read yet. */
  resumeAll(): void;
  /** Returns why this route is not quoted. Cheap: called for every quote. */
  refusal(route: QuoteRoute): Decline | undefined;
  list(): readonly ScopedPause[];
  /** Rejects when the store does; the next call tries again. */
  flush(store: Pick<LpStore, 'putPauses'>): Promise<void>;
  /** With several replicas, applies what another one stored, and returns whether that changed anything. */
  follow(store: Pick<LpStore, 'pauses'>): Promise<boolean>;
}

/** `saved`: the notes of stored pauses, by the name of their scope. */
export function createScopedPauses(
  { log }: { log: Log },
  saved: Readonly<Record<string, string>>,
): ScopedPauses {
  let pauses = new Map(Object.entries(saved));
  /** Commands given here and not stored yet: notes by name, null to end that pause; null to end all. */
  const unwritten: (Readonly<Record<string, string | null>> | null)[] = [];
  let writing: Promise<void> | undefined;
  /** Counts local commands: a store read from before the last one is outdated. */
  let commands = 0;

  function record(command: Readonly<Record<string, string | null>> | null): void {
    commands += 1;
    unwritten.push(command);
  }

  const find = ({ pairName, origin, dest }: Pick<QuoteRoute, 'pairName' | 'origin' | 'dest'>) =>
    [{ pair: pairName }, { chain: origin.slug }, { chain: dest.slug }]
      .map(nameOf)
      .find((name) => pauses.has(name));

  async function write(store: Pick<LpStore, 'putPauses'>): Promise<void> {
    for (let command = unwritten[0]; command !== undefined; command = unwritten[0]) {
      await store.putPauses(command);
      unwritten.shift();
    }
  }

  return {
    pause(scope, note) {
      pauses.set(nameOf(scope), note);
      record({ [nameOf(scope)]: note });
    },
    resume(scope) {
      const ended = pauses.delete(nameOf(scope));
      if (ended) record({ [nameOf(scope)]: null });
      return ended;
    },
    resumeAll() {
      pauses.clear();
      record(null);
    },
    refusal(route) {
      if (pauses.size === 0) return undefined;
      const name = find(route);
      return name === undefined
        ? undefined
        : { declined: 'standby', control: 'kill_switch', detail: noteOf(name, pauses.get(name) ?? '') };
    },
    list: () => [...pauses].map(([name, note]) => ({ scope: scopeOf(name), note })),
    flush(store) {
      writing ??= write(store).finally(() => (writing = undefined));
      return writing;
    },
    async follow(store) {
      if (unwritten.length > 0) return false;
      const before = commands;
      const stored = new Map(Object.entries(await store.pauses()));
      if (before !== commands || same(stored, pauses)) return false;
      log.warn(
        { before: [...pauses.keys()], now: [...stored.keys()] },
        'the pauses of pairs and chains changed at another replica',
      );
      pauses = stored;
      return true;
    },
  };
}

const same = (one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean =>
  one.size === other.size && [...one].every(([name, note]) => other.get(name) === note);

const nameOf = (scope: PauseScope): string =>
  'pair' in scope ? `pair ${scope.pair}` : `chain ${scope.chain}`;

function scopeOf(name: string): PauseScope {
  const [kind, of = ''] = name.split(' ');
  return kind === 'pair' ? { pair: of } : { chain: of };
}

const noteOf = (name: string, note: string): string => `${name} is paused: ${note}`;

export const pauseNote = ({ scope, note }: ScopedPause): string => noteOf(nameOf(scope), note);
