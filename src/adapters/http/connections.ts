/** Connections of HTTP clients: how many an address has open, and when a request on one has ended. */

import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { clientOf } from './client-address.ts';

/**
 * Further connections are closed immediately. Addresses of proxies, which stand for many clients, are exempt.
 */
export function limitConnections(
  server: Server,
  {
    perAddress,
    isExempt = () => false,
    refused = () => {},
  }: { perAddress: number; isExempt?: (address: string) => boolean; refused?: () => void },
): void {
  const open = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const socketAddress = socket.remoteAddress ?? '';
    if (isExempt(socketAddress)) return;
    const address = clientOf(socketAddress);
    const mine = (open.get(address) ?? 0) + 1;
    if (mine > perAddress) {
      refused();
      return void socket.destroy();
    }
    open.set(address, mine);
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left > 0) open.set(address, left);
      else open.delete(address);
    });
  });
}

const waiting = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls back once, when the client has the answer or has left. Node says nothing of the second to an answer
 * that still waits behind another of its connection.
 */
export function onEnd(socket: Socket, response: ServerResponse, ended: () => void): void {
  const ends = waiting.get(socket) ?? new Set();
  if (!waiting.has(socket)) {
    waiting.set(socket, ends);
    socket.once('close', () => endAll(socket));
  }
  const end = (): void => {
    if (ends.delete(end)) ended();
  };
  ends.add(end);
  response.once('close', end);
  if (socket.destroyed) end();
}

function endAll(socket: Socket): void {
  for (const end of waiting.get(socket) ?? []) end();
}

export interface Unread {
  /** Counts the answer's bytes as unread; called before it is sent. */
  sending(socket: Socket, response: ServerResponse, bytes: number): void;
}

/** Beyond this much of all answers that clients have not taken, those who left the most are disconnected. */
export function createUnread(mostBytes: number, disconnected: () => void): Unread {
  const bySocket = new Map<Socket, number>();
  let total = 0;

  function add(socket: Socket, bytes: number): void {
    total += bytes;
    const left = (bySocket.get(socket) ?? 0) + bytes;
    if (left > 0) bySocket.set(socket, left);
    else bySocket.delete(socket);
  }

  return {
    sending(socket, response, bytes) {
      add(socket, bytes);
      onEnd(socket, response, () => add(socket, -bytes));
      while (total > mostBytes) {
        const [most] = [...bySocket].reduce((a, b) => (b[1] > a[1] ? b : a));
        disconnected();
        most.destroy();
        endAll(most);
      }
    },
  };
}
