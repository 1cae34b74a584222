/**
 * Stores changes of solvers' shown status for webhooks. Every replica sees each change; the first one stores
 * it. A regular comparison stores what no replica could, for example because all of them were stopped.
 */

import { toIso } from '../../domain/time.ts';
import type { RosterChange, WebhookStore } from '../../ports/stores/webhooks.ts';
import type { VenueDeps } from '../deps.ts';
import type { Roster, RosterEntry } from '../solvers/roster.ts';
import { WEBHOOKS_TOPIC } from './options.ts';

/** Longer than solvers and other replicas need to connect to a replica that starts. */
const COMPARE_MS = 30_000;

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
  let stopped = false;
  /** One at a time, so that changes are stored in their order. */
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

  function compare() {
    for (const entry of roster.entries()) record(entry, clock.nowMs());
    cancel = clock.after(COMPARE_MS, compare);
  }

  roster.onShown(record);

  return {
    start: () => void (cancel = clock.after(COMPARE_MS, compare)),
    async stop() {
      stopped = true;
      cancel();
      await queue;
    },
  };
}
