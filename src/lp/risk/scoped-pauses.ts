/** Pairs and chains that the operator paused. The rest of the LP quotes on. They survive a restart. */

import type { Decline } from '../../domain/decline.ts';
import type { LpStore } from '../../ports/stores/lp-store.ts';
import type { Route } from '../quoting/route.ts';

/** The name of this state among the stored risk states. */
export const SCOPED_PAUSES = 'scoped_pauses';

/** A pair name such as `WETH-USDC`, or a chain's slug. */
export type PauseScope = { pair: string } | { chain: string };

export interface ScopedPause {
  scope: PauseScope;
  note: string;
}

export type ScopedPauses = ReturnType<typeof createScopedPauses>;

export function createScopedPauses(saved: unknown) {
  const pauses = new Map<string, ScopedPause>(
    (Array.isArray((saved as { pauses?: unknown } | undefined)?.pauses)
      ? (saved as { pauses: ScopedPause[] }).pauses
      : []
    ).map((pause) => [nameOf(pause.scope), pause]),
  );
  let unwritten = false;

  const find = ({ pairName, origin, dest }: Pick<Route, 'pairName' | 'origin' | 'dest'>) =>
    pauses.get(nameOf({ pair: pairName })) ??
    pauses.get(nameOf({ chain: origin.slug })) ??
    pauses.get(nameOf({ chain: dest.slug }));

  return {
    pause(scope: PauseScope, note: string) {
      pauses.set(nameOf(scope), { scope, note });
      unwritten = true;
    },
    /** undefined: all of them. Returns whether any was paused. */
    resume(scope?: PauseScope): boolean {
      const ended = scope === undefined ? pauses.size > 0 : pauses.delete(nameOf(scope));
      if (scope === undefined) pauses.clear();
      unwritten ||= ended;
      return ended;
    },
    refusal(route: Route): Decline | undefined {
      if (pauses.size === 0) return undefined;
      const found = find(route);
      return found && { declined: 'standby', control: 'kill_switch', detail: pauseNote(found) };
    },
    list: (): readonly ScopedPause[] => [...pauses.values()],
    /** Rejects when the store does; the next call tries again. */
    async flush(store: Pick<LpStore, 'putRisk'>) {
      if (!unwritten) return;
      unwritten = false;
      try {
        await store.putRisk(SCOPED_PAUSES, { pauses: [...pauses.values()] });
      } catch (error) {
        unwritten = true;
        throw error;
      }
    },
  };
}

const nameOf = (scope: PauseScope): string =>
  'pair' in scope ? `pair ${scope.pair}` : `chain ${scope.chain}`;

export const pauseNote = ({ scope, note }: ScopedPause): string => `${nameOf(scope)} is paused: ${note}`;
