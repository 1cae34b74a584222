/**
 * The LP's WebSocket to a venue; reconnects after jittered, growing pauses. It sends no pings of its own:
 * both ends send those of the protocol, and `reconnect` is called when the venue is silent.
 */

import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import type { Clock } from '../../ports/clock.ts';
import type { Link, LinkListener } from '../../ports/link.ts';
import type { Log } from '../../ports/log.ts';
import { LINK_MAX_PAYLOAD_BYTES, LINK_PATH } from '../../protocol/link/link.ts';
import { jittered, pauseMs } from '../backoff.ts';
import { openSocket } from './open-socket.ts';

const HANDSHAKE_TIMEOUT_MS = 5_000;
/** With jitter: LPs must not reconnect to a restarted venue all together. */
const BACKOFF = { firstMs: 100, longestMs: 5_000 };
/** A connection this old resets the pauses. */
const GOOD_AFTER_MS = 10_000;
/** How many frames may wait for their turn. Beyond it, or beyond the bytes' bound, the socket is not read. */
export const MAX_WAITING_FRAMES = 4_096;
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
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

interface LinkDeps {
  clock: Clock;
  log: Log;
  options: LinkClientOptions & { maxBufferedBytes: number; turnMs: number; jitter: () => number };
  address: string;
}

interface LinkState {
  listener: LinkListener | undefined;
  /** The current connection, open or not. */
  socket: WebSocket | undefined;
  stopped: boolean;
  /** Attempts since a connection lasted for `GOOD_AFTER_MS`. */
  attempts: number;
  cancelPause: () => void;
  wire: Socket | undefined;
  corked: boolean;
  /** The frames of the current connection that wait for their turn. */
  waiting: { text: string; sinceMs: number }[];
  waitingBytes: number;
  dropped: number;
  pauses: number;
  /** When chains, feeds and timers get a turn; undefined while no frame was handled in this turn. */
  turnEndsMs: number | undefined;
  /** Frames were handled directly in this tick; the rest waits for the next. */
  taken: boolean;
}

export function createLinkClient(
  { clock, log }: { clock: Clock; log: Log },
  options: LinkClientOptions,
): Link {
  const {
    name,
    venueId,
    url,
    maxBufferedBytes = 8 * 1024 * 1024,
    turnMs = 1,
    jitter = Math.random,
  } = options;
  const deps: LinkDeps = {
    ...{ clock, log },
    options: { ...options, maxBufferedBytes, turnMs, jitter },
    address: linkAddress(url),
  };
  const state: LinkState = {
    ...{ listener: undefined, socket: undefined, stopped: false, attempts: 0, cancelPause: () => {} },
    ...{ wire: undefined, corked: false },
    ...{ waiting: [], waitingBytes: 0, dropped: 0, pauses: 0, turnEndsMs: undefined, taken: false },
  };
  return {
    name,
    venueId,
    start(listener) {
      state.listener = listener;
      dial(deps, state);
    },
    send: (frame) => send(state, frame, maxBufferedBytes),
    reconnect(reason) {
      log.warn({ venue: name, reason }, 'link dropped');
      forgetWaiting(state);
      state.socket?.terminate();
    },
    load: () => ({ dropped: state.dropped, pauses: state.pauses, waiting: state.waiting.length }),
    stop: () => stop(deps, state),
  };
}

function dial(deps: LinkDeps, state: LinkState): void {
  const { clock, options } = deps;
  let openedAtMs: number | undefined;
  let why = '';
  const current = openSocket(
    deps.address,
    {
      headers: { 'X-API-Key': options.apiKey },
      maxPayload: LINK_MAX_PAYLOAD_BYTES,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      skipUTF8Validation: true,
      maxFragments: MAX_FRAGMENTS,
      maxBufferedChunks: MAX_BUFFERED_CHUNKS,
    },
    {
      nowMs: () => clock.monotonicMs(),
      onFlood(socket) {
        why = 'too many pings';
        socket.terminate();
      },
    },
  );
  state.socket = current;
  current.on('upgrade', (response) => (state.wire = response.socket));
  current.on('open', () => {
    openedAtMs = clock.monotonicMs();
    state.listener?.opened();
  });
  current.on('message', (data: Buffer, isBinary) => {
    if (isBinary) return current.close(1003, 'text frames only');
    if (state.socket === current && current.readyState === WebSocket.OPEN)
      receive(deps, state, current, data.toString());
  });
  current.on('unexpected-response', (_, response) => {
    why = `the venue answered ${response.statusCode}`;
    response.destroy();
    current.terminate();
  });
  current.on('error', (error) => (why ||= error.message));
  current.on('close', (code, reason) => {
    if (state.socket !== current) return;
    state.socket = undefined;
    forgetWaiting(state);
    why ||= `closed ${code}${reason.length > 0 ? ` ${reason.toString().slice(0, 120)}` : ''}`;
    if (openedAtMs !== undefined) {
      if (clock.monotonicMs() - openedAtMs >= GOOD_AFTER_MS) state.attempts = 0;
      state.listener?.closed(why);
    }
    again(deps, state, why);
  });
}

function again(deps: LinkDeps, state: LinkState, reason: string): void {
  if (state.stopped) return;
  const { name, jitter } = deps.options;
  const waitMs = Math.round(jittered(pauseMs(state.attempts, BACKOFF), jitter()));
  deps.log.info({ venue: name, reason, waitMs }, 'link lost, reconnecting');
  state.attempts += 1;
  state.cancelPause = deps.clock.after(waitMs, () => dial(deps, state));
}

function receive(deps: LinkDeps, state: LinkState, from: WebSocket, text: string): void {
  if (state.turnEndsMs === undefined) {
    beginTurn(deps, state);
    state.taken = true;
  }
  const { waiting } = state;
  const nowMs = deps.clock.monotonicMs();
  if (waiting.length === 0 && nowMs < (state.turnEndsMs as number)) return state.listener?.frame(text, 0);
  waiting.push({ text, sinceMs: nowMs });
  state.waitingBytes += text.length;
  if (from.isPaused || (waiting.length <= MAX_WAITING_FRAMES && state.waitingBytes <= MAX_WAITING_BYTES))
    return;
  from.pause();
  state.pauses += 1;
}

function beginTurn(deps: LinkDeps, state: LinkState): void {
  state.turnEndsMs = deps.clock.monotonicMs() + deps.options.turnMs;
  setImmediate(nextTurn, deps, state);
}

function nextTurn(deps: LinkDeps, state: LinkState): void {
  const { waiting } = state;
  if (state.taken && waiting.length > 0) {
    state.taken = false;
    return void setImmediate(nextTurn, deps, state);
  }
  state.taken = false;
  state.turnEndsMs = undefined;
  if (waiting.length === 0) return;
  beginTurn(deps, state);
  do {
    // Removed before it is handled: a handler that throws must not get the same frame again.
    const { text, sinceMs } = waiting.shift() as (typeof waiting)[number];
    state.waitingBytes -= text.length;
    state.listener?.frame(text, deps.clock.monotonicMs() - sinceMs);
  } while (waiting.length > 0 && deps.clock.monotonicMs() < (state.turnEndsMs as unknown as number));
  if (waiting.length <= MAX_WAITING_FRAMES / 2 && state.waitingBytes <= MAX_WAITING_BYTES / 2)
    state.socket?.resume();
}

/** Frames of a connection end with it. */
function forgetWaiting(state: LinkState): void {
  state.dropped += state.waiting.length;
  state.waiting.length = 0;
  state.waitingBytes = 0;
}

function send(state: LinkState, frame: string, maxBufferedBytes: number): boolean {
  const { socket } = state;
  if (socket?.readyState !== WebSocket.OPEN) return false;
  if (socket.bufferedAmount > maxBufferedBytes) {
    socket.terminate();
    return false;
  }
  cork(state);
  socket.send(frame);
  return true;
}

/** Sends answers of one tick in one packet. */
function cork(state: LinkState): void {
  const { wire } = state;
  if (state.corked || wire === undefined) return;
  state.corked = true;
  wire.cork();
  process.nextTick(() => {
    state.corked = false;
    wire.uncork();
  });
}

async function stop({ clock }: LinkDeps, state: LinkState): Promise<void> {
  state.stopped = true;
  state.cancelPause();
  const last = state.socket;
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
}

export function linkAddress(url: string): string {
  const address = new URL(url);
  if (address.protocol === 'http:') address.protocol = 'ws:';
  if (address.protocol === 'https:') address.protocol = 'wss:';
  if (address.pathname === '/' || address.pathname === '') address.pathname = LINK_PATH;
  return address.href;
}
