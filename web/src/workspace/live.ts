/** Follows the venue's event stream: tells the pages when to read again, and whether it is connected. */

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect, useState } from 'react';
import { STREAM_PROTOCOL } from '../../../src/protocol/api/tickets.ts';
import { useNow } from '../live.ts';
import { type Access, call } from './api.ts';

export type StreamState = 'connecting' | 'live' | 'lost';

const TOPICS = ['orders', 'solvers'];
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;
/** The interval of reading while the stream tells of changes; `POLLED_EVERY_MS` holds while it does not. */
const STREAMED_EVERY_MS = 10_000;
const POLLED_EVERY_MS = 3_000;
/** The longest wait for an answer that was asked for in time. */
const ANSWER_MS = 7_000;

/** Connects to the stream, each time with a new ticket. What was missed in between is read again. */
export function useStream(access: Access | undefined): StreamState {
  const client = useQueryClient();
  const [state, setState] = useState<StreamState>('connecting');
  const key = access?.key;
  useEffect(() => {
    if (key === undefined) return;
    let socket: WebSocket | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let ended = false;
    let waitMs = FIRST_WAIT_MS;
    const again = () => {
      if (ended) return;
      setState('lost');
      timer = setTimeout(() => void connect(), waitMs);
      waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
    };
    const connect = async () => {
      let ticket: string;
      try {
        ({ ticket } = await call<{ ticket: string }>(key, 'POST', '/api/v1/ws/tickets'));
      } catch {
        return again();
      }
      if (ended) return;
      socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/api/v1/ws`, [
        STREAM_PROTOCOL,
        ticket,
      ]);
      socket.addEventListener('open', () =>
        socket?.send(JSON.stringify({ op: 'subscribe', topics: TOPICS, id: 1 })),
      );
      socket.addEventListener('message', ({ data }) => {
        const { op } = JSON.parse(String(data)) as { op?: string };
        if (op === 'subscribed') {
          waitMs = FIRST_WAIT_MS;
          setState('live');
        }
        void client.invalidateQueries({ predicate: ({ meta }) => meta?.['streamed'] === true });
      });
      socket.addEventListener('close', again);
    };
    void connect();
    return () => {
      ended = true;
      clearTimeout(timer);
      socket?.close();
    };
  }, [key, client]);
  return state;
}

export const StreamContext = createContext<StreamState>('connecting');

/**
 * Reads immediately, again at each event, and by the clock. `old`: no answer came when one was due. With
 * `keep`, `data` is that of the key before until the new one is read; `isOther` says so.
 */
export function useRead<T>(
  key: readonly unknown[],
  read: () => Promise<T>,
  { enabled = true, keep = false } = {},
) {
  const everyMs = useContext(StreamContext) === 'live' ? STREAMED_EVERY_MS : POLLED_EVERY_MS;
  const {
    data,
    error,
    dataUpdatedAt,
    isPlaceholderData: isOther,
  } = useQuery<T>({
    queryKey: key,
    queryFn: read,
    enabled,
    placeholderData: (before) => (keep ? before : undefined),
    refetchInterval: everyMs,
    meta: { streamed: true },
  });
  const nowMs = useNow();
  const old = data !== undefined && !isOther && nowMs - dataUpdatedAt > everyMs + ANSWER_MS;
  return { data, error, readAtMs: dataUpdatedAt, old, isOther };
}
