/**
 * What the api replicas of one venue tell each other as it happens, so that a limit is the venue's and not
 * the process's. Totals and states travel, never money: whoever misses a message is a moment behind, until
 * everything is said again some seconds later.
 */

import type { Bus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Random } from '../../ports/random.ts';

/** Bus topic: news of one replica for the others. */
export const REPLICAS_TOPIC = 'replicas';

/** A name within its part, and what it says. */
export type PeerUpdate = readonly [key: string, ...facts: (string | number)[]];

/** Something that each replica knows a share of. */
export interface ReplicaShare {
  /** In every message, so a short word. */
  name: string;
  /**
   * What changed since this was last asked, which is every second at least; `all`: whatever there is, for a
   * replica that has just come.
   */
  updates(all: boolean): Iterable<PeerUpdate>;
  apply(replica: string, news: PeerUpdate): void;
  /** This replica has said goodbye or fallen silent. */
  peerGone?(replica: string): void;
}

export interface Peers {
  /** Before `start`. */
  share(part: ReplicaShare): void;
  /** Something changed. Costs nothing while no other replica is there. */
  publishSoon(): void;
  /** Resolves when all that is new has been said. */
  flushed(): Promise<void>;
  start(): Promise<void>;
  /** Says what is new and goodbye. */
  stop(): Promise<void>;
}

interface Message {
  from: string;
  /** Of which part. Absent: alive. */
  part?: string;
  news?: PeerUpdate[];
  bye?: true;
}

/**
 * What is new leaves at once, then with this much between: however many quotes a second there are, the bus
 * carries fifty messages of them.
 */
const BETWEEN_MS = 20;
/** Something is said this often in any case; not heard of for longer than `SILENT_MS`, a replica is gone. */
const ALIVE_MS = 1_000;
const SILENT_MS = 5_000;
/** A message that was lost costs this long at most. */
const ALL_MS = 10_000;
/** Of one message on the bus, beside what is around it; the adapter takes no more than 7,900. */
export const MAX_UPDATE_BYTES = 7_000;

export function createPeers({
  bus,
  clock,
  random,
  log,
  metrics,
}: {
  bus: Bus;
  clock: Clock;
  random: Random;
  log: Log;
  metrics: Metrics;
}): Peers {
  const me = random.bytes32().slice(2, 14);
  const parts = new Map<string, ReplicaShare>();
  const heardMs = new Map<string, number>();
  let unsubscribe = async (): Promise<void> => {};
  let cancel = () => {};
  let speaking: Promise<void> | undefined;
  let due = false;
  let stopped = false;
  let spokeMs = Number.NEGATIVE_INFINITY;
  let allMs = Number.NEGATIVE_INFINITY;
  let failing = false;
  metrics.gauge('firmquote_venue_replicas', 'Other api replicas that this one hears of', [], (gauge) =>
    gauge.set(heardMs.size),
  );

  function messages(all: boolean): Message[] {
    const made: Message[] = [];
    for (const part of parts.values()) {
      let piece: PeerUpdate[] = [];
      let bytes = 0;
      for (const news of part.updates(all)) {
        const size = Buffer.byteLength(JSON.stringify(news)) + 1;
        if (bytes + size > MAX_UPDATE_BYTES) {
          made.push({ from: me, part: part.name, news: piece });
          [piece, bytes] = [[], 0];
        }
        piece.push(news);
        bytes += size;
      }
      if (piece.length > 0) made.push({ from: me, part: part.name, news: piece });
    }
    return made;
  }

  async function speak(): Promise<void> {
    const nowMs = clock.monotonicMs();
    spokeMs = nowMs;
    for (const [replica, atMs] of heardMs) if (nowMs - atMs > SILENT_MS) lose(replica);
    const all = nowMs - allMs >= ALL_MS;
    if (all) allMs = nowMs;
    const news = messages(all);
    // Alone there is nobody to tell; that we are here is said all the same, for whoever comes.
    const said = heardMs.size > 0 && news.length > 0 ? news : [{ from: me }];
    try {
      for (const message of said) await bus.publish(REPLICAS_TOPIC, JSON.stringify(message));
      failing = false;
    } catch (error) {
      // What was not said is said again, whole.
      allMs = Number.NEGATIVE_INFINITY;
      if (!failing)
        log.warn({ error }, 'the other replicas could not be told; until they are, limits are per replica');
      failing = true;
    }
  }

  function within(ms: number): void {
    cancel();
    cancel = clock.after(Math.max(0, ms), () => void speakNow());
  }

  function speakNow(): Promise<void> {
    if (speaking) return speaking;
    cancel();
    due = false;
    speaking = speak().finally(() => {
      speaking = undefined;
      if (!stopped) within(due && !failing ? spokeMs + BETWEEN_MS - clock.monotonicMs() : ALIVE_MS);
    });
    return speaking;
  }

  async function told(): Promise<void> {
    // What is being said now may have been gathered before the newest came.
    await speaking;
    await speakNow();
  }

  function soon(): void {
    if (heardMs.size === 0 || due || stopped) return;
    due = true;
    if (!speaking) within(spokeMs + BETWEEN_MS - clock.monotonicMs());
  }

  function lose(replica: string): void {
    if (!heardMs.delete(replica)) return;
    for (const part of parts.values()) part.peerGone?.(replica);
  }

  function hear(payload: string): void {
    const { from, part, news = [], bye } = JSON.parse(payload) as Message;
    if (from === me) return;
    if (bye) return lose(from);
    // It knows nothing of us yet.
    if (!heardMs.has(from)) allMs = Number.NEGATIVE_INFINITY;
    const before = heardMs.size;
    heardMs.set(from, clock.monotonicMs());
    if (heardMs.size > before) soon();
    const known = part === undefined ? undefined : parts.get(part);
    // A replica of another version may have more to say than we understand.
    if (known) for (const each of news) known.apply(from, each);
  }

  return {
    share: (part) => void parts.set(part.name, part),
    publishSoon: soon,
    flushed: told,
    async start() {
      unsubscribe = await bus.subscribe(REPLICAS_TOPIC, hear);
      within(0);
    },
    async stop() {
      await told();
      stopped = true;
      cancel();
      await unsubscribe();
      await bus
        .publish(REPLICAS_TOPIC, JSON.stringify({ from: me, bye: true } satisfies Message))
        .catch(() => {});
    },
  };
}
