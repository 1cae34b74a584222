/**
 * Two hundred clients of the event stream that reconnect with their cursor after every break. In the end each
 * must have received every event once.
 */

import type { Queryable } from '../../src/adapters/postgres/pool.ts';
import { openAside } from './aside.ts';

export interface Streams {
  /** Open connections, reconnects, received frames. */
  state(): Promise<{ connected: number; broken: number; frames: number }>;
  /**
   * What clients missed, received twice, or received though it is not in the database, one sentence each.
   * Empty when every client agrees with the database.
   */
  problems(database: Queryable): Promise<string[]>;
  stop(): Promise<void>;
}

/** `urls` of the stream at each replica; a client that lost one tries the next. */
export async function openStreams(urls: readonly string[], apiKey: string, count: number): Promise<Streams> {
  const aside = openAside(new URL('./streams-process.ts', import.meta.url));
  await aside.ask('open', urls, apiKey, count);
  return {
    state: () => aside.ask('state'),
    async problems(database) {
      const rows = await database.query<{ order_id: string; seq: number; type: string }>(
        `select '0x' || encode(order_id, 'hex') as order_id, seq, type from order_event`,
      );
      return aside.ask(
        'problems',
        rows.map(({ order_id: id, seq, type }) => `${id} ${seq} ${type}`),
      );
    },
    stop: aside.stop,
  };
}
