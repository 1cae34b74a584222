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

interface ReplayOptions {
  /** Recorded time between two printed mids of a symbol; 0 prints every one. */
  everyMs?: number;
  maxAgeMs?: number;
  gapMs?: number;
  symbol?: string;
}

interface SymbolSummary {
  symbol: string;
  quotes: number;
  firstMid: string | null;
  lastMid: string | null;
  lowMid: string | null;
  highMid: string | null;
  /** Annualised, short horizon. */
  sigma: number;
  sequenceGaps: number;
  missing: number;
  silentGaps: number;
  staleSpells: number;
  staleMs: number;
  longestSilenceMs: number;
  /** The largest step of the top of book's update id. */
  largestStep: number;
}

interface Track {
  summary: SymbolSummary;
  low: number;
  high: number;
  volatility: Volatility;
  quotedMs: number | undefined;
  update: number | null;
  printedMs: number;
  /** The highest number of each kind of Binance's numbered events. */
  numbered: Map<string, number>;
}

interface ReplaySettings {
  everyMs: number;
  maxAgeMs: number;
  gapMs: number;
  /** The only symbol to report; undefined: all. */
  only: string | undefined;
  print: (line: string) => void;
}

interface ReplayState {
  tracks: Map<string, Track>;
  refused: Record<FeedRefusal, number>;
  lines: number;
  /** How many lines hold no price. */
  other: number;
  /** Minimum of receive time less exchange time: clock offset plus fastest delivery. */
  offsetMs: number | null;
  /** How many times the recorder's clock was set back. */
  clockSteps: number;
  coveredMs: number;
  /** The receive time of the line that is read. */
  nowMs: number;
  /** undefined until a message shows which exchange it is from. */
  format: Format | undefined;
  read: FrameReader;
}

export async function replayFeed(path: string, options: ReplayOptions, print: (line: string) => void) {
  const { everyMs = 1_000, maxAgeMs = 2_000, gapMs = 1_000 } = options;
  const settings = { everyMs, maxAgeMs, gapMs, only: options.symbol?.toUpperCase(), print };
  const state = newState();
  for await (const { atMs, text } of readRecording(path)) {
    state.lines += 1;
    if (atMs === undefined) {
      refuse(settings, state, 'malformed', null);
      continue;
    }
    moveClock(settings, state, atMs);
    readLine(settings, state, text);
  }
  for (const track of state.tracks.values()) finish(settings, state, track);
  const summary = summaryOf(state);
  print(JSON.stringify(summary));
  return summary;
}

function newState(): ReplayState {
  const state: ReplayState = {
    tracks: new Map(),
    refused: {
      malformed: 0,
      out_of_range: 0,
      crossed: 0,
      empty: 0,
      out_of_order: 0,
      duplicate: 0,
      future: 0,
      unknown_symbol: 0,
      closed: 0,
    },
    ...{ lines: 0, other: 0, offsetMs: null, clockSteps: 0, coveredMs: 0, nowMs: 0 },
    format: undefined,
    read: BINANCE.reader(() => state.nowMs),
  };
  return state;
}

function moveClock(settings: ReplaySettings, state: ReplayState, atMs: number): void {
  if (isClockStep(state.nowMs, atMs)) stepBack(settings, state, atMs);
  if (state.nowMs > 0) state.coveredMs += Math.max(atMs - state.nowMs, 0);
  state.nowMs = Math.max(state.nowMs, atMs);
}

/** Afterwards the recording continues on the new clock: its order is certain, the elapsed time is not. */
function stepBack({ print }: ReplaySettings, state: ReplayState, toMs: number): void {
  state.clockSteps += 1;
  print(`clock   ${iso(state.nowMs)} set back to ${iso(toMs)}`);
  state.nowMs = toMs;
  for (const track of state.tracks.values()) {
    track.quotedMs = undefined;
    track.printedMs = Number.NEGATIVE_INFINITY;
    track.volatility = { ...track.volatility, last: undefined };
  }
}

function readLine(settings: ReplaySettings, state: ReplayState, text: string): void {
  if (state.format === undefined) {
    state.format = formatOf(text);
    if (state.format !== undefined && state.format !== BINANCE)
      state.read = state.format.reader(() => state.nowMs);
  }
  const events = state.read(text);
  if (events.length === 0) {
    state.other += 1;
    const message = readMessage(text);
    if (message.kind === 'other') takeNumbered(settings, state, message.data);
  }
  for (const event of events) takeEvent(settings, state, event);
}

function takeEvent(settings: ReplaySettings, state: ReplayState, event: FeedEvent): void {
  const { only, print } = settings;
  if (event.kind === 'resync' || (only !== undefined && (event.symbol ?? only) !== only)) return;
  if (event.kind === 'quote') return takeQuote(settings, state, event);
  if (event.kind === 'refused') return refuse(settings, state, event.why, event.symbol);
  if (event.kind === 'gap') trackOf(state, event.symbol).summary.sequenceGaps += 1;
  print(`${event.kind.padEnd(8)}${iso(state.nowMs)} ${event.symbol ?? '-'}`);
}

function takeQuote(
  settings: ReplaySettings,
  state: ReplayState,
  { symbol, bid, ask, sequence: update }: Extract<FeedEvent, { kind: 'quote' }>,
): void {
  const { nowMs } = state;
  const track = trackOf(state, symbol);
  reportSilence(settings, track, nowMs);
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
  if (nowMs - track.printedMs < settings.everyMs) return;
  track.printedMs = nowMs;
  settings.print(`mid     ${iso(nowMs)} ${symbol} ${text} (${bid} / ${ask})`);
}

function trackOf({ tracks }: ReplayState, symbol: string): Track {
  const known = tracks.get(symbol);
  if (known !== undefined) return known;
  const track: Track = {
    summary: {
      symbol,
      quotes: 0,
      ...{ firstMid: null, lastMid: null, lowMid: null, highMid: null },
      ...{ sigma: 0, sequenceGaps: 0, missing: 0, silentGaps: 0 },
      ...{ staleSpells: 0, staleMs: 0, longestSilenceMs: 0, largestStep: 0 },
    },
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
}

function reportSilence({ gapMs, maxAgeMs, print }: ReplaySettings, track: Track, untilMs: number): void {
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

/** Finds missing numbers in Binance's diff depth and trades. */
function takeNumbered(
  { only, print }: ReplaySettings,
  state: ReplayState,
  data: Record<string, unknown>,
): void {
  const { nowMs } = state;
  const { e: event, s: symbol, E: eventMs } = data;
  if (typeof symbol !== 'string' || typeof event !== 'string' || (only !== undefined && symbol !== only))
    return;
  if (typeof eventMs === 'number')
    state.offsetMs = state.offsetMs === null ? nowMs - eventMs : Math.min(state.offsetMs, nowMs - eventMs);
  const [from, to] =
    event === 'depthUpdate'
      ? [data['U'], data['u']]
      : event === 'trade'
        ? [data['t'], data['t']]
        : [undefined, undefined];
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to)) return;
  const track = trackOf(state, symbol);
  const last = track.numbered.get(event);
  if (last === undefined || (to as number) > last) track.numbered.set(event, to as number);
  if (last === undefined || (from as number) <= last + 1) return;
  const missing = (from as number) - last - 1;
  track.summary.sequenceGaps += 1;
  track.summary.missing += missing;
  print(`gap     ${iso(nowMs)} ${symbol} ${event}: ${missing} missing after ${last}`);
}

function refuse(
  { print }: ReplaySettings,
  { refused, nowMs }: ReplayState,
  why: FeedRefusal,
  symbol: string | null,
): void {
  refused[why] += 1;
  print(`refused ${iso(nowMs)} ${symbol ?? '-'} ${why}`);
}

function finish(settings: ReplaySettings, { nowMs }: ReplayState, track: Track): void {
  reportSilence(settings, track, nowMs);
  track.summary.sigma = Number(sigmaOf(track.volatility, 0).toFixed(4));
  track.summary.staleMs = Math.round(track.summary.staleMs);
  track.summary.longestSilenceMs = Math.round(track.summary.longestSilenceMs);
}

function summaryOf({ tracks, lines, coveredMs, clockSteps, other, refused, offsetMs }: ReplayState) {
  const symbols = [...tracks.values()].map(({ summary }) => summary);
  const sum = (of: (summary: SymbolSummary) => number) =>
    symbols.reduce((total, each) => total + of(each), 0);
  return {
    lines,
    seconds: Math.round(coveredMs) / 1000,
    clockSteps,
    quotes: sum(({ quotes }) => quotes),
    other,
    refused,
    gaps: sum(({ sequenceGaps, silentGaps }) => sequenceGaps + silentGaps),
    missing: sum(({ missing }) => missing),
    staleSpells: sum(({ staleSpells }) => staleSpells),
    staleMs: sum(({ staleMs }) => staleMs),
    offsetMs: offsetMs === null ? null : Math.round(offsetMs),
    symbols,
  };
}

const iso = (ms: number): string => new Date(ms).toISOString();

/** The denominator is 2 * 10^k, so the text is exact. */
function decimal({ num, den }: Rational): string {
  const places = den.toString().length;
  return formatUnits((num * 10n ** BigInt(places)) / den, places);
}
