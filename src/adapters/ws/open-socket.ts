/**
 * Opens WebSockets to servers of others, with the limits that each of them needs. Every client decides itself
 * when a connection is dead and when it is opened again, because price servers ask for pauses, calls to a
 * node wait for the next connection, and a restarted venue must not see all LPs return at once.
 */

import { type ClientOptions, WebSocket } from 'ws';
import { countPerSecond } from '../../risk/rate.ts';
import { MAX_CONTROL_FRAMES_PER_SECOND } from './control-frames.ts';

interface SocketLimits extends ClientOptions {
  /** Bytes of one message. */
  maxPayload: number;
  /** Ms until the server must have accepted the connection. */
  handshakeTimeout: number;
}

/** `onFlood` is called for each ping or pong beyond `MAX_CONTROL_FRAMES_PER_SECOND`. */
export function openSocket(
  address: string,
  limits: SocketLimits,
  { nowMs, onFlood }: { nowMs: () => number; onFlood(socket: WebSocket): void },
): WebSocket {
  const socket = new WebSocket(address, { perMessageDeflate: false, followRedirects: false, ...limits });
  const controls = countPerSecond(nowMs);
  const countControl = (): void => {
    if (controls() > MAX_CONTROL_FRAMES_PER_SECOND) onFlood(socket);
  };
  socket.on('ping', countControl);
  socket.on('pong', countControl);
  // A close event follows every error. The message may contain the URL.
  socket.on('error', () => {});
  return socket;
}
