/** Holds by order id and nonce group. Every change takes the group off the books and adds it again. */

import type { UnixSeconds } from '../domain/time.ts';
import type { Counters } from './counters.ts';
import { endOf, type Hold, type NonceGroup, setFacts } from './hold.ts';
import {
  type Facts,
  hasEnded,
  isDone,
  receivedBy,
  usesNonce,
  withExpired,
  withReleased,
} from './hold-state.ts';
import { addToBooks, isNonceUsed, liveIn, takeOffBooks } from './nonce-group.ts';

export interface HoldStore {
  /** Live quotes: held, not accepted, not ended. */
  readonly live: number;
  /** Counts the changes of all holds. */
  readonly changes: number;
  /** Holds that are accepted or filled, and not final. */
  readonly open: ReadonlySet<Hold>;
  get(orderId: string): Hold | undefined;
  all(): IterableIterator<Hold>;
  group(id: string): NonceGroup | undefined;
  /** `forgetAt`: for a hold from a snapshot; 0 while it is still needed. */
  insert(hold: Hold, forgetAt?: UnixSeconds): void;
  change(hold: Hold, facts: Facts): void;
  /** Ends a hold whose time is over. Returns whether it was a live quote. */
  expire(hold: Hold, now: UnixSeconds): boolean;
  /** Removes a hold that has been done for long enough. */
  forget(hold: Hold, now: UnixSeconds): void;
}

export function createHoldStore(
  counters: Counters,
  { endedSeconds, filledSeconds }: { endedSeconds: number; filledSeconds: number },
): HoldStore {
  const holds = new Map<string, Hold>();
  const groups = new Map<string, NonceGroup>();
  const open = new Set<Hold>();
  let live = 0;
  let changes = 0;

  function add(group: NonceGroup): void {
    addToBooks(group);
    live += liveIn(group);
  }

  function takeOff(group: NonceGroup): void {
    takeOffBooks(group);
    live -= liveIn(group);
  }

  /** Call it while the group is off the books. */
  function learn(hold: Hold, facts: Facts): void {
    setFacts(hold, facts);
    noteIfOpen(hold);
    if (!isDone(hold.state)) {
      hold.forgetAt = 0;
    } else if (hold.forgetAt === 0) {
      const seconds = hasEnded(hold.state) ? endedSeconds : filledSeconds;
      hold.forgetAt = Math.max(hold.clock.now, endOf(hold)) + seconds;
      hold.clock.queue.schedule(hold.forgetAt, hold);
    }
  }

  function noteIfOpen(hold: Hold): void {
    if (hold.state === 'accepted' || hold.state === 'filled') open.add(hold);
    else open.delete(hold);
  }

  function change(hold: Hold, facts: Facts): void {
    changes += 1;
    takeOff(hold.group);
    learn(hold, facts);
    add(hold.group);
  }

  /**
   * Adds the amounts that a final fill moved to the base, because they stay moved. Without the fill the rest
   * of its group must not come back to life: it is released.
   */
  function forgetFinalFill({ group, out, in: into, request, facts }: Hold): void {
    for (const other of group.holds)
      if (other.state === 'held' || other.state === 'accepted') learn(other, withReleased(other.facts));
    out.base -= request.amount;
    into.base += receivedBy(facts) ?? 0n;
  }

  return {
    get live() {
      return live;
    },
    get changes() {
      return changes;
    },
    open,
    get: (orderId) => holds.get(orderId),
    all: () => holds.values(),
    group: (id) => groups.get(id),
    insert(hold, forgetAt = 0) {
      changes += 1;
      const { group, request, clock } = hold;
      holds.set(request.orderId, hold);
      counters.retain(request, hold.counters);
      clock.queue.schedule(endOf(hold), hold);
      if (forgetAt !== 0) {
        hold.forgetAt = forgetAt;
        clock.queue.schedule(forgetAt, hold);
      }
      noteIfOpen(hold);
      if (group.holds.length === 0) {
        groups.set(group.id, group);
        group.holds = [hold];
      } else {
        takeOff(group);
        group.holds = [...group.holds, hold];
      }
      add(group);
    },
    change,
    expire(hold, now) {
      if (hold.state !== 'held' || endOf(hold) > now) return false;
      const counted = !isNonceUsed(hold.group);
      change(hold, withExpired(hold.facts));
      return counted;
    },
    forget(hold, now) {
      const { group, request } = hold;
      if (hold.forgetAt === 0 || hold.forgetAt > now || holds.get(request.orderId) !== hold) return;
      changes += 1;
      const final = usesNonce(hold.state);
      if (final) takeOff(group);
      holds.delete(request.orderId);
      counters.release(request);
      group.holds = group.holds.filter((other) => other !== hold);
      if (group.holds.length === 0) groups.delete(group.id);
      if (final) {
        forgetFinalFill(hold);
        add(group);
      }
    },
  };
}
