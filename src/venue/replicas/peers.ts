/**
 * Api replicas exchange totals and statuses over the bus, so that limits hold for the venue. A full update
 * every `ALL_MS` makes up for lost messages.
 */

import type { VenueDeps } from '../deps.ts';

const REPLICAS_TOPIC = 'replicas';

export type PeerUpdate = readonly [key: string, ...facts: (string | number)[]];

export interface ReplicaShare {
  name: string;
  /** Changes since the last call; with `all` the whole share. */
  updates(all: boolean): PeerUpdate[];
  apply(replica: string, news: PeerUpdate): void;
  /** Called when a replica stopped, or was silent for `SILENT_MS`. */
  peerGone?(replica: string): void;
}

/** Tells the other replicas soon that a share has changed. Does nothing without other replicas. */
export interface PeerPublisher {
  publishSoon(): void;
}

interface Message {
  from: string;
  /** The updates by name of their share. */
  shares?: Record<string, PeerUpdate[]>;
  bye?: true;
}

/** A replica sends at most fifty messages a second. */
const BETWEEN_MS = 20;
/** Interval of signs of life; silence for longer than `SILENT_MS` means gone. */
const ALIVE_MS = 1_000;
const SILENT_MS = 5_000;
const ALL_MS = 10_000;
/** The bus adapter takes 7,900 with the envelope. */
export const MAX_UPDATE_BYTES = 7_000;

export function createPeers({
  bus,
  clock,
  random,
  log,
  metrics,
}: Pick<VenueDeps, 'bus' | 'clock' | 'random' | 'log' | 'metrics'>) {
  const me = random.bytes32().slice(2, 14);
  const parts = new Map<string, ReplicaShare>();
  const lastSeenMs = new Map<string, number>();
  let unsubscribe = async (): Promise<void> => {};
  let cancel = () => {};
  let publishing: Promise<void> | undefined;
  let due = false;
  let stopped = false;
  let publishedMs = Number.NEGATIVE_INFINITY;
  let allMs = Number.NEGATIVE_INFINITY;
  let failing = false;
  metrics.gauge('firmquote_venue_replicas', 'Other api replicas in touch with this one', [], (gauge) =>
    gauge.set(lastSeenMs.size),
  );

  /** Shares travel together: each message costs every replica a statement and a notification. */
  function messages(all: boolean): Message[] {
    const made: Message[] = [];
    let shares: Record<string, PeerUpdate[]> = {};
    let bytes = 0;
    for (const part of parts.values())
      for (const news of part.updates(all)) {
        const size = Buffer.byteLength(JSON.stringify(news)) + part.name.length + 8;
        if (bytes > 0 && bytes + size > MAX_UPDATE_BYTES) {
          made.push({ from: me, shares });
          [shares, bytes] = [{}, 0];
        }
        (shares[part.name] ??= []).push(news);
        bytes += size;
      }
    if (bytes > 0) made.push({ from: me, shares });
    return made;
  }

  async function publishUpdates() {
    const nowMs = clock.monotonicMs();
    publishedMs = nowMs;
    for (const [replica, atMs] of lastSeenMs) if (nowMs - atMs > SILENT_MS) removePeer(replica);
    const all = nowMs - allMs >= ALL_MS;
    if (all) allMs = nowMs;
    const news = messages(all);
    // Without other replicas a sign of life is enough.
    const outgoing = lastSeenMs.size > 0 && news.length > 0 ? news : [{ from: me }];
    try {
      for (const message of outgoing) await bus.publish(REPLICAS_TOPIC, JSON.stringify(message));
      failing = false;
    } catch (error) {
      // Send everything again.
      allMs = Number.NEGATIVE_INFINITY;
      if (!failing)
        log.warn({ error }, 'the other replicas cannot be reached; until they can, limits are per replica');
      failing = true;
    }
  }

  function publishIn(ms: number) {
    cancel();
    cancel = clock.after(Math.max(0, ms), () => void publishNow());
  }

  function publishNow(): Promise<void> {
    if (publishing) return publishing;
    cancel();
    due = false;
    publishing = publishUpdates().finally(() => {
      publishing = undefined;
      if (!stopped) publishIn(due && !failing ? publishedMs + BETWEEN_MS - clock.monotonicMs() : ALIVE_MS);
    });
    return publishing;
  }

  async function flushed() {
    // The message that is being sent may have been built before the latest change.
    await publishing;
    await publishNow();
  }

  function publishSoon() {
    if (lastSeenMs.size === 0 || due || stopped) return;
    due = true;
    if (!publishing) publishIn(publishedMs + BETWEEN_MS - clock.monotonicMs());
  }

  function removePeer(replica: string) {
    if (!lastSeenMs.delete(replica)) return;
    for (const part of parts.values()) part.peerGone?.(replica);
  }

  function receive(payload: string) {
    const { from, shares = {}, bye } = JSON.parse(payload) as Message;
    if (from === me) return;
    if (bye) return removePeer(from);
    // A new replica needs a full update.
    if (!lastSeenMs.has(from)) allMs = Number.NEGATIVE_INFINITY;
    const before = lastSeenMs.size;
    lastSeenMs.set(from, clock.monotonicMs());
    if (lastSeenMs.size > before) publishSoon();
    // Another version may send unknown parts.
    for (const [name, news] of Object.entries(shares)) {
      const share = parts.get(name);
      for (const each of news) share?.apply(from, each);
    }
  }

  return {
    share: (part: ReplicaShare) => void parts.set(part.name, part),
    publishSoon,
    flushed,
    async start() {
      unsubscribe = await bus.subscribe(REPLICAS_TOPIC, receive);
      publishIn(0);
    },
    /** Publishes the last changes and says that this replica stops. */
    async stop() {
      await flushed();
      stopped = true;
      cancel();
      await unsubscribe();
      await bus
        .publish(REPLICAS_TOPIC, JSON.stringify({ from: me, bye: true } satisfies Message))
        .catch(() => {});
    },
  };
}
