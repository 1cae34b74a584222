/** Simulated exchanges: random prices in the formats of Binance, Coinbase and Kraken. */

import { createServer, type Server } from 'node:http';
import { WebSocketServer, type WebSocket } from 'ws';
import { type ExchangeKind, symbolAt } from '../../adapters/feeds/formats.ts';
import { UpstreamError } from '../../domain/errors.ts';

export interface SimulatedExchanges {
  url: string;
  /** Returns the mid price as a float: prices are only simulated. */
  mid(base: string): number;
  /** Moves the mid of an asset by so many bps. */
  jump(base: string, bps: number): void;
  /** Moves every price of one source from now on. */
  shift(source: string, bps: number): void;
  /** Stops all sources from sending prices while true. */
  hush(now: boolean): void;
  close(): Promise<void>;
}

interface SimulatedSource {
  name: string;
  kind: ExchangeKind;
}

interface SimulatedSymbol {
  base: string;
  quote: string;
  startMid: number;
  walkBps: number;
  spreadBps: number;
}

const TICK_MS = 250;
const BEAT_MS = 1_000;

interface Subscriber {
  source: string;
  kind: ExchangeKind;
  symbols: Set<string>;
  shiftBps: number;
}

interface ExchangeState {
  sources: readonly SimulatedSource[];
  symbols: readonly SimulatedSymbol[];
  mids: Map<string, number>;
  subscribers: Map<WebSocket, Subscriber>;
  shifts: Map<string, number>;
  /** Number of the next message. */
  event: number;
  silent: boolean;
}

/** A top of book, as a simulated exchange writes it. */
interface Top {
  symbol: string;
  bid: string;
  ask: string;
  sequence: number;
  type: 'snapshot' | 'update';
  time: string;
}

/** Writes the messages of an exchange, and handles the messages to it. */
interface Frames {
  /** Runs on a new connection. */
  greet?(state: ExchangeState, socket: WebSocket, subscriber: Subscriber, query: URLSearchParams): void;
  receive?(state: ExchangeState, socket: WebSocket, subscriber: Subscriber, asked: Asked): void;
  top(top: Top): string;
  beat?(state: ExchangeState, socket: WebSocket, subscriber: Subscriber): void;
}

const FRAMES: Record<ExchangeKind, Frames> = {
  binance: {
    greet(state, socket, subscriber, query) {
      const streams = (query.get('streams') ?? '').split('/').filter((name) => /@bookticker$/i.test(name));
      const names = streams.map((name) => name.split('@')[0]?.toUpperCase() ?? '');
      subscribe(state, socket, subscriber, names, 'update');
    },
    top: ({ symbol, bid, ask, sequence }) =>
      JSON.stringify({
        stream: `${symbol.toLowerCase()}@bookTicker`,
        data: { u: sequence, s: symbol, b: bid, B: size(), a: ask, A: size() },
      }),
  },
  coinbase: {
    receive(state, socket, subscriber, asked) {
      if (asked.type !== 'subscribe') return;
      const products = asked.product_ids ?? [];
      say(socket, {
        type: 'subscriptions',
        channels: (asked.channels ?? []).map((name) => ({ name, product_ids: products, account_ids: null })),
      });
      subscribe(state, socket, subscriber, products, 'update');
    },
    top: ({ symbol, bid, ask, sequence, time }) =>
      JSON.stringify({
        type: 'ticker',
        sequence,
        product_id: symbol,
        price: ask,
        best_bid: bid,
        best_bid_size: size(),
        best_ask: ask,
        best_ask_size: size(),
        side: 'buy',
        time,
        trade_id: sequence,
        last_size: size(),
      }),
    beat({ event }, socket, { symbols }) {
      for (const product_id of symbols)
        say(socket, {
          type: 'heartbeat',
          sequence: event,
          last_trade_id: 0,
          product_id,
          time: new Date().toISOString(),
        });
    },
  },
  kraken: {
    greet(state, socket) {
      say(socket, {
        channel: 'status',
        type: 'update',
        data: [{ version: '2.0.10', system: 'online', api_version: 'v2', connection_id: state.event++ }],
      });
    },
    receive(state, socket, subscriber, asked) {
      if (asked.method !== 'subscribe') return;
      const now = new Date().toISOString();
      const names = asked.params?.symbol ?? [];
      for (const symbol of names)
        say(socket, {
          method: 'subscribe',
          result: { channel: 'ticker', event_trigger: 'bbo', snapshot: true, symbol },
          success: true,
          time_in: now,
          time_out: now,
        });
      subscribe(state, socket, subscriber, names, 'snapshot');
    },
    // Kraken sends prices as JSON numbers.
    top: ({ symbol, bid, ask, type, time }) =>
      `{"channel":"ticker","type":"${type}","data":[{"symbol":"${symbol}","bid":${bid},"bid_qty":${size()},"ask":${ask},"ask_qty":${size()},"last":${ask},"timestamp":"${time}"}]}`,
    beat: (_, socket) => say(socket, { channel: 'heartbeat' }),
  },
};

export async function startExchanges({
  port,
  sources,
  symbols,
}: {
  port: number;
  sources: readonly SimulatedSource[];
  symbols: readonly SimulatedSymbol[];
}): Promise<SimulatedExchanges> {
  const mids = new Map(symbols.map(({ base, startMid }) => [base, startMid]));
  const state: ExchangeState = {
    sources,
    symbols,
    mids,
    subscribers: new Map(),
    shifts: new Map(),
    event: 1,
    silent: false,
  };
  const server = createServer((_, response) =>
    response.writeHead(426).end('This simulated exchange serves WebSocket only.\n'),
  );
  const sockets = new WebSocketServer({ server, maxPayload: 16 * 1024, perMessageDeflate: false });
  sockets.on('connection', (socket, request) => accept(state, socket, request.url ?? ''));
  const ticker = setInterval(() => tick(state), TICK_MS);
  const beat = setInterval(() => {
    for (const [socket, one] of state.subscribers) FRAMES[one.kind].beat?.(state, socket, one);
  }, BEAT_MS);
  await listen(server, port);
  return {
    url: `ws://127.0.0.1:${port}`,
    mid: (base) => mids.get(base) ?? Number.NaN,
    jump: (base, bps) => void mids.set(base, (mids.get(base) ?? Number.NaN) * (1 + bps / 10_000)),
    shift: (source, bps) => void state.shifts.set(source, bps),
    hush: (now) => void (state.silent = now),
    async close() {
      clearInterval(ticker);
      clearInterval(beat);
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function listen(server: Server, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new UpstreamError(
          `The simulated exchanges cannot listen on port ${port}. Choose other ports with --port.`,
          { code: 'port_unavailable', cause },
        ),
      ),
    );
    server.listen(port, '127.0.0.1', resolve);
  });
}

function accept(state: ExchangeState, socket: WebSocket, url: string): void {
  const { pathname, searchParams } = new URL(url, 'http://exchange');
  const source = pathname.split('/')[1] ?? '';
  const kind = state.sources.find(({ name }) => name === source)?.kind;
  if (kind === undefined) return socket.close(1008, 'no such source');
  const subscriber: Subscriber = { source, kind, symbols: new Set(), shiftBps: (Math.random() - 0.5) * 0.6 };
  state.subscribers.set(socket, subscriber);
  socket.on('error', () => socket.terminate());
  socket.on('close', () => state.subscribers.delete(socket));
  FRAMES[kind].greet?.(state, socket, subscriber, searchParams);
  socket.on('message', (frame) => FRAMES[kind].receive?.(state, socket, subscriber, read(frame.toString())));
}

function subscribe(
  state: ExchangeState,
  socket: WebSocket,
  subscriber: Subscriber,
  names: readonly string[],
  type: 'snapshot' | 'update',
): void {
  for (const name of names) subscriber.symbols.add(name);
  for (const played of state.symbols) send(state, socket, subscriber, played, type);
}

/** Sends the top of book of a symbol, if the subscriber asked for it. */
function send(
  state: ExchangeState,
  socket: WebSocket,
  { source, kind, symbols: wanted, shiftBps }: Subscriber,
  played: SimulatedSymbol,
  type: 'snapshot' | 'update',
): void {
  const symbol = symbolAt(kind, played);
  if (state.silent || !wanted.has(symbol)) return;
  const mid =
    (state.mids.get(played.base) ?? played.startMid) *
    (1 + (shiftBps + (state.shifts.get(source) ?? 0)) / 10_000);
  const half = (mid * played.spreadBps) / 20_000;
  const [bid, ask, sequence] = [(mid - half).toFixed(8), (mid + half).toFixed(8), state.event++];
  const time = new Date().toISOString().replace('Z', '000Z');
  socket.send(FRAMES[kind].top({ symbol, bid, ask, sequence, type, time }));
}

/** Takes one step of the random walk of every symbol, pulled back to its start. */
function tick(state: ExchangeState): void {
  const { mids } = state;
  for (const played of state.symbols) {
    const mid = mids.get(played.base) ?? played.startMid;
    const pull = (played.startMid - mid) * 0.0005;
    mids.set(
      played.base,
      mid * (1 + (gaussian() * played.walkBps * Math.sqrt(TICK_MS / 1000)) / 10_000) + pull,
    );
    for (const [socket, subscriber] of state.subscribers) send(state, socket, subscriber, played, 'update');
  }
}

const say = (socket: WebSocket, message: object): void => socket.send(JSON.stringify(message));

interface Asked {
  type?: string;
  product_ids?: string[];
  channels?: unknown[];
  method?: string;
  params?: { symbol?: string[] };
}

function read(text: string): Asked {
  try {
    return (JSON.parse(text) as Asked | null) ?? {};
  } catch {
    return {};
  }
}

const size = (): string => (1 + Math.random() * 20).toFixed(8);

function gaussian(): number {
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
}
