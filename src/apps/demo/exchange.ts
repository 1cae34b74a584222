/** Simulated exchanges: random prices in the formats of Binance, Coinbase and Kraken. */

import { createServer } from 'node:http';
import { WebSocketServer, type WebSocket } from 'ws';
import { UpstreamError } from '../../domain/errors.ts';

type SimulatedKind = 'binance' | 'coinbase' | 'kraken';

interface SimulatedSource {
  name: string;
  kind: SimulatedKind;
}

interface SimulatedSymbol {
  base: string;
  quote: string;
  startMid: number;
  walkBps: number;
  spreadBps: number;
}

export type SimulatedExchanges = Awaited<ReturnType<typeof startExchanges>>;

const SPELLING: Record<SimulatedKind, string> = { binance: '', coinbase: '-', kraken: '/' };
export const symbolAt = (kind: SimulatedKind, { base, quote }: { base: string; quote: string }): string =>
  `${base}${SPELLING[kind]}${quote}`;

const TICK_MS = 250;
const BEAT_MS = 1_000;

interface Subscriber {
  source: string;
  kind: SimulatedKind;
  symbols: Set<string>;
  shiftBps: number;
}

export async function startExchanges({
  port,
  sources,
  symbols,
}: {
  port: number;
  sources: readonly SimulatedSource[];
  symbols: readonly SimulatedSymbol[];
}) {
  const mids = new Map(symbols.map(({ base, startMid }) => [base, startMid]));
  const subscribers = new Map<WebSocket, Subscriber>();
  const shifts = new Map<string, number>();
  let [event, silent] = [1, false];

  const http = createServer((_, response) =>
    response.writeHead(426).end('This simulated exchange serves WebSocket only.\n'),
  );
  const server = new WebSocketServer({ server: http, maxPayload: 16 * 1024, perMessageDeflate: false });
  server.on('connection', (socket, request) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://exchange');
    const source = pathname.split('/')[1] ?? '';
    const kind = sources.find(({ name }) => name === source)?.kind;
    if (kind === undefined) return socket.close(1008, 'no such source');
    const subscriber: Subscriber = {
      source,
      kind,
      symbols: new Set(),
      shiftBps: (Math.random() - 0.5) * 0.6,
    };
    subscribers.set(socket, subscriber);
    socket.on('error', () => socket.terminate());
    socket.on('close', () => subscribers.delete(socket));
    if (kind === 'binance') {
      const streams = (searchParams.get('streams') ?? '')
        .split('/')
        .filter((name) => /@bookticker$/i.test(name));
      subscribe(
        socket,
        subscriber,
        streams.map((name) => name.split('@')[0]?.toUpperCase() ?? ''),
      );
    }
    if (kind === 'kraken')
      say(socket, {
        channel: 'status',
        type: 'update',
        data: [{ version: '2.0.10', system: 'online', api_version: 'v2', connection_id: event++ }],
      });
    socket.on('message', (frame) => receive(socket, subscriber, frame.toString()));
  });

  function receive(socket: WebSocket, subscriber: Subscriber, text: string): void {
    const asked = read(text);
    if (subscriber.kind === 'coinbase' && asked.type === 'subscribe') {
      const products = asked.product_ids ?? [];
      say(socket, {
        type: 'subscriptions',
        channels: (asked.channels ?? []).map((name) => ({ name, product_ids: products, account_ids: null })),
      });
      subscribe(socket, subscriber, products);
    }
    if (subscriber.kind === 'kraken' && asked.method === 'subscribe') {
      const now = new Date().toISOString();
      for (const symbol of asked.params?.symbol ?? [])
        say(socket, {
          method: 'subscribe',
          result: { channel: 'ticker', event_trigger: 'bbo', snapshot: true, symbol },
          success: true,
          time_in: now,
          time_out: now,
        });
      subscribe(socket, subscriber, asked.params?.symbol ?? [], 'snapshot');
    }
  }

  function subscribe(
    socket: WebSocket,
    subscriber: Subscriber,
    names: readonly string[],
    type: 'snapshot' | 'update' = 'update',
  ): void {
    for (const name of names) subscriber.symbols.add(name);
    for (const symbol of symbols) send(socket, subscriber, symbol, type);
  }

  function send(
    socket: WebSocket,
    { source, kind, symbols: wanted, shiftBps }: Subscriber,
    played: SimulatedSymbol,
    type: 'snapshot' | 'update',
  ): void {
    const symbol = symbolAt(kind, played);
    if (silent || !wanted.has(symbol)) return;
    const mid =
      (mids.get(played.base) ?? played.startMid) * (1 + (shiftBps + (shifts.get(source) ?? 0)) / 10_000);
    const half = (mid * played.spreadBps) / 20_000;
    const [bid, ask, sequence] = [(mid - half).toFixed(8), (mid + half).toFixed(8), event++];
    const time = new Date().toISOString().replace('Z', '000Z');
    if (kind === 'binance')
      return say(socket, {
        stream: `${symbol.toLowerCase()}@bookTicker`,
        data: { u: sequence, s: symbol, b: bid, B: size(), a: ask, A: size() },
      });
    if (kind === 'coinbase') {
      return say(socket, {
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
      });
    }
    socket.send(
      // Kraken sends prices as JSON numbers.
      `{"channel":"ticker","type":"${type}","data":[{"symbol":"${symbol}","bid":${bid},"bid_qty":${size()},"ask":${ask},"ask_qty":${size()},"last":${ask},"timestamp":"${time}"}]}`,
    );
  }

  const ticker = setInterval(() => {
    for (const played of symbols) {
      const mid = mids.get(played.base) ?? played.startMid;
      const pull = (played.startMid - mid) * 0.0005;
      mids.set(
        played.base,
        mid * (1 + (gaussian() * played.walkBps * Math.sqrt(TICK_MS / 1000)) / 10_000) + pull,
      );
      for (const [socket, subscriber] of subscribers) send(socket, subscriber, played, 'update');
    }
  }, TICK_MS);
  const beat = setInterval(() => {
    for (const [socket, { kind, symbols: wanted }] of subscribers) {
      if (kind === 'kraken') say(socket, { channel: 'heartbeat' });
      if (kind === 'coinbase')
        for (const product_id of wanted)
          say(socket, {
            type: 'heartbeat',
            sequence: event,
            last_trade_id: 0,
            product_id,
            time: new Date().toISOString(),
          });
    }
  }, BEAT_MS);

  await new Promise<void>((resolve, reject) => {
    http.once('error', (cause) =>
      reject(
        new UpstreamError(
          `The simulated exchanges cannot listen on port ${port}. Choose other ports with --port.`,
          { code: 'port_unavailable', cause },
        ),
      ),
    );
    http.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `ws://127.0.0.1:${port}`,
    /** A float: simulated prices only. */
    mid: (base: string): number => mids.get(base) ?? Number.NaN,
    jump: (base: string, bps: number) =>
      void mids.set(base, (mids.get(base) ?? Number.NaN) * (1 + bps / 10_000)),
    shift: (source: string, bps: number) => void shifts.set(source, bps),
    hush: (now: boolean) => void (silent = now),
    async close(): Promise<void> {
      clearInterval(ticker);
      clearInterval(beat);
      for (const socket of server.clients) socket.terminate();
      http.closeAllConnections();
      await new Promise<void>((resolve) => http.close(() => resolve()));
    },
  };
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
