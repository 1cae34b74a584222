/** Checks price feeds: each delivers its symbols, and sources of one price agree. */

import type { Feed, FeedTrouble } from '../../ports/feed.ts';
import { failure, ok, type Finding, warning } from './finding.ts';

export interface WantedPrice {
  feed: string;
  symbol: string;
}

/** Sources that must agree, and by how much; ten-thousandths. */
export interface Group {
  price: string;
  sources: readonly WantedPrice[];
  maxDeviationBps: number;
}

const key = ({ feed, symbol }: WantedPrice): string => `${feed} ${symbol}`;

/** Listens until every wanted symbol has arrived, or for so long. */
export async function checkFeeds(
  feeds: readonly Feed[],
  wanted: readonly WantedPrice[],
  groups: readonly Group[],
  patienceMs: number,
): Promise<Finding[]> {
  if (wanted.length === 0) return [];
  const mids = new Map<string, number>();
  const troubles = new Map<string, FeedTrouble>();
  const missing = () => wanted.filter((one) => !mids.has(key(one)));
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, patienceMs);
    const take = (feed: string, symbol: string, mid: number) => {
      // Exchanges spell symbols their own way.
      const asked = wanted.find(
        (one) => one.feed === feed && one.symbol.toUpperCase() === symbol.toUpperCase(),
      );
      if (asked) mids.set(key(asked), mid);
      if (missing().length > 0) return;
      clearTimeout(timer);
      resolve();
    };
    for (const feed of feeds)
      feed.start({
        quote: ({ source, symbol, bid, ask }) => take(source, symbol, (Number(bid) + Number(ask)) / 2),
        reference: ({ source, symbol, price }) => take(source, symbol, Number(price)),
        trouble: (trouble) => void (trouble.kind !== 'connected' && troubles.set(feed.source, trouble)),
      });
  });
  for (const feed of feeds) feed.stop();

  const alive = wanted.map((one): Finding => {
    const mid = mids.get(key(one));
    if (mid !== undefined) return ok('feed', key(one), `${Number(mid.toPrecision(8))}`);
    const trouble = troubles.get(one.feed);
    return failure(
      'feed',
      key(one),
      `no price within ${Math.round(patienceMs / 1_000)} s${trouble === undefined ? '' : `: ${wordsOf(trouble)}`}`,
      'Check the URL and the symbol, and whether the exchange answers from this network',
    );
  });
  return [...alive, ...groups.flatMap((group) => agreementOf(group, mids))];
}

function agreementOf(
  { price, sources, maxDeviationBps }: Group,
  mids: ReadonlyMap<string, number>,
): Finding[] {
  const told = sources.flatMap((source) => {
    const mid = mids.get(key(source));
    return mid === undefined ? [] : [{ name: key(source), mid }];
  });
  if (told.length < 2) return [];
  const sorted = told.map(({ mid }) => mid).sort((a, b) => a - b);
  const middle = sorted[Math.floor((sorted.length - 1) / 2)] as number;
  const bpsOf = (mid: number) => Math.abs(mid / middle - 1) * 10_000;
  const apart = told.filter(({ mid }) => bpsOf(mid) > maxDeviationBps);
  const widest = Math.max(...told.map(({ mid }) => bpsOf(mid))).toFixed(1);
  return [
    apart.length === 0
      ? ok('feed', price, `${told.length} sources within ${widest} bps`)
      : warning(
          'feed',
          price,
          `${apart.map(({ name, mid }) => `${name} is ${bpsOf(mid).toFixed(1)} bps off`).join(', ')} (at most ${maxDeviationBps})`,
          'A source that stays so far from the others is not used. Check its symbol: it may be another market',
        ),
  ];
}

function wordsOf(trouble: FeedTrouble): string {
  if (trouble.kind === 'rejected' || trouble.kind === 'disconnected') return trouble.detail;
  if (trouble.kind === 'refused') return trouble.detail ?? trouble.why;
  return trouble.kind;
}
