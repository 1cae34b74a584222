/**
 * A live feed over one WebSocket, replaced after no message for `silentMs`, no price for `quietMs`, or no
 * pong.
 */

import { WebSocket } from 'ws';
import type { Clock } from '../../ports/clock.ts';
import type { Feed, FeedListener, FeedTrouble } from '../../ports/feed.ts';
import { MAX_CONTROL_FRAMES_PER_SECOND, perSecond } from '../ws/per-second.ts';
import { createWaits, quotation, readRefusal, readStart, type Refusal, type Waits } from './waits.ts';
import { type FeedEvent, type Format, MAX_MESSAGE_BYTES, type FrameReader, refused } from './format.ts';

export interface SocketFeedOptions {
  format: Format;
  url: string;
  symbols: readonly string[];
  source: string;
  silentMs?: number;
  quietMs?: number;
  pingMs?: number;
  /** Receives every text message as it was sent, before it is read: for recordings. */
  onMessage?: (text: string) => void;
}

export interface FeedTools {
  clock: Clock;
  /** Ms before attempt n (0 is the first retry). */
  backoff: (attempt: number) => number;
  /** The feeds of a process share it; without it, a feed has its own. */
  waits?: Waits;
}

/** The longest wait for the body of a refused handshake. */
const REFUSAL_BODY_MS = 1_000;
const LONGEST_REFUSAL = 1_000;
const STEADY_MS = 30_000;
/** An exchange in a wild market sends some thousands. */
const MAX_FRAMES_PER_SECOND = 20_000;

export function createSocketFeed(
  { clock, backoff, waits = createWaits(clock) }: FeedTools,
  {
    format,
    url,
    symbols,
    source,
    silentMs = 10_000,
    quietMs = 60_000,
    pingMs = 5_000,
    onMessage,
  }: SocketFeedOptions,
): Feed {
  const wanted = new Map(symbols.map((symbol) => [format.canonical(symbol), symbol]));
  const address = format.address(url, [...wanted.keys()]);
  let close: (() => void) | undefined;

  function connect(listener: FeedListener, attempt: number): void {
    const waiting = waits.left(address);
    if (waiting !== undefined) {
      const { reason, ms } = waiting;
      close = clock.after(ms, () => connect(listener, attempt));
      const detail = 'waits as its server asked';
      return listener.trouble?.({ kind: 'disconnected', detail, retryInMs: Math.round(ms), reason });
    }
    const socket = new WebSocket(address, {
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
      handshakeTimeout: silentMs,
    });
    const read: FrameReader = format.reader(clock.nowMs, [...wanted.keys()]);
    const [frames, controls] = [perSecond(() => clock.monotonicMs()), perSecond(() => clock.monotonicMs())];
    const report = (trouble: FeedTrouble) => listener.trouble?.(trouble);
    let over = false;
    let openedMs = clock.monotonicMs();
    let lastDataMs = openedMs;
    let lastPriceMs: number | undefined;
    let lastPongMs = openedMs;
    let cancelWatch = () => {};

    /** Reads a refusal from a message or from the reason of a close. */
    const inWords = (body: string): Refusal | undefined => readRefusal({ status: 200, body }, clock.nowMs());

    const end = (detail: string, refusal?: Refusal) => {
      if (over) return;
      over = true;
      cancelWatch();
      socket.terminate();
      const steady = lastPriceMs !== undefined && clock.monotonicMs() - openedMs >= STEADY_MS;
      const next = steady ? 0 : attempt;
      const retryInMs = Math.round(
        refusal === undefined ? backoff(next) : Math.max(backoff(next), waits.told(address, refusal)),
      );
      close = clock.after(retryInMs, () => connect(listener, next + 1));
      report({ kind: 'disconnected', detail, retryInMs, ...(refusal && { reason: refusal.reason }) });
    };

    const watch = () => {
      const now = clock.monotonicMs();
      const [silent, quiet] = [now - lastDataMs, now - (lastPriceMs ?? openedMs)];
      if (silent >= silentMs || quiet >= quietMs) {
        report({ kind: 'silent', forMs: Math.round(quiet) });
        return end(silent >= silentMs ? 'silent' : 'no prices');
      }
      if (now - lastPongMs >= 2 * pingMs) return end('no pong');
      if (socket.readyState === WebSocket.OPEN) socket.ping();
      cancelWatch = clock.after(Math.max(1, Math.min(pingMs, silentMs - silent, quietMs - quiet)), watch);
    };

    close = () => {
      over = true;
      cancelWatch();
      socket.terminate();
    };
    socket.on('open', () => {
      if (over) return;
      openedMs = lastDataMs = lastPongMs = clock.monotonicMs();
      for (const text of format.greeting([...wanted.keys()])) socket.send(text);
      report({ kind: 'connected' });
      watch();
    });
    const control = () => {
      if (controls() > MAX_CONTROL_FRAMES_PER_SECOND) end('too many pings');
    };
    socket.on('ping', control);
    socket.on('pong', () => {
      control();
      lastPongMs = clock.monotonicMs();
    });
    // A close event follows every error. The message may contain the URL.
    socket.on('error', () => {});
    socket.on('close', (code, reason) => {
      const words = quotation(reason.toString());
      end(`closed with ${code}${words && `: "${words}"`}`, inWords(reason.toString()));
    });
    socket.on('unexpected-response', (request, response) => {
      const finish = (body: string) => {
        const { statusCode: status = 0, headers } = response;
        const words = quotation(body);
        cancelBody();
        request.destroy();
        end(
          `status ${status}${words && `, "${words}"`}`,
          readRefusal({ status, header: (name) => headers[name], body }, clock.nowMs()),
        );
      };
      const cancelBody = clock.after(REFUSAL_BODY_MS, () => finish(''));
      void readStart(response).then(
        ({ text }) => finish(text),
        () => finish(''),
      );
    });
    socket.on('message', (frame, binary) => {
      if (over) return;
      if (frames() > MAX_FRAMES_PER_SECOND) return end('too many frames');
      lastDataMs = clock.monotonicMs();
      const text = frame.toString();
      if (!binary) onMessage?.(text);
      const events = binary ? [refused('malformed', null)] : read(text);
      const refusal = mayRefuse(text, events) ? inWords(text) : undefined;
      if (refusal !== undefined) return end(`"${quotation(text)}"`, refusal);
      for (const event of events) {
        if (over) return;
        if (event.kind === 'resync') return end(event.detail);
        if (event.kind !== 'quote') {
          const symbol = wanted.get(event.symbol ?? '');
          report(symbol === undefined ? event : { ...event, symbol });
          continue;
        }
        const symbol = wanted.get(event.symbol);
        if (symbol === undefined) {
          report(refused('unknown_symbol', event.symbol));
          continue;
        }
        lastPriceMs = lastDataMs;
        const { bid, ask, exchangeTimeMs, sequence } = event;
        listener.quote({ source, symbol, bid, ask, exchangeTimeMs, receivedMs: clock.nowMs(), sequence });
      }
    });
  }

  return {
    source,
    start(listener) {
      if (close === undefined) connect(listener, 0);
    },
    stop() {
      close?.();
      close = () => {};
    },
  };
}

/** A short message that is about no price. */
const mayRefuse = (text: string, events: readonly FeedEvent[]): boolean =>
  text.length <= LONGEST_REFUSAL &&
  events.every((event) => event.kind === 'rejected' || (event.kind === 'refused' && event.symbol === null));
