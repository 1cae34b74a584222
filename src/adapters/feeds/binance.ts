/** Binance's combined bookTicker stream. */

import { readMessage } from './book-ticker.ts';
import { among, createSequence, type Format, NOTHING, refused } from './format.ts';

export const BINANCE: Format = {
  canonical: (symbol) => symbol.toUpperCase(),
  address: (url, symbols) =>
    `${url.replace(/\/+$/, '')}/stream?streams=${symbols.map((symbol) => `${symbol.toLowerCase()}@bookTicker`).join('/')}`,
  greeting: () => [],
  reader(_, symbols) {
    const isKnown = among(symbols);
    const sequence = createSequence();
    return (text) => {
      const message = readMessage(text);
      if (message.kind === 'refused') return [message];
      if (message.kind === 'other') return NOTHING;
      const { symbol, bid, ask, update } = message.ticker;
      if (!isKnown(symbol)) return [refused('unknown_symbol', symbol)];
      const late = sequence.take(symbol, update);
      return [
        late === undefined
          ? { kind: 'quote', symbol, bid, ask, exchangeTimeMs: null, sequence: update }
          : refused(late, symbol),
      ];
    };
  },
};
