/** One connection of the public WebSocket: what the venue knows about it, and how it speaks to it. */

import type { Socket } from '../../ports/http.ts';
import type { ApiKey, OrderStore } from '../../ports/stores/store.ts';
import { CLOSE, type FrameId, type ServerFrame } from '../../protocol/api/events.ts';
import type { Counter } from '../../ports/metrics.ts';
import type { VenueDeps } from '../deps.ts';
import type { SlotLimiter } from '../access/slot-limiter.ts';
import type { Buckets } from '../access/token-buckets.ts';
import type { LevelsBoard, PriceMarket } from './levels-board.ts';
import type { SocketOptions } from '../options.ts';
import type { Roster } from '../solvers/roster.ts';
import type { OrderStream, StreamClient } from './order-topics.ts';
import type { Workspaces } from '../access/workspaces.ts';

export interface TopicClient extends StreamClient {
  topics: Set<string>;
  markets: Map<string, PriceMarket>;
}

export type StreamDeps = Pick<VenueDeps, 'clock' | 'log' | 'metrics'> & {
  slots: SlotLimiter;
  store: OrderStore;
  orders: OrderStream;
  prices: LevelsBoard;
  roster: Roster;
  workspaces: Workspaces;
};

/** The state that all connections share. */
export interface StreamDoor {
  readonly clients: Set<TopicClient>;
  /** Clients of the topic `solvers`. */
  readonly rosterListeners: Set<TopicClient>;
  readonly dropped: Counter;
  readonly sentFrames: Counter;
  readonly topicRate: Buckets;
  cancelWeighing: () => void;
  /** Eligibility is looked up per client; the queue keeps the order. */
  rosterQueue: Promise<void>;
}

/** The state of one connection. */
export interface StreamConnection {
  readonly socket: Socket;
  readonly key: ApiKey;
  readonly client: TopicClient & { close(): void };
  /** The client has answered the last ping. */
  alive: boolean;
  readonly mayRead: () => boolean;
  cancelPing: () => void;
  /** Subscriptions run one after the other, so that answers come in the order of the requests. */
  work: Promise<void>;
  /** Frames that wait in `work`. */
  waiting: number;
  /** One replay at a time: a later one replaces it. */
  replay: Promise<void>;
}

export function topicClientOf(
  options: SocketOptions,
  door: StreamDoor,
  socket: Socket,
  key: ApiKey,
): TopicClient & { close(): void } {
  let gone = false;
  const drop = (why: string, code: number, reason: string) => {
    if (gone) return;
    gone = true;
    door.dropped.add({ why });
    socket.close(code, reason);
  };
  return {
    key,
    topics: new Set(),
    markets: new Map(),
    get gone() {
      return gone;
    },
    bufferedBytes: () => socket.bufferedBytes(),
    send(text) {
      if (gone) return;
      if (socket.bufferedBytes() > options.maxBufferedBytes)
        return drop('slow', CLOSE.tryLater, 'reads too slowly');
      door.sentFrames.add();
      socket.send(text);
    },
    drop: () => drop('slow', CLOSE.tryLater, 'reads too slowly'),
    close: () => void (gone = true),
  };
}

export const sendFrame = (connection: StreamConnection, frame: ServerFrame): void =>
  connection.client.send(JSON.stringify(frame));

export const fail = (connection: StreamConnection, code: string, message: string, id: FrameId): void =>
  sendFrame(connection, { op: 'error', error: { code, message }, id });
