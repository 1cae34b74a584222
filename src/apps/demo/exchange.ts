/**
 * A played exchange: it invents prices and streams them in the format of Binance's bookTicker, so that the LPs' real feed adapter
 * has something to read without the internet. Several paths play several sources that agree to within a basis point.
 */

import { createServer } from 'node:http';
import { WebSocketServer, type WebSocket } from 'ws';
import { UpstreamError } from '../../domain/errors.ts';

export interface PlayedSymbol {
  /** Such as "ETHUSDC". */
  symbol: string;
  startMid: number;
  /** Standard deviation of the mid over one second, in basis points. */
  walkBps: number;
  /** Distance between bid and ask, in basis points. */
  spreadBps: number;
}

export interface PlayedExchange {
  readonly url: string;
  /** Floats are fine here: this is theatre, not money. */
  mid(symbol: string): number;
  close(): Promise<void>;
}

const TICK_MS = 250;

export async function playExchange({ port, symbols }: { port: number; symbols: readonly PlayedSymbol[] }): Promise<PlayedExchange> {
  const mids = new Map(symbols.map(({ symbol, startMid }) => [symbol, startMid]));
  const subscribers = new Map<WebSocket, { symbols: ReadonlySet<string>; combined: boolean; shiftBps: number }>();
  let updateId = 1;

  const http = createServer((_, response) => response.writeHead(426).end('This is a played exchange: it speaks WebSocket only.\n'));
  const server = new WebSocketServer({ server: http, maxPayload: 16 * 1024, perMessageDeflate: false });
  server.on('connection', (socket, request) => {
    const wanted = wantedStreams(request.url ?? '');
    socket.on('error', () => socket.terminate());
    socket.on('close', () => subscribers.delete(socket));
    subscribers.set(socket, { ...wanted, shiftBps: (Math.random() - 0.5) * 0.6 });
    for (const { symbol } of symbols) send(socket, symbol);
  });

  function send(socket: WebSocket, symbol: string): void {
    const wanted = subscribers.get(socket);
    const played = symbols.find((one) => one.symbol === symbol);
    const mid = mids.get(symbol);
    if (!wanted?.symbols.has(symbol) || !played || mid === undefined) return;
    const shifted = mid * (1 + wanted.shiftBps / 10_000);
    const half = (shifted * played.spreadBps) / 20_000;
    const data = { u: updateId++, s: symbol, b: (shifted - half).toFixed(8), B: size(), a: (shifted + half).toFixed(8), A: size() };
    socket.send(JSON.stringify(wanted.combined ? { stream: `${symbol.toLowerCase()}@bookTicker`, data } : data));
  }

  const ticker = setInterval(() => {
    for (const { symbol, startMid, walkBps } of symbols) {
      const mid = mids.get(symbol) ?? startMid;
      const pull = (startMid - mid) * 0.0005;
      mids.set(symbol, mid * (1 + (gaussian() * walkBps * Math.sqrt(TICK_MS / 1000)) / 10_000) + pull);
      for (const socket of subscribers.keys()) send(socket, symbol);
    }
  }, TICK_MS);

  await new Promise<void>((resolve, reject) => {
    http.once('error', (cause) => reject(new UpstreamError(`The played exchange cannot listen on port ${port}. Choose other ports with --port.`, { code: 'port_unavailable', cause })));
    http.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `ws://127.0.0.1:${port}`,
    mid: (symbol) => mids.get(symbol) ?? Number.NaN,
    async close() {
      clearInterval(ticker);
      for (const socket of server.clients) socket.terminate();
      http.closeAllConnections();
      await new Promise<void>((resolve) => http.close(() => resolve()));
    },
  };
}

/** `…/ws/<stream>` and `…/stream?streams=<stream>/<stream>`, as the real one has it; anything may stand before. */
function wantedStreams(url: string): { symbols: Set<string>; combined: boolean } {
  const { pathname, searchParams } = new URL(url, 'http://played');
  const combined = searchParams.has('streams');
  const names = combined ? (searchParams.get('streams') ?? '').split('/') : [pathname.split('/').at(-1) ?? ''];
  return { combined, symbols: new Set(names.filter((name) => /@bookticker$/i.test(name)).map((name) => name.split('@')[0]?.toUpperCase() ?? '')) };
}

const size = (): string => (1 + Math.random() * 20).toFixed(8);

/** Box and Muller. */
function gaussian(): number {
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
}
