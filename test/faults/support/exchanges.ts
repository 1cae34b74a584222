/**
 * Exchanges played over real WebSockets, each in its own format: they may send wrong prices, repeat
 * themselves, or be offline.
 */

import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

export type ExchangeKind = 'binance' | 'coinbase' | 'kraken';

export interface PlayedExchange {
  kind: ExchangeKind;
  url: string;
  /** Ether in dollars, as this exchange names it. */
  symbol: string;
  /** Its price from now on. */
  say(price: number): void;
  /** It repeats its last message and answers pings. */
  freeze(frozen: boolean): void;
  /** It sends its messages in a format that nobody knows. */
  garble(garbled: boolean): void;
  /** Connections end and the port is closed, until `back`. */
  gone(): Promise<void>;
  back(): Promise<void>;
  stop(): Promise<void>;
}

const EVERY_MS = 50;
const HALF_SPREAD = 0.1;
const SYMBOLS: Record<ExchangeKind, string> = { binance: 'ETHUSD', coinbase: 'ETH-USD', kraken: 'ETH/USD' };

/** A ticker as the exchange writes it; `count` rises with each. */
function ticker(kind: ExchangeKind, symbol: string, price: number, count: number): string {
  const [bid, ask] = [(price - HALF_SPREAD).toFixed(2), (price + HALF_SPREAD).toFixed(2)];
  const now = new Date().toISOString();
  switch (kind) {
    case 'binance':
      return JSON.stringify({
        stream: `${symbol.toLowerCase()}@bookTicker`,
        data: { u: count, s: symbol, b: bid, B: '5', a: ask, A: '5' },
      });
    case 'coinbase':
      return JSON.stringify({
        type: 'ticker',
        sequence: count,
        product_id: symbol,
        best_bid: bid,
        best_bid_size: '5',
        best_ask: ask,
        best_ask_size: '5',
        time: now,
      });
    case 'kraken':
      return JSON.stringify({
        channel: 'ticker',
        type: 'update',
        data: [{ symbol, bid: Number(bid), bid_qty: 5, ask: Number(ask), ask_qty: 5, timestamp: now }],
      });
  }
}

export async function playExchange(
  kind: ExchangeKind,
  first: number,
  symbol = SYMBOLS[kind],
): Promise<PlayedExchange> {
  let price = first;
  let frozen = false;
  let garbled = false;
  let count = 0;
  let last = ticker(kind, symbol, price, count);
  let port = 0;
  let server: WebSocketServer | undefined;

  async function open(): Promise<void> {
    const opened = new WebSocketServer({ port, host: '127.0.0.1' });
    await new Promise((resolve, reject) => opened.once('listening', resolve).once('error', reject));
    ({ port } = opened.address() as AddressInfo);
    server = opened;
  }
  async function close(): Promise<void> {
    const closing = server;
    server = undefined;
    if (!closing) return;
    for (const socket of closing.clients) socket.terminate();
    await new Promise((resolve) => closing.close(resolve));
  }
  await open();
  const timer = setInterval(() => {
    if (!frozen) last = ticker(kind, symbol, price, (count += 1));
    const text = garbled ? last.replaceAll('"b', '"best') : last;
    server?.clients.forEach((socket: WebSocket) => socket.send(text));
  }, EVERY_MS);

  return {
    kind,
    url: `ws://127.0.0.1:${port}`,
    symbol,
    say: (next) => void (price = next),
    freeze: (now) => void (frozen = now),
    garble: (now) => void (garbled = now),
    gone: close,
    back: open,
    async stop() {
      clearInterval(timer);
      await close();
    },
  };
}
