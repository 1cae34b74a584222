/** A WebSocket server for feed tests, which write the exchange's messages and read its requests. */

import type { AddressInfo } from 'node:net';
import { expect, vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { createSocketFeed, type SocketFeedOptions } from '../../src/adapters/feeds/socket.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import type { Feed, FeedPrice, FeedTrouble } from '../../src/ports/feed.ts';

export interface TestExchange {
  url: string;
  sockets: WebSocket[];
  paths: string[];
  /** Everything that clients said, parsed. */
  heard: unknown[];
  quotes: FeedPrice[];
  troubles: FeedTrouble[];
  attempts: number[];
  refusals(): string[];
  /** Sends on the newest connection: text as it is, objects as JSON. */
  say(...messages: (string | Buffer | object)[]): void;
  connected(count: number): Promise<void>;
  /** Waits until the feed has delivered this many quotes and refusals. */
  told(count: number): Promise<void>;
  /** Waits until clients have sent this many messages. */
  asked(count: number): Promise<void>;
  start(options: Partial<SocketFeedOptions> & Pick<SocketFeedOptions, 'format'>): Feed;
  close(): Promise<void>;
}

export async function startExchange({ autoPong = true }: { autoPong?: boolean } = {}): Promise<TestExchange> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', autoPong });
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const feeds: Feed[] = [];
  const exchange: TestExchange = {
    url,
    ...{ sockets: [], paths: [], heard: [], quotes: [], troubles: [], attempts: [] },
    refusals: () => exchange.troubles.flatMap((each) => (each.kind === 'refused' ? [each.why] : [])),
    say(...messages) {
      for (const message of messages)
        exchange.sockets
          .at(-1)
          ?.send(typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message));
    },
    connected: (count) =>
      vi.waitFor(() => expect(exchange.sockets).toHaveLength(count), { timeout: 20_000, interval: 5 }),
    told: (count) =>
      vi.waitFor(() => expect(exchange.quotes.length + exchange.refusals().length).toBe(count), {
        timeout: 20_000,
        interval: 5,
      }),
    asked: (count) =>
      vi.waitFor(() => expect(exchange.heard).toHaveLength(count), { timeout: 20_000, interval: 5 }),
    start(options) {
      const backoff = (attempt: number) => {
        exchange.attempts.push(attempt);
        return 5;
      };
      const feed = createSocketFeed(
        { clock: systemClock, backoff },
        { url, source: 'test', symbols: ['ETH-USD'], silentMs: 20_000, pingMs: 500, ...options },
      );
      feeds.push(feed);
      feed.start({
        quote: (quote) => exchange.quotes.push(quote),
        trouble: (trouble) => exchange.troubles.push(trouble),
      });
      return feed;
    },
    async close() {
      for (const feed of feeds) feed.stop();
      for (const socket of exchange.sockets) socket.terminate();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  server.on('connection', (socket, request) => {
    exchange.sockets.push(socket);
    exchange.paths.push(request.url ?? '');
    socket.on('message', (frame) => exchange.heard.push(JSON.parse(frame.toString())));
  });
  return exchange;
}
