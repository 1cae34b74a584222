/**
 * What the market relies on in every price feed, as one suite that each adapter runs: it passes on no wrong
 * price, never throws, never makes a price younger, and takes the first honest price after any of it.
 */

import { afterEach, describe, expect, test, vi } from 'vitest';
import type { FeedPrice, FeedTrouble, ReferencePrice } from '../../src/ports/feed.ts';

/** A price as the source sends it. The driver fills in honest values for what is left out. */
export interface SourceMessage {
  bid?: string;
  ask?: string;
  stampMs?: number;
  /** From the last honest number; without it, the next one. */
  number?: (last: number) => number;
  /** The honest numbers go on from this one. */
  goesOn?: boolean;
}

/** What a source can express; other inputs cannot reach its adapter. */
type Ability =
  | 'book'
  | 'text'
  | 'time'
  | 'time order'
  /** Its prices carry the source's time. */
  | 'dated'
  | 'sequence'
  | 'signed'
  | 'frame'
  | 'connection';

/** A feed that is connected to a source which the test plays on the source's own wire. */
export interface PlayedSource {
  heard: { quotes: FeedPrice[]; references: ReferencePrice[]; troubles: FeedTrouble[] };
  /** Resolves when the feed has read it. */
  send(message: SourceMessage): Promise<void>;
  /** Anything but a price. */
  raw(body: string): Promise<void>;
  /** Ends the connection; resolves when the feed is back. */
  cut?(): Promise<void>;
  /** Sends nothing until the feed gives the connection up; resolves when the feed is back. */
  freeze?(): Promise<void>;
  stop(): Promise<void>;
}

interface Scenario {
  name: string;
  needs?: Ability;
  play(source: PlayedSource): Promise<void>;
  /** Honest messages until the price must be heard: 1. */
  within?: number;
  /** Refused, counted under one of these reasons where the adapter has the ability. */
  refusedAs?: readonly string[];
}

const DAY_MS = 86_400_000;
const GOOD = { bid: '2500', ask: '2501' };
const WRONG = { bid: '2600', ask: '2601' };
const price = (text: string): SourceMessage => ({ bid: text, ask: text });
const each =
  <T>(items: readonly T[], of: (source: PlayedSource, item: T) => Promise<void>) =>
  async (source: PlayedSource) => {
    for (const item of items) await of(source, item);
  };
const sends = (...messages: SourceMessage[]) => each(messages, (source, message) => source.send(message));
const raws = (...bodies: string[]) => each(bodies, (source, body) => source.raw(body));

const SCENARIOS: readonly Scenario[] = [
  { name: 'crossed', needs: 'book', play: sends({ bid: '2601', ask: '2600' }), refusedAs: ['crossed'] },
  { name: 'zero', play: sends(price('0')) },
  { name: 'negative', needs: 'signed', play: sends(price('-2600')), refusedAs: ['malformed', 'empty'] },
  {
    name: 'not a number',
    needs: 'text',
    play: sends(...['NaN', 'Infinity', 'null', '"many"', '2,600', '0x10'].map(price)),
  },
  {
    name: 'huge and tiny numbers',
    play: sends(price(`1${'0'.repeat(40)}`), price(`1${'0'.repeat(20)}`), price(`0.${'0'.repeat(24)}1`)),
  },
  { name: 'numbers with huge exponents', needs: 'text', play: sends(price('1e400'), price('1e-400')) },
  { name: 'empty answers', play: raws('', '{}', '[]', 'null') },
  { name: 'HTML', play: raws('<!doctype html><html><body>502 Bad Gateway: 2600</body></html>') },
  {
    name: 'deep nesting',
    play: raws('['.repeat(20_000), `{"data":${'['.repeat(9_000)}${']'.repeat(9_000)}}`),
  },
  { name: 'a huge frame', needs: 'frame', play: raws('2600 '.repeat(100_000)) },
  {
    name: 'stamps in the future',
    needs: 'time',
    play: (source) =>
      sends(
        { ...WRONG, stampMs: Date.now() + DAY_MS },
        { ...WRONG, stampMs: Date.now() + 10_000 },
        { ...WRONG, stampMs: Date.now() + 400 * DAY_MS },
      )(source),
    refusedAs: ['future'],
  },
  {
    name: 'a stamp within the allowed skew hides no later price',
    needs: 'time',
    play: (source) => sends({ ...GOOD, stampMs: Date.now() + 4_000 })(source),
  },
  {
    name: 'out of order by time',
    needs: 'time order',
    play: (source) => sends({ ...WRONG, stampMs: Date.now() - 60_000 })(source),
    refusedAs: ['out_of_order'],
  },
  {
    name: 'out of order by number',
    needs: 'sequence',
    play: sends({ ...WRONG, number: (last) => last - 1 }),
    refusedAs: ['out_of_order'],
  },
  {
    name: 'duplicates',
    play: sends({ ...GOOD, number: (last) => last }, { ...GOOD, number: (last) => last }),
  },
  {
    name: 'a gap in the numbers',
    needs: 'sequence',
    play: sends({ ...GOOD, number: (last) => last + 1_000_000, goesOn: true }),
  },
  // A single step back cannot be told from a late message.
  {
    name: 'one number that is far too high',
    needs: 'sequence',
    play: sends({ ...GOOD, number: () => 2 ** 52 }),
    within: 2,
  },
  {
    name: 'numbers that start again',
    needs: 'sequence',
    play: sends({ ...WRONG, number: () => 1, goesOn: true }),
  },
  { name: 'a lost connection', needs: 'connection', play: async (source) => source.cut?.() },
  { name: 'a frozen stream', needs: 'connection', play: async (source) => source.freeze?.() },
];

export function feedConformance(
  name: string,
  abilities: readonly Ability[],
  start: () => Promise<PlayedSource>,
): void {
  describe(name, () => {
    let source: PlayedSource | undefined;
    afterEach(() => source?.stop());

    const prices = (of: PlayedSource) =>
      [...of.heard.quotes.map(({ bid }) => bid), ...of.heard.references.map((each) => each.price)].map(
        (text) => Math.round(Number(text)),
      );
    const hears = (of: PlayedSource, wanted: number) =>
      vi.waitFor(() => expect(prices(of).at(-1)).toBe(wanted), { timeout: 40_000, interval: 5 });

    test.each(SCENARIOS.filter(({ needs }) => needs === undefined || abilities.includes(needs)))(
      '$name',
      async ({ play, within = 1, refusedAs }) => {
        source = await start();
        await source.send(GOOD);
        await hears(source, 2_500);
        await play(source);
        for (let sent = 0; sent < within; sent++) await source.send({ bid: '2510', ask: '2511' });
        await hears(source, 2_510);
        expect([...new Set(prices(source))]).toEqual([2_500, 2_510]);
        if (refusedAs !== undefined) {
          const why = source.heard.troubles.flatMap((each) => (each.kind === 'refused' ? [each.why] : []));
          expect(why.length).toBeGreaterThan(0);
          expect(refusedAs).toEqual(expect.arrayContaining([...new Set(why)]));
        }
      },
    );

    // Only a feed whose prices carry a time can carry a wrong one.
    if (!abilities.includes('dated')) return;
    test('an ancient stamp makes no young price', async () => {
      source = await start();
      const ancientMs = Date.now() - 365 * DAY_MS;
      await source.send({ bid: '2400', ask: '2401', stampMs: ancientMs });
      await source.send({ bid: '2510', ask: '2511' });
      await hears(source, 2_510);
      for (const { bid, exchangeTimeMs } of source.heard.quotes)
        if (bid.startsWith('2400')) expect(exchangeTimeMs).toBeLessThanOrEqual(ancientMs);
    });
  });
}
