/** `firmquote feed record`: writes an exchange's messages as they arrive, for `feed replay` and `sim`. */

import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { EXCHANGE_KINDS, EXCHANGE_SOCKETS } from '../../../adapters/feeds/formats.ts';
import { recordedLine } from '../../../adapters/feeds/recording.ts';
import { toolContext } from '../../wiring/process.ts';
import { wantedOf } from '../../../lp/market/market.ts';
import type { FeedTrouble } from '../../../ports/feed.ts';
import { badRequest } from '../../wiring/bad-request.ts';
import { loadConfig } from '../../config/load.ts';
import { createFeeds } from '../../wiring/feeds.ts';
import { zLpAppConfig, type LpAppConfig } from '../../lp/config.ts';

interface RecordOptions {
  config: string;
  feed: string;
  symbol: string[];
  out: string;
  minutes?: number;
}

/** Records until the time is over or the process is told to stop. Throws `RequestError` without any price. */
export async function recordFeed({ config: file, feed, symbol, out, minutes }: RecordOptions): Promise<void> {
  const { config } = await loadConfig(zLpAppConfig, file, {});
  const symbols = symbolsOf(config, file, feed, symbol);
  const target = createWriteStream(out, { flags: 'a' });
  const broken = once(target, 'error').then(([cause]: Error[]) => {
    throw badRequest(
      `${out} cannot be written (${cause?.message}), so the recording ended. Name another file with --out, or make room.`,
      cause,
    );
  });
  const counts = { messages: 0, prices: 0, disconnects: 0 };
  const startedMs = Date.now();
  const [made] = createFeeds(
    config.feeds,
    symbols.map((each) => ({ feed, symbol: each, use: 'price' })),
    {
      secrets: toolContext('feed', config).secrets,
      chains: [],
      onMessage(text) {
        counts.messages += 1;
        target.write(recordedLine(performance.timeOrigin + performance.now(), text));
      },
    },
  );
  made?.feed.start({
    quote: () => (counts.prices += 1),
    trouble(trouble) {
      if (trouble.kind === 'disconnected') counts.disconnects += 1;
      const said = saidOf(trouble, feed);
      if (said !== undefined) console.error(said);
    },
  });
  console.error(`Recording ${symbols.join(', ')} of ${feed} to ${out}. Ctrl-C ends the recording.`);
  try {
    await Promise.race([toldToEnd(minutes), broken]);
  } finally {
    made?.feed.stop();
  }
  await Promise.race([new Promise((resolve) => target.end(resolve)), broken]);
  const seconds = Math.round((Date.now() - startedMs) / 100) / 10;
  console.log(JSON.stringify({ file: out, feed, symbols, ...counts, seconds }));
  if (counts.prices === 0)
    throw badRequest(
      `No price of ${symbols.join(', ')} was received in ${seconds} s, so ${out} cannot be replayed. Check the symbols and the URL of feeds.${feed} in ${file}.`,
    );
}

const toldToEnd = (minutes: number | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (minutes !== undefined) setTimeout(resolve, minutes * 60_000).unref();
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => resolve());
  });

/** The symbols asked for, or else those that the LP prices from this feed. */
function symbolsOf(
  { feeds, lp }: LpAppConfig,
  file: string,
  feed: string,
  asked: readonly string[],
): readonly string[] {
  const sockets = Object.entries(feeds).flatMap(([name, { kind }]) =>
    Object.hasOwn(EXCHANGE_SOCKETS, kind) ? [name] : [],
  );
  if (!sockets.includes(feed))
    throw badRequest(
      `${file} has no exchange feed "${feed}" that can be recorded. It has: ${sockets.join(', ') || 'none'}. Only feeds of the kinds ${EXCHANGE_KINDS.join(', ')} are recorded.`,
    );
  if (asked.length > 0) return asked;
  const symbols = wantedOf(lp.prices).flatMap((each) => (each.feed === feed ? [each.symbol] : []));
  if (symbols.length === 0)
    throw badRequest(`No price in ${file} comes from the feed "${feed}". Name a symbol with --symbol.`);
  return [...new Set(symbols)];
}

/** Words what the operator should know now; refused messages are for `feed replay`. */
function saidOf(trouble: FeedTrouble, feed: string): string | undefined {
  switch (trouble.kind) {
    case 'disconnected':
      return `Disconnected from ${feed} (${trouble.detail}); trying again. Prices are missing meanwhile.`;
    case 'rejected':
      return `${feed} does not serve ${trouble.symbol ?? 'a symbol'} (${trouble.detail}). Check the symbols.`;
    case 'connected':
      return `Connected to ${feed}.`;
    default:
      return undefined;
  }
}
