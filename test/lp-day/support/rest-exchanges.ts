/** Exchanges that are polled over HTTP, played in the answers that Kraken and Bitstamp give. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface RestExchange {
  /** With `{symbol}` in it, as a feed's configuration has it. */
  url: string;
  /** The price of one of its symbols from now on. */
  say(symbol: string, price: number): void;
}

export interface RestExchanges {
  kraken: RestExchange;
  bitstamp: RestExchange;
  stop(): Promise<void>;
}

const HALF_SPREAD = 0.00002;

const edges = (price: number) => ({
  bid: (price * (1 - HALF_SPREAD)).toFixed(6),
  ask: (price * (1 + HALF_SPREAD)).toFixed(6),
});

const ANSWERS = {
  kraken(symbol: string, price: number) {
    const { bid, ask } = edges(price);
    const name = symbol === 'ETHUSD' ? 'XETHZUSD' : symbol;
    return { error: [], result: { [name]: { a: [ask, '1', '1.000'], b: [bid, '1', '1.000'] } } };
  },
  bitstamp: (_: string, price: number) => ({
    timestamp: String(Math.floor(Date.now() / 1_000)),
    ...edges(price),
    last: price.toFixed(6),
  }),
};
type Name = keyof typeof ANSWERS;

export async function playRestExchanges(
  symbols: Readonly<Record<Name, Readonly<Record<string, number>>>>,
): Promise<RestExchanges> {
  const prices = { kraken: { ...symbols.kraken }, bitstamp: { ...symbols.bitstamp } };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://exchange');
    const name = pathname.startsWith('/0/public/Ticker') ? 'kraken' : 'bitstamp';
    const symbol = name === 'kraken' ? (searchParams.get('pair') ?? '') : (pathname.split('/')[4] ?? '');
    const price = (prices[name] as Record<string, number>)[symbol];
    response.writeHead(price === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(price === undefined ? '{}' : JSON.stringify(ANSWERS[name](symbol, price)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const exchange = (name: Name, path: string): RestExchange => ({
    url: `${base}${path}`,
    say: (symbol, price) => void ((prices[name] as Record<string, number>)[symbol] = price),
  });
  return {
    kraken: exchange('kraken', '/0/public/Ticker?pair={symbol}'),
    bitstamp: exchange('bitstamp', '/api/v2/ticker/{symbol}/'),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
