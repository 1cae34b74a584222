/**
 * `firmquote feed replay FILE`: prints mids, gaps and stale periods; the last line is one JSON object.
 * Binance's diff depth and trades number every event and so prove gaps; silences of the top of book are only
 * reported.
 */

import { formatUnits } from '../../domain/amount.ts';
import { midpoint, parseDecimal, toNumber, type Rational } from '../../pricing/rational.ts';
import { observeMid, sigmaOf, UNSEEN, type Volatility } from '../../pricing/volatility.ts';
import type { FeedRefusal } from '../../ports/feed.ts';
import { BINANCE } from './binance.ts';
import { readMessage } from './book-ticker.ts';
import type { FeedEvent, Format, FrameReader } from './format.ts';
import { formatOf } from './formats.ts';
import { isClockStep, readRecording } from './recording.ts';

export interface ReplayOptions {
  /** Recorded time between two printed mids of a symbol; 0 prints every one. */
  everyMs?: number;
  maxAgeMs?: number;
  gapMs?: number;
  symbol?: string;
}

const newSummary = (symbol: string) => ({
  symbol,
  quotes: 0,
  firstMid: null as string | null,
  lastMid: null as string | null,
  lowMid: null as string | null,
  highMid: null as string | null,
  /** Annualised, short horizon. */
  sigma: 0,
  sequenceGaps: 0,
  missing: 0,
  silentGaps: 0,
  staleSpells: 0,
  staleMs: 0,
  longestSilenceMs: 0,
  /** The largest step of the top of book's update id. */
  largestStep: 0,
});

type SymbolSummary = ReturnType<typeof newSummary>;

interface Track {
  summary: SymbolSummary;
  low: number;
  high: number;
  volatility: Volatility;
  quotedMs: number | undefined;
  update: number | null;
  printedMs: number;
  numbered: Map<string, number>;
}

export async function replayFeed(path: string, options: ReplayOptions, print: (line: string) => void) {
  const { everyMs = 1_000, maxAgeMs = 2_000, gapMs = 1_000 } = options;
  const only = options.symbol?.toUpperCase();
  const tracks = new Map<string, Track>();
  const refused: Record<FeedRefusal, number> = {
    malformed: 0,
    out_of_range: 0,
    crossed: 0,
    empty: 0,
    out_of_order: 0,
    duplicate: 0,
    future: 0,
    unknown_symbol: 0,
    closed: 0,
  };
  let [lines, other, offsetMs] = [0, 0, null as number | null];
  let [clockSteps, coveredMs] = [0, 0];
  let nowMs = 0;
  let format: Format | undefined;
  let read: FrameReader = BINANCE.reader(() => nowMs);

  const trackOf = (symbol: string): Track => {
    const known = tracks.get(symbol);
    if (known !== undefined) return known;
    const track: Track = {
      summary: newSummary(symbol),
      low: Number.POSITIVE_INFINITY,
      high: 0,
      volatility: UNSEEN,
      quotedMs: undefined,
      update: null,
      printedMs: Number.NEGATIVE_INFINITY,
      numbered: new Map(),
    };
    tracks.set(symbol, track);
    return track;
  };

  function silence(track: Track, untilMs: number): void {
    if (track.quotedMs === undefined) return;
    const silentMs = untilMs - track.quotedMs;
    const { summary } = track;
    if (silentMs > summary.longestSilenceMs) summary.longestSilenceMs = silentMs;
    if (silentMs > gapMs) {
      summary.silentGaps += 1;
      print(
        `gap     ${iso(track.quotedMs)} to ${iso(untilMs)} ${summary.symbol} top of book silent for ` +
          `${(silentMs / 1000).toFixed(3)} s`,
      );
    }
    if (silentMs <= maxAgeMs) return;
    summary.staleSpells += 1;
    summary.staleMs += silentMs - maxAgeMs;
    print(
      `stale   ${iso(track.quotedMs + maxAgeMs)} to ${iso(untilMs)} ${summary.symbol} ` +
        `${((silentMs - maxAgeMs) / 1000).toFixed(3)} s too old`,
    );
  }

  /** Afterwards the recording continues on the new clock: its order is certain, the elapsed time is not. */
  function stepBack(toMs: number): void {
    clockSteps += 1;
    print(`clock   ${iso(nowMs)} set back to ${iso(toMs)}`);
    nowMs = toMs;
    for (const track of tracks.values()) {
      track.quotedMs = undefined;
      track.printedMs = Number.NEGATIVE_INFINITY;
      track.volatility = { ...track.volatility, last: undefined };
    }
  }

  function quote({ symbol, bid, ask, sequence: update }: Extract<FeedEvent, { kind: 'quote' }>): void {
    const track = trackOf(symbol);
    silence(track, nowMs);
    track.quotedMs = nowMs;
    const { summary } = track;
    if (track.update !== null && update !== null)
      summary.largestStep = Math.max(summary.largestStep, update - track.update);
    track.update = update;
    const mid = midpoint(parseDecimal(bid) as Rational, parseDecimal(ask) as Rational);
    const [text, value] = [decimal(mid), toNumber(mid)];
    summary.quotes += 1;
    summary.firstMid ??= text;
    summary.lastMid = text;
    if (value < track.low) [track.low, summary.lowMid] = [value, text];
    if (value > track.high) [track.high, summary.highMid] = [value, text];
    track.volatility = observeMid(track.volatility, value, nowMs);
    if (nowMs - track.printedMs < everyMs) return;
    track.printedMs = nowMs;
    print(`mid     ${iso(nowMs)} ${symbol} ${text} (${bid} / ${ask})`);
  }

  function numbered(data: Record<string, unknown>): void {
    const { e: event, s: symbol, E: eventMs } = data;
    if (typeof symbol !== 'string' || typeof event !== 'string' || (only !== undefined && symbol !== only))
      return;
    if (typeof eventMs === 'number')
      offsetMs = offsetMs === null ? nowMs - eventMs : Math.min(offsetMs, nowMs - eventMs);
    const [from, to] =
      event === 'depthUpdate'
        ? [data['U'], data['u']]
        : event === 'trade'
          ? [data['t'], data['t']]
          : [undefined, undefined];
    if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to)) return;
    const track = trackOf(symbol);
    const last = track.numbered.get(event);
    if (last === undefined || (to as number) > last) track.numbered.set(event, to as number);
    if (last === undefined || (from as number) <= last + 1) return;
    const missing = (from as number) - last - 1;
    track.summary.sequenceGaps += 1;
    track.summary.missing += missing;
    print(`gap     ${iso(nowMs)} ${symbol} ${event}: ${missing} missing after ${last}`);
  }

  function refuse(why: FeedRefusal, symbol: string | null): void {
    refused[why] += 1;
    print(`refused ${iso(nowMs)} ${symbol ?? '-'} ${why}`);
  }

  for await (const { atMs, text } of readRecording(path)) {
    lines += 1;
    if (atMs === undefined) {
      refuse('malformed', null);
      continue;
    }
    if (isClockStep(nowMs, atMs)) stepBack(atMs);
    if (nowMs > 0) coveredMs += Math.max(atMs - nowMs, 0);
    nowMs = Math.max(nowMs, atMs);
    if (format === undefined && (format = formatOf(text)) !== undefined && format !== BINANCE)
      read = format.reader(() => nowMs);
    const events = read(text);
    if (events.length === 0) {
      other += 1;
      const message = readMessage(text);
      if (message.kind === 'other') numbered(message.data);
    }
    for (const event of events) {
      if (event.kind === 'resync' || (only !== undefined && (event.symbol ?? only) !== only)) continue;
      if (event.kind === 'quote') quote(event);
      else if (event.kind === 'refused') refuse(event.why, event.symbol);
      else {
        if (event.kind === 'gap') trackOf(event.symbol).summary.sequenceGaps += 1;
        print(`${event.kind.padEnd(8)}${iso(nowMs)} ${event.symbol ?? '-'}`);
      }
    }
  }
  for (const track of tracks.values()) {
    silence(track, nowMs);
    track.summary.sigma = Number(sigmaOf(track.volatility, 0).toFixed(4));
    track.summary.staleMs = Math.round(track.summary.staleMs);
    track.summary.longestSilenceMs = Math.round(track.summary.longestSilenceMs);
  }

  const symbols = [...tracks.values()].map(({ summary }) => summary);
  const sum = (of: (summary: SymbolSummary) => number) =>
    symbols.reduce((total, each) => total + of(each), 0);
  const summary = {
    lines,
    seconds: Math.round(coveredMs) / 1000,
    /** How many times the recorder's clock was set back. */
    clockSteps,
    quotes: sum(({ quotes }) => quotes),
    other,
    refused,
    gaps: sum(({ sequenceGaps, silentGaps }) => sequenceGaps + silentGaps),
    missing: sum(({ missing }) => missing),
    staleSpells: sum(({ staleSpells }) => staleSpells),
    staleMs: sum(({ staleMs }) => staleMs),
    // Minimum of receive time less exchange time: clock offset plus fastest delivery.
    offsetMs: offsetMs === null ? null : Math.round(offsetMs),
    symbols,
  };
  print(JSON.stringify(summary));
  return summary;
}

const iso = (ms: number): string => new Date(ms).toISOString();

/** The denominator is 2 * 10^k, so the text is exact. */
function decimal({ num, den }: Rational): string {
  const places = den.toString().length;
  return formatUnits((num * 10n ** BigInt(places)) / den, places);
}
