/**
 * What the api replicas of one venue tell each other a few times a second, so that a limit is the venue's and not the process's. Totals
 * and states travel, never money: whoever misses a message is a moment behind, and the next round brings everything again now and then.
 */

import type { Bus } from '../ports/bus.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { Random } from '../ports/random.ts';

/** Bus topic: news of one replica for the others. */
export const REPLICAS_TOPIC = 'replicas';

/** A name within its part, and what it says. */
export type News = readonly [key: string, ...facts: (string | number)[]];

/** Something that each replica knows a share of. */
export interface Shared {
  /** In every message, so a short word. */
  name: string;
  /** What changed since this was last asked; `all`: whatever there is, for a replica that has just come. */
  news(all: boolean): Iterable<News>;
  hear(replica: string, news: News): void;
  /** This replica has said goodbye or fallen silent. */
  gone?(replica: string): void;
}

export interface Peers {
  /** Before `start`. */
  share(part: Shared): void;
  /** Other replicas that are alive as far as we know. */
  others(): number;
  /** Something changed that cannot wait for the next round. */
  soon(): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface Message {
  from: string;
  /** Of which part. Absent: alive. */
  part?: string;
  news?: News[];
  bye?: true;
}

const ROUND_MS = 250;
/** Said when there is nothing else to say; heard of for longer than `SILENT_MS`, a replica is gone. */
const ALIVE_MS = 1_000;
const SILENT_MS = 5_000;
/** A message that was lost costs this long at most. */
const ALL_MS = 10_000;
/** Of one message on the bus; the adapter takes a little more. */
const MAX_CHARS = 7_000;

export function createPeers({ bus, clock, random, log, metrics }: { bus: Bus; clock: Clock; random: Random; log: Log; metrics: Metrics }): Peers {
  const me = random.bytes32().slice(2, 14);
  const parts = new Map<string, Shared>();
  const heardMs = new Map<string, number>();
  let unsubscribe = async (): Promise<void> => {};
  let cancel = () => {};
  let round: Promise<void> | undefined;
  let again = false;
  let stopped = false;
  let spokeMs = Number.NEGATIVE_INFINITY;
  let allMs = Number.NEGATIVE_INFINITY;
  let failing = false;
  metrics.gauge('firmquote_venue_replicas', 'Other api replicas that this one hears of', [], (gauge) => gauge.set(heardMs.size));

  function messages(all: boolean): Message[] {
    const made: Message[] = [];
    for (const part of parts.values()) {
      let piece: News[] = [];
      let chars = 0;
      for (const news of part.news(all)) {
        const size = JSON.stringify(news).length + 1;
        if (chars + size > MAX_CHARS) {
          made.push({ from: me, part: part.name, news: piece });
          [piece, chars] = [[], 0];
        }
        piece.push(news);
        chars += size;
      }
      if (piece.length > 0) made.push({ from: me, part: part.name, news: piece });
    }
    return made;
  }

  async function speak(): Promise<void> {
    const nowMs = clock.monotonicMs();
    for (const [replica, atMs] of heardMs) if (nowMs - atMs > SILENT_MS) lose(replica);
    const all = nowMs - allMs >= ALL_MS;
    const said = messages(all);
    // Alone there is nobody to tell; that we are here is said all the same, for whoever comes.
    const due = heardMs.size > 0 ? said : [];
    if (due.length === 0 && nowMs - spokeMs >= ALIVE_MS) due.push({ from: me });
    if (all) allMs = nowMs;
    try {
      for (const message of due) await bus.publish(REPLICAS_TOPIC, JSON.stringify(message));
      if (due.length > 0) spokeMs = nowMs;
      failing = false;
    } catch (error) {
      // What was not said is said again, whole.
      allMs = Number.NEGATIVE_INFINITY;
      if (!failing) log.warn({ error }, 'the other replicas could not be told; until they are, limits are per replica');
      failing = true;
    }
  }

  function begin(): void {
    again = true;
    round ??= (async () => {
      while (again && !stopped) {
        again = false;
        await speak();
      }
    })().finally(() => (round = undefined));
  }

  function tick(): void {
    begin();
    cancel = clock.after(ROUND_MS, tick);
  }

  function lose(replica: string): void {
    if (!heardMs.delete(replica)) return;
    for (const part of parts.values()) part.gone?.(replica);
  }

  function hear(payload: string): void {
    const { from, part, news = [], bye } = JSON.parse(payload) as Message;
    if (from === me) return;
    if (bye) return lose(from);
    // It knows nothing of us yet.
    if (!heardMs.has(from)) allMs = Number.NEGATIVE_INFINITY;
    heardMs.set(from, clock.monotonicMs());
    const known = part === undefined ? undefined : parts.get(part);
    // A replica of another version may have more to say than we understand.
    if (known) for (const each of news) known.hear(from, each);
  }

  return {
    share: (part) => void parts.set(part.name, part),
    others: () => heardMs.size,
    soon() {
      if (heardMs.size > 0 && !stopped) begin();
    },
    async start() {
      unsubscribe = await bus.subscribe(REPLICAS_TOPIC, hear);
      tick();
    },
    async stop() {
      stopped = true;
      cancel();
      await round;
      await unsubscribe();
      await bus.publish(REPLICAS_TOPIC, JSON.stringify({ from: me, bye: true } satisfies Message)).catch(() => {});
    },
  };
}
