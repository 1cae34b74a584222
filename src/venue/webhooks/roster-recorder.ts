/**
 * Stores changes of solvers' shown status for webhooks. The replica at which a status changes stores it. The
 * others learn of it later, when a newer change may be stored already, so they compare what they show after a
 * pause: by then they differ only if that replica could not store it. A regular comparison stores what no
 * replica could, for example because all of them were stopped.
 */

import { toIso } from '../../domain/time.ts';
import type { RosterChange, WebhookStore } from '../../ports/stores/webhooks.ts';
import type { VenueDeps } from '../deps.ts';
import type { Roster } from '../solvers/roster.ts';
import type { RosterEntry } from '../solvers/roster-entry.ts';
import { WEBHOOKS_TOPIC } from './topic.ts';

/** Longer than solvers and other replicas need to connect to a replica that starts. */
const COMPARE_MS = 30_000;
/** Longer than a replica takes to tell the others of a change, and to store it. */
const ELSEWHERE_MS = 2_000;

export function createRosterRecorder({
  store,
  roster,
  bus,
  clock,
  log,
}: Pick<VenueDeps, 'bus' | 'clock' | 'log'> & {
  store: Pick<WebhookStore, 'rosterChanged'>;
  roster: Roster;
}) {
  let cancel = () => {};
  let cancelElsewhere = () => {};
  let stopped = false;
  /** Stores one change at a time, so that changes are stored in their order. */
  let queue = Promise.resolve();

  function record(entry: RosterEntry, atMs: number) {
    const change = changeOf(entry, atMs);
    if (!change || stopped) return;
    queue = queue
      .then(async () => {
        if (await store.rosterChanged(change)) await bus.publish(WEBHOOKS_TOPIC, entry.id);
      })
      .catch((error: unknown) =>
        log.warn(
          { solver: entry.id, at: toIso(atMs), error },
          'a roster change was not stored for webhooks; the next comparison stores it',
        ),
      );
  }

  function changeOf(entry: RosterEntry, occurredAtMs: number): RosterChange | undefined {
    const [test, live] = [roster.view(entry, 'test'), roster.view(entry, 'live')];
    const status = (test ?? live)?.status;
    return status && { solverId: entry.id, status, occurredAtMs, test: test ?? null, live: live ?? null };
  }

  function compareAll() {
    for (const entry of roster.entries()) record(entry, clock.nowMs());
  }

  function compareRegularly() {
    compareAll();
    cancel = clock.after(COMPARE_MS, compareRegularly);
  }

  roster.onShown((entry, atMs, seen) => {
    if (seen === 'here') return record(entry, atMs);
    cancelElsewhere();
    cancelElsewhere = clock.after(ELSEWHERE_MS, compareAll);
  });

  return {
    start: () => void (cancel = clock.after(COMPARE_MS, compareRegularly)),
    async stop() {
      stopped = true;
      cancel();
      cancelElsewhere();
      await queue;
    },
  };
}
