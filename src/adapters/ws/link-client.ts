/** The LP's WebSocket to a venue; reconnects after jittered, growing pauses. */

import type { Socket } from 'node:net';
import { type ClientOptions, WebSocket } from 'ws';
import type { Clock } from '../../ports/clock.ts';
import type { Link, LinkListener } from '../../ports/link.ts';
import type { Log } from '../../ports/log.ts';
import { LINK_MAX_PAYLOAD_BYTES, LINK_PATH } from '../../protocol/link/link.ts';
import { MAX_CONTROL_FRAMES_PER_SECOND, perSecond } from './per-second.ts';

const HANDSHAKE_TIMEOUT_MS = 5_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** A connection this old resets the pauses. */
const GOOD_AFTER_MS = 10_000;
/** How many frames may wait for their turn. Beyond it, or beyond the bytes' bound, the socket is not read. */
export const MAX_WAITING_FRAMES = 4_096;
export const MAX_WAITING_BYTES = 4 * 1024 * 1024;
const MAX_FRAGMENTS = 64;
const MAX_BUFFERED_CHUNKS = 1_024;

interface LinkClientOptions {
  name: string;
  url: string;
  venueId?: string | undefined;
  /** Sent in a header, never in the URL. */
  apiKey: string;
  /** The peer counts as dead when more unsent bytes than this wait. */
  maxBufferedBytes?: number;
  /** Frames are handled for this long, then chains, feeds and timers get a turn. */
  turnMs?: number;
  /** 0 to 1; spreads the reconnects of many LPs. */
  jitter?: () => number;
}

export function createLinkClient(
  { clock, log }: { clock: Clock; log: Log },
  options: LinkClientOptions,
): Link {
  const { name, apiKey, maxBufferedBytes = 8 * 1024 * 1024, turnMs = 1, jitter = Math.random } = options;
  const address = linkAddress(options.url);
  let listener: LinkListener | undefined;
  let socket: WebSocket | undefined;
  let stopped = false;
  let pauseMs = FIRST_PAUSE_MS;
  let cancelPause = () => {};
  let wire: Socket | undefined;
  let corked = false;

  /** Sends answers of one tick in one packet. */
  function cork(): void {
    if (corked || wire === undefined) return;
    corked = true;
    const held = wire;
    held.cork();
    process.nextTick(() => {
      corked = false;
      held.uncork();
    });
  }

  /** The frames of the current connection that wait for their turn. */
  const waiting: { text: string; sinceMs: number }[] = [];
  let waitingBytes = 0;
  const load = { dropped: 0, pauses: 0 };
  let turnEndsMs: number | undefined;
  /** Frames were handled directly in this tick; the rest waits for the next. */
  let taken = false;

  function receive(from: WebSocket, text: string): void {
    if (turnEndsMs === undefined) {
      beginTurn();
      taken = true;
    }
    const nowMs = clock.monotonicMs();
    if (waiting.length === 0 && nowMs < (turnEndsMs as number)) return listener?.frame(text, 0);
    waiting.push({ text, sinceMs: nowMs });
    waitingBytes += text.length;
    if (from.isPaused || (waiting.length <= MAX_WAITING_FRAMES && waitingBytes <= MAX_WAITING_BYTES)) return;
    from.pause();
    load.pauses += 1;
  }

  function beginTurn(): void {
    turnEndsMs = clock.monotonicMs() + turnMs;
    setImmediate(nextTurn);
  }

  function nextTurn(): void {
    if (taken && waiting.length > 0) {
      taken = false;
      return void setImmediate(nextTurn);
    }
    taken = false;
    turnEndsMs = undefined;
    if (waiting.length === 0) return;
    beginTurn();
    do {
      // Removed before it is handled: a handler that throws must not get the same frame again.
      const { text, sinceMs } = waiting.shift() as (typeof waiting)[number];
      waitingBytes -= text.length;
      listener?.frame(text, clock.monotonicMs() - sinceMs);
    } while (waiting.length > 0 && clock.monotonicMs() < (turnEndsMs as unknown as number));
    if (waiting.length <= MAX_WAITING_FRAMES / 2 && waitingBytes <= MAX_WAITING_BYTES / 2) socket?.resume();
  }

  /** Frames of a connection end with it. */
  function forgetWaiting(): void {
    load.dropped += waiting.length;
    waiting.length = 0;
    waitingBytes = 0;
  }

  function dial(): void {
    const current = new WebSocket(address, {
      headers: { 'X-API-Key': apiKey },
      maxPayload: LINK_MAX_PAYLOAD_BYTES,
      perMessageDeflate: false,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      followRedirects: false,
      skipUTF8Validation: true,
      maxFragments: MAX_FRAGMENTS,
      maxBufferedChunks: MAX_BUFFERED_CHUNKS,
    } as ClientOptions);
    socket = current;
    let openedAtMs: number | undefined;
    let why = '';
    current.on('upgrade', (response) => (wire = response.socket));
    current.on('open', () => {
      openedAtMs = clock.monotonicMs();
      listener?.opened();
    });
    current.on('message', (data: Buffer, isBinary) => {
      if (isBinary) return current.close(1003, 'text frames only');
      if (socket === current && current.readyState === WebSocket.OPEN) receive(current, data.toString());
    });
    const controls = perSecond(() => clock.monotonicMs());
    const countControl = (): void => {
      if (controls() <= MAX_CONTROL_FRAMES_PER_SECOND) return;
      why = 'too many pings';
      current.terminate();
    };
    current.on('ping', countControl);
    current.on('pong', countControl);
    current.on('unexpected-response', (_, response) => {
      why = `the venue answered ${response.statusCode}`;
      response.destroy();
      current.terminate();
    });
    current.on('error', (error) => (why ||= error.message));
    current.on('close', (code, reason) => {
      if (socket !== current) return;
      socket = undefined;
      forgetWaiting();
      why ||= `closed ${code}${reason.length > 0 ? ` ${reason.toString().slice(0, 120)}` : ''}`;
      if (openedAtMs !== undefined) {
        if (clock.monotonicMs() - openedAtMs >= GOOD_AFTER_MS) pauseMs = FIRST_PAUSE_MS;
        listener?.closed(why);
      }
      again(why);
    });
  }

  function again(reason: string): void {
    if (stopped) return;
    // LPs must not reconnect to a restarted venue all together.
    const waitMs = Math.round(pauseMs * (0.5 + jitter() / 2));
    log.info({ venue: name, reason, waitMs }, 'link lost, reconnecting');
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    cancelPause = clock.after(waitMs, dial);
  }

  return {
    name,
    venueId: options.venueId,
    start(given) {
      listener = given;
      dial();
    },
    send(frame) {
      if (socket?.readyState !== WebSocket.OPEN) return false;
      if (socket.bufferedAmount > maxBufferedBytes) {
        socket.terminate();
        return false;
      }
      cork();
      socket.send(frame);
      return true;
    },
    reconnect(reason) {
      log.warn({ venue: name, reason }, 'link dropped');
      forgetWaiting();
      socket?.terminate();
    },
    load: () => ({ ...load, waiting: waiting.length }),
    async stop() {
      stopped = true;
      cancelPause();
      const last = socket;
      if (last === undefined || last.readyState === WebSocket.CLOSED) return;
      await new Promise<void>((resolve) => {
        const giveUp = clock.after(1_000, () => last.terminate());
        last.once('close', () => {
          giveUp();
          resolve();
        });
        if (last.readyState === WebSocket.CONNECTING) last.terminate();
        else last.close(1001, 'stopping');
      });
    },
  };
}

export function linkAddress(url: string): string {
  const address = new URL(url);
  if (address.protocol === 'http:') address.protocol = 'ws:';
  if (address.protocol === 'https:') address.protocol = 'wss:';
  if (address.pathname === '/' || address.pathname === '') address.pathname = LINK_PATH;
  return address.href;
}
