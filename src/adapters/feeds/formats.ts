/** The message formats of exchange WebSockets, for live feeds and for recordings. */

import { BINANCE } from './binance.ts';
import { COINBASE } from './coinbase.ts';
import type { Format } from './format.ts';
import { KRAKEN } from './kraken.ts';

export const FORMATS = { binance: BINANCE, coinbase: COINBASE, kraken: KRAKEN };

/** The format in which the message is a price; undefined: in none. A recording does not name its exchange. */
export const formatOf = (text: string): Format | undefined =>
  Object.values(FORMATS).find((format) =>
    format
      .reader(() => Number.POSITIVE_INFINITY)(text)
      .some(({ kind }) => kind === 'quote'),
  );
