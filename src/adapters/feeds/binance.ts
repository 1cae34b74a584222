/**
 * A live feed from any exchange that speaks Binance's bookTicker: one WebSocket for all symbols.
 *
 * A connection is given up when it says nothing: no data for `silentMs`, or no answer to a ping. A frozen feed may still
 * answer pings, so pings keep the connection and never the price alive. How long to wait before the next attempt is
 * handed in, jitter and all; the count starts anew once a price has come through.
 */

import { WebSocket } from 'ws';
import type { Clock } from '../../ports/clock.ts';
import type { Feed, FeedListener, FeedTrouble } from '../../ports/feed.ts';
import { createSequence, MAX_MESSAGE_BYTES, readMessage } from './book-ticker.ts';

export interface BinanceFeedOptions {
  /** Such as "wss://stream.binance.com:9443". */
  url: string;
  /** As the exchange writes them, such as "ETHUSDT". */
  symbols: readonly string[];
  /** Default "binance". */
  source?: string;
  /** Default 10 s. */
  silentMs?: number;
  /** Default 5 s: between two pings, and for the answer to one. */
  pingMs?: number;
}

export interface BinanceFeedTools {
  clock: Clock;
  /** Milliseconds to wait before attempt n (0 is the first retry). */
  backoff: (attempt: number) => number;
}

export function createBinanceFeed({ clock, backoff }: BinanceFeedTools, { url, symbols, source = 'binance', silentMs = 10_000, pingMs = 5_000 }: BinanceFeedOptions): Feed {
  const wanted = new Set(symbols.map((symbol) => symbol.toUpperCase()));
  const streams = [...wanted].map((symbol) => `${symbol.toLowerCase()}@bookTicker`).join('/');
  const address = `${url.replace(/\/+$/, '')}/stream?streams=${streams}`;
  let close: (() => void) | undefined;

  function connect(listener: FeedListener, attempt: number): void {
    const socket = new WebSocket(address, { maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false, handshakeTimeout: silentMs });
    const sequence = createSequence();
    const tell = (trouble: FeedTrouble) => listener.trouble?.(trouble);
    let priced = false;
    let over = false;
    let lastDataMs = clock.monotonicMs();
    let lastPongMs = lastDataMs;
    let cancelWatch = () => {};

    const end = (detail: string) => {
      if (over) return;
      over = true;
      cancelWatch();
      socket.terminate();
      const next = priced ? 0 : attempt;
      const retryInMs = backoff(next);
      close = clock.after(retryInMs, () => connect(listener, next + 1));
      tell({ kind: 'disconnected', detail, retryInMs });
    };

    const watch = () => {
      const now = clock.monotonicMs();
      if (now - lastDataMs >= silentMs) {
        tell({ kind: 'silent', forMs: now - lastDataMs });
        return end('silent');
      }
      if (now - lastPongMs >= 2 * pingMs) return end('no pong');
      if (socket.readyState === WebSocket.OPEN) socket.ping();
      // Wakes for whichever comes first: the next ping, or the moment the silence is too long.
      cancelWatch = clock.after(Math.max(1, Math.min(pingMs, silentMs - (now - lastDataMs))), watch);
    };

    close = () => {
      over = true;
      cancelWatch();
      socket.terminate();
    };
    socket.on('open', () => {
      lastDataMs = lastPongMs = clock.monotonicMs();
      tell({ kind: 'connected' });
      watch();
    });
    socket.on('pong', () => {
      lastPongMs = clock.monotonicMs();
    });
    // Errors are always followed by close; the message may hold the URL and is not passed on.
    socket.on('error', () => {});
    socket.on('close', (code) => end(`closed with ${code}`));
    socket.on('message', (frame, binary) => {
      if (over) return;
      lastDataMs = clock.monotonicMs();
      const message = binary ? ({ kind: 'refused', why: 'malformed', symbol: null } as const) : readMessage(frame.toString());
      if (message.kind === 'refused') return tell(message);
      if (message.kind === 'other') return;
      const { symbol, bid, ask, update } = message.ticker;
      if (!wanted.has(symbol)) return tell({ kind: 'refused', why: 'unknown_symbol', symbol });
      const late = sequence.take(symbol, update);
      if (late !== undefined) return tell({ kind: 'refused', why: late, symbol });
      priced = true;
      listener.quote({ source, symbol, bid, ask, exchangeTimeMs: null, receivedMs: clock.nowMs(), sequence: update });
    });
  }

  return {
    source,
    start(listener) {
      if (close === undefined) connect(listener, 0);
    },
    stop() {
      close?.();
      close = () => {};
    },
  };
}
